// SPDX-License-Identifier: MIT
// Clauses: V12
// RUN: numera-opt %s --numera-retype='to=posit16' | FileCheck %s

// CHECK-LABEL: @fma_rounds_once
// CHECK: numera.fma %{{.*}} : vector<4x!posit16>
func.func @fma_rounds_once(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.fma %x, %x, %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: @a_sum_begins_with_its_accumulator
// CHECK-DAG: %[[A:.*]] = numera.cast %{{.*}} : f32 to !posit16
// CHECK-DAG: %[[X:.*]] = numera.cast %{{.*}} : vector<3xf32> to vector<3x!posit16>
// CHECK: %[[X0:.*]] = vector.extract %[[X]][0]
// CHECK: %[[S0:.*]] = numera.add %[[X0]], %[[A]]
// CHECK: %[[X1:.*]] = vector.extract %[[X]][1]
// CHECK: %[[S1:.*]] = numera.add %[[X1]], %[[S0]]
// CHECK: %[[X2:.*]] = vector.extract %[[X]][2]
// CHECK: numera.add %[[X2]], %[[S1]]
func.func @a_sum_begins_with_its_accumulator(%x: vector<3xf32>, %a: f32) -> f32 {
  %0 = vector.reduction <add>, %x, %a : vector<3xf32> into f32
  return %0 : f32
}

// CHECK-LABEL: @a_maximum_begins_with_the_first
// CHECK: %[[X0:.*]] = vector.extract %{{.*}}[0]
// CHECK: %[[X1:.*]] = vector.extract %{{.*}}[1]
// CHECK: numera.max %[[X1]], %[[X0]]
func.func @a_maximum_begins_with_the_first(%x: vector<2xf32>) -> f32 {
  %0 = vector.reduction <maximumf>, %x : vector<2xf32> into f32
  return %0 : f32
}

// CHECK-LABEL: @what_is_masked_off_leaves_the_accumulator
// CHECK: %[[NEXT:.*]] = numera.add %{{.*}}, %[[OLD:.*]] : !posit16
// CHECK: arith.select %{{.*}}, %[[NEXT]], %[[OLD]] : !posit16
func.func @what_is_masked_off_leaves_the_accumulator(%x: vector<1xf32>, %m: vector<1xi1>, %a: f32) -> f32 {
  %0 = vector.mask %m { vector.reduction <add>, %x, %a : vector<1xf32> into f32 } : vector<1xi1> -> f32
  return %0 : f32
}

// CHECK-LABEL: @integers_stay
// CHECK: vector.reduction <add>, %{{.*}} : vector<4xi32> into i32
func.func @integers_stay(%x: vector<4xi32>) -> i32 {
  %0 = vector.reduction <add>, %x : vector<4xi32> into i32
  return %0 : i32
}

// CHECK-LABEL: @bits
// CHECK: arith.bitcast %{{.*}} : vector<4xf32> to vector<4xi32>
func.func @bits(%x: vector<4xf32>) -> vector<4xi32> {
  %0 = vector.bitcast %x : vector<4xf32> to vector<4xi32>
  return %0 : vector<4xi32>
}
