// SPDX-License-Identifier: MIT
#id = affine_map<(i) -> (i)>
func.func @clamp(%x: tensor<256xf32>, %bias: tensor<256xf32>)
    -> tensor<256xf32> {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 6.0 : f32
  %empty = tensor.empty() : tensor<256xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id],
                            iterator_types = ["parallel"]}
      ins(%x, %bias : tensor<256xf32>, tensor<256xf32>)
      outs(%empty : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    %more = arith.maximumf %sum, %low : f32
    %less = arith.minimumf %more, %high : f32
    linalg.yield %less : f32
  } -> tensor<256xf32>
  return %result : tensor<256xf32>
}
