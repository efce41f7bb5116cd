// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-decompose-scaled-signatures --numera-expand-scales --numera-simplify --numera-lower-types --convert-elementwise-to-linalg --numera-fuse --numera-promote-to-carrier=target=cpu --numera-round-blocks --canonicalize --cse | FileCheck %s

// MXFP8: 20 = 24 - 4 bits of precision; codes 7 to 226; 448 · 2^(code - 127),
// from 448 / 2^127 on; 1.5 · 2^14 likewise.
// CHECK-LABEL: func.func @mxfp8
// CHECK-SAME: (%[[X:.*]]: tensor<64x32xf32>)
// CHECK-DAG: %[[WORDS:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[SIGN:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant 167772160 : i32
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[COUNT:.*]] = arith.constant 220 : i32
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant 2139095040 : i32
// CHECK-DAG: %[[LARGEST:.*]] = arith.constant 73400320 : i32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 121634816 : i32
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}"reduction"
// CHECK: %[[CODES:.*]] = linalg.generic {{.*}} ins(%[[MAX]]
// CHECK: numera.mul
// CHECK: %[[BLOCKS:.*]]:3 = linalg.generic {{.*}} ins(%[[MAX]], %[[CODES]]
// CHECK-NEXT: ^bb0(%[[MOST:.*]]: i32, %[[CODE:.*]]: i8
// CHECK-NEXT: %[[C:.*]] = arith.extui %[[CODE]] : i8 to i32
// CHECK-NEXT: %[[BEHIND:.*]] = arith.subi %[[C]], %[[FIRST]]
// CHECK-NEXT: %[[WITHIN:.*]] = arith.cmpi ult, %[[BEHIND]], %[[COUNT]]
// CHECK-NEXT: %[[FINITE:.*]] = arith.cmpi ult, %[[MOST]], %[[INFINITY]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[WITHIN]], %[[FINITE]]
// CHECK-NEXT: %[[ZERO:.*]] = arith.cmpi eq, %[[MOST]], %c0_i32
// CHECK-NEXT: %[[PLAIN:.*]] = arith.ori %[[BOTH]], %[[ZERO]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[C]], %c1_i32
// CHECK-NEXT: arith.select %[[PLAIN]], %c0_i32, %[[NEXT]]
// CHECK-NEXT: %[[OF_ZERO:.*]] = arith.select %[[ZERO]], %c127_i32, %[[C]]
// CHECK-NEXT: arith.shli %[[OF_ZERO]], %c23_i32
// CHECK: arith.addi %{{.*}}, %[[LARGEST]]
// CHECK: arith.addi %{{.*}}, %[[LEAST]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BLOCKS]]#0, %[[BLOCKS]]#1, %[[BLOCKS]]#2 :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[LONG:.*]]: i32, %[[L:.*]]: i32, %[[M:.*]]: i32
// CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[LONG]], %c0_i32
// CHECK-NEXT: scf.if %[[IS]] -> (f32) {
// CHECK: arith.andi %{{.*}}, %[[WORDS]]
// CHECK-NEXT: arith.minsi %{{.*}}, %[[L]]
// CHECK-NEXT: arith.addi %{{.*}}, %[[SHIFT]]
// CHECK-NEXT: arith.maxsi %{{.*}}, %[[M]]
// CHECK: arith.subf
// CHECK-NEXT: arith.addf
// CHECK-NOT: numera
// CHECK: } else {
// CHECK: numera.cast
// CHECK: numera.div
// CHECK: arith.mulf
// CHECK-NEXT: numera.round_to
// CHECK-NEXT: numera.mul
func.func @mxfp8(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %y = numera.dequantize %q : tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// Steps along another dimension are of other blocks.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: scf.if
// CHECK: return
func.func @columns(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 0, block = 32>>
  %y = numera.dequantize %q : tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 0, block = 32>> to tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// Scales that are given say nothing of the numbers: a NaN may be among them.
// CHECK-LABEL: func.func @given
// CHECK-NOT: scf.if
// CHECK: return
func.func @given(%x: tensor<64x32xf32>, %s: tensor<64x1xf32>) -> tensor<64x32xf32> {
  %q = numera.quantize %x scales %s : tensor<64x32xf32>, tensor<64x1xf32> to tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %y = numera.dequantize %q : tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// The code, without a number between: 160 · 2^20 + 2^22 makes exponents those
// of c with 1.5 as fraction; 20 and 24 bring exponent and sign to their places.
// CHECK-LABEL: func.func @codes
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant 2139095040 : i32
// CHECK-DAG: %[[M:.*]] = arith.constant 171966464 : i32
// CHECK-DAG: %[[WORDS:.*]] = arith.constant 2147483647 : i32
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}#0, %{{.*}}#1, %{{.*}}#2 :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[LONG:.*]]: i32, %[[L:.*]]: i32, %[[C:.*]]: i32
// CHECK: scf.if {{.*}} -> (i8) {
// CHECK-NEXT: %[[X:.*]] = arith.bitcast %[[A]]
// CHECK-NEXT: %[[MAGNITUDE:.*]] = arith.andi %[[X]], %[[WORDS]]
// CHECK-NEXT: %[[LEAST:.*]] = arith.minsi %[[MAGNITUDE]], %[[L]]
// CHECK-NEXT: %[[E:.*]] = arith.andi %[[LEAST]], %[[INFINITY]]
// CHECK-NEXT: %[[UP:.*]] = arith.addi %[[E]], %[[M]]
// CHECK-NEXT: arith.maxsi %[[UP]], %[[C]]
// CHECK: arith.addf
// CHECK: %[[D:.*]] = arith.subi %{{.*}}, %[[C]]
// CHECK-NEXT: %[[BINADES:.*]] = arith.shrui %[[D]], %c20_i32
// CHECK-NEXT: arith.addi %[[BINADES]], %[[D]]
// CHECK-NEXT: %[[S:.*]] = arith.shrui %[[X]], %c24_i32
// CHECK-NEXT: arith.andi %[[S]], %c128_i32
// CHECK-NEXT: arith.ori
// CHECK-NEXT: arith.trunci
// CHECK: } else {
// CHECK: numera.cast {{.*}} : f32 to i8
// CHECK: return
func.func @codes(%x: tensor<64x32xf32>) -> tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> {
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  return %q : tensor<64x32x!numera.num<float<4,3,fn>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
}

// MXINT8: 127/64 and -2, 1.5 · 2^(23 - 6), times 2^-127; codes 1 to 237.
// CHECK-LABEL: func.func @mxint8
// CHECK-DAG: arith.constant 8257536 : i32
// CHECK-DAG: arith.constant -2139095040 : i32
// CHECK-DAG: arith.constant 146800640 : i32
// CHECK-DAG: arith.constant 1 : i32
// CHECK-DAG: arith.constant 237 : i32
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: arith.cmpf olt
// CHECK-NEXT: arith.select
// CHECK: arith.cmpf ogt
// CHECK-NEXT: arith.select
// CHECK: arith.addf
// CHECK-NEXT: arith.subf
// CHECK: } else {
// CHECK: numera.cast
// CHECK: numera.div
// CHECK: numera.mul
// CHECK-NEXT: numera.cast
// CHECK-NEXT: numera.cast
// CHECK-NEXT: numera.mul
func.func @mxint8(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<fixed<1,6>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %y = numera.dequantize %q : tensor<64x32x!numera.num<fixed<1,6>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// Floats with one zero or without subnormal numbers, posits and what has no
// negative numbers are rounded in another way.
// CHECK-LABEL: func.func @other_elements
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @flushed
// CHECK-NOT: scf.if
func.func @other_elements(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %o = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<fixed<8,0,unsigned>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %x2 = numera.dequantize %o : tensor<64x32x!numera.num<fixed<8,0,unsigned>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  %p = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<float<4,3,fnuz>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %y = numera.dequantize %p : tensor<64x32x!numera.num<float<4,3,fnuz>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<posit<8,2>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %z = numera.dequantize %q : tensor<64x32x!numera.num<posit<8,2>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  return %x2, %y, %z : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

func.func @flushed(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %q = numera.quantize %x : tensor<64x32xf32> to tensor<64x32x!numera.num<float<4,3,fn,flush>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>>
  %y = numera.dequantize %q : tensor<64x32x!numera.num<float<4,3,fn,flush>>, #numera.scaling<floor, float<8,0,fnu>, axis = 1, block = 32>> to tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}
