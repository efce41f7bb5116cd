// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --numera-count-status-flags | FileCheck %s
// RUN: numera-opt %s --split-input-file --numera-count-status-flags=target=nvptx | FileCheck %s --check-prefix=GPU
// RUN: numera-opt %s --split-input-file --numera-count-status-flags=postpone=true | FileCheck %s --check-prefix=LATER
// RUN: numera-opt %s --split-input-file --numera-count-status-flags=rows=1 | FileCheck %s --check-prefix=ROWS

// Operations that raise no flags, as the numbers that they read say.

!f8 = !numera.num<float<4, 3, fn>>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// In f32, sums of products of f8 neither overflow nor underflow.
// CHECK-LABEL: @formats_tell
// CHECK-NOT: scf.if
// CHECK-NOT: numera.status_flags "mac"
// CHECK: return
func.func @formats_tell(%a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>)
    -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %x = numera.cast %a : tensor<2x3x!f8> to tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %b : tensor<2x3xf32>, tensor<3x4x!f8>)
      outs(%i : tensor<2x4xf32>) {
  ^bb0(%l: f32, %r: !f8, %acc: f32):
    %1 = numera.mac %l, %r, %acc : (f32, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// What it begins with may be too much.
// CHECK-LABEL: @sums_begin_with_an_argument
// CHECK: numera.status_flags "mac"
func.func @sums_begin_with_an_argument(%a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>,
    %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!f8>, tensor<3x4x!f8>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%l: !f8, %r: !f8, %acc: f32):
    %1 = numera.mac %l, %r, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

!bf16 = !numera.num<float<8, 7>>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// Each is 0, or from 2^-67 to 2^62: multiples of 2^-74, three products of which
// stay below 2^127.
// CHECK-LABEL: @numbers_tell
// CHECK: %[[LEAST:.*]] = arith.constant 503316480 : i32
// CHECK: %[[LENGTH:.*]] = arith.constant 1082130432 : i32
// CHECK: call @numera.out_of_range(%{{.*}}, %[[LEAST]], %[[LENGTH]]) : (tensor<?x?x!{{.*}}>, i32, i32) -> i32
// CHECK: arith.cmpi eq
// CHECK: call @numera.out_of_range(
// CHECK: arith.cmpi eq
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3x!{{.*}}>, tensor<3x4x!{{.*}}>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: %[[QUIET:.*]] = arith.andi
// CHECK: scf.if %[[QUIET]] -> (i64, i64, i64, i64)
// CHECK: else
// CHECK: numera.status_flags "mac"
// CHECK: return %[[SUM]]
// CHECK: func.func private @numera.sum_counts
// CHECK: func.func private @numera.out_of_range(%{{.*}}: tensor<?x?x!{{.*}}> {numera.any_order = 0 : i64}, %{{.*}}: i32, %{{.*}}: i32) -> i32

// Another program counts: this one is not twice as large.
// LATER-LABEL: @numbers_tell
// LATER-NOT: scf.if
// LATER-NOT: numera.status_flags
// LATER: %[[QUIET:.*]] = arith.andi
// LATER: %[[LATER:.*]] = arith.constant -1 : i64
// LATER: %[[COUNT:.*]] = arith.select %[[QUIET]], %{{.*}}, %[[LATER]] : i64
// LATER: tensor.from_elements %{{.*}}, %[[COUNT]], %[[COUNT]], %[[COUNT]], %[[COUNT]]

// A GPU's tensors would come to the host.
// GPU-LABEL: @numbers_tell
// GPU-NOT: scf.if
// GPU: numera.status_flags "mac"
func.func @numbers_tell(%a: tensor<2x3x!bf16>, %b: tensor<3x4x!bf16>)
    -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!bf16>, tensor<3x4x!bf16>)
      outs(%i : tensor<2x4xf32>) {
  ^bb0(%l: !bf16, %r: !bf16, %acc: f32):
    %1 = numera.mac %l, %r, %acc : (!bf16, !bf16, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

!lns = !numera.num<lns<5, 10>>

// Of logarithms nothing is known.
// CHECK-LABEL: @logarithms
// CHECK-NOT: scf.if
// CHECK: numera.status_flags "add"
func.func @logarithms(%a: tensor<3x!lns>) -> tensor<3x!lns> {
  %0 = numera.add %a, %a : tensor<3x!lns>
  return %0 : tensor<3x!lns>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>
#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

// What has been added up so far is no tensor's element.
// CHECK-LABEL: @sums_grow
// CHECK-NOT: scf.if
// CHECK: numera.status_flags "add"
func.func @sums_grow(%a: tensor<4x3x!f8>) -> tensor<4x!f8> {
  %zero = numera.constant 0.0 : !f8
  %e = tensor.empty() : tensor<4x!f8>
  %i = linalg.fill ins(%zero : !f8) outs(%e : tensor<4x!f8>) -> tensor<4x!f8>
  %0 = linalg.generic {indexing_maps = [#all, #rows],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x3x!f8>) outs(%i : tensor<4x!f8>) {
  ^bb0(%x: !f8, %acc: !f8):
    %1 = numera.add %x, %acc : !f8
    linalg.yield %1 : !f8
  } -> tensor<4x!f8>
  return %0 : tensor<4x!f8>
}

// -----

!bf16 = !numera.num<float<8, 7>>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// Weights are known: 1 and 1.5, multiples of 2^-1 below 2. What they are
// multiplied with may have all the rest, from 2^-141 to 2^124, and what of it
// bf16 has. A sum of two casts does not overflow if neither number is 2^125
// or more, which the test for the cast asks as well: one test, for both.
// LATER-LABEL: @tests_are_shared
// LATER: call @numera.out_of_range(%{{.*}}, %c8388608_i32, %c2097152000_i32)
// LATER: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// LATER: call @numera.out_of_range_(%{{.*}}, %{{.*}}, %c2105540608_i32)
// LATER: %[[QUIET:.*]] = arith.cmpi eq
// LATER: arith.select %[[QUIET]]
// LATER: %[[BOTH:.*]] = arith.andi %[[QUIET]], %[[QUIET]]
// LATER: arith.select %[[BOTH]]
// LATER-NOT: call
// LATER: return
func.func @tests_are_shared(%a: tensor<2x2x!bf16>) -> tensor<2x4x!bf16> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1.0, 1.5, 1.0, 1.0], [1.5, 1.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<2x2x!bf16>, tensor<2x4xf32>) outs(%i : tensor<2x4xf32>) {
  ^bb0(%l: !bf16, %r: f32, %acc: f32):
    %1 = numera.mac %l, %r, %acc : (!bf16, f32, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  %2 = numera.cast %0 : tensor<2x4xf32> to tensor<2x4x!bf16>
  %3 = numera.add %2, %2 : tensor<2x4x!bf16>
  return %3 : tensor<2x4x!bf16>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

// Most numbers of a model are out of f8's range: they are asked at once.
// LATER-LABEL: @narrow
// LATER-NOT: arith.cmpi
// LATER: numera.status_flags "cast"
func.func @narrow(%a: tensor<3xf32>) -> tensor<3x!f8> {
  %0 = numera.cast %a : tensor<3xf32> to tensor<3x!f8>
  return %0 : tensor<3x!f8>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

// Of layers, only what the function computes for itself is counted, and of that
// the rows that are asked for. Counts come in front of layers.
// LATER-LABEL: @layers
// LATER-SAME: -> (tensor<3x!{{.*}}>, tensor<10xi64> {numera.counts = {{.*}}}, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
// LATER-COUNT-2: numera.status_flags
// LATER-NOT: numera.status_flags
// ROWS-LABEL: @layers
// ROWS: numera.cast
// ROWS-NOT: numera.status_flags "cast"
// ROWS: numera.status_flags "mul"
// ROWS-NOT: numera.status_flags
func.func @layers(%a: tensor<3xf32>)
    -> (tensor<3x!f8>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    attributes {numera.layers = [{name = "a", operation = "mul", format = "f8", inputs = array<i32>}]} {
  %0 = numera.cast %a : tensor<3xf32> to tensor<3x!f8>
  %1 = numera.mul %0, %0 : tensor<3x!f8>
  %2 = arith.mulf %a, %a : tensor<3xf32>
  %3 = numera.mul %1, %0 : tensor<3x!f8>
  %4 = numera.cast %1 : tensor<3x!f8> to tensor<3xf32>
  %5 = numera.cast %3 : tensor<3x!f8> to tensor<3xf32>
  return %1, %4, %5, %2 : tensor<3x!f8>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

!f8 = !numera.num<float<4, 3, fn>>

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// Products of f8 underflow so often that nothing is tested for that: where sums
// stay below the largest number, products are done again, in f32, and counted.
// Else another program asks each step.
// ROWS-LABEL: @products_that_underflow
// LATER-LABEL: @products_that_underflow
// LATER: numera.mac
// LATER: %[[FOUND:.*]]:4 = scf.if
// LATER: %[[X:.*]] = numera.cast %{{.*}} {numera.uncounted} : tensor<2x300x!{{.*}}> to tensor<2x300xf32>
// LATER: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[X]], %{{.*}}) outs(%{{.*}} : tensor<2x4xi32>)
// LATER: arith.mulf
// LATER: %[[ALL:.*]] = func.call @numera.sum_words
// LATER: scf.yield %{{.*}}, %[[ALL]], %{{.*}}, %{{.*}} : i64, i64, i64, i64
// LATER: } else {
// LATER: %[[LATER:.*]] = arith.constant -1 : i64
// LATER: scf.yield %[[LATER]], %[[LATER]], %[[LATER]], %[[LATER]]
// LATER-NOT: numera.status_flags
// LATER: tensor.from_elements %{{.*}}, %[[FOUND]]#0, %[[FOUND]]#1, %[[FOUND]]#2, %[[FOUND]]#3
func.func @products_that_underflow(%a: tensor<2x300x!f8>, %b: tensor<300x4x!f8>) -> tensor<2x4x!f8> {
  %zero = numera.constant 0.0 : !f8
  %e = tensor.empty() : tensor<2x4x!f8>
  %c = linalg.fill ins(%zero : !f8) outs(%e : tensor<2x4x!f8>) -> tensor<2x4x!f8>
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x300x!f8>, tensor<300x4x!f8>)
      outs(%c : tensor<2x4x!f8>) {
  ^bb0(%x: !f8, %y: !f8, %acc: !f8):
    %1 = numera.mac %x, %y, %acc {product = #numera.format<float<4, 3, fn>>} : !f8
    linalg.yield %1 : !f8
  } -> tensor<2x4x!f8>
  return %0 : tensor<2x4x!f8>
}
