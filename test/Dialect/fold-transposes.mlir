// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-fold-transposes | FileCheck %s

!bf16 = !numera.num<float<8,7>>
!f8 = !numera.num<float<4,3,fn>>
!posit16 = !numera.num<posit<16,2>>

#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>
#matmul = {
  indexing_maps = [#ik, #kj, #ij],
  iterator_types = ["parallel", "parallel", "reduction"]
}

// CHECK-DAG: #[[$IK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$JK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$KJ:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$IJ:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$KBI:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-DAG: #[[$JBK:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>

// CHECK-LABEL: func @right(
// CHECK-SAME: %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[S:.*]]:
// CHECK: linalg.generic
// CHECK-SAME: indexing_maps = [#[[$IK]], #[[$JK]], #[[$IJ]]]
// CHECK-SAME: ins(%[[A]], %[[B]] : tensor<4x8x!bf16>, tensor<6x8x!bf16>)
func.func @right(%a: tensor<4x8x!bf16>, %b: tensor<6x8x!bf16>,
                 %s: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<8x6x!bf16>
  %t = linalg.transpose ins(%b : tensor<6x8x!bf16>)
      outs(%e : tensor<8x6x!bf16>) permutation = [1, 0]
  %c = linalg.generic #matmul
      ins(%a, %t : tensor<4x8x!bf16>, tensor<8x6x!bf16>)
      outs(%s : tensor<4x6xf32>) {
  ^bb0(%x: !bf16, %y: !bf16, %z: f32):
    %n = numera.mac %x, %y, %z : (!bf16, !bf16, f32) -> f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// A generic that moves elements, and three dimensions of which no two stay.
// CHECK-LABEL: func @both(
// CHECK-SAME: %[[A:.*]]: {{.*}}, %[[B:.*]]: {{.*}}, %[[S:.*]]:
// CHECK: linalg.generic {indexing_maps = [#[[$KBI]], #[[$JBK]], #{{.*}}],
// CHECK-SAME: ins(%[[A]], %[[B]] :
// CHECK: numera.quire_mac
func.func @both(%a: tensor<8x2x4x!numera.num<posit<8,1>>>,
                %b: tensor<6x2x8x!numera.num<posit<8,1>>>,
                %s: tensor<2x4x6x!numera.quire<posit<8,1>>>)
    -> tensor<2x4x6x!numera.quire<posit<8,1>>> {
  %ea = tensor.empty() : tensor<2x4x8x!numera.num<posit<8,1>>>
  %ta = linalg.generic {
      indexing_maps = [affine_map<(x, y, z) -> (x, y, z)>,
                       affine_map<(x, y, z) -> (y, z, x)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<8x2x4x!numera.num<posit<8,1>>>)
      outs(%ea : tensor<2x4x8x!numera.num<posit<8,1>>>) {
  ^bb0(%x: !numera.num<posit<8,1>>, %o: !numera.num<posit<8,1>>):
    linalg.yield %x : !numera.num<posit<8,1>>
  } -> tensor<2x4x8x!numera.num<posit<8,1>>>
  %eb = tensor.empty() : tensor<2x8x6x!numera.num<posit<8,1>>>
  %tb = linalg.transpose ins(%b : tensor<6x2x8x!numera.num<posit<8,1>>>)
      outs(%eb : tensor<2x8x6x!numera.num<posit<8,1>>>) permutation = [1, 2, 0]
  %c = linalg.generic {
      indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>,
                       affine_map<(b, i, j, k) -> (b, k, j)>,
                       affine_map<(b, i, j, k) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%ta, %tb : tensor<2x4x8x!numera.num<posit<8,1>>>,
                     tensor<2x8x6x!numera.num<posit<8,1>>>)
      outs(%s : tensor<2x4x6x!numera.quire<posit<8,1>>>) {
  ^bb0(%x: !numera.num<posit<8,1>>, %y: !numera.num<posit<8,1>>,
       %q: !numera.quire<posit<8,1>>):
    %n = numera.quire_mac %x, %y, %q
        : !numera.num<posit<8,1>>, !numera.quire<posit<8,1>>
    linalg.yield %n : !numera.quire<posit<8,1>>
  } -> tensor<2x4x6x!numera.quire<posit<8,1>>>
  return %c : tensor<2x4x6x!numera.quire<posit<8,1>>>
}

// A constant is transposed by the compiler, a sum's start is not read by its
// maps, and what is no contraction keeps its operands.
// CHECK-LABEL: func @left_alone(
// CHECK-COUNT-2: linalg.transpose
// CHECK: indexing_maps = [#[[$IK]], #[[$KJ]], #[[$IJ]]]
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: numera.add %[[T]], %[[T]]
func.func @left_alone(%a: tensor<4x8x!bf16>, %s: tensor<6x4xf32>,
                      %x: tensor<8x4xf32>)
    -> (tensor<4x6xf32>, tensor<4x8xf32>) {
  %k = numera.constant codes dense<16256> : tensor<6x8xi16> as tensor<6x8x!bf16>
  %e = tensor.empty() : tensor<8x6x!bf16>
  %t = linalg.transpose ins(%k : tensor<6x8x!bf16>)
      outs(%e : tensor<8x6x!bf16>) permutation = [1, 0]
  %es = tensor.empty() : tensor<4x6xf32>
  %ts = linalg.transpose ins(%s : tensor<6x4xf32>)
      outs(%es : tensor<4x6xf32>) permutation = [1, 0]
  %c = linalg.generic #matmul
      ins(%a, %t : tensor<4x8x!bf16>, tensor<8x6x!bf16>)
      outs(%ts : tensor<4x6xf32>) {
  ^bb0(%p: !bf16, %q: !bf16, %z: f32):
    %n = numera.mac %p, %q, %z : (!bf16, !bf16, f32) -> f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  %ex = tensor.empty() : tensor<4x8xf32>
  %tx = linalg.transpose ins(%x : tensor<8x4xf32>)
      outs(%ex : tensor<4x8xf32>) permutation = [1, 0]
  %r = numera.add %tx, %tx : tensor<4x8xf32>
  return %c, %r : tensor<4x6xf32>, tensor<4x8xf32>
}

// Loops would go through it in strides: posit16 has values that are no f8.
// CHECK-LABEL: func @loops(
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: indexing_maps = [#[[$IK]], #[[$KJ]], #[[$IJ]]]
// CHECK-SAME: ins(%{{.*}}, %[[T]] :
func.func @loops(%a: tensor<4x8x!posit16>, %b: tensor<6x8x!posit16>,
                 %s: tensor<4x6x!f8>) -> tensor<4x6x!f8> {
  %e = tensor.empty() : tensor<8x6x!posit16>
  %t = linalg.transpose ins(%b : tensor<6x8x!posit16>)
      outs(%e : tensor<8x6x!posit16>) permutation = [1, 0]
  %c = linalg.generic #matmul
      ins(%a, %t : tensor<4x8x!posit16>, tensor<8x6x!posit16>)
      outs(%s : tensor<4x6x!f8>) {
  ^bb0(%x: !posit16, %y: !posit16, %z: !f8):
    %n = numera.mac %x, %y, %z : (!posit16, !posit16, !f8) -> !f8
    linalg.yield %n : !f8
  } -> tensor<4x6x!f8>
  return %c : tensor<4x6x!f8>
}
