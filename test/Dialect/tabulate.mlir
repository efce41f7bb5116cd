// SPDX-License-Identifier: MIT
// What is slow to compute on few bits becomes a table.
// RUN: numera-opt %s --numera-tabulate | FileCheck %s
// RUN: numera-opt %s --numera-tabulate --numera-lower-ops | FileCheck %s --check-prefix=LOWER
// RUN: numera-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

#f8 = #numera.format<float<4, 3, fn>>
#f6 = #numera.format<float<3, 2, finite>>
#f4 = #numera.format<float<2, 1, finite>>
#posit8 = #numera.format<posit<8, 2>>
#posit16 = #numera.format<posit<16, 2>>
#takum8 = #numera.format<takum<8>>
#takum16 = #numera.format<takum<16>>
#q4 = #numera.format<fixed<3, 4>>
#f32 = #numera.format<float<8, 23>>

// CHECK-LABEL: @exp_of_four_bits
// CHECK: %[[R:.*]] = numera.lookup %{{.*}} in dense<[2, 3, 5, 6, 7, 7, 7, 7, 2, 1, 1, 0, 0, 0, 0, 0]> : tensor<16xi8> : i8 to i8
// CHECK: return %[[R]]
// exp of 0 0.5 1 1.5 2 3 4 6, to nearest, is 1 1.5 3 4 6 6 6 6.

// LOWER: llvm.mlir.global internal constant @numera_table_{{.*}}alignment = 64
// LOWER-LABEL: @exp_of_four_bits
// LOWER-SAME: (%[[X:.*]]: i8)
// LOWER: %[[LOW:.*]] = arith.andi %[[X]], %c15_i8
// LOWER: %[[TABLE:.*]] = llvm.mlir.addressof @numera_table_
// LOWER: call @numera_lookup_6_8(%[[LOW]], %[[TABLE]]) : (i8, !llvm.ptr) -> i8
func.func @exp_of_four_bits(%x: i8) -> i8 {
  %r = numera.exp %x {format = #f4} : i8
  return %r : i8
}

// Two operands of four bits are one place of eight.
// CHECK-LABEL: @sum_of_four_bits
// CHECK: numera.lookup %{{.*}}, %{{.*}} in dense<"0x{{.*}}"> : tensor<16x16xi8> : i8, i8 to i8
// LOWER-LABEL: @sum_of_four_bits
// LOWER: %[[HIGH:.*]] = arith.shli %{{.*}}, %c4_i8
// LOWER: %[[PLACE:.*]] = arith.ori %[[HIGH]], %{{.*}} : i8
// LOWER: call @numera_lookup_8_8(%[[PLACE]],
func.func @sum_of_four_bits(%x: i8, %y: i8) -> i8 {
  %r = numera.add %x, %y {format = #f4} : i8
  return %r : i8
}

// CHECK-LABEL: @remainder
// CHECK: numera.lookup %{{.*}}, %{{.*}} in dense<"0x{{.*}}"> : tensor<256x256xi8> : vector<4xi8>, vector<4xi8> to vector<4xi8>
// LOWER-LABEL: @remainder
// LOWER: call @_ZGV_LLVM_N4vu_numera_lookup_16_8(%{{.*}}, %{{.*}}) : (vector<4xi16>, !llvm.ptr) -> vector<4xi8>
func.func @remainder(%x: vector<4xi8>, %y: vector<4xi8>) -> vector<4xi8> {
  %r = numera.rem %x, %y {format = #f8} : vector<4xi8>
  return %r : vector<4xi8>
}

// CHECK-LABEL: @tanh_of_sixteen_bits
// CHECK: numera.lookup %{{.*}} in dense<"0x{{.*}}"> : tensor<65536xi16> : i16 to i16
// LOWER-LABEL: @tanh_of_sixteen_bits
// LOWER: call @numera_lookup_16_16(
func.func @tanh_of_sixteen_bits(%x: i16) -> i16 {
  %r = numera.tanh %x {format = #posit16} : i16
  return %r : i16
}

// A constant operand leaves one.
// CHECK-LABEL: @power
// CHECK: numera.lookup %{{.*}} in dense<"0x{{.*}}"> : tensor<65536xi16> : i16 to i16
func.func @power(%x: i16) -> i16 {
  %three = arith.constant 0x4c00 : i16
  %r = numera.pow %x, %three {format = #posit16} : i16
  return %r : i16
}

// Posits take longer than floats, and takums than posits.
// CHECK-LABEL: @arithmetic
// CHECK: numera.lookup %{{.*}}, %{{.*}} in dense<"0x{{.*}}"> : tensor<256x256xi8>
// CHECK: numera.lookup %{{.*}} in dense<"0x{{.*}}"> : tensor<256xi16> : i8 to i16
func.func @arithmetic(%x: i8, %y: i8) -> (i8, i16) {
  %0 = numera.add %x, %y {format = #posit8} : i8
  %1 = numera.cast %x {format = #posit16, operand_formats = [#posit8]} : i8 to i16
  return %0, %1 : i8, i16
}

// LOWER-LABEL: @decoded
// LOWER: %[[BITS:.*]] = call @numera_lookup_8_32(%{{.*}}, %{{.*}}) : (i8, !llvm.ptr) -> i32
// LOWER: arith.bitcast %[[BITS]] : i32 to f32
// CHECK-LABEL: @decoded
// CHECK: numera.lookup %{{.*}} in dense<"0x{{.*}}"> : tensor<256xf32> : i8 to f32
func.func @decoded(%x: i8) -> f32 {
  %0 = numera.cast %x {format = #f32, operand_formats = [#takum8]} : i8 to f32
  return %0 : f32
}

// A step is a table of products and one of sums.
// CHECK-LABEL: @step
// CHECK-SAME: (%[[X:.*]]: vector<4xi8>, %[[Y:.*]]: vector<4xi8>, %[[ACC:.*]]: vector<4xi8>)
// CHECK: %[[P:.*]] = numera.lookup %[[X]], %[[Y]] in
// CHECK: %[[S:.*]] = numera.lookup %[[ACC]], %[[P]] in
// CHECK: return %[[S]]
func.func @step(%x: vector<4xi8>, %y: vector<4xi8>, %acc: vector<4xi8>) -> vector<4xi8> {
  %0 = numera.mac %x, %y, %acc {format = #takum8, product = #takum8} : vector<4xi8>
  return %0 : vector<4xi8>
}

// One table serves all that compute the same.
// CHECK-LABEL: @twice
// LOWER-LABEL: @twice
// LOWER: %[[ROOT:.*]] = llvm.mlir.addressof @[[NAME:numera_table_.*]] : !llvm.ptr
// LOWER: llvm.mlir.addressof @[[NAME]] : !llvm.ptr
func.func @twice(%x: i8, %y: i8) -> (i8, i8) {
  %r = numera.sqrt %x {format = #f6} : i8
  %s = numera.sqrt %y {format = #f6} : i8
  return %r, %s : i8, i8
}

// Floats of 8 bits add by tables and integers, where the CPU is fast at those.
// CHECK-LABEL: @by_bytes
// CHECK-SAME: (%[[X:.*]]: i8, %[[Y:.*]]: i8)
// CHECK: %[[PLACE:.*]] = numera.lookup %[[X]] in dense<"0x{{.*}}"> : tensor<128xi8> : i8 to i8
// CHECK: arith.maxui %[[PLACE]],
// CHECK: %[[FAST:.*]] = call @numera_has_byte_lookups() : () -> i1
// CHECK-NEXT: %[[SUM:.*]] = numera.add %[[X]], %[[Y]]
// CHECK-NEXT: arith.select %[[FAST]], %{{.*}}, %[[SUM]] : i8
// LOWER-LABEL: @by_bytes
// LOWER-SAME: (%[[X:.*]]: i8,
// LOWER: call @numera_lookup_7_8(%[[X]],
// LOWER: call @numera_has_byte_lookups() : () -> i1
func.func @by_bytes(%x: i8, %y: i8) -> i8 {
  %0 = numera.add %x, %y {format = #f8} : i8
  return %0 : i8
}

// What is cheap, what has too many bits, what draws random bits and the decoding
// of it stays.
// CHECK-LABEL: @stays
// CHECK-NOT: lookup
// CHECK: return
func.func @stays(%x: i8, %y: i8, %z: i16, %w: f32, %random: i32)
    -> (i8, i8, i8, i16, i16, f32, i8, f32, i8, f32, f32) {
  %0 = numera.neg %x {format = #f8} : i8
  %1 = numera.max %x, %y {format = #f4} : i8
  %2 = numera.mul %x, %y {format = #q4} : i8
  %3 = numera.sqrt %z {format = #posit16} : i16
  %4 = numera.rem %z, %z {format = #posit16} : i16
  %5 = numera.exp %w {format = #f32} : f32
  %6 = numera.exp %x random %random {format = #f8, rounding = #numera.rounding<stochastic>} : i8
  %7 = numera.cast %z {format = #f32, operand_formats = [#takum16]} : i16 to f32
  %8 = numera.mac %x, %y, %x {format = #f8, product = #f8} : i8
  %9 = numera.cast %x {format = #f32, operand_formats = [#q4]} : i8 to f32
  %drawn = numera.cast %w random %random {format = #posit8, operand_formats = [#f32], rounding = #numera.rounding<stochastic>} : f32 to i8
  %10 = numera.cast %drawn {format = #f32, operand_formats = [#posit8]} : i8 to f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10
      : i8, i8, i8, i16, i16, f32, i8, f32, i8, f32, f32
}

// FOLD-LABEL: @a_constant_place_folds
// FOLD: arith.constant 3 : i8
func.func @a_constant_place_folds() -> i8 {
  %one = arith.constant 1 : i8
  %r = numera.lookup %one in dense<[2, 3]> : tensor<2xi8> : i8 to i8
  return %r : i8
}

// FOLD-LABEL: @a_number_folds
// FOLD: arith.constant 2.500000e+00 : f32
func.func @a_number_folds() -> f32 {
  %one = arith.constant 1 : i8
  %r = numera.lookup %one in dense<[1.0, 2.5]> : tensor<2xf32> : i8 to f32
  return %r : f32
}
