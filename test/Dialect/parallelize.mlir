// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --numera-parallelize --canonicalize | FileCheck %s --implicit-check-not=numera.parallel

// What is written is memory of the function; what is read might be anywhere.
// CHECK-LABEL: func.func @a_long_loop_is_shared
// CHECK-DAG: %[[BODY:.*]] = llvm.mlir.addressof @a_long_loop_is_shared.chunk
// CHECK-DAG: %[[ROOM:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[ROOM]] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>)>, !llvm.ptr
// CHECK: llvm.call @numera_host_parallel(%[[BODY]], %[[ROOM]], %{{.*}}, %{{.*}})
// CHECK-NOT: scf.for
// CHECK: func.func private @a_long_loop_is_shared.loop(%[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[X:.*]]: memref<?xi16>, %[[R:.*]]: memref<?xi16>)
// CHECK-DAG: %[[CODE:.*]] = arith.constant 7 : i16
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %{{.*}} {
// CHECK-NEXT: %[[A:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT: %[[B:.*]] = numera.add %[[A]], %[[CODE]]
// CHECK-NEXT: memref.store %[[B]], %[[R]][%[[I]]]
// CHECK: llvm.func internal @a_long_loop_is_shared.chunk(%[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.load %[[CONTEXT]]
// CHECK: call @a_long_loop_is_shared.loop
func.func @a_long_loop_is_shared(%x: memref<?xi16>) -> memref<?xi16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %code = arith.constant 7 : i16
  %n = memref.dim %x, %c0 : memref<?xi16>
  %r = memref.alloc(%n) : memref<?xi16>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi16>
    %b = numera.add %a, %code {format = #numera.format<posit<16, 2>>} : i16
    memref.store %b, %r[%i] : memref<?xi16>
  } {numera.parallel}
  return %r : memref<?xi16>
}

// -----

// 2^19 units of work a chunk: 6 an element, in whole cache lines.
// CHECK-LABEL: func.func @the_grain_is_worth_a_thread
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 1000000 : index
// CHECK-DAG: %[[GRAIN:.*]] = arith.constant 87424 : index
// CHECK-DAG: %[[N:.*]] = builtin.unrealized_conversion_cast %[[COUNT]] : index to i64
// CHECK-DAG: %[[G:.*]] = builtin.unrealized_conversion_cast %[[GRAIN]] : index to i64
// CHECK: llvm.call @numera_host_parallel(%{{.*}}, %{{.*}}, %[[N]], %[[G]])
func.func @the_grain_is_worth_a_thread(%x: memref<1000000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<1000000xf32>
    %b = numera.add %a, %a {format = #numera.format<float<8, 23>>} : f32
    %c = numera.add %b, %a {format = #numera.format<float<8, 23>>} : f32
    %d = numera.add %c, %a {format = #numera.format<float<8, 23>>} : f32
    memref.store %d, %x[%i] : memref<1000000xf32>
  } {numera.parallel}
  return
}

// -----

// CHECK-LABEL: func.func @a_short_loop_stays
// CHECK: scf.for
// CHECK-NOT: numera_host_parallel
func.func @a_short_loop_stays(%x: memref<1000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<1000xf32>
    %b = numera.add %a, %a {format = #numera.format<float<8, 23>>} : f32
    memref.store %b, %x[%i] : memref<1000xf32>
  } {numera.parallel}
  return
}

// -----

// The batch may be 1: the channels join in. Rows have 64 iterations already.
// CHECK-LABEL: func.func @loops_inside_join_in
// CHECK: llvm.call @numera_host_parallel
// CHECK: func.func private @loops_inside_join_in.loop
// CHECK-DAG: %[[CHANNELS:.*]] = arith.constant 64 : index
// CHECK: scf.for %[[I:.*]] =
// CHECK-DAG: %[[C:.*]] = arith.remui %[[I]], %[[CHANNELS]]
// CHECK-DAG: %[[N:.*]] = arith.divui %[[I]], %[[CHANNELS]]
// CHECK: scf.for %[[H:.*]] =
// CHECK: scf.for %[[W:.*]] =
// CHECK: memref.load %{{.*}}[%[[N]], %[[C]], %[[H]], %[[W]]]
func.func @loops_inside_join_in(%x: memref<?x64x99x99xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c99 = arith.constant 99 : index
  %batch = memref.dim %x, %c0 : memref<?x64x99x99xf32>
  scf.for %n = %c0 to %batch step %c1 {
    scf.for %c = %c0 to %c64 step %c1 {
      scf.for %h = %c0 to %c99 step %c1 {
        scf.for %w = %c0 to %c99 step %c1 {
          %a = memref.load %x[%n, %c, %h, %w] : memref<?x64x99x99xf32>
          memref.store %a, %x[%n, %c, %h, %w] : memref<?x64x99x99xf32>
        } {numera.parallel}
      } {numera.parallel}
    } {numera.parallel}
  } {numera.parallel}
  return
}

// -----

// The sum stays in order, in one thread.
// CHECK-LABEL: func.func @a_reduction_stays_whole
// CHECK: func.func private @a_reduction_stays_whole.loop(%[[BEGIN:.*]]: index, %[[END:.*]]: index,
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c5000
// CHECK: memref.load %{{.*}}[%[[I]], %[[K]]]
func.func @a_reduction_stays_whole(%x: memref<500x5000xf32>, %sum: memref<500xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c500 = arith.constant 500 : index
  %c5000 = arith.constant 5000 : index
  scf.for %i = %c0 to %c500 step %c1 {
    scf.for %k = %c0 to %c5000 step %c1 {
      %a = memref.load %x[%i, %k] : memref<500x5000xf32>
      %s = memref.load %sum[%i] : memref<500xf32>
      %t = numera.add %s, %a {format = #numera.format<float<8, 23>>} : f32
      memref.store %t, %sum[%i] : memref<500xf32>
    }
  } {numera.parallel}
  return
}

// -----

// Both arguments reach the memory: neither is alone.
// CHECK-LABEL: func.func @views_of_one_buffer_are_not_apart
// CHECK: func.func private @views_of_one_buffer_are_not_apart.loop
// CHECK-NOT: numera.apart
func.func @views_of_one_buffer_are_not_apart() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %r = memref.alloc() : memref<2000000xf32>
  %low = memref.subview %r[0] [1000000] [1] : memref<2000000xf32> to memref<1000000xf32, strided<[1]>>
  %high = memref.subview %r[1000000] [1000000] [1] : memref<2000000xf32> to memref<1000000xf32, strided<[1], offset: 1000000>>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %low[%i] : memref<1000000xf32, strided<[1]>>
    memref.store %a, %high[%i] : memref<1000000xf32, strided<[1], offset: 1000000>>
  } {numera.parallel}
  memref.dealloc %r : memref<2000000xf32>
  return
}

// -----

// What the caller keeps for a result is reached by nothing else. Memory on the
// stack is had once a call.
// CHECK-LABEL: func.func private @a_destination.loop
// CHECK-SAME: numera.apart = array<i64: 8>
// CHECK: memref.alloca
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @a_destination(%x: memref<1000000xi16>, %r: memref<1000000xi16>)
    attributes {numera.destinations = [array<i64: -1, -1>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  scf.for %i = %c0 to %n step %c1 {
    %room = memref.alloca() : memref<1xi16>
    %a = memref.load %x[%i] : memref<1000000xi16>
    %b = numera.add %a, %a {format = #numera.format<posit<16, 2>>} : i16
    memref.store %b, %room[%c0] : memref<1xi16>
    %c = memref.load %room[%c0] : memref<1xi16>
    memref.store %c, %r[%i] : memref<1000000xi16>
  } {numera.parallel}
  return
}
