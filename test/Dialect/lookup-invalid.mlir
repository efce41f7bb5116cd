// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: i8) -> i8 {
  // expected-error @+1 {{'numera.lookup' op has a table of 'i16' and a result of 'i8'}}
  %r = numera.lookup %x in dense<0> : tensor<256xi16> : i8 to i8
  return %r : i8
}

// -----

func.func @f(%x: i8) -> i8 {
  // expected-error @+1 {{'numera.lookup' op has a table of 12 elements for an operand of 8 bits; expected a power of two up to 256}}
  %r = numera.lookup %x in dense<0> : tensor<12xi8> : i8 to i8
  return %r : i8
}

// -----

func.func @f(%x: i8) -> i8 {
  // expected-error @+1 {{'numera.lookup' op has a table of 512 elements for an operand of 8 bits; expected a power of two up to 256}}
  %r = numera.lookup %x in dense<0> : tensor<512xi8> : i8 to i8
  return %r : i8
}

// -----

func.func @f(%x: i8, %y: i8) -> i8 {
  // expected-error @+1 {{'numera.lookup' op has 2 operands and a table of 1 dimensions; expected one or two of each}}
  %r = numera.lookup %x, %y in dense<0> : tensor<256xi8> : i8, i8 to i8
  return %r : i8
}

// -----

func.func @f(%x: i16, %y: i8) -> i8 {
  // expected-error @+1 {{'numera.lookup' op has a table of 131072 elements; expected at most 65536}}
  %r = numera.lookup %x, %y in dense<0> : tensor<65536x2xi8> : i16, i8 to i8
  return %r : i8
}
