// SPDX-License-Identifier: MIT
// Clauses: D6 D7 D8 D9 D10 R8.
// RUN: numera-opt %s --numera-retype='to=posit<8,0,stochastic,random-bits=8> accumulate=same' --canonicalize --cse | FileCheck %s

// Ids count from 1; the batch is the sample, the rest the index.
// CHECK-LABEL: @scale
// CHECK-SAME: %[[X:.*]]: tensor<?x3x5xf32>, %[[SEED:[a-z0-9]*]]: i64, %[[STEP:[a-z0-9]*]]: i64, %[[FIRST:[a-z0-9]*]]: i64)
// CHECK-SAME: numera.draws
// CHECK: linalg.generic
// CHECK-DAG: %[[B:.*]] = linalg.index 0
// CHECK-DAG: %[[I:.*]] = linalg.index 1
// CHECK-DAG: %[[J:.*]] = linalg.index 2
// CHECK-DAG: %[[BATCH:.*]] = arith.index_cast %[[B]]
// CHECK-DAG: %[[ROW:.*]] = arith.index_cast %[[I]]
// CHECK-DAG: %[[COLUMN:.*]] = arith.index_cast %[[J]]
// CHECK-DAG: %[[SAMPLE:.*]] = arith.addi %[[FIRST]], %[[BATCH]]
// CHECK-DAG: %[[ROWS:.*]] = arith.muli %[[ROW]], %c5_i64
// CHECK-DAG: %[[INDEX:.*]] = arith.addi %[[ROWS]], %[[COLUMN]]
// CHECK: %[[R:.*]] = numera.random %[[SEED]], %[[STEP]], %[[SAMPLE]], %[[INDEX]] id 1 bits 8
// CHECK: numera.cast %{{.*}} random %[[R]] : f32 to
// CHECK: id 2 bits 8
// CHECK: numera.mul
func.func @scale(%x: tensor<?x3x5xf32>) -> tensor<?x3x5xf32> {
  %y = arith.mulf %x, %x : tensor<?x3x5xf32>
  return %y : tensor<?x3x5xf32>
}

// Reductions are a part of the index; product and sum draw by themselves.
// Weights have sample 0.
// CHECK-LABEL: @matmul
// CHECK-SAME: %[[SEED:[a-z0-9]*]]: i64, %[[STEP:[a-z0-9]*]]: i64, %[[FIRST:[a-z0-9]*]]: i64)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: numera.random %[[SEED]], %[[STEP]], %{{.*}}, %{{.*}} id 3 bits 8
// CHECK: numera.random %[[SEED]], %[[STEP]], %[[ZERO]], %{{.*}} id 4 bits 8
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[N:.*]] = arith.index_cast %{{.*}}
// CHECK: %[[SAMPLE:.*]] = arith.addi %[[FIRST]], %[[N]]
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c3_i64
// CHECK: %[[INDEX:.*]] = arith.addi %[[AT]]
// CHECK: numera.random %[[SEED]], %[[STEP]], %[[SAMPLE]], %[[INDEX]] id 5 bits 8
// CHECK: numera.mul
// CHECK: numera.random %[[SEED]], %[[STEP]], %[[SAMPLE]], %[[INDEX]] id 6 bits 8
// CHECK: numera.add
func.func @matmul(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// A reshape mixes the batch with a dimension; it is taken apart.
// CHECK-LABEL: @reshaped
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: i64)
// CHECK: numera.random
// CHECK: tensor.collapse_shape
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: %[[N:.*]] = arith.divui %[[AT]], %c6_i64
// CHECK: %[[SAMPLE:.*]] = arith.addi %[[FIRST]], %[[N]]
// CHECK: %[[INDEX:.*]] = arith.remui %[[AT]], %c6_i64
// CHECK: numera.random %{{.*}}, %{{.*}}, %[[SAMPLE]], %[[INDEX]] id 8 bits 8
func.func @reshaped(%x: tensor<?x6xf32>) -> tensor<?xf32> {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x6xf32> into tensor<?xf32>
  %r = arith.addf %y, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}

// Scalars have the loops around them.
// CHECK-LABEL: @loop
// CHECK: scf.for %[[I:.*]] =
// CHECK: scf.for %[[J:.*]] =
// CHECK: arith.muli
// CHECK: %[[INDEX:.*]] = arith.addi
// CHECK: numera.random %{{.*}}, %{{.*}}, %{{.*}}, %[[INDEX]] id 10 bits 8
// CHECK: numera.add
func.func @loop(%x: f32, %n: index, %m: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    %s = scf.for %j = %c0 to %m step %c2 iter_args(%b = %a) -> f32 {
      %c = arith.addf %b, %b : f32
      scf.yield %c : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// Calls pass on what they were given; who draws nothing takes nothing.
// CHECK-LABEL: @caller
// CHECK-SAME: %[[SEED:[a-z0-9]*]]: i64, %[[STEP:[a-z0-9]*]]: i64, %[[FIRST:[a-z0-9]*]]: i64)
// CHECK: call @callee(%{{[^,]*}}, %[[SEED]], %[[STEP]], %[[FIRST]])
// CHECK-LABEL: func.func private @callee
// CHECK: id 13
// CHECK: id 14
// CHECK-LABEL: @exact(%{{[^,]*}}: i32) -> i32 {
func.func @caller(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = func.call @callee(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = math.sqrt %x : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @exact(%x: i32) -> i32 {
  return %x : i32
}

// Constants are rounded to nearest, and draw nothing.
// CHECK-LABEL: @constant
// CHECK: numera.constant 0.09375 :
// CHECK: id 15
// CHECK: numera.cast
// CHECK: id 16
// CHECK: numera.add
// CHECK-NOT: id 17
func.func @constant(%x: f32) -> f32 {
  %c = arith.constant 0.1 : f32
  %r = arith.addf %x, %c : f32
  return %r : f32
}

// A vector of constant size is one sample, its elements are neighbours.
// CHECK-LABEL: @vector
// CHECK: %[[AT:.*]] = linalg.index 0
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[AT]]
// CHECK: numera.random %{{.*}}, %{{.*}}, %c0{{.*}}, %[[INDEX]] id
func.func @vector(%x: tensor<9xf32>) -> tensor<9xf32> {
  %r = math.sqrt %x : tensor<9xf32>
  return %r : tensor<9xf32>
}
