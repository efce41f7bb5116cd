// SPDX-License-Identifier: MIT
// The vector form of an elementary function is part of the loop, also under
// masks; the exact result, which is rarely needed, is computed lane by lane.
// Formats of 16 bits and less read a table instead.
// RUN: numera compile %s --emit llvm --cpu x86-64-v4 -o - | FileCheck %s
// CHECK-LABEL: @many.invoke.0(
// CHECK: fmul contract <16 x double>
// CHECK: llvm.cttz.i16
// CHECK: call {{.*}} i32 @numera_posit_exp_32
// CHECK-LABEL: @few.invoke.0(
// CHECK: call <16 x i32> @llvm.masked.load
// CHECK: fmul contract <16 x double>
// CHECK: call {{.*}} i32 @numera_posit_exp_32
!posit20 = !numera.num<posit<20, 2>>
func.func @many(%x: tensor<4096x!posit20>) -> tensor<4096x!posit20> {
  %0 = numera.exp %x : tensor<4096x!posit20>
  return %0 : tensor<4096x!posit20>
}
func.func @few(%x: tensor<10x!posit20>) -> tensor<10x!posit20> {
  %0 = numera.exp %x : tensor<10x!posit20>
  return %0 : tensor<10x!posit20>
}
