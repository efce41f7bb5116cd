// SPDX-License-Identifier: MIT
// Clauses: V6.
// RUN: numera-opt %s | numera-opt | FileCheck %s
// RUN: numera-opt %s -mlir-print-op-generic | numera-opt | FileCheck %s

!posit16 = !numera.num<posit<16, 2>>
!f8 = !numera.num<float<4, 3, fn>>

// CHECK-LABEL: @constants_are_written_as_numbers_codes_or_elements
// CHECK: numera.constant 1.0 : !posit16
// CHECK: numera.constant -0.5 : !f8E4M3FN
// CHECK: numera.constant code 0x8000 : !posit16
// CHECK: numera.constant codes dense<[16384, 18432]> : tensor<2xi16> as tensor<2x!posit16>
// CHECK: numera.constant codes dense<7> : vector<4xi8> as vector<4x!f8E4M3FN>
func.func @constants_are_written_as_numbers_codes_or_elements() {
  %0 = numera.constant 1.0 : !posit16
  %1 = numera.constant -0.5 : !f8
  %2 = numera.constant code 0x8000 : !posit16
  %3 = numera.constant codes dense<[0x4000, 0x4800]> : tensor<2xi16>
       as tensor<2x!posit16>
  %4 = numera.constant codes dense<7> : vector<4xi8> as vector<4x!f8>
  return
}

// CHECK-LABEL: @casts_go_between_formats_and_integers
// CHECK: numera.cast %{{.*}} : f32 to !posit16
// CHECK: numera.cast %{{.*}} : !posit16 to !f8E4M3FN
// CHECK: numera.cast %{{.*}} : !f8E4M3FN to f64
// CHECK: numera.cast %{{.*}} : i1 to !posit16
// CHECK: numera.cast unsigned %{{.*}} : i32 to !posit16
// CHECK: numera.cast unsigned %{{.*}} : !posit16 to i8
// CHECK: numera.cast %{{.*}} {rounding = #numera.rounding<"toward-zero">} : f32 to !posit16
func.func @casts_go_between_formats_and_integers(%x: f32, %b: i1, %i: i32) {
  %0 = numera.cast %x : f32 to !posit16
  %1 = numera.cast %0 : !posit16 to !f8
  %2 = numera.cast %1 : !f8 to f64
  %3 = numera.cast %b : i1 to !posit16
  %4 = numera.cast unsigned %i : i32 to !posit16
  %5 = numera.cast unsigned %4 : !posit16 to i8
  %6 = numera.cast %x {rounding = #numera.rounding<"toward-zero">} : f32 to !posit16
  return
}

// CHECK-LABEL: @binary_operations
// CHECK-SAME: (%[[X:.*]]: !posit16, %[[Y:.*]]: !posit16)
func.func @binary_operations(%x: !posit16, %y: !posit16) {
  // CHECK-NEXT: numera.add %[[X]], %[[Y]] : !posit16
  %0 = numera.add %x, %y : !posit16
  // CHECK-NEXT: numera.sub %[[X]], %[[Y]] : !posit16
  %1 = numera.sub %x, %y : !posit16
  // CHECK-NEXT: numera.mul %[[X]], %[[Y]] : !posit16
  %2 = numera.mul %x, %y : !posit16
  // CHECK-NEXT: numera.div %[[X]], %[[Y]] : !posit16
  %3 = numera.div %x, %y : !posit16
  // CHECK-NEXT: numera.rem %[[X]], %[[Y]] : !posit16
  %4 = numera.rem %x, %y : !posit16
  // CHECK-NEXT: numera.pow %[[X]], %[[Y]] : !posit16
  %5 = numera.pow %x, %y : !posit16
  // CHECK-NEXT: numera.min %[[X]], %[[Y]] : !posit16
  %6 = numera.min %x, %y : !posit16
  // CHECK-NEXT: numera.max %[[X]], %[[Y]] : !posit16
  %7 = numera.max %x, %y : !posit16
  // CHECK-NEXT: numera.minnum %[[X]], %[[Y]] : !posit16
  %8 = numera.minnum %x, %y : !posit16
  // CHECK-NEXT: numera.maxnum %[[X]], %[[Y]] : !posit16
  %9 = numera.maxnum %x, %y : !posit16
  // CHECK-NEXT: numera.atan2 %[[X]], %[[Y]] : !posit16
  %10 = numera.atan2 %x, %y : !posit16
  // CHECK-NEXT: numera.hypot %[[X]], %[[Y]] : !posit16
  %11 = numera.hypot %x, %y : !posit16
  // CHECK-NEXT: numera.copysign %[[X]], %[[Y]] : !posit16
  %12 = numera.copysign %x, %y : !posit16
  return
}

// CHECK-LABEL: @unary_operations
// CHECK-SAME: (%[[X:.*]]: !posit16)
func.func @unary_operations(%x: !posit16) {
  // CHECK-NEXT: numera.neg %[[X]] : !posit16
  %0 = numera.neg %x : !posit16
  // CHECK-NEXT: numera.abs %[[X]] : !posit16
  %1 = numera.abs %x : !posit16
  // CHECK-NEXT: numera.sqrt %[[X]] : !posit16
  %2 = numera.sqrt %x : !posit16
  // CHECK-NEXT: numera.rsqrt %[[X]] : !posit16
  %3 = numera.rsqrt %x : !posit16
  // CHECK-NEXT: numera.exp %[[X]] : !posit16
  %4 = numera.exp %x : !posit16
  // CHECK-NEXT: numera.exp2 %[[X]] : !posit16
  %5 = numera.exp2 %x : !posit16
  // CHECK-NEXT: numera.expm1 %[[X]] : !posit16
  %6 = numera.expm1 %x : !posit16
  // CHECK-NEXT: numera.log %[[X]] : !posit16
  %7 = numera.log %x : !posit16
  // CHECK-NEXT: numera.log2 %[[X]] : !posit16
  %8 = numera.log2 %x : !posit16
  // CHECK-NEXT: numera.log1p %[[X]] : !posit16
  %9 = numera.log1p %x : !posit16
  // CHECK-NEXT: numera.sin %[[X]] : !posit16
  %10 = numera.sin %x : !posit16
  // CHECK-NEXT: numera.cos %[[X]] : !posit16
  %11 = numera.cos %x : !posit16
  // CHECK-NEXT: numera.tanh %[[X]] : !posit16
  %12 = numera.tanh %x : !posit16
  // CHECK-NEXT: numera.erf %[[X]] : !posit16
  %13 = numera.erf %x : !posit16
  // CHECK-NEXT: numera.sigmoid %[[X]] : !posit16
  %14 = numera.sigmoid %x : !posit16
  // CHECK-NEXT: numera.floor %[[X]] : !posit16
  %15 = numera.floor %x : !posit16
  // CHECK-NEXT: numera.ceil %[[X]] : !posit16
  %16 = numera.ceil %x : !posit16
  // CHECK-NEXT: numera.trunc %[[X]] : !posit16
  %17 = numera.trunc %x : !posit16
  // CHECK-NEXT: numera.round %[[X]] : !posit16
  %18 = numera.round %x : !posit16
  // CHECK-NEXT: numera.roundeven %[[X]] : !posit16
  %19 = numera.roundeven %x : !posit16
  // CHECK-NEXT: numera.cbrt %[[X]] : !posit16
  %20 = numera.cbrt %x : !posit16
  // CHECK-NEXT: numera.log10 %[[X]] : !posit16
  %21 = numera.log10 %x : !posit16
  // CHECK-NEXT: numera.tan %[[X]] : !posit16
  %22 = numera.tan %x : !posit16
  // CHECK-NEXT: numera.asin %[[X]] : !posit16
  %23 = numera.asin %x : !posit16
  // CHECK-NEXT: numera.acos %[[X]] : !posit16
  %24 = numera.acos %x : !posit16
  // CHECK-NEXT: numera.atan %[[X]] : !posit16
  %25 = numera.atan %x : !posit16
  // CHECK-NEXT: numera.sinh %[[X]] : !posit16
  %26 = numera.sinh %x : !posit16
  // CHECK-NEXT: numera.cosh %[[X]] : !posit16
  %27 = numera.cosh %x : !posit16
  // CHECK-NEXT: numera.asinh %[[X]] : !posit16
  %28 = numera.asinh %x : !posit16
  // CHECK-NEXT: numera.acosh %[[X]] : !posit16
  %29 = numera.acosh %x : !posit16
  // CHECK-NEXT: numera.atanh %[[X]] : !posit16
  %30 = numera.atanh %x : !posit16
  // CHECK-NEXT: numera.erfc %[[X]] : !posit16
  %31 = numera.erfc %x : !posit16
  return
}

// CHECK-LABEL: @ternary_operations
// CHECK: numera.fma %{{.*}}, %{{.*}}, %{{.*}} : !posit16
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : !posit16
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} {product = #numera.format<posit<16, 2>>} : !posit16
func.func @ternary_operations(%x: !posit16) {
  %0 = numera.fma %x, %x, %x : !posit16
  %1 = numera.mac %x, %x, %x : !posit16
  %2 = numera.mac %x, %x, %x {product = #numera.format<posit<16, 2>>} : !posit16
  return
}

// CHECK-LABEL: @comparisons_give_i1
// CHECK: numera.cmp olt, %{{.*}}, %{{.*}} : !posit16
// CHECK: numera.isnan %{{.*}} : !posit16
// CHECK: numera.cmp une, %{{.*}}, %{{.*}} : vector<2x!posit16>
// CHECK: return %{{.*}} : vector<2xi1>
func.func @comparisons_give_i1(%x: !posit16, %v: vector<2x!posit16>)
    -> vector<2xi1> {
  %0 = numera.cmp olt, %x, %x : !posit16
  %1 = numera.isnan %x : !posit16
  %2 = arith.andi %0, %1 : i1
  %3 = numera.cmp une, %v, %v : vector<2x!posit16>
  return %3 : vector<2xi1>
}

// f32 and f64 are formats like the others.
// CHECK-LABEL: @machine_numbers_are_formats
// CHECK: numera.add %{{.*}}, %{{.*}} : f32
// CHECK: numera.exp %{{.*}} : f64
func.func @machine_numbers_are_formats(%x: f32, %y: f64) {
  %0 = numera.add %x, %x : f32
  %1 = numera.exp %y : f64
  return
}

// CHECK-LABEL: @operands_and_result_may_differ_in_format
// CHECK: numera.fma %{{.*}}, %{{.*}}, %{{.*}} : (!f8E4M3FN, !f8E4M3FN, f32) -> f32
// CHECK: numera.add %{{.*}}, %{{.*}} : (!f8E4M3FN, !posit16) -> !posit16
// CHECK: numera.sqrt %{{.*}} : (!f8E4M3FN) -> !posit16
func.func @operands_and_result_may_differ_in_format(%x: !f8, %y: !posit16,
                                                    %z: f32) {
  %0 = numera.fma %x, %x, %z : (!f8, !f8, f32) -> f32
  %1 = numera.add %x, %y : (!f8, !posit16) -> !posit16
  %2 = numera.sqrt %x : (!f8) -> !posit16
  return
}

// CHECK-LABEL: @operations_apply_to_each_element
// CHECK: numera.mul %{{.*}}, %{{.*}} : vector<4x!posit16>
// CHECK: numera.tanh %{{.*}} : tensor<2x?x!posit16>
// CHECK: numera.cast %{{.*}} : tensor<2x?x!posit16> to tensor<2x?xf32>
func.func @operations_apply_to_each_element(%v: vector<4x!posit16>,
                                            %t: tensor<2x?x!posit16>) {
  %0 = numera.mul %v, %v : vector<4x!posit16>
  %1 = numera.tanh %t : tensor<2x?x!posit16>
  %2 = numera.cast %1 : tensor<2x?x!posit16> to tensor<2x?xf32>
  return
}
