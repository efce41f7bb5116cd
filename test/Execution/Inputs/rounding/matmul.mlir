// SPDX-License-Identifier: MIT
func.func @product(%a: tensor<37x65xf32>, %b: tensor<65x70xf32>) -> tensor<37x70xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x70xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x70xf32>) -> tensor<37x70xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x65xf32>, tensor<65x70xf32>) outs(%init : tensor<37x70xf32>) -> tensor<37x70xf32>
  return %product : tensor<37x70xf32>
}
