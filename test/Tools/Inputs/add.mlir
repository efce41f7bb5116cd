// SPDX-License-Identifier: MIT
func.func @add(%x: tensor<4xf32> {numera.name = "x"},
               %y: tensor<4xf32> {numera.name = "y"})
    -> (tensor<4xf32> {numera.name = "sum"}) {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
