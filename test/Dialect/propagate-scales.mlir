// SPDX-License-Identifier: MIT
// RUN: numera-opt %s -numera-retype='to=scaled<i16>' | FileCheck %s
// RUN: numera-opt %s -numera-retype='to=scaled<i16>' -numera-expand-scales | numera-opt -numera-to-cpu > /dev/null

// Two layers: what goes from one to the next stays scaled, the bias is spread
// out, and the tensors between are read by nothing.
#mn = affine_map<(i, j) -> (i, j)>
#n = affine_map<(i, j) -> (j)>
!x = tensor<?x8xf32>
!h = tensor<?x16xf32>

// CHECK-LABEL: func @layers
// CHECK: %[[X:.*]] = numera.quantize %arg0
// CHECK: %[[W:.*]] = numera.quantize %arg1
// CHECK: %[[PRODUCT:.*]] = numera.scaled_matmul %[[X]], %[[W]] accumulate <float<8, 23>>
// CHECK: %[[SPREAD:.*]] = linalg.generic {{.*}} ins(%arg2
// CHECK: %[[BIAS:.*]] = numera.quantize %[[SPREAD]]
// CHECK: %[[SUM:.*]] = numera.scaled_add %[[PRODUCT]], %[[BIAS]]
// CHECK: %[[RELU:.*]] = numera.scaled_relu %[[SUM]]
// CHECK: %[[V:.*]] = numera.quantize %arg3
// CHECK: %[[LAST:.*]] = numera.scaled_matmul %[[RELU]], %[[V]]
// CHECK: %[[VALUES:.*]] = numera.dequantize %[[LAST]]
// CHECK: numera.exp %[[VALUES]]
func.func @layers(%x: !x, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %v: tensor<16x8xf32>) -> !x {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : !x
  %e = tensor.empty(%rows) : !h
  %i = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
  %p = linalg.matmul ins(%x, %w : !x, tensor<8x16xf32>) outs(%i : !h) -> !h
  %s = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : !h, tensor<16xf32>) outs(%e : !h) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  } -> !h
  %r = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%s : !h) outs(%e : !h) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %zero, %a : f32
    linalg.yield %t : f32
  } -> !h
  %f = tensor.empty(%rows) : !x
  %j = linalg.fill ins(%zero : f32) outs(%f : !x) -> !x
  %y = linalg.matmul ins(%r, %v : !h, tensor<16x8xf32>) outs(%j : !x) -> !x
  %z = math.exp %y : !x
  return %z : !x
}
