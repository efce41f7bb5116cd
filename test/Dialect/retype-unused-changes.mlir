// SPDX-License-Identifier: MIT
// A change of products that no product has is warned of.
// RUN: numera-opt %s --numera-retype="to=float<8,7,mul.truncate-operands=3>" -o - 2>&1 | FileCheck %s
// RUN: numera-opt %s --numera-retype="to=float<8,7,mul.truncate-operands=3> accumulate=quire" -o - 2>&1 | FileCheck %s
// RUN: numera-opt %s --numera-retype="to=float<8,7,mul.truncate-operands=3> accumulate=same" -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: numera-opt %s --numera-retype="to=float<8,7,mac.truncate-operands=3>" -o - 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: warning: the changes of 'mul' in format 'float<8,7,mul.truncate-operands=3>' do nothing: sums take products as they are; see --accumulate same
// NONE-NOT: warning

// Where numbers are multiplied as well, they do something.
// RUN: sed s/addf/mulf/ %s | numera-opt --numera-retype="to=float<8,7,mul.truncate-operands=3>" -o - 2>&1 | FileCheck %s --check-prefix=NONE
func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.addf %x, %x : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
