// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-split-deallocations | FileCheck %s

// Buffers that are allocated apart are freed apart.

// CHECK-LABEL: func @apart
//       CHECK: %[[A:.*]] = memref.alloc()
//       CHECK: %[[B:.*]] = memref.alloc()
//   CHECK-NOT: bufferization.dealloc
//       CHECK: memref.dealloc %[[A]]
//  CHECK-NEXT: memref.dealloc %[[B]]
//  CHECK-NEXT: return
func.func @apart() {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<4xf32>
  bufferization.dealloc (%a, %b : memref<8xf32>, memref<4xf32>) if (%true, %true)
  return
}

// An argument may be the buffer; so may what is kept.

// CHECK-LABEL: func @argument
//       CHECK: bufferization.dealloc
func.func @argument(%x: memref<8xf32>) {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  bufferization.dealloc (%a, %x : memref<8xf32>, memref<8xf32>) if (%true, %true)
  return
}

// CHECK-LABEL: func @kept
//       CHECK: bufferization.dealloc
func.func @kept(%x: memref<8xf32>) -> i1 {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  %owned = bufferization.dealloc (%a : memref<8xf32>) if (%true) retain (%x : memref<8xf32>)
  return %owned : i1
}

// Nor is one freed twice, or under a condition.

// CHECK-LABEL: func @twice
//       CHECK: bufferization.dealloc
func.func @twice() {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  bufferization.dealloc (%a, %a : memref<8xf32>, memref<8xf32>) if (%true, %true)
  return
}

// CHECK-LABEL: func @condition
//       CHECK: bufferization.dealloc
func.func @condition(%is: i1) {
  %a = memref.alloc() : memref<8xf32>
  bufferization.dealloc (%a : memref<8xf32>) if (%is)
  return
}
