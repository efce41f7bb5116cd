// SPDX-License-Identifier: MIT
// A vector operation stays whole: no call, and the machine's full width.
// RUN: numera compile %s --emit asm --cpu x86-64-v4 -o %t.s
// RUN: FileCheck %s --input-file=%t.s
// CHECK: vcvtdq2ps {{.*}}%zmm
// CHECK-NOT: call
// CHECK: vpmovdw %zmm
!posit16 = !numera.num<posit<16, 2>>
func.func @add(%x: memref<16x!posit16>, %y: memref<16x!posit16>)
    -> memref<16x!posit16> {
  %zero = arith.constant 0 : index
  %z = memref.alloc() : memref<16x!posit16>
  %a = vector.load %x[%zero] : memref<16x!posit16>, vector<16x!posit16>
  %b = vector.load %y[%zero] : memref<16x!posit16>, vector<16x!posit16>
  %c = numera.add %a, %b : vector<16x!posit16>
  vector.store %c, %z[%zero] : memref<16x!posit16>, vector<16x!posit16>
  return %z : memref<16x!posit16>
}
