// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --numera-count-status-flags | FileCheck %s

!posit16 = !numera.num<posit<16, 2>>
!f8 = !numera.num<float<4, 3, fn>>

// The function returns, behind its own result, how often each operation was
// done and had each of four flags.

// CHECK-LABEL: @status_flags_of_a_tensor_are_summed_in_a_function
// CHECK-SAME: -> (tensor<3x4x!posit16>, tensor<5xi64>
// CHECK-SAME: numera.counts = [{format = "posit16", known = 15 : i32, name = "", operation = "mul"}]
func.func @status_flags_of_a_tensor_are_summed_in_a_function(
    %x: tensor<3x4x!posit16>, %y: tensor<3x4x!posit16>)
    -> tensor<3x4x!posit16> {
  // CHECK: %[[Z:.*]] = numera.mul
  // CHECK: %[[E:.*]] = numera.status_flags "mul"(%{{.*}}, %{{.*}}) gives %[[Z]]
  // CHECK-SAME: rounding = #numera.rounding<"nearest-even">
  // CHECK-SAME: -> tensor<3x4xi8>
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[E]] {{.*}} : tensor<3x4xi8>
  // CHECK: %[[MATRIX:.*]] = tensor.cast %[[ROWS]] : tensor<3x4xi8> to tensor<?x?xi8>
  // CHECK: %[[SUMS:.*]]:4 = call @numera.sum_flags(%[[MATRIX]])
  // CHECK: %[[COUNTS:.*]] = tensor.from_elements %{{.*}}, %[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[SUMS]]#3
  // CHECK: return %[[Z]], %[[COUNTS]]
  %z = numera.mul %x, %y : tensor<3x4x!posit16>
  return %z : tensor<3x4x!posit16>
}

// CHECK-LABEL: @what_raises_no_flag_is_not_counted
// CHECK-SAME: -> tensor<4xf32> {
// CHECK-NOT: numera.status_flags
func.func @what_raises_no_flag_is_not_counted(%x: tensor<4x!f8>,
                                             %y: tensor<4x!f8>) -> tensor<4xf32> {
  %0 = numera.max %x, %y : tensor<4x!f8>
  %1 = numera.neg %0 : tensor<4x!f8>
  %2 = numera.cast %1 : tensor<4x!f8> to tensor<4xf32>
  return %2 : tensor<4xf32>
}

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: @a_reduction_counts_beside_its_sum
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x!f8E4M3FN>, tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>, tensor<2x4xi64>)
// CHECK: %[[SUM:.*]] = numera.mac
// CHECK: numera.status_flags "mac"(%{{.*}}, %{{.*}}, %{{.*}}) gives %[[SUM]]
// CHECK-SAME: product = #numera.format<float<4, 3, fn>>
// CHECK: linalg.yield %[[SUM]],
func.func @a_reduction_counts_beside_its_sum(
    %a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>, %c: tensor<2x4x!f8>)
    -> tensor<2x4x!f8> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!f8>, tensor<3x4x!f8>)
      outs(%c : tensor<2x4x!f8>) {
  ^bb0(%x: !f8, %y: !f8, %acc: !f8):
    %1 = numera.mac %x, %y, %acc {product = #numera.format<float<4, 3, fn>>} : !f8
    linalg.yield %1 : !f8
  } -> tensor<2x4x!f8>
  return %0 : tensor<2x4x!f8>
}

// CHECK-LABEL: @a_caller_has_the_counts_of_what_it_calls
// CHECK-SAME: -> (tensor<4x!f8E4M3FN>, tensor<10xi64>
// CHECK: %[[R:.*]]:2 = call @called
// CHECK: tensor.extract %[[R]]#1
func.func @a_caller_has_the_counts_of_what_it_calls(%x: tensor<4x!f8>)
    -> tensor<4x!f8> {
  %0 = call @called(%x) : (tensor<4x!f8>) -> tensor<4x!f8>
  %1 = numera.sqrt %0 : tensor<4x!f8>
  return %1 : tensor<4x!f8>
}
func.func private @called(%x: tensor<4x!f8>) -> tensor<4x!f8> {
  %0 = numera.exp %x : tensor<4x!f8>
  return %0 : tensor<4x!f8>
}

!lib = !numera.num<opaque<"lib", 16>>

// How often a library's operation is done is known, and nothing else.
// CHECK-LABEL: @nothing_is_told_of_a_library
// CHECK-SAME: numera.counts = [{format = "{{.*}}lib{{.*}}", known = 0 : i32, name = "", operation = "mac"}]
// CHECK: numera.mac
// CHECK-NEXT: linalg.yield
func.func @nothing_is_told_of_a_library(
    %a: tensor<2x3x!lib>, %b: tensor<3x4x!lib>, %c: tensor<2x4x!lib>)
    -> tensor<2x4x!lib> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!lib>, tensor<3x4x!lib>)
      outs(%c : tensor<2x4x!lib>) {
  ^bb0(%x: !lib, %y: !lib, %acc: !lib):
    %1 = numera.mac %x, %y, %acc : !lib
    linalg.yield %1 : !lib
  } -> tensor<2x4x!lib>
  return %0 : tensor<2x4x!lib>
}

!q = !numera.quire<posit<16, 2>>
!p = !numera.num<posit<16, 2>>

// A term of an exact sum is counted, and not asked for flags.
// CHECK-LABEL: @terms_of_exact_sums
// CHECK-SAME: numera.counts = [{format = "posit16", known = 15 : i32, name = "", operation = "quire_mac"}]
// CHECK: %[[ALL:.*]] = arith.constant 24 : i64
// CHECK: tensor.from_elements %[[ALL]], %[[NONE:.*]], %[[NONE]], %[[NONE]], %[[NONE]] : tensor<5xi64>
// CHECK-NOT: numera.status_flags
// CHECK: return
func.func @terms_of_exact_sums(
    %a: tensor<2x3x!p>, %b: tensor<3x4x!p>, %c: tensor<2x4x!q>) -> tensor<2x4x!q> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!p>, tensor<3x4x!p>)
      outs(%c : tensor<2x4x!q>) {
  ^bb0(%x: !p, %y: !p, %acc: !q):
    %1 = numera.quire_mac %x, %y, %acc : !p, !q
    linalg.yield %1 : !q
  } -> tensor<2x4x!q>
  return %0 : tensor<2x4x!q>
}

// One for tensors of all shapes, in any order: their rows are parallel.
// CHECK: func.func private @numera.sum_flags(%[[FLAGS:.*]]: tensor<?x?xi8> {numera.any_order = 0 : i64}) -> (i64, i64, i64, i64)
// CHECK: %[[PARTS:.*]]:4 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[FLAGS]] : tensor<?x?xi8>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[PARTS]]#0,
// CHECK-NOT: @numera.sum_flags_
