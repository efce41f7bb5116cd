// SPDX-License-Identifier: MIT
// Where a function says that its batch is optional, a call is one sample if the batch
// cannot be followed: all loops count for the index, and the sample is 0.
// RUN: numera-opt %s --numera-retype='to=posit<8,0,stochastic>' -split-input-file | FileCheck %s

// CHECK-LABEL: @cut_up
// CHECK: linalg.generic
// CHECK-COUNT-3: linalg.index
// CHECK: numera.random %{{[^,]*}}, %{{[^,]*}}, %c0_i64{{[^,]*}}, %{{[^,]*}} id
func.func @cut_up(%x: tensor<8x3xf32>) -> tensor<2x4x3xf32>
    attributes {numera.optional_batch} {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 4, 3] : tensor<8x3xf32> into tensor<2x4x3xf32>
  %z = arith.addf %y, %y : tensor<2x4x3xf32>
  return %z : tensor<2x4x3xf32>
}

// -----

// Where it can be followed, samples are told apart.
// CHECK-LABEL: @whole
// CHECK-SAME: %[[FIRST:[^:]*]]: i64)
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[SAMPLE:.*]] = arith.addi %[[FIRST]],
// CHECK: numera.random %{{[^,]*}}, %{{[^,]*}}, %[[SAMPLE]], %{{[^,]*}} id
func.func @whole(%x: tensor<8x3xf32>) -> tensor<8x3xf32>
    attributes {numera.optional_batch} {
  %z = arith.addf %x, %x : tensor<8x3xf32>
  return %z : tensor<8x3xf32>
}

// -----

// Four steps of each sample lie in one dimension, the samples beside each other: the
// sample is what is left by their number, the index counts steps and columns.
// CHECK-LABEL: @steps_first
// CHECK-SAME: %[[FIRST:[^:]*]]: i64)
// CHECK: tensor.collapse_shape
// CHECK: %[[DIM:.*]] = tensor.dim
// CHECK: %[[N:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: %[[ROW:.*]] = arith.index_cast
// CHECK: %[[STEP:.*]] = arith.divui %[[ROW]], %[[N]]
// CHECK: %[[REST:.*]] = arith.remui %[[ROW]], %[[N]]
// CHECK: %[[SAMPLE:.*]] = arith.addi %[[FIRST]], %[[REST]]
// CHECK: %[[STEPS:.*]] = arith.muli %[[STEP]], %c3_i64
// CHECK: %[[INDEX:.*]] = arith.addi %[[STEPS]],
// CHECK: numera.random %{{[^,]*}}, %{{[^,]*}}, %[[SAMPLE]], %[[INDEX]] id
func.func @steps_first(%x: tensor<?x4x3xf32>) -> tensor<4x?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x3xf32>
  %e = tensor.empty(%n) : tensor<4x?x3xf32>
  %t = linalg.transpose ins(%x : tensor<?x4x3xf32>) outs(%e : tensor<4x?x3xf32>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x?x3xf32> into tensor<?x3xf32>
  %z = arith.addf %y, %y : tensor<?x3xf32>
  %r = tensor.expand_shape %z [[0, 1], [2]] output_shape [4, %n, 3] : tensor<?x3xf32> into tensor<4x?x3xf32>
  return %r : tensor<4x?x3xf32>
}

// -----

// A batch of one is one sample, however it is cut up: all loops count.
// CHECK-LABEL: @one_sample
// CHECK-SAME: %[[FIRST:[^:]*]]: i64)
// CHECK-COUNT-2: linalg.index
// CHECK: numera.random %{{[^,]*}}, %{{[^,]*}}, %[[FIRST]], %{{[^,]*}} id
func.func @one_sample(%x: tensor<1x8xf32>) -> tensor<2x4xf32> {
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [1, 2, 4] : tensor<1x8xf32> into tensor<1x2x4xf32>
  %s = tensor.extract_slice %y[0, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<1x2x4xf32> to tensor<2x4xf32>
  %z = arith.addf %s, %s : tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// -----

// A loop that ends by a condition counts its turns; the batch goes through it.
// CHECK-LABEL: @turns
// CHECK-SAME: %[[FIRST:[^:]*]]: i64)
// CHECK: scf.while ({{.*}}, %[[TURN:[^ ]*]] = %c0_i64)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[TURN]] :
// CHECK: ^bb0(%{{[^:]*}}: {{.*}}, %[[AT:[^:]*]]: i64):
// CHECK: linalg.generic
// CHECK: %[[SAMPLE:.*]] = arith.addi %[[FIRST]],
// CHECK: %[[TURNS:.*]] = arith.muli %[[AT]], %c3_i64
// CHECK: %[[INDEX:.*]] = arith.addi %[[TURNS]],
// CHECK: numera.random %{{[^,]*}}, %{{[^,]*}}, %[[SAMPLE]], %[[INDEX]] id
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c1_i64
// CHECK: scf.yield %{{[^,]*}}, %{{[^,]*}}, %[[NEXT]] :
func.func @turns(%x: tensor<?x3xf32>, %n: i32) -> tensor<?x3xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%a = %x, %i = %zero) : (tensor<?x3xf32>, i32) -> (tensor<?x3xf32>, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %a, %i : tensor<?x3xf32>, i32
  } do {
  ^bb0(%a: tensor<?x3xf32>, %i: i32):
    %b = arith.addf %a, %a : tensor<?x3xf32>
    %j = arith.addi %i, %one : i32
    scf.yield %b, %j : tensor<?x3xf32>, i32
  }
  return %r#0 : tensor<?x3xf32>
}
