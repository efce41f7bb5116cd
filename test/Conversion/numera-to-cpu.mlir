// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit16' --numera-to-cpu | FileCheck %s
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=same' --numera-to-cpu | FileCheck %s --check-prefix=SAME
// RUN: numera-opt %s --numera-retype='to=f32' --numera-to-cpu | FileCheck %s --check-prefix=F32
//
// Nothing but the LLVM dialect is left: an operation of another dialect would
// be `%0 = dialect.op`, or begin a line.
// RUN: numera-opt %s --numera-retype='to=posit16' --numera-to-cpu -mlir-print-op-generic | FileCheck %s --check-prefix=ONLY --implicit-check-not='"{{(numera|arith|math|func|linalg|scf|cf|memref|tensor|vector|affine|bufferization|builtin[.]unrealized)[.]}}'
// ONLY: "builtin.module"
// ONLY: "llvm.func"

// The runtime's entries are declared as they are, without the wrapper that a
// program's own functions get.
// CHECK-DAG: llvm.func @numera_lookup_16_16(i16 {llvm.zeroext}, !llvm.ptr) -> (i16 {llvm.zeroext}) attributes {sym_visibility = "private"}
// CHECK-DAG: llvm.func @numera_posit_round_f32_32(f32, i32, i32, i32, i32) -> f32 attributes {sym_visibility = "private"}

// The operands of the matmul are rounded once, outside, and never become codes;
// each step is one instruction.
// CHECK-LABEL: llvm.func @matmul(
// CHECK-SAME: attributes {llvm.emit_c_interface, numera.destinations = [array<i64: -1, -1, -1, -1>]}
// CHECK: llvm.call @numera_posit_round_f32_32
// CHECK: llvm.intr.fma
// CHECK-LABEL: llvm.func @_mlir_ciface_matmul(

// SAME-LABEL: llvm.func @matmul(
// SAME-NOT: llvm.intr.fma
// SAME: %[[P:.*]] = llvm.call @numera_posit_mul_16
// SAME: llvm.call @numera_posit_add_16(%{{.*}}, %[[P]],

// F32-LABEL: llvm.func @matmul(
// F32: llvm.intr.fma
// F32: llvm.call @numera_float_encode_f32_32
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x4xf32>)
    -> tensor<2x4xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// One loop, which the threads share if the batch is large.
// CHECK-LABEL: llvm.func @the_batch_may_be_open(
// CHECK: llvm.call @numera_host_parallel
// CHECK-NOT: llvm.call @numera_host_parallel
// CHECK-LABEL: llvm.func @_mlir_ciface_the_batch_may_be_open(
// CHECK-LABEL: llvm.func {{.*}}@the_batch_may_be_open.loop(
// CHECK: llvm.call @numera_lookup_16_16
// CHECK-NOT: llvm.call @numera_lookup_16_16
// CHECK-LABEL: llvm.func internal @the_batch_may_be_open.chunk(
func.func @the_batch_may_be_open(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = math.exp %x : tensor<?x8xf32>
  %1 = arith.addf %0, %x : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
