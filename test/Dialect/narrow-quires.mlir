// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-narrow-quires | FileCheck %s
// Sums stay in quires where f64 does not hold them, run time says how many terms
// they have, or somebody else reads the quire.

#row = affine_map<(i, j, k) -> (i, k)>
#column = affine_map<(i, j, k) -> (k, j)>
#sum = affine_map<(i, j, k) -> (i, j)>

!fixed = !numera.num<fixed<3, 4>>
!wide = !numera.num<fixed<7, 8>>
!f8 = !numera.num<float<4, 3, fn>>
!bf16 = !numera.num<float<8, 7>>

// CHECK-LABEL: func @f32_with_values
// CHECK-NOT:   quire
// CHECK:       %[[SUM:.*]] = numera.cast %arg2 : {{.*}} to tensor<2x4xf32>
// CHECK:       linalg.generic {{.*}} outs(%[[SUM]] : tensor<2x4xf32>)
// CHECK:         numera.mac {{.*}} -> f32
// CHECK:       numera.cast {{.*}} : tensor<2x4xf32> to tensor<2x4x!fixed_3_4>
func.func @f32_with_values(%a: tensor<2x1023x!fixed>, %b: tensor<1023x4x!fixed>, %c: tensor<2x4x!fixed>)
    -> tensor<2x4x!fixed> {
  %0 = numera.quire_zero : !numera.quire<fixed<3, 4>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<3, 4>>) outs(%1 : tensor<2x4x!numera.quire<fixed<3, 4>>>)
      -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %3 = numera.quire_add %2, %c : tensor<2x4x!numera.quire<fixed<3, 4>>>, tensor<2x4x!fixed>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x1023x!fixed>, tensor<1023x4x!fixed>)
      outs(%3 : tensor<2x4x!numera.quire<fixed<3, 4>>>) {
  ^bb0(%x: !fixed, %y: !fixed, %s: !numera.quire<fixed<3, 4>>):
    %5 = numera.quire_mac %x, %y, %s : !fixed, !numera.quire<fixed<3, 4>>
    linalg.yield %5 : !numera.quire<fixed<3, 4>>
  } -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<fixed<3, 4>>> to tensor<2x4x!fixed>
  return %6 : tensor<2x4x!fixed>
}

// CHECK-LABEL: func @f32_full
// CHECK:       numera.mac {{.*}} -> f32
func.func @f32_full(%a: tensor<2x1024x!fixed>, %b: tensor<1024x4x!fixed>)
    -> tensor<2x4x!fixed> {
  %0 = numera.quire_zero : !numera.quire<fixed<3, 4>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<3, 4>>) outs(%1 : tensor<2x4x!numera.quire<fixed<3, 4>>>)
      -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x1024x!fixed>, tensor<1024x4x!fixed>)
      outs(%2 : tensor<2x4x!numera.quire<fixed<3, 4>>>) {
  ^bb0(%x: !fixed, %y: !fixed, %s: !numera.quire<fixed<3, 4>>):
    %5 = numera.quire_mac %x, %y, %s : !fixed, !numera.quire<fixed<3, 4>>
    linalg.yield %5 : !numera.quire<fixed<3, 4>>
  } -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<fixed<3, 4>>> to tensor<2x4x!fixed>
  return %6 : tensor<2x4x!fixed>
}

// CHECK-LABEL: func @too_many_for_f32
// CHECK:       numera.mac {{.*}} -> f64
func.func @too_many_for_f32(%a: tensor<2x1024x!fixed>, %b: tensor<1024x4x!fixed>, %c: tensor<2x4x!fixed>)
    -> tensor<2x4x!fixed> {
  %0 = numera.quire_zero : !numera.quire<fixed<3, 4>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<3, 4>>) outs(%1 : tensor<2x4x!numera.quire<fixed<3, 4>>>)
      -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %3 = numera.quire_add %2, %c : tensor<2x4x!numera.quire<fixed<3, 4>>>, tensor<2x4x!fixed>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x1024x!fixed>, tensor<1024x4x!fixed>)
      outs(%3 : tensor<2x4x!numera.quire<fixed<3, 4>>>) {
  ^bb0(%x: !fixed, %y: !fixed, %s: !numera.quire<fixed<3, 4>>):
    %5 = numera.quire_mac %x, %y, %s : !fixed, !numera.quire<fixed<3, 4>>
    linalg.yield %5 : !numera.quire<fixed<3, 4>>
  } -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<fixed<3, 4>>> to tensor<2x4x!fixed>
  return %6 : tensor<2x4x!fixed>
}

// CHECK-LABEL: func @f64
// CHECK:       numera.mac {{.*}} -> f64
func.func @f64(%a: tensor<2x100x!wide>, %b: tensor<100x4x!wide>)
    -> tensor<2x4x!wide> {
  %0 = numera.quire_zero : !numera.quire<fixed<7, 8>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<7, 8>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<7, 8>>) outs(%1 : tensor<2x4x!numera.quire<fixed<7, 8>>>)
      -> tensor<2x4x!numera.quire<fixed<7, 8>>>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x100x!wide>, tensor<100x4x!wide>)
      outs(%2 : tensor<2x4x!numera.quire<fixed<7, 8>>>) {
  ^bb0(%x: !wide, %y: !wide, %s: !numera.quire<fixed<7, 8>>):
    %5 = numera.quire_mac %x, %y, %s : !wide, !numera.quire<fixed<7, 8>>
    linalg.yield %5 : !numera.quire<fixed<7, 8>>
  } -> tensor<2x4x!numera.quire<fixed<7, 8>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<fixed<7, 8>>> to tensor<2x4x!wide>
  return %6 : tensor<2x4x!wide>
}

// A sum of -0 alone is +0.
// CHECK-LABEL: func @minus_zero
// CHECK:       %[[ZERO:.*]] = linalg.fill
// CHECK:       %[[SUM:.*]] = arith.addf %[[ZERO]],
// CHECK:       linalg.generic {{.*}} outs(%[[SUM]] : tensor<2x4xf64>)
func.func @minus_zero(%a: tensor<2x100x!f8>, %b: tensor<100x4x!f8>, %c: tensor<2x4x!f8>)
    -> tensor<2x4x!f8> {
  %0 = numera.quire_zero : !numera.quire<float<4, 3, fn>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<float<4, 3, fn>>>
  %2 = linalg.fill ins(%0 : !numera.quire<float<4, 3, fn>>) outs(%1 : tensor<2x4x!numera.quire<float<4, 3, fn>>>)
      -> tensor<2x4x!numera.quire<float<4, 3, fn>>>
  %3 = numera.quire_add %2, %c : tensor<2x4x!numera.quire<float<4, 3, fn>>>, tensor<2x4x!f8>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x100x!f8>, tensor<100x4x!f8>)
      outs(%3 : tensor<2x4x!numera.quire<float<4, 3, fn>>>) {
  ^bb0(%x: !f8, %y: !f8, %s: !numera.quire<float<4, 3, fn>>):
    %5 = numera.quire_mac %x, %y, %s : !f8, !numera.quire<float<4, 3, fn>>
    linalg.yield %5 : !numera.quire<float<4, 3, fn>>
  } -> tensor<2x4x!numera.quire<float<4, 3, fn>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<float<4, 3, fn>>> to tensor<2x4x!f8>
  return %6 : tensor<2x4x!f8>
}

// CHECK-LABEL: func @too_wide
// CHECK:       numera.quire_mac
func.func @too_wide(%a: tensor<2x3x!bf16>, %b: tensor<3x4x!bf16>)
    -> tensor<2x4x!bf16> {
  %0 = numera.quire_zero : !numera.quire<float<8, 7>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<float<8, 7>>>
  %2 = linalg.fill ins(%0 : !numera.quire<float<8, 7>>) outs(%1 : tensor<2x4x!numera.quire<float<8, 7>>>)
      -> tensor<2x4x!numera.quire<float<8, 7>>>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!bf16>, tensor<3x4x!bf16>)
      outs(%2 : tensor<2x4x!numera.quire<float<8, 7>>>) {
  ^bb0(%x: !bf16, %y: !bf16, %s: !numera.quire<float<8, 7>>):
    %5 = numera.quire_mac %x, %y, %s : !bf16, !numera.quire<float<8, 7>>
    linalg.yield %5 : !numera.quire<float<8, 7>>
  } -> tensor<2x4x!numera.quire<float<8, 7>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<float<8, 7>>> to tensor<2x4x!bf16>
  return %6 : tensor<2x4x!bf16>
}

// CHECK-LABEL: func @unknown
// CHECK:       numera.quire_mac
func.func @unknown(%a: tensor<2x?x!fixed>, %b: tensor<?x4x!fixed>)
    -> tensor<2x4x!fixed> {
  %0 = numera.quire_zero : !numera.quire<fixed<3, 4>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<3, 4>>) outs(%1 : tensor<2x4x!numera.quire<fixed<3, 4>>>)
      -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x?x!fixed>, tensor<?x4x!fixed>)
      outs(%2 : tensor<2x4x!numera.quire<fixed<3, 4>>>) {
  ^bb0(%x: !fixed, %y: !fixed, %s: !numera.quire<fixed<3, 4>>):
    %5 = numera.quire_mac %x, %y, %s : !fixed, !numera.quire<fixed<3, 4>>
    linalg.yield %5 : !numera.quire<fixed<3, 4>>
  } -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %6 = numera.quire_round %4 : tensor<2x4x!numera.quire<fixed<3, 4>>> to tensor<2x4x!fixed>
  return %6 : tensor<2x4x!fixed>
}

// CHECK-LABEL: func @read_twice
// CHECK:       numera.quire_mac
func.func @read_twice(%a: tensor<2x3x!fixed>, %b: tensor<3x4x!fixed>)
    -> tensor<2x4x!fixed> {
  %0 = numera.quire_zero : !numera.quire<fixed<3, 4>>
  %1 = tensor.empty() : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %2 = linalg.fill ins(%0 : !numera.quire<fixed<3, 4>>) outs(%1 : tensor<2x4x!numera.quire<fixed<3, 4>>>)
      -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %4 = linalg.generic {
      indexing_maps = [#row, #column, #sum],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x3x!fixed>, tensor<3x4x!fixed>)
      outs(%2 : tensor<2x4x!numera.quire<fixed<3, 4>>>) {
  ^bb0(%x: !fixed, %y: !fixed, %s: !numera.quire<fixed<3, 4>>):
    %5 = numera.quire_mac %x, %y, %s : !fixed, !numera.quire<fixed<3, 4>>
    linalg.yield %5 : !numera.quire<fixed<3, 4>>
  } -> tensor<2x4x!numera.quire<fixed<3, 4>>>
  %neg = numera.quire_neg %4 : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %again = numera.quire_merge %4, %neg : tensor<2x4x!numera.quire<fixed<3, 4>>>
  %6 = numera.quire_round %again : tensor<2x4x!numera.quire<fixed<3, 4>>> to tensor<2x4x!fixed>
  return %6 : tensor<2x4x!fixed>
}
