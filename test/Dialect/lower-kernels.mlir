// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-kernels | FileCheck %s

// Functions of the device are LLVM's, without an interface for C.
// CHECK: gpu.module @kernels
// CHECK-DAG: llvm.func @numera_posit_add_16(i16 {llvm.zeroext}, i16 {llvm.zeroext}, i32, i32, i32, i32) -> (i16 {llvm.zeroext})
// CHECK: llvm.call @numera_posit_add_16
// A NaN that is handed on has the bits that it has on the CPU.
// CHECK: %[[SHORT:.*]] = arith.truncf
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[SHORT]], %[[SHORT]]
// CHECK: arith.select %[[IS_NAN]], %{{.*}}, %[[SHORT]]
// Nothing of libdevice.
// CHECK: llvm.call_intrinsic "llvm.sqrt.f32"
gpu.module @kernels {
  gpu.func @f(%x: i16, %y: f64, %p: memref<i16>, %q: memref<f32>) kernel {
    %0 = numera.add %x, %x {format = #numera.format<posit<16, 2>>} : i16
    memref.store %0, %p[] : memref<i16>
    %1 = arith.truncf %y : f64 to f32
    %2 = math.sqrt %1 : f32
    memref.store %2, %q[] : memref<f32>
    gpu.return
  }
}
// The host's operations are the host's.
// CHECK: func.func @host
// CHECK: numera.add
func.func @host(%x: i16) -> i16 {
  %0 = numera.add %x, %x {format = #numera.format<posit<16, 2>>} : i16
  return %0 : i16
}
