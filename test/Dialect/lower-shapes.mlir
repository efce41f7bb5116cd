// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-lower-shapes | FileCheck %s
// Upstream's pass takes what is left.
// RUN: numera-opt %s --numera-lower-shapes --expand-strided-metadata -o /dev/null

// CHECK-LABEL: @of_any_offset
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK-DAG: %[[INNER:.*]] = arith.muli %{{.*}}, %[[STRIDES]]#0
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]], sizes: [%{{.*}}, %{{.*}}, 8], strides: [%[[INNER]], %[[STRIDES]]#0, %[[STRIDES]]#1]
func.func @of_any_offset(%x: memref<?x8xf32, strided<[?, ?], offset: ?>>, %b: index, %s: index)
    -> memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8]
    : memref<?x8xf32, strided<[?, ?], offset: ?>> into memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>>
  return %0 : memref<?x?x8xf32, strided<[?, ?, ?], offset: ?>>
}

// One size that is not known is upstream's.
// CHECK-LABEL: @one_size
// CHECK: memref.expand_shape
func.func @one_size(%x: memref<?xf32>, %b: index) -> memref<?x8xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [%b, 8] : memref<?xf32> into memref<?x8xf32>
  return %0 : memref<?x8xf32>
}

// CHECK-LABEL: @reshaped
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[SHAPE:.*]]: memref<3xindex>
// CHECK: %[[FIRST:.*]] = memref.load %[[SHAPE]]
// CHECK: %[[LAST:.*]] = memref.load %[[SHAPE]]
// CHECK: %[[INNER:.*]] = arith.muli %[[LAST]], %{{.*}}
// CHECK: %[[OUTER:.*]] = arith.muli %{{.*}}, %[[INNER]]
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[FIRST]], 4, %[[LAST]]], strides: [%[[OUTER]], %[[INNER]], 1]
func.func @reshaped(%x: memref<?xf32>, %shape: memref<3xindex>) -> memref<?x4x?xf32> {
  %0 = memref.reshape %x(%shape) : (memref<?xf32>, memref<3xindex>) -> memref<?x4x?xf32>
  return %0 : memref<?x4x?xf32>
}

// Of a buffer with more elements than 64 bits count bytes of, more is asked for
// than there is; one of no elements is as it was.
// CHECK-LABEL: @buffer
// CHECK-SAME: %[[M:.*]]: index, %[[N:.*]]: index
// CHECK: arith.mului_extended
// CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended
// CHECK: arith.cmpi ne, %[[HIGH]]
// CHECK: arith.cmpi ugt, %[[LOW]]
// CHECK: %[[MUCH:.*]] = arith.ori
// CHECK: %[[ASKED:.*]] = arith.select %[[MUCH]], %{{.*}}, %[[M]] : index
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %[[M]], %[[ASKED]]
// CHECK: %[[ONE:.*]] = arith.select %[[MUCH]], %{{.*}}, %[[N]] : index
// CHECK: %[[COLUMNS:.*]] = arith.select %{{.*}}, %[[N]], %[[ONE]]
// CHECK: memref.alloc(%[[ROWS]], %[[COLUMNS]]) : memref<?x4x?xf32>
func.func @buffer(%m: index, %n: index) -> memref<?x4x?xf32> {
  %0 = memref.alloc(%m, %n) : memref<?x4x?xf32>
  return %0 : memref<?x4x?xf32>
}
