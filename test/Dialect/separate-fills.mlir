// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-separate-fills --split-input-file | FileCheck %s

// Both sums write to the fill: each gets one of its own. What only reads it keeps
// the one that stands.
// CHECK-LABEL: func.func @sums(
// CHECK:         %[[READ:.*]] = linalg.fill
// CHECK:         %[[E0:.*]] = tensor.empty() : tensor<3xi32>
// CHECK:         %[[F0:.*]] = linalg.fill {{.*}} outs(%[[E0]]
// CHECK:         linalg.reduce {{.*}} outs(%[[F0]]
// CHECK:         %[[E1:.*]] = tensor.empty() : tensor<3xi32>
// CHECK:         %[[F1:.*]] = linalg.fill {{.*}} outs(%[[E1]]
// CHECK:         linalg.reduce {{.*}} outs(%[[F1]]
// CHECK:         arith.addi %{{.*}}, %[[READ]]
func.func @sums(%x: tensor<3x4xi32>, %y: tensor<3x4xi32>)
    -> (tensor<3xi32>, tensor<3xi32>) {
  %zero = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<3xi32>
  %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %2 = linalg.reduce {arith.addi} ins(%x : tensor<3x4xi32>)
      outs(%1 : tensor<3xi32>) dimensions = [1]
  %3 = linalg.reduce {arith.addi} ins(%y : tensor<3x4xi32>)
      outs(%1 : tensor<3xi32>) dimensions = [1]
  %4 = arith.addi %3, %1 : tensor<3xi32>
  return %2, %4 : tensor<3xi32>, tensor<3xi32>
}

// -----

// One use, and what is filled that exists already.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT:     linalg.fill
func.func @others(%x: tensor<3x4xi32>, %y: tensor<3xi32>)
    -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %zero = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<3xi32>
  %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %2 = linalg.reduce {arith.addi} ins(%x : tensor<3x4xi32>)
      outs(%1 : tensor<3xi32>) dimensions = [1]
  %3 = linalg.fill ins(%zero : i32) outs(%y : tensor<3xi32>) -> tensor<3xi32>
  %4 = linalg.reduce {arith.addi} ins(%x : tensor<3x4xi32>)
      outs(%3 : tensor<3xi32>) dimensions = [1]
  return %2, %3, %4 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}
