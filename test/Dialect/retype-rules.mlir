// SPDX-License-Identifier: MIT
// Clauses: V9.
// Rules of a policy: which operations they are for, and what happens where two
// formats meet.
// RUN: rm -rf %t && split-file %s %t
// RUN: numera-opt %t/model.mlir --formats=%t/rules.yaml --numera-retype --canonicalize 2> %t/warnings | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN --implicit-check-not=warning: --input-file %t/warnings

// What each rule was for. Operations without a name have that of their operator.
// CHECK: module attributes {numera.rules = [
// CHECK-SAME: {match = "first", operations = ["first"]}
// CHECK-SAME: {match = "last?", operations = ["last1", "last2"]}
// CHECK-SAME: {match = "*irs*", operations = []}
// CHECK-SAME: {match = "op softmax", operations = ["linalg.softmax"]}
// CHECK-SAME: {match = "op linalg.EXP, name odd*", operations = ["oddly"]}
// CHECK-SAME: {match = "fc", operations = ["fc"]}
// CHECK-SAME: {match = "moved", operations = []}
// CHECK-SAME: {match = "tipo", operations = []}
// CHECK-SAME: {match = "op sofmax", operations = []}

// WARN: rules.yaml:7:7: warning: rule '*irs*' is for nothing: rules before it match all that it matches
// WARN: rules.yaml:11:7: warning: rule 'moved' matches only constants and data movement, which take the formats of the operations that use them
// WARN: rules.yaml:12:7: warning: rule 'tipo' matches no operation; those of the model are called first, second, last1, last2, oddly, odd, ...
// WARN: rules.yaml:13:7: warning: rule 'op sofmax' matches no operation; the model has operators linalg.exp, linalg.log, linalg.softmax, linalg.matmul, scf.for

//--- rules.yaml
policy:
  default: posit16
  rules:
    - {match: first, format: bf16}
    - match: "last?"
      format: f32
    - {match: "*irs*", format: f16}
    - {match: {op: softmax}, format: f32}
    - {match: {op: linalg.EXP, name: "odd*"}, format: f16}
    - {match: fc, accumulate: same, weights: bf16}
    - {match: moved, format: f16}
    - {match: tipo, format: f16}
    - {match: {op: sofmax}, format: f32}

//--- model.mlir
// The first rule that matches holds. One cast, from the one format to the other.
// CHECK-LABEL: @a_rule_names_an_operation
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[B:.*]] = numera.cast %[[X]] : tensor<4xf32> to tensor<4x!bf16>
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4x!bf16>)
// CHECK: numera.exp %{{.*}} : !bf16
// CHECK: %[[P:.*]] = numera.cast %[[E]] : tensor<4x!bf16> to tensor<4x!posit16>
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<4x!posit16>)
// CHECK: numera.log %{{.*}} : !posit16
func.func @a_rule_names_an_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("first")
  %2 = linalg.log ins(%1 : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("second")
  return %2 : tensor<4xf32>
}

// What is in f32 by a rule is returned as it is. Both exps read one cast.
// CHECK-LABEL: @a_pattern_matches_names
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT: numera.cast
// CHECK: numera.exp %{{.*}} : f32
// CHECK: numera.log %{{.*}} : f32
// CHECK-NOT: numera.cast
// CHECK: return
func.func @a_pattern_matches_names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("last1")
  %2 = linalg.log ins(%1 : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("last2")
  return %2 : tensor<4xf32>
}

// Of the two, linalg.exp is the operation: the log stays, and so does the exp
// of another name.
// CHECK-LABEL: @an_operator_and_a_name_both_match
// CHECK: numera.exp %{{.*}} : !f16
// CHECK: numera.log %{{.*}} : !posit16
// CHECK: numera.exp %{{.*}} : !posit16
func.func @an_operator_and_a_name_both_match(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("oddly")
  %2 = linalg.log ins(%1 : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("odd")
  %3 = linalg.exp ins(%2 : tensor<4xf32>) outs(%0 : tensor<4xf32>)
    -> tensor<4xf32> loc("even")
  return %3 : tensor<4xf32>
}

// All that a softmax becomes is in its format, and its sum in that's.
// CHECK-LABEL: @an_operator_is_one_until_it_becomes_others
// CHECK: numera.exp %{{.*}} : !posit16
// CHECK: %[[IN:.*]] = numera.cast %{{.*}} : tensor<2x4x!posit16> to tensor<2x4xf32>
// CHECK: numera.max{{.*}} : f32
// CHECK: numera.sub %{{.*}} : f32
// CHECK: numera.exp %{{.*}} : f32
// CHECK: numera.add %{{.*}} : f32
// CHECK: numera.div %{{.*}} : f32
// CHECK-NOT: numera.cast
// CHECK: return
func.func @an_operator_is_one_until_it_becomes_others(%x: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = linalg.exp ins(%x : tensor<2x4xf32>) outs(%0 : tensor<2x4xf32>)
    -> tensor<2x4xf32>
  %2 = linalg.softmax dimension(1) ins(%1 : tensor<2x4xf32>)
    outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// A rule without a format leaves that of the model.
// CHECK-LABEL: @a_rule_changes_what_it_names
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x2x!posit16>, tensor<2x2x!bf16>) outs(%{{.*}} : tensor<2x2x!posit16>)
// CHECK: numera.mac {{.*}} {product = #numera.format<posit<16, 2>>} : (!posit16, !bf16, !posit16) -> !posit16
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x2x!posit16>, tensor<2x2x!posit16>) outs(%{{.*}} : tensor<2x2xf32>)
func.func @a_rule_changes_what_it_names(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2x2xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)
    outs(%1 : tensor<2x2xf32>) -> tensor<2x2xf32> loc("fc")
  %3 = linalg.matmul ins(%2, %w : tensor<2x2xf32>, tensor<2x2xf32>)
    outs(%1 : tensor<2x2xf32>) -> tensor<2x2xf32> loc("fc2")
  return %3 : tensor<2x2xf32>
}

// CHECK-LABEL: @what_is_moved_keeps_its_format
// CHECK: numera.exp %{{.*}} : !bf16
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3x!bf16>) outs(%{{.*}} : tensor<3x2x!bf16>)
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[T]] {{.*}} : tensor<3x2x!bf16> into tensor<6x!bf16>
// CHECK: numera.cast %[[R]] : tensor<6x!bf16> to tensor<6x!posit16>
func.func @what_is_moved_keeps_its_format(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = tensor.empty() : tensor<2x3xf32>
  %1 = linalg.exp ins(%x : tensor<2x3xf32>) outs(%0 : tensor<2x3xf32>)
    -> tensor<2x3xf32> loc("first")
  %2 = tensor.empty() : tensor<3x2xf32>
  %3 = linalg.transpose ins(%1 : tensor<2x3xf32>) outs(%2 : tensor<3x2xf32>)
    permutation = [1, 0] loc("moved")
  %4 = tensor.collapse_shape %3 [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %5 = tensor.empty() : tensor<6xf32>
  %6 = linalg.exp ins(%4 : tensor<6xf32>) outs(%5 : tensor<6xf32>)
    -> tensor<6xf32> loc("second")
  return %6 : tensor<6xf32>
}

// From f32, once to each, and not through the one to the other.
// CHECK-LABEL: @an_argument_is_cast_to_each_format_that_it_is_read_in
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-DAG: %[[P:.*]] = numera.cast %[[X]] : tensor<2x3xf32> to tensor<2x3x!posit16>
// CHECK-DAG: %[[B:.*]] = numera.cast %[[X]] : tensor<2x3xf32> to tensor<2x3x!bf16>
// CHECK-DAG: tensor.collapse_shape %[[P]] {{.*}} into tensor<6x!posit16>
// CHECK-DAG: tensor.collapse_shape %[[B]] {{.*}} into tensor<6x!bf16>
// CHECK: return
func.func @an_argument_is_cast_to_each_format_that_it_is_read_in(%x: tensor<2x3xf32>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %1 = tensor.empty() : tensor<6xf32>
  %2 = linalg.exp ins(%0 : tensor<6xf32>) outs(%1 : tensor<6xf32>)
    -> tensor<6xf32> loc("first")
  %3 = linalg.exp ins(%0 : tensor<6xf32>) outs(%1 : tensor<6xf32>)
    -> tensor<6xf32> loc("second")
  return %2, %3 : tensor<6xf32>, tensor<6xf32>
}

// 1 and 1.5 in bf16 are 0x3f80 and 0x3fc0, in posit16 0x4000 and 0x4400.
// CHECK-LABEL: @a_constant_is_encoded_in_each_format_that_it_is_read_in
// CHECK-DAG: numera.constant codes dense<[16256, 16320]> : tensor<2xi16> as tensor<2x!bf16>
// CHECK-DAG: numera.constant codes dense<[16384, 17408]> : tensor<2xi16> as tensor<2x!posit16>
// CHECK: return
func.func @a_constant_is_encoded_in_each_format_that_it_is_read_in()
    -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.constant dense<[1.0, 1.5]> : tensor<2xf32>
  %1 = tensor.empty() : tensor<2xf32>
  %2 = linalg.exp ins(%0 : tensor<2xf32>) outs(%1 : tensor<2xf32>)
    -> tensor<2xf32> loc("first")
  %3 = linalg.exp ins(%0 : tensor<2xf32>) outs(%1 : tensor<2xf32>)
    -> tensor<2xf32> loc("second")
  return %2, %3 : tensor<2xf32>, tensor<2xf32>
}

// The loop carries the model's format: what its body yields is cast to it.
// CHECK-LABEL: @a_loop_carries_its_own_format
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<2x!posit16>)
// CHECK: %[[B:.*]] = numera.cast %[[ACC]] : tensor<2x!posit16> to tensor<2x!bf16>
// CHECK: numera.exp %{{.*}} : !bf16
// CHECK: %[[P:.*]] = numera.cast %{{.*}} : tensor<2x!bf16> to tensor<2x!posit16>
// CHECK: scf.yield %[[P]]
func.func @a_loop_carries_its_own_format(%x: tensor<2xf32>, %n: index)
    -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<2xf32>) {
    %1 = tensor.empty() : tensor<2xf32>
    %2 = linalg.exp ins(%acc : tensor<2xf32>) outs(%1 : tensor<2xf32>)
      -> tensor<2xf32> loc("first")
    scf.yield %2 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
