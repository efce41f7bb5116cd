// SPDX-License-Identifier: MIT
// Clauses: Z7 Z8.
// RUN: numera-opt %s -numera-expand-scales -canonicalize | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: numera-opt %s -numera-expand-scales=target=nvptx -canonicalize | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: numera-opt %s -numera-expand-scales | numera-opt -numera-lower-types > /dev/null

#mx = #numera.scaling<floor, float<8, 0, fnu>, axis = 1, block = 32>
!mx = tensor<4x64x!numera.num<float<4, 3, fn>>, #mx>

// A block is a dimension of its own; a power of two is multiplied by.
// CHECK-LABEL: func @blocks
// CHECK: %[[BLOCKS:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [4, 2, 32]
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[BLOCKS]]
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.andi
// CHECK: arith.maxui
// CHECK: arith.bitcast {{.*}} : i32 to f32
// CHECK-NEXT: numera.cast {{.*}} : f32 to f32
// CHECK: numera.cast {{.*}}overflow = #numera.overflow<propagate>, rounding = #numera.rounding<down>{{.*}} : f32 to !f8E8M0FNU
// CHECK: numera.mul {{.*}} : !f8E8M0FNU
// CHECK: numera.div
// CHECK: %[[DATA:.*]] = linalg.generic {{.*}} ins(%[[BLOCKS]]
// CHECK: numera.mul {{.*}} : f32
// CHECK-NEXT: numera.cast {{.*}}overflow = #numera.overflow<saturate>{{.*}} : f32 to !f8E4M3FN
// CHECK: ins(%[[DATA]]
// CHECK: numera.cast {{.*}} : !f8E4M3FN to f32
// CHECK-NEXT: numera.mul {{.*}} : f32
// CHECK: tensor.collapse_shape
// CHECK-NOT: #numera.scaling
func.func @blocks(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %q = numera.quantize %x : tensor<4x64xf32> to !mx
  %y = numera.dequantize %q : !mx to tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// A block that is not full is filled up.
// CHECK-LABEL: func @tail
// CHECK: tensor.pad %{{.*}} low[0, 0] high[0, 26]
// CHECK: tensor.expand_shape {{.*}} output_shape [3, 3, 32]
// CHECK: tensor.extract_slice {{.*}} [3, 70]
func.func @tail(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
  %q = numera.quantize %x : tensor<3x70xf32> to tensor<3x70x!numera.num<float<4, 3, fn>>, #mx>
  %y = numera.dequantize %q : tensor<3x70x!numera.num<float<4, 3, fn>>, #mx> to tensor<3x70xf32>
  return %y : tensor<3x70xf32>
}

#tensor = #numera.scaling<absmax, float<8, 23>>
#column = #numera.scaling<absmax, float<8, 23>, axis = 1>
#row = #numera.scaling<absmax, float<8, 23>, axis = 0>
!i8 = !numera.num<fixed<7, 0>>
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// One scale for each column of the result: the step is on elements.
// CHECK-LABEL: func @elements
// CHECK: numera.mac {{.*}} : (!fixed_7_0, !fixed_7_0, f32) -> f32
// CHECK: %[[SUMS:.*]] = numera.cast
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]], {{.*}} : tensor<4x6xf32>, tensor<f32>, tensor<6xf32>)
// CHECK-NEXT: ^bb0(%[[SUM:[a-z0-9_]+]]: f32, %[[X:[a-z0-9_]+]]: f32, %[[Y:[a-z0-9_]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SCALE:.*]] = numera.mul %[[X]], %[[Y]]
// CHECK-NEXT: numera.mul %[[SUM]], %[[SCALE]]
func.func @elements(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %a = numera.quantize %x : tensor<4x8xf32> to tensor<4x8x!i8, #tensor>
  %b = numera.quantize %y : tensor<8x6xf32> to tensor<8x6x!i8, #column>
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8x!i8, #tensor>, tensor<8x6x!i8, #column>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%p: !i8, %q: !i8, %acc: f32):
    %t = numera.mac %p, %q, %acc : (!i8, !i8, f32) -> f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %r = numera.cast %s : tensor<4x6xf32> to tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// A scale for each step: the step is on values.
// CHECK-LABEL: func @values
// CHECK: numera.mac {{.*}} : (!fixed_7_0, f32, f32) -> f32
func.func @values(%x: tensor<4x8xf32>, %y: tensor<8x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %a = numera.quantize %x : tensor<4x8xf32> to tensor<4x8x!i8, #tensor>
  %b = numera.quantize %y : tensor<8x6xf32> to tensor<8x6x!i8, #row>
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8x!i8, #tensor>, tensor<8x6x!i8, #row>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%p: !i8, %q: !i8, %acc: f32):
    %t = numera.mac %p, %q, %acc : (!i8, !i8, f32) -> f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %r = numera.cast %s : tensor<4x6xf32> to tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// Constants are quantized at compile time: 1 and -3 of 127ths of 3.
// CHECK-LABEL: func @constant
// CPU: arith.constant dense<[0.992125988, -3.000000e+00]> : tensor<2xf32>
// GPU-DAG: numera.constant codes dense<[42, -127]>
// GPU-DAG: arith.constant dense<0.0236220472> : tensor<f32>
func.func @constant() -> tensor<2xf32> {
  %x = arith.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %q = numera.quantize %x : tensor<2xf32> to tensor<2x!i8, #tensor>
  %y = numera.dequantize %q : tensor<2x!i8, #tensor> to tensor<2xf32>
  return %y : tensor<2xf32>
}
