// SPDX-License-Identifier: MIT
#row = affine_map<(i, k) -> (i, k)>
#maximum = affine_map<(i, k) -> (i)>
// Maxima from -inf, and 1.
func.func @maxima(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %lowest = arith.constant 0xff800000 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#row, #maximum], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<2x3xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %t = arith.maximumf %acc, %x : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %sum = arith.addf %m, %ones : tensor<2xf32>
  return %sum : tensor<2xf32>
}
