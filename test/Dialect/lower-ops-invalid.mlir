// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-ops='target=cpu' --formats=%S/Inputs/library.yaml -split-input-file -verify-diagnostics
// RUN: echo 'module {}' | not numera-opt --numera-lower-ops='target=gpu' 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: unknown target 'gpu'; expected cpu or nvptx

#mybf16 = #numera.format<opaque<"mybf16", 16>>
func.func @an_operation_is_not_registered(%x: i16) -> i16 {
  // expected-error@+1 {{no lowering for 'mul' in format 'mybf16' on target 'cpu'; register one under 'lowerings:': - {op: mul, format: mybf16, target: cpu, call: SYMBOL}}}
  %0 = numera.mul %x, %x {format = #mybf16} : i16
  return %0 : i16
}

// -----

#mybf16 = #numera.format<opaque<"mybf16", 16>>
func.func @a_cast_is_not_registered(%x: f64) -> i16 {
  // expected-error@+1 {{no lowering for 'cast' from 'f64' to 'mybf16' on target 'cpu'; register one under 'lowerings:': - {op: cast, from: f64, to: mybf16, target: cpu, call: SYMBOL}}}
  %0 = numera.cast %x {format = #mybf16,
                       operand_formats = [#numera.format<float<11, 52>>]}
    : f64 to i16
  return %0 : i16
}

// -----

#mybf16 = #numera.format<opaque<"mybf16", 16>>
func.func @a_cast_to_an_unsigned_integer_is_not_registered(%x: i16) -> i8 {
  // expected-error@+1 {{no lowering for 'cast' from 'mybf16' to 'i8' on target 'cpu'; register one under 'lowerings:': - {op: cast, from: mybf16, to: u8, target: cpu, call: SYMBOL}}}
  %0 = numera.cast unsigned %x {format = i8, operand_formats = [#mybf16]}
    : i16 to i8
  return %0 : i8
}

// -----

#mybf16 = #numera.format<opaque<"mybf16", 16>>
func.func @a_predicate_is_not_registered(%x: i16) -> i1 {
  // expected-error@+1 {{no lowering for 'cmp' in format 'mybf16' on target 'cpu'; register one under 'lowerings:': - {op: cmp, format: mybf16, predicate: ogt, target: cpu, call: SYMBOL}}}
  %0 = numera.cmp ogt, %x, %x {format = #mybf16} : i16
  return %0 : i1
}

// -----

#mybf16 = #numera.format<opaque<"mybf16", 16>>
#posit16 = #numera.format<posit<16, 2>>
func.func @formats_mix_with_an_opaque_one(%x: i16, %y: i16) -> i16 {
  // expected-error@+1 {{no lowering for 'add' in format 'posit16' on target 'cpu'; register one under 'lowerings:': - {op: add, operands: [mybf16, posit16], result: posit16, target: cpu, call: SYMBOL}}}
  %0 = numera.add %x, %y {format = #posit16,
                          operand_formats = [#mybf16, #posit16]} : i16
  return %0 : i16
}

// -----

func.func @an_operation_is_on_tensors(%x: tensor<4xi16>) -> tensor<4xi16> {
  // expected-error@+1 {{an operation on 'tensor<4xi16>' cannot become calls; turn it into linalg on scalars first (numera-lower does)}}
  %0 = numera.neg %x {format = #numera.format<posit<16, 2>>} : tensor<4xi16>
  return %0 : tensor<4xi16>
}
