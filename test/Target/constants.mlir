// SPDX-License-Identifier: MIT
// RUN: split-file %s %t
// RUN: numera compile %t/small.mlir --format posit16 --emit llvm -o - | FileCheck %t/small.mlir

//--- small.mlir
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

//--- large.mlir
// The bytes of a large one. What they are defined as is what the code reads, so
// LLVM's compiler takes the text.
// RUN: %python %t/make.py %t/large.mlir >%t/4096.mlir
// RUN: numera compile %t/4096.mlir --format f32 --emit llvm -o %t/4096.ll
// RUN: FileCheck %t/large.mlir <%t/4096.ll
// RUN: llc -filetype=obj -relocation-model=pic %t/4096.ll -o %t/4096.o
// RUN: llvm-nm %t/4096.o | FileCheck %t/large.mlir --check-prefix=OBJECT
// CHECK: @[[W:f\.constant\.[a-zA-Z0-9_.]+]] = hidden constant [16384 x i8] c"\00\00\00\00\00\00\80\3F\00\00\00\40{{.*}}\00\F0\7F\45", align 64
// CHECK: ptr {{.*}}@[[W]]
// OBJECT: {{^[0-9a-f]+}} {{[rR]}} f.constant.
func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %w = arith.constant dense<[VALUES]> : tensor<4096xf32>
  %y = arith.addf %x, %w : tensor<4096xf32>
  return %y : tensor<4096xf32>
}

//--- make.py
import sys

text = open(sys.argv[1]).read()
print(text.replace("VALUES", ", ".join(f"{i}.0" for i in range(4096))))
