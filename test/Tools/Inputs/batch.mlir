// SPDX-License-Identifier: MIT
// A batch of four, a dynamic one, and a dimension that is no batch: the import
// names a batch's tensors, and nobody names these.
func.func @four(%x: tensor<4x2xf32> {numera.name = "x"},
                %w: tensor<4x2xf32> {numera.name = "w"})
    -> (tensor<4x2xf32> {numera.name = "a/b"},
        tensor<4x2xf32> {numera.name = "product"}) {
  %0 = arith.addf %x, %w : tensor<4x2xf32>
  %1 = arith.mulf %x, %w : tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}
func.func @any(%x: tensor<?x2xf32> {numera.name = "x"})
    -> (tensor<?x2xf32> {numera.name = "twice"}) {
  %0 = arith.addf %x, %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
func.func @whole(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = arith.addf %x, %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
