// SPDX-License-Identifier: MIT
// RUN: numera-opt %s -split-input-file -verify-diagnostics -numera-expand-scales

// expected-error@+1 {{scales along axis 2 of a tensor of rank 2}}
func.func private @axis(tensor<4x8x!numera.num<float<4, 3, fn>>, #numera.scaling<floor, float<8, 0, fnu>, axis = 2, block = 4>>)

// -----

// expected-error@+1 {{a scaled tensor has elements of type 'f32'; expected a '!numera.num'}}
func.func private @element(tensor<4xf32, #numera.scaling<range, float<8, 23>>>)

// -----

// expected-error@+1 {{blocks of 1 elements; expected 2 or more, along an axis}}
func.func private @block(tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<floor, float<8, 0, fnu>, axis = 0, block = 1>>)

// -----

// expected-error@+1 {{rule 'range' is for 'scaled' with scale f32}}
func.func private @rule(tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 0, fnu>>>)

// -----

// expected-error@+1 {{unknown rule 'flor'}}
func.func private @word(tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<flor, float<8, 0, fnu>>>)

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>, axis = 0>>
func.func @scales(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{is given scales of type 'tensor<f32>'; expected 'tensor<4xf32>'}}
  %q = numera.quantize %x scales %s : tensor<4xf32>, tensor<f32> to !q
  return
}

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<"min-max", float<8, 23>>>
func.func @zeros(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{rule 'min-max' has zero points beside them; expected both}}
  %q = numera.quantize %x scales %s : tensor<4xf32>, tensor<f32> to !q
  return
}

// -----

// expected-error@+1 {{rule 'min-max' makes zero points, for 'scaled' with integers of up to 16 bits and scale f32}}
func.func private @float(tensor<4x!numera.num<float<4, 3, fn>>, #numera.scaling<"min-max", float<8, 23>>>)

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>, axis = 0>>
func.func @add(%x: tensor<4xf32>) {
  %q = numera.quantize %x : tensor<4xf32> to !q
  // expected-error@+1 {{expected one with rule 'range'}}
  %s = numera.scaled_add %q, %q : !q
  return
}

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>
// expected-error@+1 {{a scaled tensor crosses the boundary of 'boundary'; numera-decompose-scaled-signatures passes its parts instead}}
func.func @boundary(%x: !q) {
  return
}

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>
// expected-error@+1 {{a block of 'func.func' takes 'tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>', a scaled tensor; dequantize it first, or carry it in a loop of scf, whose parts numera-decompose-scaled-signatures carries}}
func.func @blocks(%x: tensor<4xf32>) {
  %q = numera.quantize %x : tensor<4xf32> to !q
  cf.br ^bb1(%q : !q)
^bb1(%r: !q):
  cf.br ^bb1(%r : !q)
}

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>
func.func @parts(%e: tensor<4x!numera.num<fixed<7, 0>>>) {
  // expected-error@+1 {{has parts of type}}
  %q = numera.scaled_from_parts %e : (tensor<4x!numera.num<fixed<7, 0>>>) -> !q
  return
}

// -----

!q = tensor<4x!numera.num<fixed<8, 0, unsigned>>, #numera.scaling<"min-max", float<8, 23>>>
func.func @zeros(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{is given scales, and rule 'min-max' has zero points beside them; expected both}}
  %q = numera.quantize %x scales %s : tensor<4xf32>, tensor<f32> to !q
  return
}

// -----

!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>
func.func @foreign(%x: tensor<4xf32>) -> tensor<2x!numera.num<fixed<7, 0>>> {
  %q = numera.quantize %x : tensor<4xf32> to !q
  // expected-error@+1 {{'tensor.extract_slice' takes a scaled tensor, which no scales are known for; dequantize it first}}
  %s = tensor.extract_slice %q[0] [2] [1] : !q to tensor<2x!numera.num<fixed<7, 0>>>
  return %s : tensor<2x!numera.num<fixed<7, 0>>>
}

// -----

// expected-error@+1 {{rule 'even' rounds to the precision of an element, and 'float<8,0,fnu>' has 1 significant bit; expected floor, ceil, round-up-ceil or absmax}}
func.func private @even(tensor<4x!numera.num<float<8, 0, fnu>>, #numera.scaling<even, float<8, 0, fnu>>>)

// -----

// Comparing gives bits, which share no scales.
!q = tensor<4x!numera.num<fixed<7, 0>>, #numera.scaling<range, float<8, 23>>>
func.func @compare(%x: tensor<4xf32>) -> tensor<4xi1> {
  %q = numera.quantize %x : tensor<4xf32> to !q
  // expected-error@+1 {{'numera.cmp' takes a scaled tensor, which no scales are known for; dequantize it first}}
  %c = numera.cmp olt, %q, %q : !q
  return %c : tensor<4xi1>
}

// -----

// expected-error@+1 {{undefined symbol alias id 'unknown'}}
func.func private @unknown_element(tensor<4x!unknown, #numera.scaling<range, float<8, 23>>>)
