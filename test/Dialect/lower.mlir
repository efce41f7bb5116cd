// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower='target=cpu' --formats=%S/Inputs/library.yaml | FileCheck %s --implicit-check-not='numera.'

!posit16 = !numera.num<posit<16, 2>>
!mybf16 = !numera.num<opaque<"mybf16", 16>>

// Types and operations go in one pass.
// CHECK-LABEL: @a_scalar_addition_is_one_call
// CHECK-SAME: (%[[X:.*]]: i16, %[[Y:.*]]: i16) -> i16
// CHECK: %[[R:.*]] = call @numera_posit_add_16(%[[X]], %[[Y]],
// CHECK: return %[[R]] : i16
func.func @a_scalar_addition_is_one_call(%x: !posit16, %y: !posit16)
    -> !posit16 {
  %0 = numera.add %x, %y : !posit16
  return %0 : !posit16
}

// CHECK-LABEL: @an_addition_of_tensors_is_one_call_an_element
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x?xi16>, tensor<4x?xi16>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i16, %[[Y:.*]]: i16, %{{.*}}: i16):
// CHECK-NEXT: %[[R:.*]] = func.call @mybf16_add_cpu(%[[X]], %[[Y]]) : (i16, i16) -> i16
// CHECK-NEXT: linalg.yield %[[R]] : i16
func.func @an_addition_of_tensors_is_one_call_an_element(
    %x: tensor<4x?x!mybf16>, %y: tensor<4x?x!mybf16>) -> tensor<4x?x!mybf16> {
  %0 = numera.add %x, %y : tensor<4x?x!mybf16>
  return %0 : tensor<4x?x!mybf16>
}

// CHECK-LABEL: @constants_are_codes
// CHECK: arith.constant dense<[16384, 18432]> : tensor<2xi16>
// CHECK: arith.constant 16384 : i16
func.func @constants_are_codes() -> (tensor<2x!posit16>, !posit16) {
  %0 = numera.constant codes dense<[0x4000, 0x4800]> : tensor<2xi16>
       as tensor<2x!posit16>
  %1 = numera.constant 1.0 : !posit16
  return %0, %1 : tensor<2x!posit16>, !posit16
}

// CHECK-LABEL: @a_comparison_of_tensors_gives_i1
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi1>)
// CHECK: %[[C:.*]] = func.call @mybf16_less(%{{.*}}, %{{.*}}) : (i16, i16) -> i8
// CHECK: %[[B:.*]] = arith.cmpi ne, %[[C]], %{{.*}} : i8
// CHECK: linalg.yield %[[B]] : i1
func.func @a_comparison_of_tensors_gives_i1(%x: tensor<4x!mybf16>)
    -> tensor<4xi1> {
  %0 = numera.cmp olt, %x, %x : tensor<4x!mybf16>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @a_loop_carries_storage
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (i16)
// CHECK: func.call @mybf16_add_cpu
func.func @a_loop_carries_storage(%x: !mybf16, %n: index) -> !mybf16 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (!mybf16) {
    %0 = numera.add %acc, %x : !mybf16
    scf.yield %0 : !mybf16
  }
  return %sum : !mybf16
}

// A function registered for a stochastic rounding takes the random bits last.
// CHECK-LABEL: @a_function_of_a_stochastic_rounding
// CHECK-SAME: (%[[X:[a-z0-9]*]]: i16, %[[Y:[a-z0-9]*]]: i8, %[[R:[a-z0-9]*]]: i32)
// CHECK: call @mybf16_sub_random(%[[X]], %[[X]], %[[R]]) : (i16, i16, i32) -> i16
// CHECK: call @random_add(%[[Y]], %[[Y]], %[[R]]) : (i8, i8, i32) -> i8
func.func @a_function_of_a_stochastic_rounding(
    %x: !mybf16, %y: !numera.num<posit<8, 0, stochastic, "random-bits=8">>,
    %r: i32) -> (!mybf16, !numera.num<posit<8, 0, stochastic, "random-bits=8">>) {
  %0 = numera.sub %x, %x random %r {rounding = #numera.rounding<stochastic>} : !mybf16
  %1 = numera.add %y, %y random %r : !numera.num<posit<8, 0, stochastic, "random-bits=8">>
  return %0, %1 : !mybf16, !numera.num<posit<8, 0, stochastic, "random-bits=8">>
}
