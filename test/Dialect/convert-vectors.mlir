// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-convert-vectors | FileCheck %s --check-prefix=LOOPS
// RUN: numera-opt %s --numera-convert-vectors=to=llvm | FileCheck %s --check-prefix=LLVM

// LOOPS-LABEL: func @rows
// LOOPS: scf.for
// LOOPS: vector.transfer_write {{.*}} : vector<4xf32>, memref<3x4xf32>
func.func @rows(%x: memref<3x4xf32>, %y: vector<3x4xf32>) {
  %c0 = arith.constant 0 : index
  vector.transfer_write %y, %x[%c0, %c0] {in_bounds = [true, true]} : vector<3x4xf32>, memref<3x4xf32>
  return
}

// LLVM-LABEL: func @load
// LLVM: llvm.load {{.*}} -> vector<4xf32>
func.func @load(%x: memref<8xf32>, %i: index) -> vector<4xf32> {
  %y = vector.load %x[%i] : memref<8xf32>, vector<4xf32>
  return %y : vector<4xf32>
}

// A module without vectors is as it was: upstream's pass would convert this.
// RUN: sed '/^func.func/,/^}/d' %s >%t.mlir
// RUN: echo 'func.func @scalar(%%x: memref<8xf32>, %%i: index) -> f32 { %%y = memref.load %%x[%%i] : memref<8xf32> return %%y : f32 }' >>%t.mlir
// RUN: numera-opt %t.mlir --numera-convert-vectors=to=llvm | FileCheck %s --check-prefix=NONE
// NONE: memref.load
