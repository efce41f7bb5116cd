// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-show-rows | FileCheck %s
// RUN: numera-opt %s --numera-show-rows --canonicalize --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=BUFFERS
// RUN: numera-opt %s --numera-show-rows --one-shot-bufferize=bufferize-function-boundaries --numera-lower-ops | FileCheck %s --check-prefix=CALLS
// RUN: not numera-opt %s --numera-show-rows --numera-lower-ops 2>&1 | FileCheck %s --check-prefix=TENSORS

// Each row is handed over behind what makes it, and is a result no longer.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: -> tensor<4xf32> {
// CHECK: %[[E:.*]] = linalg.exp
// CHECK-NEXT: numera.show_row 0 of %[[E]], %[[E]], %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
// CHECK-NEXT: %[[S:.*]] = linalg.sqrt ins(%[[E]]
// CHECK-NEXT: numera.show_row 1 of %[[S]], %arg0, %arg1
// CHECK-NEXT: return %[[S]] : tensor<4xf32>

// CALLS-DAG: llvm.func @numera_host_show_row(i32, i64, i32, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr)
// CALLS-LABEL: func.func @rows(
// CALLS: llvm.call @numera_host_show_row
// CALLS: llvm.call @numera_host_show_row

// TENSORS: shows tensors; bufferize it first
func.func @rows(%x: tensor<4xf32>, %r: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf64>)
    attributes {numera.layers = [
      {name = "e", operation = "exp", format = "f32", inputs = array<i32>},
      {name = "s", operation = "sqrt", format = "f32", inputs = array<i32: 0>}]} {
  %0 = tensor.empty() : tensor<4xf32>
  %e = linalg.exp ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.sqrt ins(%e : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %s, %e, %e, %r, %s, %x, %r
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
}

// A part of another tensor is copied, so that its elements lie together.
// BUFFERS-LABEL: func.func @part(
// BUFFERS: %[[VIEW:.*]] = memref.subview
// BUFFERS: %[[DENSE:.*]] = memref.alloc(%{{.*}}) : memref<?x2xf32>
// BUFFERS: memref.copy %[[VIEW]], %[[DENSE]]
// BUFFERS: numera.show_row 0 of %[[DENSE]],
func.func @part(%x: tensor<?x4xf32>, %n: index)
    -> (tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
    attributes {numera.layers = [
      {name = "p", operation = "slice", format = "f32", inputs = array<i32>}]} {
  %p = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1]
      : tensor<?x4xf32> to tensor<?x2xf32>
  return %x, %p, %p, %p
      : tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// Without rows, nothing changes.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: return %arg0 : tensor<4xf32>
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
