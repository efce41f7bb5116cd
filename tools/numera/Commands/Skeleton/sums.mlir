// SPDX-License-Identifier: MIT
// x y + x in @NAME@: in as f32, out as f32.
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %product = arith.mulf %x, %y : tensor<?xf32>
  %sum = arith.addf %product, %x : tensor<?xf32>
  return %sum : tensor<?xf32>
}
