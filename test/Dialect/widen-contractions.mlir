// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-widen-contractions | FileCheck %s --check-prefix=SCALED
// RUN: numera-opt %s --numera-widen-contractions | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: numera-opt %s --numera-widen-contractions=target=nvptx | FileCheck %s --check-prefixes=CHECK,GPU

!f8 = !numera.num<float<4, 3, fn>>
!posit16 = !numera.num<posit<16, 2>>
!mybf16 = !numera.num<opaque<"mybf16", 16>>

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#result = affine_map<(i, j, k) -> (i, j)>

// CHECK-LABEL: @operands_are_cast_once_to_the_accumulator
// CHECK-SAME: (%[[A:.*]]: tensor<2x3x!f8E4M3FN>, %[[B:.*]]: tensor<3x4x!f8E4M3FN>, %[[C:.*]]: tensor<2x4xf32>)
// CHECK-DAG: %[[WA:.*]] = numera.cast %[[A]] : tensor<2x3x!f8E4M3FN> to tensor<2x3xf32>
// CHECK-DAG: %[[WB:.*]] = numera.cast %[[B]] : tensor<3x4x!f8E4M3FN> to tensor<3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[WA]], %[[WB]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: numera.mac %[[X]], %[[Y]], %[[ACC]] : f32
func.func @operands_are_cast_once_to_the_accumulator(
    %a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!f8>, tensor<3x4x!f8>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// The library's cast to f32 is what its values are.
// CHECK-LABEL: @an_opaque_format_is_widened_to_f32
// CHECK-COUNT-2: numera.cast {{.*}}x!mybf16> to {{.*}}xf32>
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @an_opaque_format_is_widened_to_f32(
    %a: tensor<2x3x!mybf16>, %b: tensor<3x4x!mybf16>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!mybf16>, tensor<3x4x!mybf16>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: !mybf16, %y: !mybf16, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!mybf16, !mybf16, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// posit16 has values that are no f8.
// CHECK-LABEL: @operands_that_do_not_embed_stay
// CHECK-NOT: numera.cast
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!posit16, !posit16, !f8E4M3FN) -> !f8E4M3FN
func.func @operands_that_do_not_embed_stay(
    %a: tensor<2x3x!posit16>, %b: tensor<3x4x!posit16>, %c: tensor<2x4x!f8>)
    -> tensor<2x4x!f8> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!posit16>, tensor<3x4x!posit16>)
      outs(%c : tensor<2x4x!f8>) {
  ^bb0(%x: !posit16, %y: !posit16, %acc: !f8):
    %1 = numera.mac %x, %y, %acc : (!posit16, !posit16, !f8) -> !f8
    linalg.yield %1 : !f8
  } -> tensor<2x4x!f8>
  return %0 : tensor<2x4x!f8>
}

// CHECK-LABEL: @a_product_that_is_rounded_first_stays
// CHECK-NOT: numera.cast
// CHECK: numera.mac {{.*}} {product = #numera.format<float<4, 3, fn>>} : (!f8E4M3FN, !f8E4M3FN, f32) -> f32
func.func @a_product_that_is_rounded_first_stays(
    %a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!f8>, tensor<3x4x!f8>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc {product = #numera.format<float<4, 3, fn>>}
      : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// What is cut off is cut in the factors' own format.
// CHECK-LABEL: @factors_that_are_cut_stay
// CHECK-NOT: numera.cast
// CHECK: numera.mac %{{.*}}, %{{.*}}, %{{.*}} : (!float_4_3_fn_mac_truncate_operands_1, !float_4_3_fn_mac_truncate_operands_1, f32) -> f32
!cut = !numera.num<float<4, 3, fn, "mac.truncate-operands=1">>
func.func @factors_that_are_cut_stay(
    %a: tensor<2x3x!cut>, %b: tensor<3x4x!cut>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!cut>, tensor<3x4x!cut>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: !cut, %y: !cut, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!cut, !cut, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// A matrix and a vector are left to loops, which run along the result; on the
// CPU not where what they read lies in the order of the steps.
// CHECK-LABEL: @a_matrix_and_a_vector
// CHECK-COUNT-2: numera.cast {{.*}}x!f8E4M3FN> to {{.*}}xf32>
func.func @a_matrix_and_a_vector(
    %a: tensor<1x64x!f8>, %b: tensor<64x32x!f8>, %c: tensor<1x32xf32>)
    -> tensor<1x32xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x64x!f8>, tensor<64x32x!f8>)
      outs(%c : tensor<1x32xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}

// CHECK-LABEL: @a_column
// CPU-NOT: numera.cast
// GPU-COUNT-2: numera.cast {{.*}}x!f8E4M3FN> to {{.*}}xf32>
func.func @a_column(
    %a: tensor<512x64x!f8>, %b: tensor<64x1x!f8>, %c: tensor<512x1xf32>)
    -> tensor<512x1xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x64x!f8>, tensor<64x1x!f8>)
      outs(%c : tensor<512x1xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<512x1xf32>
  return %0 : tensor<512x1xf32>
}

// CHECK-LABEL: @a_transposed_row
// CPU-NOT: numera.cast
// GPU-COUNT-2: numera.cast {{.*}}x!f8E4M3FN> to {{.*}}xf32>
func.func @a_transposed_row(
    %a: tensor<1x64x!f8>, %b: tensor<512x64x!f8>, %c: tensor<1x512xf32>)
    -> tensor<1x512xf32> {
  %0 = linalg.generic {
      indexing_maps = [#left, affine_map<(i, j, k) -> (j, k)>, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x64x!f8>, tensor<512x64x!f8>)
      outs(%c : tensor<1x512xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<1x512xf32>
  return %0 : tensor<1x512xf32>
}

// The CPU's kernel takes floats from where they lie; a GPU's decodes what it
// fetches.
// CHECK-LABEL: @factors_that_many_sums_read
// CPU-COUNT-2: numera.cast {{.*}}x!f8E4M3FN> to {{.*}}xf32>
// GPU-NOT: numera.cast
// CHECK: return
func.func @factors_that_many_sums_read(
    %a: tensor<32x64x!f8>, %b: tensor<64x?x!f8>, %c: tensor<32x?xf32>)
    -> tensor<32x?xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64x!f8>, tensor<64x?x!f8>)
      outs(%c : tensor<32x?xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<32x?xf32>
  return %0 : tensor<32x?xf32>
}

// Not where few do, of many elements: the matrix is read in its own format.
// CHECK-LABEL: @factors_that_few_sums_read
// CHECK-NOT: numera.cast
// CHECK: return
func.func @factors_that_few_sums_read(
    %a: tensor<8x4096x!f8>, %b: tensor<4096x32x!f8>, %c: tensor<8x32xf32>)
    -> tensor<8x32xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x4096x!f8>, tensor<4096x32x!f8>)
      outs(%c : tensor<8x32xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// But where they are small they are cast.
// CHECK-LABEL: @small_factors
// CPU-COUNT-2: numera.cast {{.*}}x!f8E4M3FN> to {{.*}}xf32>
// GPU-NOT: numera.cast
// CHECK: return
func.func @small_factors(
    %a: tensor<8x64x!f8>, %b: tensor<64x32x!f8>, %c: tensor<8x32xf32>)
    -> tensor<8x32xf32> {
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64x!f8>, tensor<64x32x!f8>)
      outs(%c : tensor<8x32xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// Padding comes after the cast.
// CHECK-LABEL: @padding_is_wide
// CHECK-SAME: (%[[A:.*]]: tensor<2x3x!f8E4M3FN>
// CHECK-DAG: %[[WA:.*]] = numera.cast %[[A]] : tensor<2x3x!f8E4M3FN> to tensor<2x3xf32>
// CHECK-DAG: %[[BORDER:.*]] = numera.cast %{{.*}} : !f8E4M3FN to f32
// CHECK: %[[PADDED:.*]] = tensor.pad %[[WA]] low[0, 1] high[0, 2]
// CHECK: tensor.yield %[[BORDER]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[PADDED]], %{{.*}} : tensor<2x6xf32>
func.func @padding_is_wide(
    %a: tensor<2x3x!f8>, %b: tensor<6x4x!f8>, %c: tensor<2x4xf32>)
    -> tensor<2x4xf32> {
  %border = numera.constant 1.0 : !f8
  %padded = tensor.pad %a low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %border : !f8
  } : tensor<2x3x!f8> to tensor<2x6x!f8>
  %0 = linalg.generic {indexing_maps = [#left, #right, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %b : tensor<2x6x!f8>, tensor<6x4x!f8>)
      outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: !f8, %y: !f8, %acc: f32):
    %1 = numera.mac %x, %y, %acc : (!f8, !f8, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Scales are of the narrow format: numera-expand-scales comes first.
// SCALED-LABEL: func.func @scaled_operands_stay
// SCALED-NOT: numera.cast
// SCALED: numera.mac %{{.*}} : (!f8E4M3FN, f32, f32) -> f32
#scaling = #numera.scaling<absmax, float<8, 23>>
func.func @scaled_operands_stay(%a: tensor<4x8x!numera.num<float<4, 3, fn>>, #scaling>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8x!numera.num<float<4, 3, fn>>, #scaling>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: !numera.num<float<4, 3, fn>>, %y: f32, %s: f32):
    %1 = numera.mac %x, %y, %s : (!numera.num<float<4, 3, fn>>, f32, f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
