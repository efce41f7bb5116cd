// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --pass-pipeline='builtin.module(func.func(numera-draw-blocks))' --split-input-file | FileCheck %s

// The sample is that of an outer loop; the index goes with the inner one.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[BUFFER:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2048xi32>
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: scf.for %[[S:[a-z0-9]+]] = %{{.*}} to %[[N:[a-z0-9]+]] step %{{.*}} {
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[S]]
// CHECK: %[[COUNT:.*]] = arith.minui %[[REST]]
// CHECK: %[[END:.*]] = arith.addi %[[S]], %[[COUNT]]
// CHECK: %[[SAMPLE:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[S]] : index
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[FIRST]] : index to i64
// CHECK: numera.random_fill %[[BUFFER]], %{{.*}}, %{{.*}}, %[[SAMPLE]], %[[INDEX]], %{{.*}} id 3 bits 8 : memref<2048xi32>
// CHECK: scf.for %[[J:[a-z0-9]+]] = %[[S]] to %[[END]]
// CHECK: %[[PLACE:.*]] = arith.subi %[[J]], %[[S]]
// CHECK: %[[DRAW:.*]] = memref.load %[[BUFFER]][%[[PLACE]]]
// CHECK: memref.store %[[DRAW]], %{{.*}}[%[[I]], %[[J]]]
func.func @rows(%seed: i64, %step: i64, %n: index, %out: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sample = arith.index_cast %i : index to i64
      %plane = arith.muli %i, %c7 : index
      %place = arith.addi %plane, %j : index
      %index = arith.index_cast %place : index to i64
      %r = numera.random %seed, %step, %sample, %index id 3 bits 8
      memref.store %r, %out[%i, %j] : memref<?x?xi32>
    }
  }
  return
}

// -----

// Values that a loop carries go from strip to strip.
// CHECK-LABEL: func.func @carried(
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[OUTER:.*]] = %{{.*}}) -> (i32) {
// CHECK: %[[PART:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[OUTER]]) -> (i32) {
// CHECK: scf.yield %[[PART]]
// CHECK: return %[[SUM]]
func.func @carried(%seed: i64, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%old = %zero) -> (i32) {
    %index = arith.index_cast %i : index to i64
    %r = numera.random %seed, %seed, %seed, %index id 1 bits 32
    %new = arith.xori %old, %r : i32
    scf.yield %new : i32
  }
  return %sum : i32
}

// -----

// What is no neighbour is drawn where it stands; so is what few iterations draw.
// CHECK-LABEL: func.func @alone(
// CHECK-NOT: random_fill
// CHECK: return
func.func @alone(%seed: i64, %n: index, %out: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  scf.for %i = %c0 to %n step %c1 {
    %twice = arith.muli %i, %c2 : index
    %index = arith.index_cast %twice : index to i64
    %r = numera.random %seed, %seed, %seed, %index id 1 bits 32
    memref.store %r, %out[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %sample = arith.index_cast %i : index to i64
    %r = numera.random %seed, %seed, %sample, %sample id 1 bits 32
    memref.store %r, %out[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %c15 step %c1 {
    %index = arith.index_cast %i : index to i64
    %r = numera.random %seed, %seed, %seed, %index id 1 bits 32
    memref.store %r, %out[%i] : memref<?xi32>
  }
  return
}
