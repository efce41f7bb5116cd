// SPDX-License-Identifier: MIT
#lhs = affine_map<(i, j, k) -> (i, k)>
#transposed = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
func.func @product(%a: tensor<9x65xf32>, %b: tensor<65x21xf32>) -> tensor<9x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x21xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x21xf32>) -> tensor<9x21xf32>
  %product = linalg.matmul ins(%a, %b : tensor<9x65xf32>, tensor<65x21xf32>) outs(%init : tensor<9x21xf32>) -> tensor<9x21xf32>
  return %product : tensor<9x21xf32>
}
func.func @row(%a: tensor<1x65xf32>, %b: tensor<65x21xf32>) -> tensor<1x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x21xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x21xf32>) -> tensor<1x21xf32>
  %product = linalg.matmul ins(%a, %b : tensor<1x65xf32>, tensor<65x21xf32>) outs(%init : tensor<1x21xf32>) -> tensor<1x21xf32>
  return %product : tensor<1x21xf32>
}
func.func @transposed(%a: tensor<9x65xf32>, %b: tensor<21x65xf32>) -> tensor<9x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x21xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x21xf32>) -> tensor<9x21xf32>
  %product = linalg.generic {indexing_maps = [#lhs, #transposed, #result], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<9x65xf32>, tensor<21x65xf32>) outs(%init : tensor<9x21xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<9x21xf32>
  return %product : tensor<9x21xf32>
}
func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}
func.func @batch(%a: tensor<3x5x17xf32>, %b: tensor<3x17x6xf32>) -> tensor<3x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x5x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  %product = linalg.batch_matmul ins(%a, %b : tensor<3x5x17xf32>, tensor<3x17x6xf32>) outs(%init : tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  return %product : tensor<3x5x6xf32>
}
func.func @convolution(%x: tensor<2x4x11x11xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<2x6x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x6x5x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<2x4x11x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32>
  return %y : tensor<2x6x5x5xf32>
}
func.func @depthwise(%x: tensor<2x4x11x11xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4x9x9xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x9x9xf32>) -> tensor<2x4x9x9xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<2x4x11x11xf32>, tensor<4x3x3xf32>) outs(%init : tensor<2x4x9x9xf32>) -> tensor<2x4x9x9xf32>
  return %y : tensor<2x4x9x9xf32>
}
