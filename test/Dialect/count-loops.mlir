// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-count-status-flags | FileCheck %s

!f8 = !numera.num<float<4, 3, fn>>

// What is counted in blocks is added up in memory, which is cleared first.
// CHECK-LABEL: @a_branch_in_a_loop
// CHECK-SAME: tensor<10xi64>
// CHECK: %[[SUMS:.*]] = memref.alloca() : memref<10xi64>
// CHECK-COUNT-10: memref.store %{{.*}}, %[[SUMS]]
// CHECK: scf.for
// CHECK: numera.status_flags "exp"
// CHECK: %[[OF_EXP:.*]]:4 = func.call @numera.sum_flags
// CHECK: scf.if
// CHECK: numera.status_flags "sqrt"
// CHECK: %[[OF_SQRT:.*]]:4 = func.call @numera.sum_flags
// CHECK: %[[BEFORE:.*]] = memref.load %[[SUMS]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[BEFORE]], %{{.*}}
// CHECK: memref.store %[[AFTER]], %[[SUMS]]
// CHECK: arith.addi %{{.*}}, %[[OF_SQRT]]#0
// CHECK: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: arith.addi %{{.*}}, %[[OF_EXP]]#0
// CHECK: scf.yield
// CHECK-COUNT-10: memref.load %[[SUMS]]
// CHECK: tensor.from_elements
func.func @a_branch_in_a_loop(%x: tensor<4x!f8>, %n: index, %c: i1) -> tensor<4x!f8> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> tensor<4x!f8> {
    %e = numera.exp %v : tensor<4x!f8>
    %o = scf.if %c -> tensor<4x!f8> {
      %q = numera.sqrt %e : tensor<4x!f8>
      scf.yield %q : tensor<4x!f8>
    } else {
      scf.yield %e : tensor<4x!f8>
    }
    scf.yield %o : tensor<4x!f8>
  }
  return %r : tensor<4x!f8>
}

// The condition is computed once more than the body.
// CHECK-LABEL: @both_blocks_of_while
// CHECK: scf.while
// CHECK: numera.exp
// CHECK: memref.store
// CHECK: scf.condition
// CHECK: numera.mul
// CHECK: memref.store
// CHECK: scf.yield
func.func @both_blocks_of_while(%x: !f8) -> !f8 {
  %r = scf.while (%v = %x) : (!f8) -> !f8 {
    %e = numera.exp %v : !f8
    %c = numera.cmp olt, %v, %e : !f8
    scf.condition(%c) %e : !f8
  } do {
  ^bb0(%v: !f8):
    %s = numera.mul %v, %v : !f8
    scf.yield %s : !f8
  }
  return %r : !f8
}

// CHECK-LABEL: @a_branch_without_results
// CHECK: scf.if %arg1
// CHECK: numera.exp
// CHECK: memref.store
// CHECK: return %arg0, %{{.*}} : !f8E4M3FN, tensor<5xi64>
func.func @a_branch_without_results(%x: !f8, %c: i1) -> !f8 {
  scf.if %c {
    %e = numera.exp %x : !f8
  }
  return %x : !f8
}

// CHECK-LABEL: @the_counts_of_a_call
// CHECK: scf.for
// CHECK: %[[CALL:.*]]:2 = func.call @a_branch_in_a_loop
// CHECK: tensor.extract %[[CALL]]#1
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x!f8E4M3FN>, tensor<10xi64>
func.func @the_counts_of_a_call(%x: tensor<4x!f8>, %n: index, %c: i1) -> tensor<4x!f8> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> tensor<4x!f8> {
    %e = func.call @a_branch_in_a_loop(%v, %n, %c) : (tensor<4x!f8>, index, i1) -> tensor<4x!f8>
    scf.yield %e : tensor<4x!f8>
  }
  return %r : tensor<4x!f8>
}
