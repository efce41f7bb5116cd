// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-destinations --canonicalize --cse --split-input-file | FileCheck %s
// RUN: numera-opt %s --numera-destinations --split-input-file | FileCheck %s --check-prefix=ALONE

// Constant sizes, those of an argument, and those that follow from one.
// CHECK-LABEL: func.func @results(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x3xf32> {bufferization.writable = false}, %[[D0:[a-z0-9]+]]: memref<4xf32>, %[[D1:[a-z0-9]+]]: memref<3x?xf32>)
// CHECK-SAME: attributes {numera.destinations = [array<i64: -1, -1>, array<i64: -1, -1, 0, 0>]}
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[X]]
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[D0]]
// CHECK-DAG: bufferization.materialize_in_destination %[[T]] in restrict writable %[[D1]]
// CHECK: return{{$}}
func.func @results(%x: tensor<?x3xf32>) -> (tensor<4xf32>, tensor<3x?xf32>) {
  %constant = arith.constant dense<1.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x3xf32>) outs(%e : tensor<3x?xf32>) permutation = [1, 0]
  return %constant, %t : tensor<4xf32>, tensor<3x?xf32>
}

// -----

// What is flattened keeps the size of its batch; a product of two sizes is
// computed.
// CHECK-LABEL: func.func @flattened(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x?x4xf32> {{.*}}, %[[D:[a-z0-9]+]]: memref<?x3xf32>) -> tensor<?xf32>
// CHECK-SAME: {numera.destinations = [array<i64: 0, 0, -1, -1>, unit]}
func.func @flattened(%x: tensor<?x?x4xf32>, %w: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x?x4xf32> into tensor<?x?xf32>
  %n = tensor.dim %flat, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<?x?xf32>, tensor<?x3xf32>) outs(%z : tensor<?x3xf32>) -> tensor<?x3xf32>
  %all = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x?x4xf32> into tensor<?xf32>
  return %p, %all : tensor<?x3xf32>, tensor<?xf32>
}

// -----

// A size that is computed is known too late.
// CHECK-LABEL: func.func @a_computed_size(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?xf32> {{.*}}, %[[D:[a-z0-9]+]]: memref<f32>) -> tensor<?xf32>
// CHECK-SAME: {numera.destinations = [unit, array<i64>]}
func.func @a_computed_size(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %more = arith.addi %n, %c1 : index
  %e = tensor.empty(%more) : tensor<?xf32>
  %c = arith.constant dense<2.0> : tensor<f32>
  return %e, %c : tensor<?xf32>, tensor<f32>
}

// -----

// What the module calls, what is private, and results that are no tensors stay.
// CHECK-LABEL: func.func @called(%{{.*}}: tensor<2xf32> {bufferization.writable = false}) -> tensor<2xf32>
// CHECK-LABEL: func.func private @hidden(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
// CHECK-LABEL: func.func @calls(%{{.*}}: tensor<2xf32> {{.*}}, %{{.*}}: memref<2xf32>, %{{.*}}: memref<2xf32>) -> memref<2xf32>
// CHECK-SAME: {numera.destinations = [unit, array<i64: -1, -1>]}
func.func @called(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func private @hidden(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @calls(%x: tensor<2xf32>, %m: memref<2xf32>) -> (memref<2xf32>, tensor<2xf32>) {
  %0 = call @called(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @hidden(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %m, %1 : memref<2xf32>, tensor<2xf32>
}

// -----

// A result in another shape is written to a view of where it goes.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %[[D0:[a-z0-9]+]]: memref<4x6xf32>, %[[D1:[a-z0-9]+]]: memref<2x2xf32>)
// CHECK-DAG: %[[V0:.*]] = memref.expand_shape %[[D0]] {{\[\[}}0], [1, 2]] output_shape [4, 2, 3]
// CHECK-DAG: %[[V1:.*]] = memref.collapse_shape %[[D1]] {{\[\[}}0, 1]]
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[V0]] : (tensor<4x2x3xf32>
// CHECK-DAG: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[V1]] : (tensor<4xf32>
func.func @reshaped(%x: tensor<4x2x3xf32>, %y: tensor<4xf32>) -> (tensor<4x6xf32>, tensor<2x2xf32>) {
  %0 = tensor.collapse_shape %x [[0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
  %1 = tensor.expand_shape %y [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<2x2xf32>
}

// -----

// What two results begin with is made for each of them: in the memory of one it
// would be gone when the other is written.
// CHECK-LABEL: func.func @begun_together(
// ALONE-LABEL: func.func @begun_together(
// ALONE: %[[F:.*]] = linalg.fill
// ALONE: %[[F0:.*]] = linalg.fill
// ALONE: linalg.matmul {{.*}} outs(%[[F0]] :
// ALONE: linalg.matmul {{.*}} outs(%[[F]] :
// ALONE-LABEL: func.func @begun_with_a_result(
// ALONE: %[[P:.*]] = linalg.matmul
// ALONE: %[[C:.*]] = linalg.copy ins(%[[P]]
// ALONE: linalg.matmul {{.*}} outs(%[[C]] :
// ALONE-LABEL: func.func @looped(
// ALONE: %[[F:.*]] = linalg.fill
// ALONE: %[[F0:.*]] = linalg.fill
// ALONE: scf.for {{.*}} = %[[F0]])
// ALONE: scf.for {{.*}} = %[[F]])
func.func @begun_together(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = linalg.matmul ins(%b, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @begun_with_a_result(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %f = tensor.empty() : tensor<2x2xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = linalg.matmul ins(%b, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%p : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @looped(%a: tensor<2x2xf32>, %n: index, %x: f32) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f) -> tensor<2x2xf32> {
    %next = tensor.insert %x into %t[%i, %c0] : tensor<2x2xf32>
    scf.yield %next : tensor<2x2xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %f) -> tensor<2x2xf32> {
    %next = tensor.insert %x into %t[%i, %c1] : tensor<2x2xf32>
    scf.yield %next : tensor<2x2xf32>
  }
  return %p, %q : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// An input is copied to where the result that begins with it goes, once.
// CHECK-LABEL: func.func @begun_with_an_input(
// CHECK-SAME: tensor<2x2xf32> {{.*}}, %[[X:[a-z0-9]+]]: tensor<2x2xf32> {
// CHECK: %[[C:.*]] = linalg.copy ins(%[[X]]
// CHECK: linalg.matmul {{.*}} outs(%[[C]] :
func.func @begun_with_an_input(%a: tensor<2x2xf32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %p = linalg.matmul ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%x : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %p : tensor<2x2xf32>
}
