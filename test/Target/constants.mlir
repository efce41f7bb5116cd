// SPDX-License-Identifier: MIT
// RUN: numera compile %s --format posit16 --emit llvm -o - | FileCheck %s

// One constant of LLVM, whatever its dimensions: of nested arrays it would keep
// one for each inner row, and go through all of them.
// CHECK: constant [12 x float] [float 1.000000e+00, float 2.000000e+00,
// CHECK-NOT: x [{{.*}} x float]
func.func @f(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
                             [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]]>
      : tensor<2x3x2xf32>
  %y = arith.addf %x, %w : tensor<2x3x2xf32>
  return %y : tensor<2x3x2xf32>
}
