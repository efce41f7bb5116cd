// SPDX-License-Identifier: MIT
func.func private @abs(%x: i32) -> i32 {
  %c = arith.constant 100 : i32
  %y = arith.addi %x, %c : i32
  return %y : i32
}
func.func private @fabsf(%x: f32) -> f32 {
  %c = arith.constant 2.0 : f32
  %y = arith.mulf %x, %c : f32
  return %y : f32
}
func.func @f(%x: tensor<i32>, %z: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %a = tensor.extract %x[] : tensor<i32>
  %b = func.call @abs(%a) : (i32) -> i32
  %t = tensor.from_elements %b : tensor<i32>
  %az = tensor.extract %z[] : tensor<f32>
  %bz = func.call @fabsf(%az) : (f32) -> f32
  %tz = tensor.from_elements %bz : tensor<f32>
  return %t, %tz : tensor<i32>, tensor<f32>
}
