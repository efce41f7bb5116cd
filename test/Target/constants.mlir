// SPDX-License-Identifier: MIT
// RUN: numera compile %s --format posit16 --emit llvm -o - | FileCheck %s

// One constant of LLVM, whatever its dimensions: of nested arrays it would keep
// one for each inner row, and go through all of them.
// CHECK: constant [12 x i16] [i16 16384, i16 18432, i16 19456, i16 20480,
// CHECK-NOT: x [{{.*}} x i16]
func.func @f(%x: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
                             [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]]>
      : tensor<2x3x2xf32>
  %y = arith.addf %x, %w : tensor<2x3x2xf32>
  return %y : tensor<2x3x2xf32>
}
