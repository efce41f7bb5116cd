// SPDX-License-Identifier: MIT
// A loop that ends for 0 only.
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %r = scf.while (%t = %x) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %t[] : tensor<f32>
    %goes = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%goes) %t : tensor<f32>
  } do {
  ^bb0(%t: tensor<f32>):
    %next = arith.addf %t, %x : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %r : tensor<f32>
}
