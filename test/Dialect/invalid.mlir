// SPDX-License-Identifier: MIT
// Clauses: K3.
// RUN: numera-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{unknown family 'flaot', did you mean 'float'?}}
func.func private @a_family_is_misspelled(!numera.num<flaot<5, 7>>)

// -----

// expected-error@+1 {{'posit16' is a name, expected its spelling, posit<16,2>}}
func.func private @a_name_is_no_spelling(!numera.num<posit16>)

// -----

// expected-error@+1 {{expected '<' behind 'posit', and parameters}}
func.func private @a_family_without_parameters(!numera.num<posit>)

// -----

// expected-error@+1 {{bits is '65', expected an integer from 2 to 64}}
func.func private @a_parameter_is_out_of_range(!numera.num<posit<65, 2>>)

// -----

// expected-error@+1 {{16 exponent bits, 52 mantissa bits and a sign are 69 bits, expected at most 64}}
func.func private @the_format_is_too_wide(!numera.num<float<16, 52>>)

// -----

// expected-error@+1 {{unknown word 'fnn' of family 'float', did you mean 'fn'?}}
func.func private @a_word_is_misspelled(!numera.num<float<4, 3, fnn>>)

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @a_code_has_more_bits_than_the_format() {
  // expected-error@+1 {{code 0x10000 has more than 16 bits, the width of 'posit<16,2>'}}
  %0 = numera.constant code 0x10000 : !posit16
  return
}

// -----

!posit12 = !numera.num<posit<12, 1>>
func.func @a_code_among_many_has_more_bits_than_the_format() {
  // expected-error@+1 {{'numera.constant' op holds the code 0x1000, which has more than 12 bits, the width of 'posit<12,1>'}}
  %0 = numera.constant codes dense<[1, 0x1000]> : tensor<2xi16>
       as tensor<2x!posit12>
  return
}

// -----

!mybf16 = !numera.num<opaque<"mybf16", 16>>
func.func @an_opaque_constant_is_written_as_a_number() {
  // expected-error@+1 {{format 'opaque<"mybf16",16>' is opaque: write the code of a constant, as in 'code 0x0'}}
  %0 = numera.constant 1.0 : !mybf16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @codes_are_not_storage_integers() {
  // expected-error@+1 {{'numera.constant' op holds codes of type 'i32', but 'posit<16,2>' is stored in 'i16'}}
  %0 = numera.constant codes dense<1> : tensor<2xi32> as tensor<2x!posit16>
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @codes_have_another_shape() {
  // expected-error@+1 {{'numera.constant' op has codes of type 'tensor<3xi16>' for a result of type 'tensor<2x!numera.num<posit<16, 2>>>'}}
  %0 = numera.constant codes dense<1> : tensor<3xi16> as tensor<2x!posit16>
  return
}

// -----

func.func @storage_without_a_format(%x: i16) {
  // expected-error@+1 {{'numera.neg' op operand 0 has type 'i16', a storage integer: it needs the attribute 'format'}}
  %0 = numera.neg %x : i16
  return
}

// -----

func.func @storage_of_another_width(%x: i32) {
  // expected-error@+1 {{'numera.neg' op operand 0 has type 'i32', but format 'posit<16,2>' is stored in i16}}
  %0 = numera.neg %x {format = #numera.format<posit<16, 2>>} : i32
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @type_and_attribute_disagree(%x: !posit16) {
  // expected-error@+1 {{'numera.neg' op operand 0 has type '!numera.num<posit<16, 2>>', but format 'posit<8,2>'}}
  %0 = numera.neg %x {format = #numera.format<posit<8, 2>>} : !posit16
  return
}

// -----

func.func @too_few_operand_formats(%x: i16) {
  // expected-error@+1 {{'numera.add' op has 1 operand formats for 2 operands}}
  %0 = numera.add %x, %x {format = #numera.format<posit<16, 2>>,
    operand_formats = [#numera.format<posit<16, 2>>]} : i16
  return
}

// -----

func.func @a_cast_without_a_format(%x: i8) {
  // expected-error@+1 {{'numera.cast' op casts 'i8' to 'i16'; expected a format on one side at least}}
  %0 = numera.cast %x : i8 to i16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @a_rounding_is_misspelled(%x: !posit16) {
  // expected-error@+1 {{unknown rounding 'nearest'; expected nearest-even, nearest-away, nearest-zero, toward-zero, up, down, to-odd or stochastic}}
  %0 = numera.sqrt %x {rounding = #numera.rounding<nearest>} : !posit16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @random_bits_without_stochastic_rounding(%x: !posit16) {
  // expected-error@+1 {{'numera.sqrt' op has random_bits, which go with rounding = #numera.rounding<stochastic> alone}}
  %0 = numera.sqrt %x {rounding = #numera.rounding<up>, random_bits = 8 : i32} : !posit16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @too_many_random_bits(%x: !posit16) {
  // expected-error@+1 {{'numera.sqrt' op has random_bits 33; expected 1 to 32}}
  %0 = numera.sqrt %x {rounding = #numera.rounding<stochastic>, random_bits = 33 : i32}
    : !posit16
  return
}

// -----

!bf16 = !numera.num<float<8, 7>>
func.func @an_overflow_is_misspelled(%x: !bf16) {
  // expected-error@+1 {{unknown overflow 'saturated'; expected infinity, saturate, propagate or wrap}}
  %0 = numera.sqrt %x {overflow = #numera.overflow<saturated>} : !bf16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @a_family_has_no_overflow_rules(%x: !posit16) {
  // expected-error@+1 {{'numera.sqrt' op overflow 'saturate' is not one of family 'posit'}}
  %0 = numera.sqrt %x {overflow = #numera.overflow<saturate>} : !posit16
  return
}

// -----

!bf16 = !numera.num<float<8, 7>>
func.func @a_family_has_other_overflow_rules(%x: !bf16) {
  // expected-error@+1 {{'numera.sqrt' op overflow 'wrap' is not one of family 'float'}}
  %0 = numera.sqrt %x {overflow = #numera.overflow<wrap>} : !bf16
  return
}

// -----

!bf16 = !numera.num<float<8, 7>>
func.func @an_integer_has_no_overflow_rules(%x: !bf16) {
  // expected-error@+1 {{'numera.cast' op has an overflow, but its result is an integer}}
  %0 = numera.cast %x {overflow = #numera.overflow<wrap>} : !bf16 to i32
  return
}

// -----

func.func @formats_differ_in_a_comparison(%x: i8, %y: i8) {
  // expected-error@+1 {{'numera.cmp' op compares 'posit<8,2>' with 'float<4,3,fn>'; cast one of them first}}
  %0 = numera.cmp olt, %x, %y {
    operand_formats = [#numera.format<posit<8, 2>>,
                       #numera.format<float<4, 3, fn>>]} : i8
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @types_in_parentheses_are_too_few(%x: !posit16) {
  // expected-error@+1 {{expected one type, or 2 operand types in parentheses}}
  %0 = numera.add %x, %x : (!posit16) -> !posit16
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @shapes_differ(%x: tensor<2x!posit16>, %y: tensor<3x!posit16>) {
  // expected-error@+1 {{'numera.add' op requires the same shape for all operands and results}}
  %0 = numera.add %x, %y
    : (tensor<2x!posit16>, tensor<3x!posit16>) -> tensor<2x!posit16>
  return
}

// -----

func.func @an_element_is_no_number_of_a_format(%x: i3) {
  // expected-error@+1 {{'numera.neg' op operand #0 must be number-like, but got 'i3'}}
  %0 = numera.neg %x : i3
  return
}

// -----

!stochastic = !numera.num<posit<16, 2, stochastic>>
func.func @random_bits_are_missing(%x: !stochastic) {
  // expected-error@+1 {{'numera.add' op rounds stochastically; expected random bits, as in 'random %r'}}
  %0 = numera.add %x, %x : !stochastic
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @random_bits_are_not_wanted(%x: !posit16, %r: i32) {
  // expected-error@+1 {{'numera.add' op has random bits, but does not round stochastically}}
  %0 = numera.add %x, %x random %r : !posit16
  return
}

// -----

!stochastic = !numera.num<posit<16, 2, stochastic>>
func.func @an_exact_operation_draws_nothing(%x: !stochastic, %r: i32) {
  // expected-error@+1 {{'numera.neg' op has random bits, but does not round stochastically}}
  %0 = numera.neg %x random %r : !stochastic
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @a_product_draws_as_well(%x: !posit16, %acc: f32) {
  // expected-error@+1 {{'numera.mac' op rounds its product stochastically, which takes a draw of its own; expected a mul and an add}}
  %0 = numera.mac %x, %x, %acc {product = #numera.format<posit<16, 2, stochastic>>} : (!posit16, !posit16, f32) -> f32
  return
}

// -----

!posit16 = !numera.num<posit<16, 2>>
func.func @a_mul_of_the_product_draws(%x: !posit16, %acc: f32) {
  // expected-error@+1 {{'numera.mac' op rounds its product stochastically, which takes a draw of its own; expected a mul and an add}}
  %0 = numera.mac %x, %x, %acc {product = #numera.format<posit<16, 2, mul.rounding=stochastic>>} : (!posit16, !posit16, f32) -> f32
  return
}

// -----

func.func @too_many_bits_are_drawn(%x: i64) {
  // expected-error@+1 {{'numera.random' op draws 33 bits; expected 1 to 32}}
  %0 = numera.random %x, %x, %x, %x id 1 bits 33
  return
}
