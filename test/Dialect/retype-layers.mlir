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
// The operations of a layer stand side by side: its own, on the reference's
// inputs, and the reference.
// CHECK: %[[X:.*]] = numera.cast %arg0 : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[FIRST:.*]] = numera.mul %[[X]], %[[X]]
// CHECK: %[[R1:.*]] = numera.cast %[[FIRST]]
// CHECK: %[[RFIRST:.*]] = numera.mul %arg0, %arg0 : tensor<4xf32>
// CHECK: %[[ACT:.*]] = numera.tanh %[[FIRST]] : tensor<4x!posit8>
// CHECK: %[[R2:.*]] = numera.cast %[[ACT]]
// CHECK: %[[OFIRST:.*]] = numera.cast %[[RFIRST]] : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[OWNACT:.*]] = numera.tanh %[[OFIRST]]
// CHECK: %[[R3:.*]] = numera.cast %[[OWNACT]]
// CHECK: %[[RACT:.*]] = numera.tanh %[[RFIRST]] : tensor<4xf32>
// CHECK: %[[SUM:.*]] = numera.add %[[ACT]], %[[FIRST]] : tensor<4x!posit8>
// CHECK: %[[R0:.*]] = numera.cast %[[SUM]]
// CHECK: %[[OACT:.*]] = numera.cast %[[RACT]] : tensor<4xf32> to tensor<4x!posit8>
// CHECK: %[[OWNSUM:.*]] = numera.add %[[OACT]], %[[OFIRST]]
// CHECK: %[[R4:.*]] = numera.cast %[[OWNSUM]]
// CHECK: %[[RSUM:.*]] = numera.add %[[RACT]], %[[RFIRST]] : tensor<4xf32>
// CHECK: return %[[R0]], %[[R1]], %[[R1]], %[[RFIRST]], %[[R2]], %[[R3]], %[[RACT]], %[[R0]], %[[R4]], %[[RSUM]]

// f32 does not hold the numbers of posit32.
// WIDE: @net(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64> {numera.any_order = 0 : i64}, tensor<4xf64> {numera.any_order = 0 : i64}, tensor<4xf64>

// The program's operations have the ids that they have without its layers, 1 to
// 4, wherever they stand.
// DRAWS: numera.random {{.*}} id 1 bits
// DRAWS-NEXT: numera.cast
// DRAWS: numera.random {{.*}} id 2 bits
// DRAWS-NEXT: numera.mul
// DRAWS: numera.random {{.*}} id 3 bits
// DRAWS-NEXT: numera.tanh
// DRAWS: numera.random {{.*}} id 5 bits
// DRAWS-NEXT: numera.cast
// DRAWS: numera.random {{.*}} id 7 bits
// DRAWS-NEXT: numera.tanh
// DRAWS: numera.random {{.*}} id 4 bits
// DRAWS-NEXT: numera.add
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32> loc("first")
  %t = math.tanh %y : tensor<4xf32> loc("act")
  %s = arith.addf %t, %y : tensor<4xf32>
  return %s : tensor<4xf32>
}

// What no result needs stays behind what it reads.
// WIDE-LABEL: @unused
// WIDE: numera.tanh
// WIDE: numera.exp
// WIDE: return
func.func @unused(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = math.tanh %x : tensor<4x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x2xf32> into tensor<8xf32>
  %2 = math.exp %1 : tensor<8xf32>
  %3 = arith.addf %0, %x : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// The reference's sums are not cast to make NaNs canonical: it returns no number.
// CHECK-LABEL: @product
// CHECK: numera.mac {{.*}} : (!posit8, !posit8, f32) -> f32
// CHECK: numera.cast {{.*}} : tensor<2x2xf32> to tensor<2x2x!posit8>
// CHECK: %[[REFERENCE:.*]] = linalg.generic
// CHECK: numera.mac {{.*}} : f32
// CHECK-NOT: numera.cast
// CHECK: return {{.*}}, %[[REFERENCE]] : tensor<2x2xf32>
func.func @product(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%x, %y : tensor<2x3xf32>, tensor<3x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
