// SPDX-License-Identifier: MIT
// Clauses: V7.
// RUN: rm -rf %t && split-file %s %t
// RUN: numera-opt --formats=%t/wide.yaml %t/model.mlir --numera-retype --cse --canonicalize | FileCheck %s --check-prefix=WIDE
// RUN: numera-opt --formats=%t/scaled.yaml %t/model.mlir --numera-retype --cse --canonicalize | FileCheck %s --check-prefix=SCALED

// Weights are rounded once, to the format of their role, whatever the model's:
// 1.0625 is no number of float<5,2>. Also behind what only moves them.
// WIDE-LABEL: func.func @f
// WIDE:         numera.constant {{.*}} as tensor<2x4x!bf16>
// WIDE-NOT:     !f8E5M2> to tensor<{{.*}}!bf16>
// WIDE:         numera.mac %{{.*}} : (!f8E5M2, !bf16, f32) -> f32

// What is no contraction stays in the model's format.
// SCALED-LABEL: func.func @f
// SCALED:         arith.constant dense<1.062500e+00> : tensor<2x4xf32>
// SCALED:         numera.quantize %{{.*}} : tensor<4x2xf32>
// SCALED:         numera.mac %{{.*}} : (!bf16, !f4E2M1FN, f32) -> f32
// SCALED:         numera.add %{{.*}} : tensor<2x2x!bf16>

// An argument that says `numera.weight` is one; another argument is not.
// RUN: numera-opt --formats=%t/wide.yaml %t/arguments.mlir --numera-retype --cse --canonicalize | FileCheck %s --check-prefix=ARGUMENTS
// ARGUMENTS-LABEL: func.func @weight
// ARGUMENTS:         numera.mac %{{.*}} : (!f8E5M2, !bf16, f32) -> f32
// ARGUMENTS-LABEL: func.func @activation
// ARGUMENTS:         numera.mac %{{.*}} : (!f8E5M2, !f8E5M2, f32) -> f32

//--- wide.yaml
policy: {default: 'float<5,2>', weights: bf16, accumulate: f32}
//--- scaled.yaml
policy: {default: bf16, weights: mxfp4}
//--- model.mlir
func.func @f(%x: tensor<2x4xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<1.0625> : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<4x2xf32>
  %wt = linalg.transpose ins(%w : tensor<2x4xf32>) outs(%t : tensor<4x2xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<2x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%x, %wt : tensor<2x4xf32>, tensor<4x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = arith.addf %y, %y : tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
//--- arguments.mlir
func.func @weight(%x: tensor<2x4xf32>, %w: tensor<4x2xf32> {numera.weight}, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
func.func @activation(%x: tensor<2x4xf32>, %w: tensor<4x2xf32>, %i: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x2xf32>) outs(%i : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
