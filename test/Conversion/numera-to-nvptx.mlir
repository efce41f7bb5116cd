// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit16' --numera-to-nvptx | FileCheck %s
// RUN: numera-opt %s --numera-retype='to=posit16 accumulate=same' --numera-to-nvptx | FileCheck %s --check-prefix=SAME
//
// Nothing but the dialects of LLVM is left.
// RUN: numera-opt %s --numera-retype='to=posit16' --numera-to-nvptx -mlir-print-op-generic | FileCheck %s --check-prefix=ONLY --implicit-check-not='"gpu.{{launch|func|return|thread}}' --implicit-check-not='"{{(numera|arith|math|func|linalg|scf|cf|memref|tensor|vector|affine|bufferization|builtin[.]unrealized)[.]}}'
// ONLY: "builtin.module"
// ONLY: "llvm.func"
// ONLY: "gpu.module"

// Each operation is one kernel: the fill, two that decode, the contraction, the
// cast.
// CHECK-LABEL: llvm.func @matmul(
// CHECK-COUNT-4: llvm.call @numera_cuda_launch(
// CHECK-LABEL: llvm.func @_mlir_ciface_matmul(

// CHECK: gpu.module @kernels
// CHECK-DAG: llvm.func @numera_posit_round_f32_32(
// CHECK-LABEL: llvm.func @matmul({{.*}} attributes {{{.*}}nvvm.kernel
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.call_intrinsic "llvm.fma.f32"

// SAME: gpu.module @kernels
// SAME-NOT: llvm.fma
// SAME: %[[P:.*]] = llvm.call @numera_posit_mul_16
// SAME: llvm.call @numera_posit_add_16(%{{.*}}, %[[P]],
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x4xf32>)
    -> tensor<2x4xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
    outs(%1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
