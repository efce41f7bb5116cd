// SPDX-License-Identifier: MIT
// Clauses: R2 R7 C8.
// RUN: numera-opt %s | numera-opt | FileCheck %s --check-prefix=SAME
// RUN: numera-opt %s --numera-simplify | FileCheck %s --check-prefix=FOLD
// RUN: numera-opt %s --numera-lower | FileCheck %s --check-prefix=LOWER

// Of f8E4M3FN 240 * 2 and 1.75 * 1.75 are between two codes or beyond the last.
!f8 = !numera.num<float<4, 3, fn>>
!cut = !numera.num<float<4, 3, fn, "mul.truncate-operands=2">>
!other = !numera.num<float<4, 3, fn, "mul.rounding=toward-zero",
                           mul.overflow=infinity>>

!wide = !numera.num<float<8, 23, "mac.truncate-operands=4",
                          "add.truncate-operands=1">>
!step = !numera.num<float<4, 3, fn, "mac.truncate-operands=2">>

// What an operation says itself goes before its format.
// SAME-LABEL: @an_operation_has_its_own_rules
// SAME: numera.mul %{{.*}}, %{{.*}} random %{{.*}} {overflow = #numera.overflow<infinity>, random_bits = 8 : i32, rounding = #numera.rounding<stochastic>} : !f8E4M3FN
// The parameters are exponent, mantissa, bias, specials, subnormals, signed,
// overflow, and then the rounding: stochastic is 7, with 8 << 8 for the bits.
// LOWER-LABEL: @an_operation_has_its_own_rules
// LOWER-DAG: %[[INFINITY:.*]] = arith.constant 0 : i32
// LOWER-DAG: %[[STOCHASTIC:.*]] = arith.constant 2055 : i32
// LOWER: call @numera_float_mul_8({{.*}}, %[[INFINITY]], %[[STOCHASTIC]], %{{.*}})
func.func @an_operation_has_its_own_rules(%x: !f8, %r: i32) -> !f8 {
  %0 = numera.mul %x, %x random %r {rounding = #numera.rounding<stochastic>,
                                    random_bits = 8 : i32,
                                    overflow = #numera.overflow<infinity>} : !f8
  return %0 : !f8
}

// FOLD-LABEL: @overflow_is_decided_by_the_operation
// FOLD-DAG: %[[MAX:.*]] = numera.constant 448.0 : !f8E4M3FN
// FOLD-DAG: %[[NAN:.*]] = numera.constant code 0x7f : !f8E4M3FN
// FOLD: return %[[MAX]], %[[NAN]]
func.func @overflow_is_decided_by_the_operation() -> (!f8, !f8) {
  %x = numera.constant 240.0 : !f8
  %0 = numera.mul %x, %x : !f8
  %1 = numera.mul %x, %x {overflow = #numera.overflow<infinity>} : !f8
  return %0, %1 : !f8, !f8
}

// 1.875 without its last two bits is 1.5; 1.5 * 1.5 = 2.25. Without the change
// 1.875 * 1.875 = 3.515625, which goes to 3.5.
// FOLD-LABEL: @operands_are_cut_first
// FOLD-DAG: %[[CUT:.*]] = numera.constant 2.25 : !float_4_3_fn_mul_truncate_operands_2
// FOLD-DAG: %[[SUM:.*]] = numera.constant 3.75 : !float_4_3_fn_mul_truncate_operands_2
// FOLD: return %[[CUT]], %[[SUM]]
// LOWER-LABEL: @a_cut_is_a_call
// LOWER: %[[X:.*]] = call @numera_float_truncate_8(%arg0,
// LOWER: %[[Y:.*]] = call @numera_float_truncate_8(%arg1,
// LOWER: call @numera_float_mul_8(%[[X]], %[[Y]],
// LOWER-NOT: truncate
// LOWER: call @numera_float_add_8
func.func @operands_are_cut_first() -> (!cut, !cut) {
  %x = numera.constant 1.875 : !cut
  %0 = numera.mul %x, %x : !cut
  %1 = numera.add %x, %x : !cut
  return %0, %1 : !cut, !cut
}
func.func @a_cut_is_a_call(%x: !cut, %y: !cut) -> !cut {
  %0 = numera.mul %x, %y : !cut
  %1 = numera.add %0, %y : !cut
  return %1 : !cut
}

// 1.125 * 1.625 = 1.828125 is between 1.75 and 1.875, nearer to the latter.
// FOLD-LABEL: @an_operation_of_a_format_has_its_own_rules
// FOLD-DAG: %[[LOW:.*]] = numera.constant 1.75 : !float_4_3_fn_mul_rounding
// FOLD-DAG: %[[NAN:.*]] = numera.constant code 0x7f : !float_4_3_fn_mul_rounding
// FOLD-DAG: %[[HIGH:.*]] = numera.constant 1.875 : !float_4_3_fn_mul_rounding
// FOLD: return %[[LOW]], %[[NAN]], %[[HIGH]]
func.func @an_operation_of_a_format_has_its_own_rules()
    -> (!other, !other, !other) {
  %x = numera.constant 1.125 : !other
  %y = numera.constant 1.625 : !other
  %z = numera.constant -0.0 : !other
  %m = numera.constant 448.0 : !other
  %0 = numera.mul %x, %y : !other
  %2 = numera.fma %x, %y, %z : !other
  %inf = numera.constant 448.0 : !other
  %1 = numera.mul %m, %inf {rounding = #numera.rounding<up>} : !other
  return %0, %1, %2 : !other, !other, !other
}

// A contraction's factors are cut as their format's `mac` says, whatever the
// accumulator; 1.875 becomes 1.5.
// FOLD-LABEL: @a_step_cuts_its_factors
// FOLD: %[[R:.*]] = arith.constant 3.250000e+00 : f32
// FOLD: return %[[R]]
// LOWER-LABEL: @a_step_in_f32_cuts_its_factors
// LOWER: %[[X:.*]] = call @numera_float_truncate_8(%arg0,
// LOWER: %[[Y:.*]] = call @numera_float_truncate_8(%arg1,
// LOWER: call @numera_float_decode_f32_8(%[[X]],
// LOWER: call @numera_float_decode_f32_8(%[[Y]],
// LOWER: math.fma
func.func @a_step_cuts_its_factors() -> f32 {
  %x = numera.constant 1.875 : !step
  %one = arith.constant 1.0 : f32
  %0 = numera.mac %x, %x, %one : (!step, !step, f32) -> f32
  return %0 : f32
}
func.func @a_step_in_f32_cuts_its_factors(%x: !step, %y: !step, %acc: f32)
    -> f32 {
  %0 = numera.mac %x, %y, %acc : (!step, !step, f32) -> f32
  return %0 : f32
}

// With a product it is a mul of the product's format and an add of the
// accumulator's: both take their changes, and the factors the larger cut.
// LOWER-LABEL: @a_product_and_a_sum_have_their_own_changes
// LOWER: %[[X:.*]] = call @numera_float_truncate_8(%arg0, {{.*}}%c4_i32{{(_[0-9]+)?}}) :
// LOWER: %[[Y:.*]] = call @numera_float_truncate_8(%arg1,
// LOWER: %[[P:.*]] = call @numera_float_mul_8(%[[X]], %[[Y]],
// LOWER: %[[ACC:.*]] = call @numera_float_truncate_32(%arg2,
// LOWER: %[[Q:.*]] = call @numera_float_truncate_8(%[[P]],
// LOWER: call @numera_float_add_32(%[[ACC]],
func.func @a_product_and_a_sum_have_their_own_changes(
    %x: !cut, %y: !cut, %acc: !wide) -> !wide {
  %0 = numera.mac %x, %y, %acc
    {product = #numera.format<float<4, 3, fn, "mul.truncate-operands=2">>}
    : (!cut, !cut, !wide) -> !wide
  return %0 : !wide
}

// LOWER-LABEL: @a_step_of_a_quire_cuts_its_factors
// LOWER: %[[X:.*]] = call @numera_float_truncate_8(%arg0,
// LOWER: %[[Y:.*]] = call @numera_float_truncate_8(%arg1,
// LOWER: call @numera_float_quire_mac_8(%{{.*}}, %[[X]], %[[Y]],
func.func @a_step_of_a_quire_cuts_its_factors(
    %x: !step, %y: !step,
    %q: !numera.quire<float<4, 3, fn, "mac.truncate-operands=2">>)
    -> !numera.quire<float<4, 3, fn, "mac.truncate-operands=2">> {
  %0 = numera.quire_mac %x, %y, %q
    : !step, !numera.quire<float<4, 3, fn, "mac.truncate-operands=2">>
  return %0 : !numera.quire<float<4, 3, fn, "mac.truncate-operands=2">>
}
