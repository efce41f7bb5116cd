// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --pass-pipeline='builtin.module(func.func(numera-loops))' | FileCheck %s

// Sixteen rows of two vectors at a time, the largest of each in one vector.
// CHECK-LABEL: func @largest
// CHECK: scf.for %[[I:.*]] = {{.*}} to %c192 step %c16
// CHECK-COUNT-32: vector.load {{.*}} : memref<192x32xf32>, vector<16xf32>
// CHECK-COUNT-30: vector.shuffle
// CHECK: %[[BEFORE:.*]] = vector.load {{.*}}[%[[I]]] : memref<192xi32>, vector<16xi32>
// CHECK: %[[MOST:.*]] = arith.maxui %[[BEFORE]]
// CHECK: vector.store %[[MOST]], {{.*}}[%[[I]]]
// CHECK: numera.parallel
func.func @largest(%x: memref<3x64x32xf32>, %y: memref<3x64xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<3x64x32xf32>) outs(%y : memref<3x64xi32>) {
  ^bb0(%in: f32, %out: i32):
    %mask = arith.constant 2147483647 : i32
    %bits = arith.bitcast %in : f32 to i32
    %magnitude = arith.andi %bits, %mask : i32
    %most = arith.maxui %out, %magnitude : i32
    linalg.yield %most : i32
  }
  return
}

// Rows that are no whole vectors, or not sixteen, go one by one.
// CHECK-LABEL: func @others
// CHECK-NOT: vector.load
func.func @others(%x: memref<64x30xi32>, %y: memref<64xi32>, %z: memref<40x32xi32>, %w: memref<40xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x30xi32>) outs(%y : memref<64xi32>) {
  ^bb0(%in: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%z : memref<40x32xi32>) outs(%w : memref<40xi32>) {
  ^bb0(%in: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  }
  return
}
