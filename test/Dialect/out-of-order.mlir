// SPDX-License-Identifier: MIT
// Passes that run before those that they need say what they need.
// RUN: not numera-opt %s --numera-loops 2>&1 | FileCheck %s --check-prefix=TENSORS
// RUN: not numera-opt %s --numera-kernels 2>&1 | FileCheck %s --check-prefix=TENSORS
// TENSORS: out-of-order.mlir:[[#@LINE+19]]:8: error: 'linalg.fill' is on tensors, which this pass does not take; put them into memory first (one-shot-bufferize){{$}}

// RUN: not numera-opt %s --numera-offload 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: 'linalg.fill' is neither a kernel nor loops; make it one first (numera-kernels){{$}}

// RUN: not numera-opt %s --numera-retype=to=mxfp8 --numera-lower-types 2>&1 | FileCheck %s --check-prefix=SCALED
// SCALED: error: 'numera.quantize' is on a scaled tensor; expand its scales first (numera-expand-scales){{$}}

// RUN: numera-opt %s --numera-retype=to=posit16 --one-shot-bufferize='bufferize-function-boundaries allow-unknown-ops' -o %t.mlir
// RUN: not numera-opt %t.mlir --numera-contract 2>&1 | FileCheck %s --check-prefix=CODES
// RUN: not numera-opt %t.mlir --numera-tile-contractions 2>&1 | FileCheck %s --check-prefix=CODES
// CODES: error: 'linalg.fill' has a type of numera, which this pass does not take; lower types first (numera-lower-types){{$}}

// Modules without an operation of numera.
// RUN: numera-opt %s --numera-contract | FileCheck %s --check-prefix=SAME
// SAME: linalg.matmul
func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
