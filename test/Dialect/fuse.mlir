// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --convert-elementwise-to-linalg --numera-fuse | FileCheck %s
// RUN: numera-opt %s --convert-elementwise-to-linalg --numera-fuse=trees=true --canonicalize --cse | FileCheck %s --check-prefix=TREES

!posit16 = !numera.num<posit<16, 2>>

#rows = affine_map<(i, j) -> (i, j)>
#sums = affine_map<(i, j) -> (i)>

// The size of a result is that of the tensor it is written to, hence no use.
// CHECK-LABEL: @elementwise_operations_become_one_generic
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: !posit16, %{{.*}}: !posit16):
// CHECK-NEXT: %[[C:.*]] = numera.cast %[[X]] : f32 to !posit16
// CHECK-NEXT: %[[S:.*]] = numera.add %[[C]], %[[Y]] : !posit16
// CHECK-NEXT: %[[E:.*]] = numera.exp %[[S]] : !posit16
// CHECK-NEXT: linalg.yield %[[E]]
// CHECK-NOT: linalg.generic
func.func @elementwise_operations_become_one_generic(
    %x: tensor<4x?xf32>, %y: tensor<4x?x!posit16>) -> tensor<4x?x!posit16> {
  %0 = numera.cast %x : tensor<4x?xf32> to tensor<4x?x!posit16>
  %1 = numera.add %0, %y : tensor<4x?x!posit16>
  %2 = numera.exp %1 : tensor<4x?x!posit16>
  return %2 : tensor<4x?x!posit16>
}

// Fused, the product would be computed twice.
// CHECK-LABEL: @a_value_with_two_uses_is_computed_once
// CHECK-COUNT-1: numera.mul
// CHECK-NOT: numera.mul
func.func @a_value_with_two_uses_is_computed_once(%x: tensor<4x!posit16>)
    -> (tensor<4x!posit16>, tensor<4x!posit16>) {
  %0 = numera.mul %x, %x : tensor<4x!posit16>
  %1 = numera.exp %0 : tensor<4x!posit16>
  %2 = numera.log %0 : tensor<4x!posit16>
  return %1, %2 : tensor<4x!posit16>, tensor<4x!posit16>
}

// CHECK-LABEL: @nothing_is_fused_into_a_reduction
// CHECK: linalg.generic
// CHECK: numera.exp
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: numera.add
// CHECK-NEXT: linalg.yield
func.func @nothing_is_fused_into_a_reduction(
    %x: tensor<4x8x!posit16>, %init: tensor<4x!posit16>)
    -> tensor<4x!posit16> {
  %0 = numera.exp %x : tensor<4x8x!posit16>
  %1 = linalg.generic {indexing_maps = [#rows, #sums],
      iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<4x8x!posit16>) outs(%init : tensor<4x!posit16>) {
  ^bb0(%y: !posit16, %acc: !posit16):
    %2 = numera.add %acc, %y : !posit16
    linalg.yield %2 : !posit16
  } -> tensor<4x!posit16>
  return %1 : tensor<4x!posit16>
}

// What has one result a row is computed once a row.
// CHECK-LABEL: func @rows
// CHECK: linalg.generic
// CHECK: numera.rsqrt
// CHECK: linalg.generic
// CHECK-NOT: numera.rsqrt
// CHECK: numera.mul
func.func @rows(%x: tensor<8x64xf32>, %v: tensor<8xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = numera.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x64xf32>, tensor<8xf32>) outs(%f : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = numera.mul %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

#all = affine_map<(i, j) -> (i, j)>
#even = affine_map<(i, j) -> (i, j * 2)>
#odd = affine_map<(i, j) -> (i, j * 2 + 1)>

// Levels of a tree are one operation for a GPU: no sum is computed twice.
// CHECK-LABEL: func @tree
// CHECK-COUNT-2: linalg.generic
// TREES-LABEL: func @tree
// TREES: linalg.generic
// TREES-COUNT-3: numera.add
// TREES-NOT: {{linalg.generic|numera.add}}
// TREES: return
func.func @tree(%x: tensor<?x4xf32>, %half: tensor<?x2xf32>, %one: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %0 = linalg.generic {indexing_maps = [#even, #odd, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>) outs(%half : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %2 = numera.add %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?x2xf32>
  %1 = linalg.generic {indexing_maps = [#even, #odd, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<?x2xf32>, tensor<?x2xf32>) outs(%one : tensor<?x1xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %2 = numera.add %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?x1xf32>
  return %1 : tensor<?x1xf32>
}

// What two read whole is computed once.
// TREES-LABEL: func @read_twice
// TREES-COUNT-1: numera.exp
// TREES-NOT: numera.exp
// TREES: return
func.func @read_twice(%x: tensor<4x4xf32>, %out: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = numera.exp %a : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j, i)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = numera.add %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
