// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-decompose -split-input-file -verify-diagnostics

ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
func.func @a_global_changes() -> tensor<2xf32> {
  // expected-error@+1 {{'ml_program.global_load' is no operation of a model; expected 'ml_program.global_load_const', and functions of func}}
  %0 = ml_program.global_load @w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func @a_global_is_elsewhere() -> tensor<2xf32> {
  // expected-error@+1 {{'ml_program.global_load_const' reads @w, which has no elements of type 'tensor<2xf32>'; expected a global that has its elements, as in dense<...>}}
  %0 = ml_program.global_load_const @w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @a_tile_is_not_known(%a: tensor<?xf32>, %e: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  // expected-error@+1 {{'linalg.pack' cannot be decomposed: its tiles or sizes are not known, or are not divisors without a padding value; write it as tensor.pad, tensor.expand_shape and linalg.transpose}}
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [%n] into %e : tensor<?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @bits_of_a_complex_number(%x: i64) -> complex<f32> {
  // expected-error@+1 {{'complex.bitcast' on complex numbers is not compiled; write it on their parts (complex.re, complex.im)}}
  %0 = complex.bitcast %x : i64 to complex<f32>
  return %0 : complex<f32>
}
