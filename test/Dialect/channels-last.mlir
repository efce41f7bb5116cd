// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-channels-last --canonicalize | FileCheck %s
// RUN: numera-opt %s --numera-channels-last='fewest-convolutions=3' \
// RUN:   | FileCheck %s --check-prefix=FEW

#image = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#sum = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#each = affine_map<(n, f, y, x) -> (n, f, y, x)>
#channel = affine_map<(n, f, y, x) -> (f)>
#window = affine_map<(n, f, y, x, i, j) -> (n, f, y + i, x + j)>
#own = affine_map<(n, f, y, x, i, j) -> (f, i, j)>
#of = affine_map<(n, f, y, x, i, j) -> (n, f, y, x)>

// A bias, padding, a depthwise convolution, whose filters are laid out anew.
// FEW-NOT: linalg.transpose
// CHECK: #[[EACH:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK: #[[OWN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// CHECK-LABEL: @chain
// CHECK-DAG: %[[FILTER:.*]] = arith.constant dense<{{.*}}> : tensor<1x2x16xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x8x16xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[EACH]], #[[CHANNEL]], #[[EACH]]]
// CHECK: tensor.pad {{.*}} low[0, 0, 1, 0] high[0, 0, 0, 0]
// CHECK: tensor<1x8x8x16xf32> to tensor<1x8x9x16xf32>
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], #[[OWN]],
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @chain(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>, %bias: tensor<16xf32>)
    -> tensor<1x16x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %own = arith.constant dense<[[[0.0, 1.0]], [[2.0, 3.0]], [[4.0, 5.0]], [[6.0, 7.0]],
                               [[0.0, 1.0]], [[2.0, 3.0]], [[4.0, 5.0]], [[6.0, 7.0]],
                               [[0.0, 1.0]], [[2.0, 3.0]], [[4.0, 5.0]], [[6.0, 7.0]],
                               [[0.0, 1.0]], [[2.0, 3.0]], [[4.0, 5.0]], [[6.0, 7.0]]]> : tensor<16x1x2xf32>
  %0 = tensor.empty() : tensor<1x16x8x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#each, #channel, #each],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%2, %bias : tensor<1x16x8x8xf32>, tensor<16xf32>) outs(%0 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.add %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  %4 = tensor.pad %3 low[0, 0, 0, 1] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x8x9xf32>
  %5 = linalg.generic {indexing_maps = [#window, #own, #of],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%4, %own : tensor<1x16x8x9xf32>, tensor<16x1x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  return %5 : tensor<1x16x8x8xf32>
}

// A size follows its value; what is 1 x 1 is not moved.
// CHECK-LABEL: @pooled
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x1x1x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x1x1x16xf32> into tensor<?x16xf32>
func.func @pooled(%image: tensor<?x3x2x2xf32>, %filter: tensor<16x3x2x2xf32>) -> (tensor<?x16xf32>, index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %image, %c0 : tensor<?x3x2x2xf32>
  %0 = tensor.empty(%batch) : tensor<?x16x1x1xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<?x16x1x1xf32>) -> tensor<?x16x1x1xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<?x3x2x2xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<?x16x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x16x1x1xf32>
  %size = tensor.dim %2, %c0 : tensor<?x16x1x1xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2, 3]] : tensor<?x16x1x1xf32> into tensor<?x16xf32>
  return %3, %size : tensor<?x16xf32>, index
}

// Few channels, and a number that is not known.
// CHECK-LABEL: @few
// CHECK-NOT: linalg.transpose
func.func @few(%image: tensor<1x3x9x9xf32>, %filter: tensor<8x3x2x2xf32>, %start: tensor<1x8x8x8xf32>,
               %filters: tensor<?x3x2x2xf32>, %starts: tensor<1x?x8x8xf32>)
    -> (tensor<1x8x8x8xf32>, tensor<1x?x8x8xf32>) {
  %0 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<8x3x2x2xf32>) outs(%start : tensor<1x8x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x8x8x8xf32>
  %1 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filters : tensor<1x3x9x9xf32>, tensor<?x3x2x2xf32>) outs(%starts : tensor<1x?x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x?x8x8xf32>
  return %0, %1 : tensor<1x8x8x8xf32>, tensor<1x?x8x8xf32>
}

// A shuffle of channels: of numbers that lie side by side.
// CHECK-LABEL: @shuffle
// CHECK: tensor.expand_shape {{.*}} into tensor<1x8x8x2x8xf32>
// CHECK: tensor.collapse_shape {{.*}} into tensor<1x8x8x16xf32>
// CHECK: linalg.transpose
func.func @shuffle(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>) -> tensor<1x16x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x16x8x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2], [3], [4]] output_shape [1, 2, 8, 8, 8]
      : tensor<1x16x8x8xf32> into tensor<1x2x8x8x8xf32>
  %4 = tensor.empty() : tensor<1x8x2x8x8xf32>
  %5 = linalg.generic {
      indexing_maps = [affine_map<(n, b, a, y, x) -> (n, a, b, y, x)>, affine_map<(n, b, a, y, x) -> (n, b, a, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%3 : tensor<1x2x8x8x8xf32>) outs(%4 : tensor<1x8x2x8x8xf32>) {
  ^bb0(%a: f32, %s: f32):
    linalg.yield %a : f32
  } -> tensor<1x8x2x8x8xf32>
  %6 = tensor.collapse_shape %5 [[0], [1, 2], [3], [4]] : tensor<1x8x2x8x8xf32> into tensor<1x16x8x8xf32>
  return %6 : tensor<1x16x8x8xf32>
}

// What is left of dimensions of 1; a pad with its own constant; constants without
// elements, and of indices.
// CHECK-LABEL: @rest
// CHECK: tensor.collapse_shape {{.*}} into tensor<f32>
// CHECK: tensor.pad {{.*}} low[0, 1, 1, 0]
func.func @rest(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>)
    -> (tensor<f32>, tensor<1x16x10x10xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xindex>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x16x8x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %r = numera.mac %a, %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x16x8x8xf32>
  %3 = tensor.extract_slice %2[0, 1, 0, 0] [1, 1, 1, 1] [1, 1, 1, 1] : tensor<1x16x8x8xf32> to tensor<1x1x1x1xf32>
  %4 = tensor.collapse_shape %3 [] : tensor<1x1x1x1xf32> into tensor<f32>
  %5 = tensor.pad %2 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %two = arith.constant 2.0 : f32
    tensor.yield %two : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  %none = arith.constant dense<> : tensor<1x16x0x8xf32>
  %6 = tensor.insert_slice %none into %2[0, 0, 0, 0] [1, 16, 0, 8] [1, 1, 1, 1]
      : tensor<1x16x0x8xf32> into tensor<1x16x8x8xf32>
  %places = arith.constant dense<[[[[0]], [[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]],
                                   [[0]], [[1]], [[2]], [[3]], [[4]], [[5]], [[6]], [[7]]]]> : tensor<1x16x1x1xindex>
  %7 = tensor.empty() : tensor<1x16x8x8xindex>
  %8 = linalg.generic {
      indexing_maps = [#each, affine_map<(n, f, y, x) -> (n, f, 0, 0)>, #each],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%2, %places : tensor<1x16x8x8xf32>, tensor<1x16x1x1xindex>) outs(%7 : tensor<1x16x8x8xindex>) {
  ^bb0(%a: f32, %b: index, %s: index):
    linalg.yield %b : index
  } -> tensor<1x16x8x8xindex>
  return %4, %5, %6, %8 : tensor<f32>, tensor<1x16x10x10xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xindex>
}

// Results of one number may lie in any order, the same for all of them: two
// images of channels do as they are computed, one beside an argument does not.
// CHECK-LABEL: @any_order
// CHECK-SAME: -> (tensor<1x8x8x16xf32> {numera.any_order = 0 : i64}, tensor<1x8x8x16xf32> {numera.any_order = 0 : i64}, tensor<1x16x8x8xf32> {numera.any_order = 1 : i64}, tensor<1x16x8x8xf32> {numera.any_order = 1 : i64})
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8x8x16xf32>)
// CHECK: %[[TURNED:.*]] = linalg.transpose ins(%[[SUM]]
// CHECK: %[[TWICE:.*]] = linalg.generic {{.*}} ins(%[[SUM]]
// CHECK: return %[[SUM]], %[[TWICE]], %[[TURNED]], %arg2
func.func @any_order(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>, %other: tensor<1x16x8x8xf32>)
    -> (tensor<1x16x8x8xf32> {numera.any_order = 0 : i64}, tensor<1x16x8x8xf32> {numera.any_order = 0 : i64},
        tensor<1x16x8x8xf32> {numera.any_order = 1 : i64}, tensor<1x16x8x8xf32> {numera.any_order = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x16x8x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %5 = numera.mac %a, %b, %acc : f32
    linalg.yield %5 : f32
  } -> tensor<1x16x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%2 : tensor<1x16x8x8xf32>) outs(%0 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %5 = arith.addf %a, %a : f32
    linalg.yield %5 : f32
  } -> tensor<1x16x8x8xf32>
  return %2, %3, %2, %other : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>
}

// A size that is known only when the program runs is asked for by its place.
// CHECK-LABEL: @any_order_of_any_size
// CHECK-SAME: -> (tensor<1x16x?x8xf32> {numera.any_order = 0 : i64})
func.func @any_order_of_any_size(%image: tensor<1x3x?x9xf32>, %filter: tensor<16x3x2x2xf32>, %init: index)
    -> (tensor<1x16x?x8xf32> {numera.any_order = 0 : i64}) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty(%init) : tensor<1x16x?x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x?x8xf32>) -> tensor<1x16x?x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x?x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %5 = numera.mac %a, %b, %acc : f32
    linalg.yield %5 : f32
  } -> tensor<1x16x?x8xf32>
  return %2 : tensor<1x16x?x8xf32>
}

// So are arguments that may lie in any order, as the matrices that they are,
// if all that belong together can; others are transposed.
func.func private @fold(%x: tensor<?x?xf32> {numera.any_order = 0 : i64}, %y: tensor<?x?xf32> {numera.any_order = 1 : i64},
    %z: tensor<?x?xf32> {numera.any_order = 1 : i64}, %w: tensor<?x?xf32>) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}
// CHECK-LABEL: @arguments_in_any_order(
// CHECK: %[[SUM:.*]] = linalg.generic
// CHECK: %[[WRITTEN:.*]] = linalg.transpose
// CHECK: %[[MATRIX:.*]] = tensor.collapse_shape %[[SUM]] {{\[\[}}0], [1, 2, 3]] : tensor<1x8x8x16xf32> into tensor<1x1024xf32>
// CHECK: %[[ANY:.*]] = tensor.cast %[[MATRIX]] : tensor<1x1024xf32> to tensor<?x?xf32>
// CHECK: call @fold(%[[ANY]], %[[KEPT:.*]], %{{.*}}, %[[KEPT]])
func.func @arguments_in_any_order(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>, %other: tensor<16x64xf32>) -> i32 {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x16x8x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = linalg.generic {indexing_maps = [#image, #filter, #sum],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %6 = numera.mac %a, %b, %acc : f32
    linalg.yield %6 : f32
  } -> tensor<1x16x8x8xf32>
  %3 = tensor.collapse_shape %2 [[0, 1], [2, 3]] : tensor<1x16x8x8xf32> into tensor<16x64xf32>
  %4 = tensor.cast %3 : tensor<16x64xf32> to tensor<?x?xf32>
  %5 = tensor.cast %other : tensor<16x64xf32> to tensor<?x?xf32>
  %6 = call @fold(%4, %4, %5, %4) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> i32
  return %6 : i32
}
