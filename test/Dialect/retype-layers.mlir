// SPDX-License-Identifier: MIT
// Clauses: M1 M2.
// RUN: numera-opt %s --numera-retype='to=posit8 layers=true' --canonicalize --cse | FileCheck %s
// RUN: numera-opt %s --numera-retype='to=posit32 layers=true' | FileCheck %s --check-prefix=WIDE
// RUN: numera-opt %s --numera-retype='to=posit<8,0,stochastic> layers=true' | FileCheck %s --check-prefix=DRAWS

// The function's own result comes first, then three for each layer: the value,
// what the layer makes of the reference's inputs, and the reference. A layer on
// the function's arguments makes nothing else of them.
// CHECK-LABEL: @net
// CHECK-SAME: numera.layers = [
// CHECK-SAME: {format = "posit8", inputs = array<i32>, name = "first", operation = "mulf"}
// CHECK-SAME: {format = "posit8", inputs = array<i32: 0>, name = "act", operation = "tanh"}
// CHECK-SAME: {format = "posit8", inputs = array<i32: 1, 0>, name = "addf", operation = "addf"}
// CHECK: %[[X:.*]] = numera.cast %arg0 : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[FIRST:.*]] = numera.mul %[[X]], %[[X]]
// CHECK: %[[ACT:.*]] = numera.tanh %[[FIRST]] : tensor<4x!posit8>
// CHECK: %[[SUM:.*]] = numera.add %[[ACT]], %[[FIRST]] : tensor<4x!posit8>
// CHECK: %[[RFIRST:.*]] = numera.mul %arg0, %arg0 : tensor<4xf32>
// CHECK: %[[OFIRST:.*]] = numera.cast %[[RFIRST]] : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[RACT:.*]] = numera.tanh %[[RFIRST]] : tensor<4xf32>
// CHECK: %[[OACT:.*]] = numera.cast %[[RACT]] : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[RSUM:.*]] = numera.add %[[RACT]], %[[RFIRST]] : tensor<4xf32>
// CHECK: %[[OWNACT:.*]] = numera.tanh %[[OFIRST]]
// CHECK: %[[OWNSUM:.*]] = numera.add %[[OACT]], %[[OFIRST]]
// CHECK-DAG: %[[R0:.*]] = numera.cast %[[SUM]]
// CHECK-DAG: %[[R1:.*]] = numera.cast %[[FIRST]]
// CHECK-DAG: %[[R2:.*]] = numera.cast %[[ACT]]
// CHECK-DAG: %[[R3:.*]] = numera.cast %[[OWNACT]]
// CHECK-DAG: %[[R4:.*]] = numera.cast %[[OWNSUM]]
// CHECK: return %[[R0]], %[[R1]], %[[R1]], %[[RFIRST]], %[[R2]], %[[R3]], %[[RACT]], %[[R0]], %[[R4]], %[[RSUM]]

// f32 does not hold the numbers of posit32.
// WIDE: @net(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>

// The program's operations draw first, with the ids that they have without.
// DRAWS: numera.random {{.*}} id 1 bits
// DRAWS-NEXT: numera.cast
// DRAWS: numera.random {{.*}} id 2 bits
// DRAWS-NEXT: numera.mul
// DRAWS: numera.random {{.*}} id 3 bits
// DRAWS-NEXT: numera.tanh
// DRAWS: numera.random {{.*}} id 4 bits
// DRAWS-NEXT: numera.add
// DRAWS: numera.random {{.*}} id 5 bits
// DRAWS-NEXT: numera.cast
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32> loc("first")
  %t = math.tanh %y : tensor<4xf32> loc("act")
  %s = arith.addf %t, %y : tensor<4xf32>
  return %s : tensor<4xf32>
}
