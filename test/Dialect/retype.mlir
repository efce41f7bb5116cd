// SPDX-License-Identifier: MIT
// Clauses: V7 V8 K6.
// RUN: numera-opt %s --numera-retype='to=posit16' --canonicalize | FileCheck %s

// CHECK-LABEL: @the_boundary_of_a_function_stays_f32
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32) -> f32
// CHECK-DAG: %[[A:.*]] = numera.cast %[[X]] : f32 to !posit16
// CHECK-DAG: %[[B:.*]] = numera.cast %[[Y]] : f32 to !posit16
// CHECK: %[[S:.*]] = numera.add %[[A]], %[[B]] : !posit16
// CHECK: %[[R:.*]] = numera.cast %[[S]] : !posit16 to f32
// CHECK: return %[[R]] : f32
func.func @the_boundary_of_a_function_stays_f32(%x: f32, %y: f32) -> f32 {
  %0 = arith.addf %x, %y : f32
  return %0 : f32
}

// CHECK-LABEL: @a_call_is_a_boundary
// CHECK: %[[A:.*]] = numera.neg
// CHECK: %[[B:.*]] = numera.cast %[[A]] : !posit16 to f32
// CHECK: %[[C:.*]] = call @callee(%[[B]]) : (f32) -> f32
// CHECK: %[[D:.*]] = numera.cast %[[C]] : f32 to !posit16
// CHECK: numera.abs %[[D]]
func.func private @callee(f32) -> f32
func.func @a_call_is_a_boundary(%x: f32) -> f32 {
  %0 = arith.negf %x : f32
  %1 = func.call @callee(%0) : (f32) -> f32
  %2 = math.absf %1 : f32
  return %2 : f32
}

// CHECK-LABEL: @what_is_not_f32_stays
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: numera.add %{{.*}}, %{{.*}} : f64
// CHECK: numera.cast %{{.*}} : i32 to !posit16
// CHECK: numera.cast unsigned %{{.*}} : !posit16 to i32
func.func @what_is_not_f32_stays(%i: i32, %d: f64) -> (i32, f64) {
  %0 = arith.addi %i, %i : i32
  %1 = arith.addf %d, %d : f64
  %2 = arith.sitofp %0 : i32 to f32
  %3 = math.tanh %2 : f32
  %4 = arith.fptoui %3 : f32 to i32
  return %4, %1 : i32, f64
}

// CHECK-LABEL: @a_comparison_selects
// CHECK: %[[C:.*]] = numera.cmp olt, %{{.*}}, %{{.*}} : !posit16
// CHECK: arith.select %[[C]], %{{.*}}, %{{.*}} : !posit16
func.func @a_comparison_selects(%x: f32, %y: f32) -> f32 {
  %0 = arith.cmpf olt, %x, %y : f32
  %1 = arith.select %0, %x, %y : f32
  return %1 : f32
}

// CHECK-LABEL: @constants_are_encoded
// CHECK-DAG: numera.constant 0.100006103515625 : !posit16
// CHECK-DAG: numera.constant codes dense<[16384, 18432]> : tensor<2xi16> as tensor<2x!posit16>
func.func @constants_are_encoded(%x: f32, %t: tensor<2xf32>)
    -> (f32, tensor<2xf32>) {
  %tenth = arith.constant 0.1 : f32
  %weights = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = arith.mulf %x, %tenth : f32
  %1 = arith.mulf %t, %weights : tensor<2xf32>
  return %0, %1 : f32, tensor<2xf32>
}

// A posit has no infinity: the lowest value, -2^56, is what -inf stands for.
// CHECK-LABEL: @minus_infinity_is_the_lowest_value
// CHECK: numera.constant -72057594037927936.0 : !posit16
// CHECK: ^bb0(%[[X:.*]]: !posit16, %{{.*}}: !posit16, %[[ACC:.*]]: !posit16):
// CHECK: numera.max %[[ACC]], %[[X]] : !posit16
func.func @minus_infinity_is_the_lowest_value(%x: tensor<1x2x4x4xf32>)
    -> tensor<1x2x2x2xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %0 = tensor.empty() : tensor<1x2x2x2xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%0 : tensor<1x2x2x2xf32>)
    -> tensor<1x2x2x2xf32>
  %2 = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>}
    ins(%x, %window : tensor<1x2x4x4xf32>, tensor<2x2xf32>)
    outs(%1 : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: @control_flow_carries_the_format
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (!posit16) {
// CHECK: %[[Y:.*]] = scf.if %{{.*}} -> (!posit16) {
// CHECK: %[[S:.*]] = numera.add %[[ACC]], %[[Y]] : !posit16
// CHECK: scf.yield %[[S]] : !posit16
func.func @control_flow_carries_the_format(%x: f32, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %limit = arith.constant 1.0 : f32
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (f32) {
    %0 = arith.cmpf olt, %acc, %limit : f32
    %1 = scf.if %0 -> (f32) {
      %3 = math.exp %acc : f32
      scf.yield %3 : f32
    } else {
      scf.yield %acc : f32
    }
    %2 = arith.addf %acc, %1 : f32
    scf.yield %2 : f32
  }
  return %sum : f32
}

// CHECK-LABEL: @softmax_is_the_sequence_it_stands_for
// CHECK: numera.maxnum
// CHECK: numera.sub
// CHECK: numera.exp
// CHECK: numera.add %{{.*}}, %{{.*}} : (f32, !posit16) -> f32
// CHECK: numera.div
// CHECK-NOT: linalg.softmax
func.func @softmax_is_the_sequence_it_stands_for(%x: tensor<2x8xf32>)
    -> tensor<2x8xf32> {
  %0 = tensor.empty() : tensor<2x8xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<2x8xf32>)
    outs(%0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %1 : tensor<2x8xf32>
}

// CHECK-LABEL: @elementary_functions_have_counterparts
// CHECK: numera.cbrt %{{.*}} : !posit16
// CHECK: numera.log10 %{{.*}} : !posit16
// CHECK: numera.tan %{{.*}} : !posit16
// CHECK: numera.asin %{{.*}} : !posit16
// CHECK: numera.acos %{{.*}} : !posit16
// CHECK: numera.atan %{{.*}} : !posit16
// CHECK: numera.sinh %{{.*}} : !posit16
// CHECK: numera.cosh %{{.*}} : !posit16
// CHECK: numera.asinh %{{.*}} : !posit16
// CHECK: numera.acosh %{{.*}} : !posit16
// CHECK: numera.atanh %{{.*}} : !posit16
// CHECK: numera.erfc %{{.*}} : !posit16
// CHECK: numera.atan2 %[[A:.*]], %[[B:.*]] : !posit16
// CHECK: numera.copysign %{{.*}}, %[[A]] : !posit16
func.func @elementary_functions_have_counterparts(%x: f32, %y: f32) -> f32 {
  %0 = math.cbrt %x : f32
  %1 = math.log10 %0 : f32
  %2 = math.tan %1 : f32
  %3 = math.asin %2 : f32
  %4 = math.acos %3 : f32
  %5 = math.atan %4 : f32
  %6 = math.sinh %5 : f32
  %7 = math.cosh %6 : f32
  %8 = math.asinh %7 : f32
  %9 = math.acosh %8 : f32
  %10 = math.atanh %9 : f32
  %11 = math.erfc %10 : f32
  %12 = math.atan2 %11, %y : f32
  %13 = math.copysign %12, %11 : f32
  return %13 : f32
}

// Elements that a sparse constant leaves out are zero.
// CHECK-LABEL: func.func @a_sparse_constant
// CHECK: numera.constant codes dense<[0, 16384, 0, 18432]> : tensor<4xi16> as tensor<4x!posit16>
func.func @a_sparse_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.constant sparse<[[1], [3]], [1.0, 2.0]> : tensor<4xf32>
  %1 = arith.addf %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
