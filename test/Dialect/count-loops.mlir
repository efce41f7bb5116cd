// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-count-status-flags | FileCheck %s

!f8 = !numera.num<float<4, 3, fn>>

// A row of a branch in a loop is carried out of both. How often each was run is
// carried, and not how many elements there were.
// CHECK-LABEL: @a_branch_in_a_loop
// CHECK-SAME: tensor<10xi64>
// CHECK: %[[LOOP:.*]]:11 = scf.for {{.*}} iter_args(%{{[^ ]*}} = %arg0, %[[RUNS:[^ ]*]] = %{{[^ ]*}}, %[[OVERFLOWS:[^ ]*]] = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %{{[^ ]*}} = %{{[^ ]*}}, %[[SQUARES:[^ ]*]] = %{{[^ ]*}},
// CHECK: numera.status_flags "exp"
// CHECK: %[[OF_EXP:.*]]:4 = func.call @numera.sum_flags
// CHECK: %[[BRANCH:.*]]:6 = scf.if
// CHECK: numera.status_flags "sqrt"
// CHECK: %[[OF_SQRT:.*]]:4 = func.call @numera.sum_flags
// CHECK: %[[ONCE:.*]] = arith.constant 1 : i64
// CHECK: scf.yield %{{.*}}, %[[ONCE]], %[[OF_SQRT]]#0, %[[OF_SQRT]]#1, %[[OF_SQRT]]#2, %[[OF_SQRT]]#3
// CHECK: } else {
// CHECK: %[[NEVER:.*]] = arith.constant 0 : i64
// CHECK: scf.yield %{{.*}}, %[[NEVER]],
// CHECK: %[[ELEMENTS:.*]] = arith.constant 4 : i64
// CHECK: %[[EXECUTED:.*]] = arith.muli %[[BRANCH]]#1, %[[ELEMENTS]]
// CHECK-DAG: arith.addi %[[RUNS]], %{{.*}}
// CHECK-DAG: arith.addi %[[OVERFLOWS]], %[[OF_EXP]]#0
// CHECK-DAG: arith.addi %[[SQUARES]], %[[EXECUTED]]
// CHECK: scf.yield
// CHECK: %[[EXPS:.*]] = arith.muli %[[LOOP]]#1, %{{.*}}
// CHECK: tensor.from_elements %[[EXPS]], %[[LOOP]]#2, %[[LOOP]]#3, %[[LOOP]]#4, %[[LOOP]]#5, %[[LOOP]]#6,
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
// CHECK: %[[LOOP:.*]]:11 = scf.while (%{{.*}} = %arg0, %[[CONDITIONS:[^ ]*]] = %{{[^ ]*}},
// CHECK: numera.exp
// CHECK: %[[MORE:.*]] = arith.addi %[[CONDITIONS]], %{{.*}}
// CHECK: scf.condition(%{{.*}}) %{{[^ ]*}}, %[[MORE]],
// CHECK: ^bb0(%{{[^ ]*}}: !f8E4M3FN, %[[KEPT:[^ ]*]]: i64, %{{[^ ]*}}: i64, %{{[^ ]*}}: i64, %{{[^ ]*}}: i64, %{{[^ ]*}}: i64, %[[BODIES:[^ ]*]]: i64,
// CHECK: numera.mul
// CHECK: %[[ONE_MORE:.*]] = arith.addi %[[BODIES]], %{{.*}}
// CHECK: scf.yield %{{[^ ]*}}, %[[KEPT]], {{.*}}, %[[ONE_MORE]],
// CHECK: tensor.from_elements %[[LOOP]]#1, {{.*}}, %[[LOOP]]#6,
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
// CHECK: %[[FOUND:.*]]:5 = scf.if %arg1 -> (i64, i64, i64, i64, i64)
// CHECK: numera.exp
// CHECK: } else {
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
