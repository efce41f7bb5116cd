// SPDX-License-Identifier: MIT
// Clauses: Q8.
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=quire' --canonicalize | FileCheck %s
// RUN: not numera-opt %s --numera-retype='to=float<12,20> accumulate=quire' 2>&1 | FileCheck %s --check-prefix=WIDE

// RUN: numera-opt %s --numera-retype='to=fixed<7,8,stochastic>' --canonicalize | FileCheck %s --check-prefix=FIXED

// WIDE: error: format 'float<12,20>' has no quire: it would have 8384 bits, more than 4352

// Fixed point does so where nobody says; a stochastic rounding draws once.
// FIXED-LABEL: @a_contraction_sums_products_in_quires
// FIXED: numera.quire_mac
// FIXED: %[[DRAW:.*]] = numera.random
// FIXED-NEXT: numera.quire_round %{{.*}} random %[[DRAW]] : !quire_fixed_7_8_stochastic to !fixed_7_8_stochastic

// CHECK-LABEL: @a_contraction_sums_products_in_quires
// CHECK-DAG: %[[ZERO:.*]] = numera.quire_zero : !quire_posit16
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : !quire_posit16) {{.*}} -> tensor<2x4x!quire_posit16>
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} outs(%[[INIT]] : tensor<2x4x!quire_posit16>)
// CHECK-NEXT: ^bb0(%[[L:.*]]: !posit16, %[[R:.*]]: !posit16, %[[Q:.*]]: !quire_posit16):
// CHECK-NEXT: %[[STEP:.*]] = numera.quire_mac %[[L]], %[[R]], %[[Q]] : !posit16, !quire_posit16
// CHECK-NEXT: linalg.yield %[[STEP]]
// CHECK: numera.quire_round %[[SUMS]] : tensor<2x4x!quire_posit16> to tensor<2x4x!posit16>
func.func @a_contraction_sums_products_in_quires(
    %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x4xf32>)
    -> tensor<2x4xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// What a contraction starts from is added exactly.
// CHECK-LABEL: @a_start_is_added
// CHECK-SAME: , %{{.*}}: tensor<3x4xf32>, %[[C:.*]]: tensor<2x4xf32>)
// CHECK-DAG: %[[START:.*]] = numera.cast %[[C]] : tensor<2x4xf32> to tensor<2x4x!posit16>
// CHECK: %[[EMPTY:.*]] = linalg.fill {{.*}} -> tensor<2x4x!quire_posit16>
// CHECK: %[[INIT:.*]] = numera.quire_add %[[EMPTY]], %[[START]] : tensor<2x4x!quire_posit16>, tensor<2x4x!posit16>
// CHECK: linalg.generic {{.*}} outs(%[[INIT]] :
func.func @a_start_is_added(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>,
                            %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// An exact sum has no order: no partial sums.
// CHECK-LABEL: @a_sum_is_one_loop
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]{{.*}} outs(%{{.*}} : tensor<!quire_posit16>)
// CHECK: numera.quire_add %{{.*}}, %{{.*}} : !quire_posit16, !posit16
// CHECK: numera.quire_round %[[SUM]] : tensor<!quire_posit16> to tensor<!posit16>
func.func @a_sum_is_one_loop(%a: tensor<100xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<f32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<f32>) -> tensor<f32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<100xf32>)
    outs(%1 : tensor<f32>) dimensions = [0]
  return %2 : tensor<f32>
}
