// SPDX-License-Identifier: MIT
func.func @machine(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %0 = math.sqrt %x : tensor<9xf32>
  %1 = math.absf %0 : tensor<9xf32>
  %2 = arith.maximumf %1, %y : tensor<9xf32>
  %3 = math.exp %2 : tensor<9xf32>
  %4 = math.tanh %3 : tensor<9xf32>
  %5 = math.log %4 : tensor<9xf32>
  return %5 : tensor<9xf32>
}
func.func @own(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %0 = arith.addf %x, %y : tensor<9xf32>
  %1 = arith.subf %0, %x : tensor<9xf32>
  return %1 : tensor<9xf32>
}
func.func private @abs(%x: f32) -> f32 {
  %c = arith.constant 100.0 : f32
  %y = arith.addf %x, %c : f32
  return %y : f32
}
func.func private @__nv_sinf(%x: f32) -> f32 {
  %c = arith.constant 2.0 : f32
  %y = arith.mulf %x, %c : f32
  return %y : f32
}
func.func private @fabsf(%x: tensor<9xf32>) -> tensor<9xf32> {
  %y = arith.addf %x, %x : tensor<9xf32>
  return %y : tensor<9xf32>
}
#id = affine_map<(i) -> (i)>
func.func @inner(%x: tensor<9xf32>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = func.call @abs(%a) : (f32) -> f32
    %1 = func.call @__nv_sinf(%0) : (f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<9xf32>
  %s = func.call @fabsf(%r) : (tensor<9xf32>) -> tensor<9xf32>
  return %s : tensor<9xf32>
}
func.func private @endless(%x: f32) -> f32 {
  %0 = func.call @endless(%x) : (f32) -> f32
  return %0 : f32
}
func.func @recursive(%x: tensor<9xf32>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = func.call @endless(%a) : (f32) -> f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
