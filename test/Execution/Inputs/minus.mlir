// SPDX-License-Identifier: MIT
func.func @minus(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = math.absf %x : tensor<64xf32>
  %b = arith.subf %x, %a : tensor<64xf32>
  return %b : tensor<64xf32>
}
