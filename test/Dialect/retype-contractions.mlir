// SPDX-License-Identifier: MIT
// Clauses: C3 C5.
// RUN: numera-opt %s --numera-retype='to=posit16' --canonicalize | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=f64' --canonicalize | FileCheck %s --check-prefixes=CHECK,F64
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=same' --canonicalize | FileCheck %s --check-prefixes=CHECK,SAME
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=posit32' --canonicalize | FileCheck %s --check-prefixes=CHECK,NAMED
// RUN: numera-opt %s --numera-retype='to=f32' --canonicalize | FileCheck %s --check-prefixes=F32

// posit16's values embed in f32, and their products have at most 24 bits.
// CHECK-LABEL: @a_matmul_is_one_step_and_a_cast
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<3x4xf32>)
// CHECK-DAG: %[[A:.*]] = numera.cast %[[X]] : tensor<2x3xf32> to tensor<2x3x!posit16>
// CHECK-DAG: %[[B:.*]] = numera.cast %[[Y]] : tensor<3x4xf32> to tensor<3x4x!posit16>
// DEFAULT: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<2x4xf32>
// F64: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<2x4xf64>
// SAME: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<2x4x!posit16>
// NAMED: %[[INIT:.*]] = linalg.fill {{.*}} -> tensor<2x4x!posit32>
// CHECK: %[[C:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[INIT]] :
// CHECK-NEXT: ^bb0(%[[L:.*]]: !posit16, %[[R:.*]]: !posit16, %[[ACC:.*]]: {{.*}}):
// DEFAULT-NEXT: numera.mac %[[L]], %[[R]], %[[ACC]] : (!posit16, !posit16, f32) -> f32
// F64-NEXT: numera.mac %[[L]], %[[R]], %[[ACC]] : (!posit16, !posit16, f64) -> f64
// SAME-NEXT: numera.mac %[[L]], %[[R]], %[[ACC]] {product = #numera.format<posit<16, 2>>} : !posit16
// NAMED-NEXT: numera.mac %[[L]], %[[R]], %[[ACC]] : (!posit16, !posit16, !posit32) -> !posit32
// DEFAULT: numera.cast %[[C]] : tensor<2x4xf32> to tensor<2x4x!posit16>
// F64: numera.cast %[[C]] : tensor<2x4xf64> to tensor<2x4x!posit16>
// NAMED: numera.cast %[[C]] : tensor<2x4x!posit32> to tensor<2x4x!posit16>
// CHECK: numera.cast %{{.*}} : tensor<2x4x!posit16> to tensor<2x4xf32>

// With f32 for everything, the cast makes NaNs canonical.
// F32-LABEL: @a_matmul_is_one_step_and_a_cast
// F32: %[[C:.*]] = linalg.generic
// F32: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : f32
// F32: numera.cast %[[C]] : tensor<2x4xf32> to tensor<2x4xf32>
func.func @a_matmul_is_one_step_and_a_cast(
    %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x4xf32>)
    -> tensor<2x4xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: @an_init_that_is_not_zero_is_cast_to_the_accumulator
// DEFAULT: %[[INIT:.*]] = numera.cast %{{.*}} : tensor<2x4x!posit16> to tensor<2x4xf32>
// DEFAULT: linalg.generic {{.*}} outs(%[[INIT]] : tensor<2x4xf32>)
func.func @an_init_that_is_not_zero_is_cast_to_the_accumulator(
    %a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Channel, kernel row, kernel column: the order in which it is written.
// CHECK-LABEL: @a_convolution_is_a_contraction
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK: numera.mac
func.func @a_convolution_is_a_contraction(
    %image: tensor<1x2x5x5xf32>, %kernel: tensor<3x2x3x3xf32>)
    -> tensor<1x3x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x3x3x3xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x3x3x3xf32>)
    -> tensor<1x3x3x3xf32>
  %2 = linalg.conv_2d_nchw_fchw
    ins(%image, %kernel : tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>)
    outs(%1 : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %2 : tensor<1x3x3x3xf32>
}

// CHECK-LABEL: @a_sum_adds_in_the_accumulator
// DEFAULT: numera.add %{{.*}}, %{{.*}} : (f32, !posit16) -> f32
// SAME: numera.add %{{.*}}, %{{.*}} : !posit16
// NAMED: numera.add %{{.*}}, %{{.*}} : (!posit32, !posit16) -> !posit32
func.func @a_sum_adds_in_the_accumulator(
    %x: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>)
    outs(%init : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}

// 70 terms are 3 steps of 32 partial sums, padded with zeros.
// CHECK-LABEL: @a_sum_from_zero_is_blocked
// DEFAULT: tensor.pad
// DEFAULT: tensor.expand_shape {{.*}} : tensor<4x96x!posit16> into tensor<4x3x32x!posit16>
// DEFAULT: iterator_types = ["parallel", "reduction", "parallel"]
// DEFAULT: numera.add %{{.*}}, %{{.*}} : (f32, !posit16) -> f32
// DEFAULT-COUNT-5: numera.add %{{.*}}, %{{.*}} : f32
// DEFAULT: numera.cast %{{.*}} : f32 to !posit16
// SAME-NOT: tensor<4x3x32x!posit16>
// SAME: numera.add %{{.*}}, %{{.*}} : !posit16
func.func @a_sum_from_zero_is_blocked(%x: tensor<4x70xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.reduce { arith.addf } ins(%x : tensor<4x70xf32>)
    outs(%1 : tensor<4xf32>) dimensions = [1]
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @a_fused_step_is_a_step
// DEFAULT: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!posit16, !posit16, f32) -> f32
// SAME: numera.mac {{.*}} {product = #numera.format<posit<16, 2>>} : !posit16
func.func @a_fused_step_is_a_step(%x: tensor<8xf32>, %init: tensor<f32>)
    -> tensor<f32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %1 = math.fma %a, %a, %acc : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @a_maximum_has_no_accumulator
// CHECK: ^bb0(%{{.*}}: !posit16, %{{.*}}: !posit16):
// CHECK-NEXT: numera.max %{{.*}}, %{{.*}} : !posit16
func.func @a_maximum_has_no_accumulator(
    %x: tensor<4x8xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf32>)
    outs(%init : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}
