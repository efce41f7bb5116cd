// SPDX-License-Identifier: MIT
// A format that replaces nothing is warned of.
// RUN: numera-opt %s --numera-retype=to=bf16 -o - 2>&1 | FileCheck %s
// RUN: numera-opt %s --numera-retype="to=bf16 replace=f64" -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: numera-opt %s --numera-retype=to=f64 -o - 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: warning: format 'float<8,7>' is for nothing: floats of 'f64' are what the model has, and not what it replaces; see --replace
// NONE-NOT: warning
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = arith.addf %x, %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
