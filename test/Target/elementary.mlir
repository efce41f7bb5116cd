// SPDX-License-Identifier: MIT
// A loop over an elementary function calls its vector form, also under masks;
// the form computes the exact result, which is rarely needed, lane by lane.
// RUN: numera compile %s --emit llvm --cpu x86-64-v4 -o - | FileCheck %s
// CHECK-LABEL: @many.invoke.0(
// CHECK: call <16 x i16> @[[FORM:numera_posit_exp_16[^(]*]](
// CHECK: define internal {{.*}}<16 x i16> @[[FORM]](
// CHECK: fmul <16 x double>
// CHECK: llvm.cttz.i16
// CHECK: call {{.*}} i16 @numera_posit_exp_16
// CHECK-LABEL: @few.invoke.0(
// CHECK: call <16 x i16> @{{.*}}masked(
!posit16 = !numera.num<posit<16, 2>>
func.func @many(%x: tensor<4096x!posit16>) -> tensor<4096x!posit16> {
  %0 = numera.exp %x : tensor<4096x!posit16>
  return %0 : tensor<4096x!posit16>
}
func.func @few(%x: tensor<10x!posit16>) -> tensor<10x!posit16> {
  %0 = numera.exp %x : tensor<10x!posit16>
  return %0 : tensor<10x!posit16>
}
