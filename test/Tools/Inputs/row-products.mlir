// SPDX-License-Identifier: MIT
// Rows that do not need each other, but where they share a scale.
func.func @main(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[0.3, -0.7, 1.1], [0.9, 0.1, -0.2]]> : tensor<2x3xf32>
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x3xf32>)
      outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32> loc("product")
  return %y : tensor<?x3xf32>
}
