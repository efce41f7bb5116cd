// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit16' -split-input-file -verify-diagnostics
// RUN: not numera-opt %s --numera-retype='to=posti16' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not numera-opt %s --numera-retype='to=float<4,3,stochastic,mac.truncate-operands=1> accumulate=same' 2>&1 | FileCheck %s --check-prefix=SAME

// NAME: error: unknown format 'posti16', did you mean 'posit16'?
// SAME: error: accumulate 'same' rounds products stochastically, each by a mul and an add: 'float<4,3,stochastic,mac.truncate-operands=1>' changes 'mac', expected changes of 'mul' and 'add'

func.func @an_operation_has_no_counterpart(%x: f32, %i: i32) -> f32 {
  // expected-error@+1 {{'math.fpowi' has no counterpart in the numera dialect}}
  %0 = math.fpowi %x, %i : f32, i32
  return %0 : f32
}

// -----

func.func @a_constant_has_no_elements() -> tensor<2xf32> {
  // expected-error@+1 {{'arith.constant' of type 'tensor<2xf32>' has no dense elements, which retyping encodes; expected dense<...>}}
  %0 = arith.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @the_bits_of_a_float_are_asked_for(%x: f32) -> i32 {
  // expected-error@+1 {{'arith.bitcast' has no counterpart in the numera dialect}}
  %0 = arith.bitcast %x : f32 to i32
  return %0 : i32
}
