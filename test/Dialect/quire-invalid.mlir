// SPDX-License-Identifier: MIT
// Clauses: Q3.
// RUN: numera-opt %s -split-input-file -verify-diagnostics
// RUN: not numera-opt %s -split-input-file --numera-lower-ops 2>&1 | FileCheck %s
// CHECK: error: an operation on '!numera.quire<posit<16, 2>>' cannot become calls; numera-lower-types comes first
// CHECK: error: an operation on 'tensor<2xi256>' cannot become calls; turn it into linalg on scalars first (numera-lower does)

// expected-error@+1 {{format 'float<12,20>' has no quire: it would have 8384 bits, more than 4352}}
func.func private @too_wide(!numera.quire<float<12, 20>>)

// -----

// expected-error@+1 {{format 'mybf16' has no quire: expected 'accumulator: {storage: BYTES, mac: SYMBOL, round: SYMBOL}' in its entry}}
func.func private @opaque(!numera.quire<opaque<"mybf16", 16>>)

// -----

func.func @a_value_of_another_format(%x: f32, %q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{'numera.quire_add' op operand 1 has type 'f32', expected format 'posit<16,2>'}}
  %0 = numera.quire_add %q, %x : !numera.quire<posit<16, 2>>, f32
  return
}

// -----

func.func @factors_of_another_format(%x: i16, %q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{'numera.quire_mac' op operand 0 has type 'i16', expected format 'posit<16,2>'}}
  %0 = numera.quire_mac %x, %x, %q : i16, !numera.quire<posit<16, 2>>
  return
}

// -----

func.func @storage_without_a_format(%q: i256) {
  // expected-error@+1 {{'numera.quire_neg' op has a quire of type 'i256', a storage integer: it needs the attribute 'format'}}
  %0 = numera.quire_neg %q : i256
  return
}

// -----

func.func @storage_of_another_size(%q: i128) {
  // expected-error@+1 {{'numera.quire_neg' op has a quire of type 'i128', but that of 'posit<16,2>' is stored in 'i256'}}
  %0 = numera.quire_neg %q {format = #numera.format<posit<16, 2>>} : i128
  return
}

// -----

func.func @storage_of_no_quire(%q: i128) {
  // expected-error@+1 {{'numera.quire_neg' op format 'float<12,20>' has no quire: it would have 8384 bits, more than 4352}}
  %0 = numera.quire_neg %q {format = #numera.format<float<12, 20>>} : i128
  return
}

// -----

func.func @two_formats(%q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{'numera.quire_neg' op has a quire of 'posit<16,2>', but format 'posit<8,2>'}}
  %0 = numera.quire_neg %q {format = #numera.format<posit<8, 2>>} : !numera.quire<posit<16, 2>>
  return
}

// -----

func.func @rounding(%q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{unknown rounding 'sideways'; expected}}
  %0 = numera.quire_round %q {rounding = #numera.rounding<sideways>} : !numera.quire<posit<16, 2>> to f32
  return
}

// -----

func.func @no_random_bits(%q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{'numera.quire_round' op rounds stochastically; expected random bits, as in 'random %r'}}
  %0 = numera.quire_round %q {rounding = #numera.rounding<stochastic>} : !numera.quire<posit<16, 2>> to f32
  return
}

// -----

func.func @random_bits_for_nothing(%q: !numera.quire<posit<16, 2>>, %r: i32) {
  // expected-error@+1 {{'numera.quire_round' op has random bits, but does not round stochastically}}
  %0 = numera.quire_round %q random %r : !numera.quire<posit<16, 2>> to f32
  return
}

// -----

func.func @an_opaque_result(%q: !numera.quire<posit<16, 2>>) {
  // expected-error@+1 {{'numera.quire_round' op rounds to 'opaque<"x",16>', which is opaque: expected a format with arithmetic}}
  %0 = numera.quire_round %q : !numera.quire<posit<16, 2>> to !numera.num<opaque<"x", 16>>
  return
}

// -----

func.func @a_result_of_another_size(%q: i256) {
  // expected-error@+1 {{'numera.quire_round' op result has type 'i8', expected format 'posit<16,2>'}}
  %0 = numera.quire_round %q {format = #numera.format<posit<16, 2>>} : i256 to i8
  return
}

// -----

// Not errors until they are to be calls.
func.func @a_value(%q: !numera.quire<posit<16, 2>>) -> !numera.quire<posit<16, 2>> {
  %0 = numera.quire_neg %q : !numera.quire<posit<16, 2>>
  return %0 : !numera.quire<posit<16, 2>>
}

// -----

func.func @a_tensor(%q: tensor<2xi256>) -> tensor<2xi256> {
  %0 = numera.quire_neg %q {format = #numera.format<posit<16, 2>>} : tensor<2xi256>
  return %0 : tensor<2xi256>
}

// -----

func.func @a_word_too_many(%q: !numera.quire<posit<16, 2>>) -> i64 {
  // expected-error@+1 {{'numera.quire_word' op reads word 4, but a quire of 'posit<16,2>' has 4}}
  %0 = numera.quire_word %q[4] : !numera.quire<posit<16, 2>>
  return %0 : i64
}

// -----

func.func @words_that_are_missing(%w: i64) -> !numera.quire<posit<16, 2>> {
  // expected-error@+1 {{number of operands and types do not match: got 2 operands and 4 types}}
  %0 = numera.quire_from_words %w, %w : !numera.quire<posit<16, 2>>
  return %0 : !numera.quire<posit<16, 2>>
}
