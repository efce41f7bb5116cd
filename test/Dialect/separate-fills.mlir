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

// -----

// A new tensor for 17 operations, which have become one: two, for 16 and for the
// last. They are told apart by the order in which they stand.
// CHECK-LABEL: func.func @many(
// CHECK-COUNT-1: tensor.empty
// CHECK-COUNT-16: linalg.copy
// CHECK-NEXT:    %[[LAST:.*]] = tensor.empty
// CHECK-NEXT:    linalg.copy {{.*}} outs(%[[LAST]]
// CHECK-NOT:     tensor.empty
// CHECK:         return
func.func @many(%x: tensor<3xi32>) -> tensor<3xi32> {
  %0 = tensor.empty() : tensor<3xi32>
  %1 = linalg.copy ins(%x : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %2 = linalg.copy ins(%1 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %3 = linalg.copy ins(%2 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %4 = linalg.copy ins(%3 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %5 = linalg.copy ins(%4 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %6 = linalg.copy ins(%5 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %7 = linalg.copy ins(%6 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %8 = linalg.copy ins(%7 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %9 = linalg.copy ins(%8 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %10 = linalg.copy ins(%9 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %11 = linalg.copy ins(%10 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %12 = linalg.copy ins(%11 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %13 = linalg.copy ins(%12 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %14 = linalg.copy ins(%13 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %15 = linalg.copy ins(%14 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %16 = linalg.copy ins(%15 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  %17 = linalg.copy ins(%16 : tensor<3xi32>) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
  return %17 : tensor<3xi32>
}
