// SPDX-License-Identifier: MIT
!number = !numera.num<opaque<"FORMAT", 8>>

func.func @numbers(%x: tensor<?x!number>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = numera.neg %x : tensor<?x!number>
  %a = numera.cast %x : tensor<?x!number> to tensor<?xf32>
  %b = numera.cast %n : tensor<?x!number> to tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

func.func @products(%x: tensor<?x?x!number>, %y: tensor<?x?x!number>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?x!number>
  %n = tensor.dim %y, %c1 : tensor<?x?x!number>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?x!number>, tensor<?x?x!number>) outs(%i : tensor<?x?xf32>) {
  ^bb0(%a: !number, %b: !number, %sum: f32):
    %s = numera.mac %a, %b, %sum : (!number, !number, f32) -> f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
