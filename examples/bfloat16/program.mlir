// SPDX-License-Identifier: MIT
// x + y in bfloat: in as f32, out as f32.

!bfloat = !numera.num<opaque<"bfloat", 16>>

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = numera.cast %x : tensor<4xf32> to tensor<4x!bfloat>
  %b = numera.cast %y : tensor<4xf32> to tensor<4x!bfloat>
  %sum = numera.add %a, %b : tensor<4x!bfloat>
  %result = numera.cast %sum : tensor<4x!bfloat> to tensor<4xf32>
  return %result : tensor<4xf32>
}
