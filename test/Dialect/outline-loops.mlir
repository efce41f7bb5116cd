// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --numera-outline-loops=most-loops=1 --canonicalize | FileCheck %s
// RUN: numera-opt %s --split-input-file --numera-outline-loops | FileCheck %s --check-prefix=FEW

// Weights are passed, a table of two numbers is a part of the function.
// CHECK-LABEL: func.func @layers_that_are_alike_share_a_function
// CHECK-SAME: (%[[X:.*]]: memref<32xf32>, %[[Y:.*]]: memref<32xf32>)
// CHECK-DAG: %[[A:.*]] = memref.get_global @a
// CHECK-DAG: %[[B:.*]] = memref.get_global @b
// CHECK: call @[[F:layers.*\.loop]](%[[A]], %[[X]])
// CHECK: call @[[F]](%[[B]], %[[Y]])
// CHECK: call @[[G:layers.*\.loop_.*]](%[[A]], %[[X]])
// CHECK-NOT: call
// CHECK: func.func private @[[F]](%[[W:.*]]: memref<32xf32>, %[[R:.*]]: memref<32xf32>) attributes {passthrough = ["noinline"]}
// CHECK: memref.get_global @two
// CHECK: memref.load %[[W]]
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: func.func private @[[G]]
// CHECK: arith.addf
// CHECK-NOT: func.func

// FEW-NOT: call
memref.global "private" constant @a : memref<32xf32> = dense<1.5>
memref.global "private" constant @b : memref<32xf32> = dense<2.5>
memref.global "private" constant @two : memref<2xf32> = dense<[1.0, 2.0]>
func.func @layers_that_are_alike_share_a_function(
    %x: memref<32xf32>, %y: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %a = memref.get_global @a : memref<32xf32>
  %b = memref.get_global @b : memref<32xf32>
  %two = memref.get_global @two : memref<2xf32>
  scf.for %i = %c0 to %c32 step %c1 {
    %0 = memref.load %two[%c1] : memref<2xf32>
    %1 = memref.load %a[%i] : memref<32xf32>
    %2 = arith.mulf %0, %1 : f32
    memref.store %2, %x[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    %0 = memref.load %two[%c1] : memref<2xf32>
    %1 = memref.load %b[%i] : memref<32xf32>
    %2 = arith.mulf %0, %1 : f32
    memref.store %2, %y[%i] : memref<32xf32>
  }
  scf.for %i = %c0 to %c32 step %c1 {
    %0 = memref.load %two[%c1] : memref<2xf32>
    %1 = memref.load %a[%i] : memref<32xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %x[%i] : memref<32xf32>
  }
  return
}

// -----

// Numbers come back; what is known of memory stays known.
// CHECK-LABEL: func.func @a_loop_may_have_results
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: %[[SUM:.*]] = call @[[F:.*\.loop]](%{{.*}}, %[[N:.*]], %{{.*}}) : (memref<?xf32>, index, f32) -> f32
// CHECK: call @[[G:.*\.loop_.*]](%[[SUM]], %[[T]], %[[N]])
// CHECK: func.func private @[[F]](
// CHECK: return %{{.*}} : f32
// CHECK: func.func private @[[G]]({{.*}}) attributes {numera.apart = array<i64: 2>, passthrough = ["noinline"]}
func.func @a_loop_may_have_results(%x: memref<?xf32>, %zero: f32)
    -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %s, %0 : f32
    scf.yield %1 : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %sum, %t[%i] : memref<?xf32>
  }
  return %t : memref<?xf32>
}
