// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit16' -split-input-file -verify-diagnostics
// RUN: not numera-opt %s --numera-retype='to=posti16' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not numera-opt %s --numera-retype='replace=f32,bfloat' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not numera-opt %s --numera-retype='to=float<4,3,stochastic,mac.truncate-operands=1> accumulate=same' 2>&1 | FileCheck %s --check-prefix=SAME

// NAME: error: unknown format 'posti16', did you mean 'posit16'?
// TYPE: error: unknown float type 'bfloat', expected one of MLIR's: f64 f32 tf32 f16 bf16 f8E4M3FN f8E5M2 f8E4M3 f8E3M4 f8E4M3FNUZ f8E5M2FNUZ f6E3M2FN f6E2M3FN f4E2M1FN f8E8M0FNU
// SAME: error: accumulate 'same' rounds products stochastically, each by a mul and an add: 'float<4,3,stochastic,mac.truncate-operands=1>' changes 'mac', expected changes of 'mul' and 'add'

func.func @an_operation_has_no_counterpart(%x: f32) -> i1 {
  // expected-error@+1 {{'math.isnormal' has no counterpart in the numera dialect}}
  %0 = math.isnormal %x : f32
  return %0 : i1
}

// -----

func.func @an_exponent_is_no_number_of_f64(%x: f32, %i: i64) -> f32 {
  // expected-error@+1 {{'math.fpowi' has no counterpart in the numera dialect}}
  %0 = math.fpowi %x, %i : f32, i64
  return %0 : f32
}

// -----

func.func @codes_have_no_parts(%x: vector<4xf32>) -> vector<8xi16> {
  // expected-error@+1 {{'vector.bitcast' on numbers has no counterpart in the numera dialect; write it with operations of arith, math, linalg and tensor}}
  %0 = vector.bitcast %x : vector<4xf32> to vector<8xi16>
  return %0 : vector<8xi16>
}

// -----

func.func @vectors_in_a_tensor(%x: tensor<3xvector<2xf32>>, %i: index) -> vector<2xf32> {
  // expected-error@+1 {{'tensor.extract' is on 'tensor<3xvector<2xf32>>', whose elements are vectors, which cannot be retyped; expected elements of one number}}
  %0 = tensor.extract %x[%i] : tensor<3xvector<2xf32>>
  return %0 : vector<2xf32>
}

// -----

func.func @the_bits_of_one_type_are_those_of_another(%x: f16) -> bf16 {
  // expected-error@+1 {{'arith.bitcast' has no counterpart in the numera dialect}}
  %0 = arith.bitcast %x : f16 to bf16
  return %0 : bf16
}

// -----

func.func @a_type_is_no_format(%x: f80) -> f80 {
  // expected-error@+1 {{'arith.addf' is on 'f80', which cannot be retyped there; expected f32}}
  %0 = arith.addf %x, %x : f80
  return %0 : f80
}

// -----

// expected-error@+1 {{'memref.global' is on 'bf16', which cannot be retyped there; expected f32}}
memref.global "private" constant @g : memref<2xbf16> = dense<1.0>

// -----

// Lowered already: formats stand in attributes.
func.func @lowered(%x: i16) -> f32 {
  // expected-error@+1 {{'numera.cast' has been lowered, and is on 'f32', which cannot become '!numera.num<posit<16, 2>>'; compile it without a format, or the model that it was made from}}
  %0 = numera.cast %x {format = #numera.format<float<8, 23>>, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to f32
  return %0 : f32
}

// -----

func.func @parts_of_complex_numbers(%x: f32) -> f32 {
  // expected-error@+1 {{'complex.create' is on 'complex<f32>', whose parts cannot be retyped there; keep and pass real and imaginary parts as two values}}
  %0 = complex.create %x, %x : complex<f32>
  %1 = complex.re %0 : complex<f32>
  return %1 : f32
}

// -----

func.func @a_loop_of_affine_reduces(%x: f32) -> f32 {
  // expected-error@+1 {{'affine.parallel' reduces numbers, which cannot be retyped; expected scf.parallel, as numera-decompose makes it}}
  %0 = affine.parallel (%i) = (0) to (8) reduce ("addf") -> (f32) {
    affine.yield %x : f32
  }
  return %0 : f32
}
