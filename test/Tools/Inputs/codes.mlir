// SPDX-License-Identifier: MIT
// Integers of 16 bits, which may be the codes of a format.
func.func @codes(%x: tensor<4xi16> {numera.name = "x"})
    -> (tensor<4xi16> {numera.name = "same"}) {
  %0 = arith.addi %x, %x : tensor<4xi16>
  return %0 : tensor<4xi16>
}
