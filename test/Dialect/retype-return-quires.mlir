// SPDX-License-Identifier: MIT
// Clauses: Q9.
// RUN: split-file %s %t
// RUN: numera-opt %t/sums.mlir --numera-retype='to=posit8 accumulate=quire quires=0' --canonicalize | FileCheck %s
// RUN: numera-opt %t/value.mlir --numera-retype='to=posit8 quires=0' --canonicalize 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not numera-opt %t/value.mlir --numera-retype='to=posit8 quires=1' 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not numera-opt %t/value.mlir --numera-retype='to=float<12,20> output-as=storage quires=0' 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not numera-opt %t/integer.mlir --numera-retype='to=posit8 quires=0' 2>&1 | FileCheck %s --check-prefix=INTEGER

// RESULT: error: function 'f' has 1 result; the quire of result 1 was asked for, the first one is 0
// WIDE: error: result 0 of function 'f' has no quire: format 'float<12,20>' has no quire: it would have 8384 bits, more than 4352
// INTEGER: error: result 0 of function 'f' has no quire: it is of integers

//--- sums.mlir
// What is returned is the sum, moved as its rounding is.
// CHECK-LABEL: @moved
// CHECK-SAME: -> (tensor<6xf32>, tensor<6x2xi64> {numera.name = "quire posit<8,2>"})
// CHECK: %[[SUMS:.*]] = linalg.generic
// CHECK: numera.quire_add
// CHECK: numera.quire_round %[[SUMS]]
// CHECK: %[[MOVED:.*]] = tensor.collapse_shape %[[SUMS]] {{.*}} into tensor<6x!quire_posit8>
// CHECK: %[[LOW:.*]] = numera.quire_word %[[MOVED]][0]
// CHECK: %[[PART:.*]] = tensor.insert_slice %[[LOW]] into %{{.*}}[0, 0] [6, 1] [1, 1]
// CHECK: %[[HIGH:.*]] = numera.quire_word %[[MOVED]][1]
// CHECK: %[[WORDS:.*]] = tensor.insert_slice %[[HIGH]] into %[[PART]][0, 1] [6, 1] [1, 1]
// CHECK: return %{{.*}}, %[[WORDS]]
func.func @moved(%x: tensor<3x2x5xf32>) -> tensor<6xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x2xf32>
  %0 = linalg.reduce ins(%x : tensor<3x2x5xf32>) outs(%zero : tensor<3x2xf32>) dimensions = [2]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32 linalg.yield %s : f32 }
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  return %1 : tensor<6xf32>
}

// Rounded sums that are added are one sum, and so is a value that is added.
// CHECK-LABEL: @added
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: numera.quire_round %[[A]]
// CHECK: %[[B:.*]] = linalg.generic
// CHECK: numera.quire_round %[[B]]
// CHECK: %[[BOTH:.*]] = numera.quire_merge %[[A]], %[[B]]
// CHECK: %[[ALL:.*]] = numera.quire_add %[[BOTH]], %{{.*}} : tensor<3x!quire_posit8>, tensor<3x!posit8>
// CHECK: numera.quire_word %[[ALL]][0]
func.func @added(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %0 = linalg.reduce ins(%x : tensor<3x5xf32>) outs(%zero : tensor<3xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32 linalg.yield %s : f32 }
  %1 = linalg.reduce ins(%y : tensor<3x5xf32>) outs(%zero : tensor<3xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32 linalg.yield %s : f32 }
  %2 = arith.addf %0, %1 : tensor<3xf32>
  %3 = arith.addf %z, %2 : tensor<3xf32>
  return %3 : tensor<3xf32>
}

// A loop that adds values to elements adds them to quires.
// CHECK-LABEL: @scattered
// CHECK: scf.for
// CHECK: numera.add
// CHECK: %[[LOOP:.*]] = scf.for %{{.*}} iter_args(%[[Q:.*]] = %{{.*}}) -> (tensor<4x!quire_posit8>)
// CHECK: %[[OLD:.*]] = tensor.extract %[[Q]][%[[AT:.*]]] : tensor<4x!quire_posit8>
// CHECK: %[[NEW:.*]] = numera.quire_add %[[OLD]], %{{.*}} : !quire_posit8, !posit8
// CHECK: tensor.insert %[[NEW]] into %[[Q]][%[[AT]]]
// CHECK: numera.quire_word %[[LOOP]][0]
func.func @scattered(%x: tensor<9xf32>, %at: tensor<9xindex>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%sums = %zero) -> tensor<4xf32> {
    %place = tensor.extract %at[%i] : tensor<9xindex>
    %term = tensor.extract %x[%i] : tensor<9xf32>
    %old = tensor.extract %sums[%place] : tensor<4xf32>
    %new = arith.addf %old, %term : f32
    %next = tensor.insert %new into %sums[%place] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// One that does anything else with what it carries does not.
// CHECK-LABEL: @scaled
// CHECK-NOT: quire_posit8> {
// CHECK: numera.quire_add %{{.*}} : tensor<4x!quire_posit8>, tensor<4x!posit8>
func.func @scaled(%x: tensor<9xf32>, %at: tensor<9xindex>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%sums = %zero) -> tensor<4xf32> {
    %place = tensor.extract %at[%i] : tensor<9xindex>
    %term = tensor.extract %x[%i] : tensor<9xf32>
    %old = tensor.extract %sums[%place] : tensor<4xf32>
    %twice = arith.addf %old, %old : f32
    %new = arith.addf %twice, %term : f32
    %next = tensor.insert %new into %sums[%place] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Nor does one that adds under a condition, or that carries on another tensor.
// CHECK-LABEL: @conditional
// CHECK-NOT: quire_posit8> {
// CHECK: numera.quire_add %{{.*}} : tensor<4x!quire_posit8>, tensor<4x!posit8>
func.func @conditional(%x: tensor<9xf32>, %at: tensor<9xindex>, %c: tensor<9xi1>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%sums = %zero) -> tensor<4xf32> {
    %place = tensor.extract %at[%i] : tensor<9xindex>
    %isAdded = tensor.extract %c[%i] : tensor<9xi1>
    %next = scf.if %isAdded -> tensor<4xf32> {
      %term = tensor.extract %x[%i] : tensor<9xf32>
      %old = tensor.extract %sums[%place] : tensor<4xf32>
      %new = arith.addf %old, %term : f32
      %one = tensor.insert %new into %sums[%place] : tensor<4xf32>
      scf.yield %one : tensor<4xf32>
    } else {
      scf.yield %sums : tensor<4xf32>
    }
    scf.yield %next : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @another
// CHECK-NOT: quire_posit8> {
// CHECK: numera.quire_add %{{.*}} : tensor<4x!quire_posit8>, tensor<4x!posit8>
func.func @another(%x: tensor<9xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%sums = %zero) -> tensor<4xf32> {
    scf.yield %o : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

//--- value.mlir
// VALUE: warning: result 0 of function 'f' is not one sum in a quire, rounded: its quire has the result
// VALUE: numera.name = "value posit<8,2>"
// VALUE: %[[Y:.*]] = numera.exp
// VALUE: numera.quire_add %{{.*}}, %[[Y]] : tensor<3x!quire_posit8>, tensor<3x!posit8>
func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = math.exp %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

//--- integer.mlir
func.func @f(%x: tensor<3xi32>) -> tensor<3xi32> {
  return %x : tensor<3xi32>
}
