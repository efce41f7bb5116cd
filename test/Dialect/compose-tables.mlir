// SPDX-License-Identifier: MIT
// A result that is a function of one code is read from one table.
// RUN: numera-opt %s --numera-compose-tables --cse | FileCheck %s

#f4 = #numera.format<float<2, 1, finite>>
#f8 = #numera.format<float<4, 3, fn>>
#bf16 = #numera.format<float<8, 7>>
#posit16 = #numera.format<posit<16, 2>>
#f32 = #numera.format<float<8, 23>>

// Of 0 0.5 1 1.5 2 3 4 6: x · 2 is 0 1 2 3 4 6 6 6, and that less 1, to nearest, is
// -1 0 1 2 3 4 4 4. Of -0 to -6: -1 -2 -3 -4 -4 -6 -6 -6.
// CHECK-LABEL: @two_operations
// CHECK-SAME: (%[[X:.*]]: i8)
// CHECK-NEXT: %[[R:.*]] = numera.lookup %[[X]] in dense<[10, 0, 2, 4, 5, 6, 6, 6, 10, 12, 13, 14, 14, 15, 15, 15]> : tensor<16xi8> : i8 to i8
// CHECK-NEXT: return %[[R]]
func.func @two_operations(%x: i8) -> i8 {
  %two = arith.constant 4 : i8
  %one = arith.constant 2 : i8
  %0 = numera.mul %x, %two {format = #f4} : i8
  %1 = numera.sub %0, %one {format = #f4} : i8
  return %1 : i8
}

// It may branch. What two codes make is not a function of one; a function of it
// is.
// CHECK-LABEL: @silu
// CHECK-SAME: (%[[X:.*]]: i16, %[[BIAS:.*]]: i16)
// CHECK-NEXT: %[[SUM:.*]] = numera.add %[[X]], %[[BIAS]]
// CHECK-NEXT: %[[R:.*]] = numera.lookup %[[SUM]] in dense<"0x{{.*}}"> : tensor<65536xi16> : i16 to i16
// CHECK-NEXT: return %[[R]]
func.func @silu(%x: i16, %bias: i16) -> i16 {
  %one = arith.constant 0x4000 : i16
  %0 = numera.add %x, %bias {format = #posit16} : i16
  %1 = numera.neg %0 {format = #posit16} : i16
  %2 = numera.exp %1 {format = #posit16} : i16
  %3 = numera.add %2, %one {format = #posit16} : i16
  %4 = numera.div %one, %3 {format = #posit16} : i16
  %5 = numera.mul %0, %4 {format = #posit16} : i16
  return %5 : i16
}

// Selections are part of it.
// CHECK-LABEL: @leaky
// CHECK-SAME: (%[[X:.*]]: i8)
// CHECK-NEXT: numera.lookup %[[X]] in dense<"0x{{.*}}"> : tensor<256xi8> : i8 to i8
// CHECK-NEXT: return
func.func @leaky(%x: i8) -> i8 {
  %zero = arith.constant 0 : i8
  %slope = arith.constant 0x30 : i8
  %0 = numera.cmp olt, %x, %zero {format = #f8} : i8
  %1 = numera.mul %x, %slope {format = #f8} : i8
  %2 = arith.select %0, %1, %x : i8
  return %2 : i8
}

// What others need is computed in any case, and counts for nothing.
// CHECK-LABEL: @needed
// CHECK-SAME: (%[[X:.*]]: i16)
// CHECK: %[[HALF:.*]] = numera.mul
// CHECK-NEXT: %[[R:.*]] = numera.add %[[HALF]]
// CHECK-NEXT: return %[[HALF]], %[[R]]
func.func @needed(%x: i16) -> (i16, i16) {
  %half = arith.constant 0x3800 : i16
  %0 = numera.mul %x, %half {format = #posit16} : i16
  %1 = numera.add %0, %half {format = #posit16} : i16
  return %0, %1 : i16, i16
}

// Two cheap operations are cheaper than a table of 16 bits.
// CHECK-LABEL: @cheap
// CHECK-NOT: lookup
// CHECK: return
func.func @cheap(%x: i16) -> i16 {
  %half = arith.constant 0x3f00 : i16
  %0 = numera.mul %x, %half {format = #bf16} : i16
  %1 = numera.add %0, %half {format = #bf16} : i16
  return %1 : i16
}

// Random bits are drawn anew; numbers of f32 are no codes; vectors stay.
// CHECK-LABEL: @stays
// CHECK-NOT: lookup
// CHECK: return
func.func @stays(%x: i8, %y: f32, %z: vector<4xi8>, %random: i32) -> (i8, i8, vector<4xi8>) {
  %half = arith.constant 0x30 : i8
  %0 = numera.mul %x, %half random %random {format = #f8, rounding = #numera.rounding<stochastic>} : i8
  %1 = numera.neg %0 {format = #f8} : i8
  %2 = numera.cast %y {format = #f8, operand_formats = [#f32]} : f32 to i8
  %3 = numera.sqrt %z {format = #f8} : vector<4xi8>
  %4 = numera.exp %3 {format = #f8} : vector<4xi8>
  return %1, %2, %4 : i8, i8, vector<4xi8>
}

// Status flags are part of it: 4 · 2 and 6 · 2 are beyond 6. What no code raises is 0.
// CHECK-LABEL: @flags
// CHECK-SAME: (%[[X:.*]]: i8)
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[FLAGS:.*]] = numera.lookup %[[X]] in dense<[0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1]> : tensor<16xi8> : i8 to i8
// CHECK-NOT: numera.status_flags
// CHECK: return %{{.*}}, %[[FLAGS]], %[[NONE]]
func.func @flags(%x: i8) -> (i8, i8, i8) {
  %two = arith.constant 4 : i8
  %one = arith.constant 2 : i8
  %0 = numera.mul %x, %two {format = #f4} : i8
  %1 = numera.status_flags "mul"(%x, %two) gives %0 {format = #f4, operand_formats = [#f4, #f4]} : (i8, i8, i8) -> i8
  %2 = numera.mul %x, %one {format = #f4} : i8
  %3 = numera.status_flags "mul"(%x, %one) gives %2 {format = #f4, operand_formats = [#f4, #f4]} : (i8, i8, i8) -> i8
  return %0, %1, %3 : i8, i8, i8
}
