// SPDX-License-Identifier: MIT
// A format that replaces nothing is warned of.
// RUN: numera-opt %s --numera-retype=to=bf16 -o - 2>&1 | FileCheck %s
// RUN: numera-opt %s --numera-retype="to=bf16 replace=f64" -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: numera-opt %s --numera-retype=to=f64 -o - 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: warning: format 'float<8,7>' replaces nothing: the model's floats are 'f64'; see --replace
// NONE-NOT: warning

// An argument that is widened has numbers of the format.
// RUN: echo 'func.func @f(%x: f32) -> f64 { %0 = arith.extf %x : f32 to f64 return %0 : f64 }' | numera-opt --numera-retype=to=bf16 2>&1 | FileCheck %s --check-prefix=NONE
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = arith.addf %x, %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
