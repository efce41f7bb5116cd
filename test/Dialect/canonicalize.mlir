// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --canonicalize | FileCheck %s

!posit16 = !numera.num<posit<16, 2>>
!posit8 = !numera.num<posit<8, 2>>
!mybf16 = !numera.num<opaque<"mybf16", 16>>
!saturating = !numera.num<float<5, 2, saturate>>

// CHECK-LABEL: @a_cast_to_the_same_format_is_its_operand
// CHECK-SAME: (%[[X:.*]]: !posit16, %[[Y:.*]]: tensor<?x!mybf16>)
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @a_cast_to_the_same_format_is_its_operand(
    %x: !posit16, %y: tensor<?x!mybf16>) -> (!posit16, tensor<?x!mybf16>) {
  %0 = numera.cast %x : !posit16 to !posit16
  %1 = numera.cast %y : tensor<?x!mybf16> to tensor<?x!mybf16>
  return %0, %1 : !posit16, tensor<?x!mybf16>
}

// CHECK-LABEL: @on_f32_it_makes_NaN_canonical
// CHECK: numera.cast
func.func @on_f32_it_makes_NaN_canonical(%x: f32) -> f32 {
  %0 = numera.cast %x : f32 to f32
  return %0 : f32
}

// CHECK-LABEL: @in_a_format_that_saturates_it_takes_infinity_to_a_number
// CHECK: numera.cast
func.func @in_a_format_that_saturates_it_takes_infinity_to_a_number(
    %x: !saturating) -> !saturating {
  %0 = numera.cast %x : !saturating to !saturating
  return %0 : !saturating
}

// CHECK-LABEL: @an_unused_operation_disappears
// CHECK-NEXT: return
func.func @an_unused_operation_disappears(%x: !posit16) {
  %0 = numera.exp %x : !posit16
  return
}

// CHECK-LABEL: @equal_constants_are_one
// CHECK: %[[C:.*]] = numera.constant 1.0 : !posit16
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @equal_constants_are_one() -> (!posit16, !posit16) {
  %0 = numera.constant 1.0 : !posit16
  %1 = numera.constant code 0x4000 : !posit16
  return %0, %1 : !posit16, !posit16
}

// posit8's 1 and posit16's 64 have codes that are equal as integers.
// CHECK-LABEL: @equal_codes_of_two_formats_are_two_constants
// CHECK-DAG: %[[A:.*]] = numera.constant codes dense<64> : tensor<2xi8> as tensor<2x!posit8>
// CHECK-DAG: %[[B:.*]] = numera.constant codes dense<64> : tensor<2xi8> as tensor<2x!byte>
// CHECK: return %[[A]], %[[B]]
func.func @equal_codes_of_two_formats_are_two_constants()
    -> (tensor<2x!posit8>, tensor<2x!numera.num<opaque<"byte", 8>>>) {
  %0 = numera.constant codes dense<64> : tensor<2xi8> as tensor<2x!posit8>
  %1 = numera.constant codes dense<64> : tensor<2xi8>
       as tensor<2x!numera.num<opaque<"byte", 8>>>
  return %0, %1 : tensor<2x!posit8>, tensor<2x!numera.num<opaque<"byte", 8>>>
}

// CHECK-LABEL: @what_a_library_defines_is_not_folded
// CHECK: numera.cast
// CHECK: numera.add
// CHECK: numera.cmp
func.func @what_a_library_defines_is_not_folded() -> (!mybf16, i1) {
  %x = arith.constant 1.0 : f32
  %0 = numera.constant code 0x3F80 : !mybf16
  %1 = numera.cast %x : f32 to !mybf16
  %2 = numera.add %0, %1 : !mybf16
  %3 = numera.cmp oeq, %0, %2 : !mybf16
  return %2, %3 : !mybf16, i1
}

// CHECK-LABEL: @an_operation_on_storage_folds_to_an_integer
// CHECK: %[[C:.*]] = arith.constant 18432 : i16
// CHECK: return %[[C]]
func.func @an_operation_on_storage_folds_to_an_integer() -> i16 {
  %one = arith.constant 0x4000 : i16
  %0 = numera.add %one, %one {format = #numera.format<posit<16, 2>>} : i16
  return %0 : i16
}
