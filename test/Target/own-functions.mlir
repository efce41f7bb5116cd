// SPDX-License-Identifier: MIT
// Clauses: E7.
// Parts of a model in f32 use Numera's functions: no symbol of libm and no
// intrinsic that may become one is left.
// RUN: numera compile %s --format f32 --emit llvm -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll --implicit-check-not=expf \
// RUN:   --implicit-check-not=tanhf --implicit-check-not=llvm.exp. \
// RUN:   --implicit-check-not=llvm.tanh --implicit-check-not=llvm.log \
// RUN:   --implicit-check-not=logf --implicit-check-not=sinf \
// RUN:   --implicit-check-not=fmaf
// CHECK: numera_exact_exp_f32
// GPUs have the same functions, but for the phase of e^x in f32.
// RUN: numera compile %s --format f32 --target nvptx --emit ptx -o - \
// RUN:   | FileCheck %s --check-prefix=PTX
// PTX: .visible .entry functions
// PTX-NOT: numera_exact_exp_f32
func.func @functions(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  %2 = math.log %1 : tensor<8xf32>
  %3 = math.sin %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
