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
