// SPDX-License-Identifier: MIT
func.func @started(%a: tensor<9x65xf32>, %b: tensor<65x21xf32>, %c: tensor<9x21xf32>) -> tensor<9x21xf32> {
  %product = linalg.matmul ins(%a, %b : tensor<9x65xf32>, tensor<65x21xf32>) outs(%c : tensor<9x21xf32>) -> tensor<9x21xf32>
  return %product : tensor<9x21xf32>
}
