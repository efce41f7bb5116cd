// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-ops | FileCheck %s
//
// What computes on machine numbers returns codes where a model has codes of f32.

// CHECK-LABEL: @codes
// CHECK-SAME: (%[[CODE:.*]]: i8,
func.func @codes(%code: i8, %m: memref<4xi32>, %i: index) {
  // CHECK: %[[NUMBER:.*]] = call @numera_float_decode_f32_8(%[[CODE]]
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[NUMBER]] : f32 to i32
  // CHECK: memref.store %[[BITS]]
  %y = numera.cast %code {format = #numera.format<float<8, 23>>, operand_formats = [#numera.format<float<4, 3, fn>>]} : i8 to i32
  memref.store %y, %m[%i] : memref<4xi32>
  return
}
