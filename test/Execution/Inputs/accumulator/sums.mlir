// SPDX-License-Identifier: MIT
#row = affine_map<(i, k) -> (i, k)>
#sum = affine_map<(i, k) -> (i)>
func.func @product(%a: tensor<9x65xf32>, %b: tensor<65x21xf32>, %c: tensor<9x21xf32>) -> tensor<9x21xf32> {
  %product = linalg.matmul ins(%a, %b : tensor<9x65xf32>, tensor<65x21xf32>) outs(%c : tensor<9x21xf32>) -> tensor<9x21xf32>
  return %product : tensor<9x21xf32>
}
func.func @convolution(%x: tensor<1x4x11x11xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<1x6x9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x6x9x9xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x9x9xf32>) -> tensor<1x6x9x9xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x4x11x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<1x6x9x9xf32>) -> tensor<1x6x9x9xf32>
  return %y : tensor<1x6x9x9xf32>
}
func.func @sum(%a: tensor<9x65xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<9xf32>) -> tensor<9xf32>
  %s = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<9x65xf32>) outs(%init : tensor<9xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %t = arith.addf %acc, %x : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  return %s : tensor<9xf32>
}
