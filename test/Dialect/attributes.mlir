// SPDX-License-Identifier: MIT
// RUN: numera-opt %s | numera-opt | FileCheck %s
// RUN: numera-opt %s -mlir-print-op-generic | numera-opt | FileCheck %s

// CHECK-LABEL: @a_format_is_printed_by_its_canonical_spelling
// CHECK-SAME: bias = #numera.format<float<5, 7, bias=9>>
// CHECK-SAME: opaque = #numera.format<opaque<"mybf16", 16>>
// CHECK-SAME: posit = #numera.format<posit<16, 2>>
// CHECK-SAME: quoted = #numera.format<posit<8, 0, "to-odd">>
func.func private @a_format_is_printed_by_its_canonical_spelling() attributes {
  posit = #numera.format<posit<16>>,
  bias = #numera.format<float<5, 7, bias=9, ieee>>,
  quoted = #numera.format<posit<8, 0, "to-odd">>,
  opaque = #numera.format<opaque<"mybf16", 16>>
}

// On storage the attribute says what an integer means.
// CHECK-LABEL: @an_operation_on_storage_names_its_format
// CHECK: numera.add %{{.*}}, %{{.*}} {format = #numera.format<posit<16, 2>>} : i16
func.func @an_operation_on_storage_names_its_format(%x: i16, %y: i16) -> i16 {
  %0 = numera.add %x, %y {format = #numera.format<posit<16, 2>>} : i16
  return %0 : i16
}

// CHECK-LABEL: @operands_may_differ_in_format_from_the_result
// CHECK: numera.fma {{.*}} {format = #numera.format<posit<32, 2>>, operand_formats = [#numera.format<float<4, 3, fn>>, #numera.format<float<4, 3, fn>>, #numera.format<posit<32, 2>>]} : (i8, i8, i32) -> i32
func.func @operands_may_differ_in_format_from_the_result(
    %x: i8, %y: i8, %z: i32) -> i32 {
  %0 = numera.fma %x, %y, %z {
    format = #numera.format<posit<32, 2>>,
    operand_formats = [#numera.format<float<4, 3, fn>>,
                       #numera.format<float<4, 3, fn>>,
                       #numera.format<posit<32, 2>>]} : (i8, i8, i32) -> i32
  return %0 : i32
}

// i16 is both an integer and the storage of posit16.
// CHECK-LABEL: @a_cast_on_storage_tells_an_integer_from_a_format
// CHECK: numera.cast %{{.*}} {format = #numera.format<posit<16, 2>>, operand_formats = [i16]} : i16 to i16
// CHECK: numera.cast %{{.*}} {format = i16, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to i16
func.func @a_cast_on_storage_tells_an_integer_from_a_format(%x: i16) -> i16 {
  %0 = numera.cast %x {format = #numera.format<posit<16, 2>>,
                       operand_formats = [i16]} : i16 to i16
  %1 = numera.cast %0 {format = i16,
                       operand_formats = [#numera.format<posit<16, 2>>]}
    : i16 to i16
  return %1 : i16
}

// CHECK-LABEL: @an_operation_may_have_a_rounding_of_its_own
// CHECK: numera.div %{{.*}}, %{{.*}} {rounding = #numera.rounding<down>} : !posit16
func.func @an_operation_may_have_a_rounding_of_its_own(
    %x: !numera.num<posit<16, 2>>) -> !numera.num<posit<16, 2>> {
  %0 = numera.div %x, %x {rounding = #numera.rounding<down>} : !numera.num<posit<16, 2>>
  return %0 : !numera.num<posit<16, 2>>
}
