// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-offload --reconcile-unrealized-casts | FileCheck %s

module attributes {gpu.container_module} {

memref.global "private" constant @weights : memref<4xi16> = dense<[1, 2, 3, 4]>

// CHECK-DAG: llvm.mlir.global internal @weights.device(0 : i64)
// CHECK-DAG: llvm.mlir.global internal @f.kernel(0 : i64)
// CHECK-DAG: llvm.mlir.global internal constant @f.name("f\00")

// CHECK-LABEL: llvm.func @buffers_are_the_devices
// CHECK:         %[[SLOT:.*]] = llvm.mlir.addressof @weights.device
// CHECK:         llvm.call @numera_cuda_constant(%[[SLOT]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
// CHECK:         llvm.call @numera_cuda_alloc(
// CHECK:         llvm.call @numera_cuda_copy(
// CHECK:         llvm.call @numera_cuda_launch(
// CHECK:         llvm.call @numera_cuda_read(
// CHECK:         llvm.call @numera_cuda_write(
// CHECK:         llvm.call @numera_cuda_free(
// CHECK-NOT:     llvm.call @malloc
// CHECK-NOT:     llvm.intr.memcpy
func.func @buffers_are_the_devices() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %w = memref.get_global @weights : memref<4xi16>
  %x = memref.alloc() : memref<4xi16>
  memref.copy %w, %x : memref<4xi16> to memref<4xi16>
  gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%x : memref<4xi16>, %c1 : index)
  %v = memref.load %x[%c0] : memref<4xi16>
  memref.store %v, %x[%c1] : memref<4xi16>
  memref.dealloc %x : memref<4xi16>
  return
}

// What is in the kernels' module stays.
// CHECK: gpu.module @kernels
// CHECK: memref.store
gpu.module @kernels {
  gpu.func @f(%x: memref<4xi16>, %i: index) kernel {
    %c0_i16 = arith.constant 0 : i16
    memref.store %c0_i16, %x[%i] : memref<4xi16>
    gpu.return
  }
}
}
