// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower='target=cpu' --formats=%S/Inputs/library.yaml -split-input-file -verify-diagnostics
// RUN: numera-opt %s --numera-lower --formats=%S/Inputs/library.yaml -split-input-file -verify-diagnostics

!mybf16 = !numera.num<opaque<"mybf16", 16>>
func.func @an_operation_on_tensors_has_no_lowering(%x: tensor<4x!mybf16>)
    -> tensor<4x!mybf16> {
  // expected-error@+1 {{no lowering for 'sqrt' in format 'mybf16' on target 'cpu'; register one under 'lowerings:': - {op: sqrt, format: mybf16, target: cpu, call: SYMBOL}}}
  %0 = numera.sqrt %x : tensor<4x!mybf16>
  return %0 : tensor<4x!mybf16>
}

// -----

!mybf16 = !numera.num<opaque<"mybf16", 16>>
func.func @formats_without_a_cast(%x: !mybf16) -> !numera.num<posit<16, 2>> {
  // expected-error@+1 {{no lowering for 'cast' from 'mybf16' to 'posit16' on target 'cpu'; register one under 'lowerings:': - {op: cast, from: mybf16, to: posit16, target: cpu, call: SYMBOL}}}
  %0 = numera.cast %x : !mybf16 to !numera.num<posit<16, 2>>
  return %0 : !numera.num<posit<16, 2>>
}

// -----

// A function registered for one rounding is none for another.
!mybf16 = !numera.num<opaque<"mybf16", 16>>
func.func @a_rounding_has_no_lowering(%x: !mybf16, %r: i32) -> !mybf16 {
  // expected-error@+1 {{no lowering for 'add' in format 'mybf16' with rounding 'stochastic' on target 'cpu'; register one under 'lowerings:': - {op: add, format: mybf16, rounding: stochastic, target: cpu, call: SYMBOL}}}
  %0 = numera.add %x, %x random %r {rounding = #numera.rounding<stochastic>} : !mybf16
  return %0 : !mybf16
}
