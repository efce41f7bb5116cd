// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --verify-diagnostics --numera-count-status-flags

!f8 = !numera.num<float<4, 3, fn>>

func.func @in_another_operation(%x: tensor<4x!f8>) -> tensor<4x!f8> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %v = tensor.extract %x[%i] : tensor<4x!f8>
    // expected-error@+1 {{status flags of 'numera.exp' cannot be counted inside of another operation; expected operations on tensors, in bodies of linalg, and in scf.if, scf.for and scf.while}}
    %e = numera.exp %v : !f8
    tensor.yield %e : !f8
  } : tensor<4x!f8>
  return %r : tensor<4x!f8>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

func.func @on_vectors(%x: vector<4x!f8>) -> vector<4x!f8> {
  // expected-error@+1 {{status flags of 'numera.exp' cannot be counted on vectors; expected operations on tensors, in bodies of linalg, and in scf.if, scf.for and scf.while}}
  %e = numera.exp %x : vector<4x!f8>
  return %e : vector<4x!f8>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

func.func @operands_and_formats_differ(%x: !f8) -> i8 {
  // expected-error@+1 {{'numera.status_flags' op has 1 operands; 'add' takes 2}}
  %e = numera.status_flags "add"(%x) gives %x {format = #numera.format<float<4, 3, fn>>, operand_formats = [#numera.format<float<4, 3, fn>>]} : (!f8, !f8) -> i8
  return %e : i8
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

func.func @of_nothing(%x: !f8) -> i8 {
  // expected-error@+1 {{'numera.status_flags' op of 'addition', which is not an operation of the dialect}}
  %e = numera.status_flags "addition"(%x) gives %x {format = #numera.format<float<4, 3, fn>>, operand_formats = [#numera.format<float<4, 3, fn>>]} : (!f8, !f8) -> i8
  return %e : i8
}
