// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-loops --canonicalize --split-input-file | FileCheck %s

// A buffer that is filled and gets a copy inside: each row is written once, what
// is copied as one vector.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<2x3x4xf32>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    scf.for %[[I:.*]] = %[[C0]] to %[[C2]] step %[[C1]] {
// CHECK-NEXT:      scf.for %[[J:.*]] = %[[C0]] to %[[C5]] step %[[C1]] {
// CHECK-NEXT:        %[[ROW:.*]] = arith.subi %[[J]], %[[C1]]
// CHECK-NEXT:        %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %[[C3]]
// CHECK-NEXT:        scf.if %[[INSIDE]] {
// CHECK:               scf.for %[[K:.*]] = %[[C0]] to %[[C2]]
// CHECK-NEXT:            memref.store %[[ONE]], %[[A]][%[[I]], %[[J]], %[[K]]]
// CHECK:               %[[E:.*]] = vector.load %[[X]][%[[I]], %{{.*}}, %[[C0]]] : memref<2x3x4xf32>, vector<4xf32>
// CHECK-NEXT:          vector.store %[[E]], %[[A]][%[[I]], %[[J]], %[[C2]]]
// CHECK:               scf.for %[[K:.*]] = %[[C6]] to %[[C8]]
// CHECK-NEXT:            memref.store %[[ONE]]
// CHECK:             } else {
// CHECK-NEXT:          scf.for %[[K:.*]] = %[[C0]] to %[[C8]]
// CHECK-NEXT:            memref.store %[[ONE]]
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @rows(%x: memref<2x3x4xf32>) -> memref<2x5x8xf32> {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<2x5x8xf32>
  linalg.map outs(%a : memref<2x5x8xf32>)
    (%init: f32) {
      linalg.yield %one : f32
    }
  %inside = memref.subview %a[0, 1, 2] [2, 3, 4] [1, 1, 1]
      : memref<2x5x8xf32> to memref<2x3x4xf32, strided<[40, 8, 1], offset: 10>>
  memref.copy %x, %inside
      : memref<2x3x4xf32> to memref<2x3x4xf32, strided<[40, 8, 1], offset: 10>>
  return %a : memref<2x5x8xf32>
}

// -----

// Something reads the buffer before, and a part has strides: as they stand.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @others(%x: memref<3xf32>, %y: memref<7xf32>) -> memref<7xf32> {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<7xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<7xf32>)
  memref.copy %a, %y : memref<7xf32> to memref<7xf32>
  %inside = memref.subview %a[2] [3] [1]
      : memref<7xf32> to memref<3xf32, strided<[1], offset: 2>>
  memref.copy %x, %inside
      : memref<3xf32> to memref<3xf32, strided<[1], offset: 2>>
  linalg.fill ins(%one : f32) outs(%a : memref<7xf32>)
  %every = memref.subview %a[1] [3] [2]
      : memref<7xf32> to memref<3xf32, strided<[2], offset: 1>>
  memref.copy %x, %every
      : memref<3xf32> to memref<3xf32, strided<[2], offset: 1>>
  return %a : memref<7xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What is copied has just been computed, and nothing else reads it: it is
// computed where it is written, short rows as vectors.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[BIAS:.*]]: memref<2xf32>)
// CHECK:         %[[SUMS:.*]] = memref.alloc() : memref<2x4xf32>
// CHECK:         %[[A:.*]] = memref.alloc() : memref<2x6xf32>
// CHECK-NEXT:    scf.for %[[I:.*]] =
// CHECK-NEXT:      memref.store
// CHECK:           %[[SUM:.*]] = vector.maskedload %[[SUMS]][%[[I]], %{{.*}}]
// CHECK:           %[[B:.*]] = memref.load %[[BIAS]][%[[I]]]
// CHECK:           %[[ALL:.*]] = vector.broadcast %[[B]]
// CHECK:           %[[E:.*]] = arith.addf %[[SUM]], %[[ALL]]
// CHECK:           vector.maskedstore %[[A]][%[[I]], %{{.*}}], %{{.*}}, %[[E]]
// CHECK-NOT:     memref.store {{.*}}, %[[SUMS]][
// CHECK:         return
func.func @computed(%bias: memref<2xf32>) -> memref<2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<2x4xf32>
  linalg.generic {indexing_maps = [#id, #row, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<2x4xf32>, memref<2xf32>)
      outs(%sums : memref<2x4xf32>) {
  ^bb0(%s: f32, %b: f32, %out: f32):
    %e = arith.addf %s, %b : f32
    linalg.yield %e : f32
  }
  %a = memref.alloc() : memref<2x6xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<2x6xf32>)
  %inside = memref.subview %a[0, 1] [2, 4] [1, 1]
      : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  memref.copy %sums, %inside
      : memref<2x4xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  return %a : memref<2x6xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// It is read again later, or through a view: it is written as well.
// CHECK-LABEL: func.func @read_again(
// CHECK:         %[[SUMS:.*]] = memref.alloc() : memref<2x4xf32>
// CHECK:         arith.addf
// CHECK:         vector.load %[[SUMS]]
// CHECK:         return {{.*}}, %[[SUMS]]
func.func @read_again() -> (memref<2x6xf32>, memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<2x4xf32>
  linalg.generic {indexing_maps = [#id, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<2x4xf32>) outs(%sums : memref<2x4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %e = arith.addf %s, %s : f32
    linalg.yield %e : f32
  }
  %a = memref.alloc() : memref<2x6xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<2x6xf32>)
  %inside = memref.subview %a[0, 1] [2, 4] [1, 1]
      : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  memref.copy %sums, %inside
      : memref<2x4xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  return %a, %sums : memref<2x6xf32>, memref<2x4xf32>
}
// CHECK-LABEL: func.func @viewed(
// CHECK:         %[[SUMS:.*]] = memref.alloc() : memref<2x4xf32>
// CHECK:         %[[LINE:.*]] = memref.collapse_shape %[[SUMS]]
// CHECK:         scf.for
// CHECK:           arith.addf
// CHECK:         vector.load %[[SUMS]]
// CHECK:         memref.copy %[[LINE]]
func.func @viewed(%line: memref<8xf32>) -> memref<2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<2x4xf32>
  %flat = memref.collapse_shape %sums [[0, 1]]
      : memref<2x4xf32> into memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<2x4xf32>) outs(%sums : memref<2x4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %e = arith.addf %s, %s : f32
    linalg.yield %e : f32
  }
  %a = memref.alloc() : memref<2x6xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<2x6xf32>)
  %inside = memref.subview %a[0, 1] [2, 4] [1, 1]
      : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  memref.copy %sums, %inside
      : memref<2x4xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  memref.copy %flat, %line : memref<8xf32> to memref<8xf32>
  return %a : memref<2x6xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// What it is computed from lies where it is copied to.
// CHECK-LABEL: func.func @from_its_own_buffer(
// CHECK:         arith.addf
// CHECK-NEXT:    memref.store {{.*}}, %[[SUMS:.*]][
// CHECK:         vector.load %[[SUMS]][
// CHECK:         return
func.func @from_its_own_buffer() -> memref<2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<2x6xf32>
  %sums = memref.alloc() : memref<2x4xf32>
  %read = memref.subview %a[0, 2] [2, 4] [1, 1]
      : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 2>>
  linalg.generic {indexing_maps = [#id, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%read : memref<2x4xf32, strided<[6, 1], offset: 2>>)
      outs(%sums : memref<2x4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %e = arith.addf %s, %s : f32
    linalg.yield %e : f32
  }
  linalg.fill ins(%zero : f32) outs(%a : memref<2x6xf32>)
  %inside = memref.subview %a[0, 1] [2, 4] [1, 1]
      : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  memref.copy %sums, %inside
      : memref<2x4xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
  return %a : memref<2x6xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// It is computed from what the loop carries, which is its own buffer in all
// iterations.
// CHECK-LABEL: func.func @carried(
// CHECK:         arith.addf
// CHECK-NEXT:    memref.store {{.*}}, %[[SUMS:.*]][
// CHECK:         vector.load %[[SUMS]][
// CHECK:         return
func.func @carried(%n: index) -> memref<2x6xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<2x6xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %a)
      -> memref<2x6xf32> {
    %sums = memref.alloc() : memref<2x4xf32>
    %read = memref.subview %carried[0, 2] [2, 4] [1, 1]
        : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 2>>
    linalg.generic {indexing_maps = [#id, #id],
                    iterator_types = ["parallel", "parallel"]}
        ins(%read : memref<2x4xf32, strided<[6, 1], offset: 2>>)
        outs(%sums : memref<2x4xf32>) {
    ^bb0(%s: f32, %out: f32):
      %e = arith.addf %s, %s : f32
      linalg.yield %e : f32
    }
    linalg.fill ins(%zero : f32) outs(%a : memref<2x6xf32>)
    %inside = memref.subview %a[0, 1] [2, 4] [1, 1]
        : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
    memref.copy %sums, %inside
        : memref<2x4xf32> to memref<2x4xf32, strided<[6, 1], offset: 1>>
    scf.yield %a : memref<2x6xf32>
  }
  return %last : memref<2x6xf32>
}

// -----

// A row that has no part of the source.
// CHECK-LABEL: func.func @empty(
// CHECK-NOT:     vector<0x
// CHECK:         return
func.func @empty(%x: memref<3x0xf32>) -> memref<3x2xf32> {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<3x2xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<3x2xf32>)
  %inside = memref.subview %a[0, 1] [3, 0] [1, 1]
      : memref<3x2xf32> to memref<3x0xf32, strided<[2, 1], offset: 1>>
  memref.copy %x, %inside
      : memref<3x0xf32> to memref<3x0xf32, strided<[2, 1], offset: 1>>
  return %a : memref<3x2xf32>
}

// -----

// The batch, whose size is dynamic, is inside throughout.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME:    %[[X:.*]]: memref<?x3x4xf32>, %[[N:.*]]: index)
// CHECK:         %[[A:.*]] = memref.alloc(%[[N]])
// CHECK-NEXT:    scf.for %[[I:.*]] = %{{.*}} to %[[N]] step
// CHECK-NEXT:      scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK:             scf.if
// CHECK:               vector.load %[[X]][%[[I]], %{{.*}}] : memref<?x3x4xf32>, vector<4xf32>
// CHECK:               vector.store %{{.*}}, %[[A]][%[[I]], %[[J]], %{{.*}}]
// CHECK:             } else {
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @batch(%x: memref<?x3x4xf32>, %n: index) -> memref<?x5x8xf32> {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?x5x8xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?x5x8xf32>)
  %inside = memref.subview %a[0, 1, 2] [%n, 3, 4] [1, 1, 1]
      : memref<?x5x8xf32> to memref<?x3x4xf32, strided<[40, 8, 1], offset: 10>>
  memref.copy %x, %inside
      : memref<?x3x4xf32> to memref<?x3x4xf32, strided<[40, 8, 1], offset: 10>>
  return %a : memref<?x5x8xf32>
}

// -----

// Of another size than the buffer: it may be a part of it.
// CHECK-LABEL: func.func @part_of_batch(
// CHECK:         memref.subview
// CHECK:         return
func.func @part_of_batch(%x: memref<?x3x4xf32>, %n: index, %m: index) -> memref<?x5x8xf32> {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%m) : memref<?x5x8xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?x5x8xf32>)
  %inside = memref.subview %a[0, 1, 2] [%n, 3, 4] [1, 1, 1]
      : memref<?x5x8xf32> to memref<?x3x4xf32, strided<[40, 8, 1], offset: 10>>
  memref.copy %x, %inside
      : memref<?x3x4xf32> to memref<?x3x4xf32, strided<[40, 8, 1], offset: 10>>
  return %a : memref<?x5x8xf32>
}
