// SPDX-License-Identifier: MIT
// Clauses: D1 D5.
// RUN: numera-opt %s | numera-opt | FileCheck %s
// RUN: numera-opt %s -mlir-print-op-generic | numera-opt | FileCheck %s
// RUN: numera-opt %s --numera-lower-types | numera-opt | FileCheck %s --check-prefix=STORAGE
// RUN: numera-opt %s --numera-lower | FileCheck %s --check-prefix=LOWER
// RUN: numera-opt %s --numera-simplify | FileCheck %s --check-prefix=FOLD

!stochastic = !numera.num<posit<16, 2, stochastic>>
!short = !numera.num<float<4, 3, stochastic, "random-bits=8">>
!posit16 = !numera.num<posit<16, 2>>

// CHECK-LABEL: @what_rounds_stochastically_takes_random_bits
// CHECK-SAME: %[[X:[a-z0-9]*]]: !{{[a-z0-9_]*}}, %[[R:[a-z0-9]*]]: i32
// CHECK: numera.add %[[X]], %[[X]] random %[[R]] : !posit_16_2_stochastic
// CHECK: numera.fma %[[X]], %[[X]], %{{.*}} random %[[R]] : !posit_16_2_stochastic
// CHECK: numera.cast %{{.*}} random %[[R]] : !posit_16_2_stochastic to !float_4_3_stochastic_random_bits_8

// STORAGE-LABEL: @what_rounds_stochastically_takes_random_bits
// STORAGE: numera.add %{{.*}}, %{{.*}} random %{{.*}} {format = #numera.format<posit<16, 2, stochastic>>} : i16
// STORAGE: numera.cast %{{.*}} random %{{.*}} {{{.*}}operand_formats = [#numera.format<posit<16, 2, stochastic>>]} : i16 to i8

// The rounding, 7, with the number of bits above it; then the random bits.
// LOWER-LABEL: @what_rounds_stochastically_takes_random_bits
// LOWER-SAME: %[[X:[a-z0-9]*]]: i16, %[[R:[a-z0-9]*]]: i32
// LOWER: %[[MODE:.*]] = arith.constant 8199 : i32
// LOWER: call @numera_posit_add_16(%[[X]], %[[X]], %{{.*}}, %{{.*}}, %[[MODE]], %[[R]])
// LOWER: call @numera_posit_fma_16({{.*}}, %[[R]])
// LOWER: %[[SHORT:.*]] = arith.constant 2055 : i32
// LOWER: call @numera_float_{{.*}}_8({{.*}}, %[[SHORT]], %[[R]])
func.func @what_rounds_stochastically_takes_random_bits(%x: !stochastic, %r: i32) -> !short {
  %0 = numera.add %x, %x random %r : !stochastic
  %1 = numera.fma %x, %x, %0 random %r : !stochastic
  %2 = numera.cast %1 random %r : !stochastic to !short
  return %2 : !short
}

// CHECK-LABEL: @what_is_exact_takes_none
// CHECK: numera.neg %{{.*}} : !posit_16_2_stochastic
// CHECK: numera.cast %{{.*}} : !posit_16_2_stochastic to i8
func.func @what_is_exact_takes_none(%x: !stochastic) -> i8 {
  %0 = numera.neg %x : !stochastic
  %1 = numera.cast %0 : !stochastic to i8
  return %1 : i8
}

// CHECK-LABEL: @random_bits_have_the_shape_of_the_result
// CHECK: numera.mul %{{.*}}, %{{.*}} random %{{.*}} : tensor<?x!posit_16_2_stochastic>
// CHECK: numera.exp %{{.*}} random %{{.*}} : vector<4x!posit_16_2_stochastic>
func.func @random_bits_have_the_shape_of_the_result(
    %x: tensor<?x!stochastic>, %r: tensor<?xi32>, %v: vector<4x!stochastic>,
    %s: vector<4xi32>) -> (tensor<?x!stochastic>, vector<4x!stochastic>) {
  %0 = numera.mul %x, %x random %r : tensor<?x!stochastic>
  %1 = numera.exp %v random %s : vector<4x!stochastic>
  return %0, %1 : tensor<?x!stochastic>, vector<4x!stochastic>
}

// CHECK-LABEL: @an_operation_may_round_stochastically_by_itself
// CHECK: numera.div %{{.*}}, %{{.*}} random %{{.*}} {rounding = #numera.rounding<stochastic>} : !posit16
func.func @an_operation_may_round_stochastically_by_itself(%x: !posit16, %r: i32) -> !posit16 {
  %0 = numera.div %x, %x random %r {rounding = #numera.rounding<stochastic>} : !posit16
  return %0 : !posit16
}

// CHECK-LABEL: @draws_are_keyed
// CHECK: numera.random %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} id 3 bits 16
// LOWER-LABEL: @draws_are_keyed
// LOWER-SAME: %[[SEED:[a-z0-9]*]]: i64, %[[STEP:[a-z0-9]*]]: i64, %[[SAMPLE:[a-z0-9]*]]: i64, %[[INDEX:[a-z0-9]*]]: i64
// LOWER-DAG: %[[ID:.*]] = arith.constant 3 : i32
// LOWER-DAG: %[[BITS:.*]] = arith.constant 16 : i32
// LOWER: call @numera_random_32(%[[SEED]], %[[STEP]], %[[ID]], %[[SAMPLE]], %[[INDEX]], %[[BITS]])
func.func @draws_are_keyed(%seed: i64, %step: i64, %sample: i64, %index: i64) -> i32 {
  %0 = numera.random %seed, %step, %sample, %index id 3 bits 16
  return %0 : i32
}

// 1/3 lies between two codes; what is drawn says which it becomes. The draw for
// (0, 0, 1, 0, 0) comes from a transcription of Philox in Python.
// FOLD-LABEL: @constants_fold_with_their_draw
// FOLD-DAG: numera.constant 0.3333740234375
// FOLD-DAG: numera.constant 0.333251953125
// FOLD-DAG: arith.constant -593077790 : i32
func.func @constants_fold_with_their_draw() -> (!stochastic, !stochastic, i32) {
  %one = numera.constant 1.0 : !stochastic
  %three = numera.constant 3.0 : !stochastic
  %low = arith.constant 0 : i32
  %high = arith.constant -1 : i32
  %up = numera.div %one, %three random %low : !stochastic
  %down = numera.div %one, %three random %high : !stochastic
  %zero = arith.constant 0 : i64
  %draw = numera.random %zero, %zero, %zero, %zero id 1 bits 32
  return %up, %down, %draw : !stochastic, !stochastic, i32
}

// FOLD-LABEL: @draws_that_are_not_known_do_not_fold
// FOLD: numera.div
func.func @draws_that_are_not_known_do_not_fold(%r: i32) -> !stochastic {
  %one = numera.constant 1.0 : !stochastic
  %three = numera.constant 3.0 : !stochastic
  %0 = numera.div %one, %three random %r : !stochastic
  return %0 : !stochastic
}
