// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-contract --canonicalize \
// RUN:     --split-input-file | FileCheck %s

// Factors that are stored as they are computed with: their kernel reads them
// from where they lie.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// The constant has the columns, in two panels of 32: their loop becomes
// {2, 0, 64, 32} and {32, 0, 1, 1}, and a step goes on by 32. In the first panel
// are the steps 0 of 32 columns, 0, 2, 4…
// CHECK:       llvm.mlir.global internal constant @[[LOOPS:.*]](dense<[40, 2, 0, 64, 2, 0, 64, 32, 32, 0, 1, 1, 2, 1, 32, 0]>
// CHECK:       memref.global "private" constant @weights_panels : memref<2x2x32xf32> = dense<"0x000000000000004000008040{{.*}}"> {alignment = 64 : i64}
// CHECK-NOT:   @weights :
// CHECK-LABEL: func.func @a_constant_is_laid_out_in_panels
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     llvm.mlir.addressof @[[LOOPS]] :
// CHECK-DAG:     memref.get_global @weights_panels
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-SAME:      %[[C0]], %[[C1]], %[[C2]], %[[C1]], %[[C0]])
// CHECK-NOT:   llvm.func @numera.contraction.0.row
// CHECK-NOT:   llvm.func @numera.contraction.0.column
// CHECK:       attributes {numera.kernel = "f32_direct"}
memref.global "private" constant @weights : memref<64x2xf32> = dense<[
    [0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0],
    [8.0, 9.0], [10.0, 11.0], [12.0, 13.0], [14.0, 15.0],
    [16.0, 17.0], [18.0, 19.0], [20.0, 21.0], [22.0, 23.0],
    [24.0, 25.0], [26.0, 27.0], [28.0, 29.0], [30.0, 31.0],
    [32.0, 33.0], [34.0, 35.0], [36.0, 37.0], [38.0, 39.0],
    [40.0, 41.0], [42.0, 43.0], [44.0, 45.0], [46.0, 47.0],
    [48.0, 49.0], [50.0, 51.0], [52.0, 53.0], [54.0, 55.0],
    [56.0, 57.0], [58.0, 59.0], [60.0, 61.0], [62.0, 63.0],
    [64.0, 65.0], [66.0, 67.0], [68.0, 69.0], [70.0, 71.0],
    [72.0, 73.0], [74.0, 75.0], [76.0, 77.0], [78.0, 79.0],
    [80.0, 81.0], [82.0, 83.0], [84.0, 85.0], [86.0, 87.0],
    [88.0, 89.0], [90.0, 91.0], [92.0, 93.0], [94.0, 95.0],
    [96.0, 97.0], [98.0, 99.0], [100.0, 101.0], [102.0, 103.0],
    [104.0, 105.0], [106.0, 107.0], [108.0, 109.0], [110.0, 111.0],
    [112.0, 113.0], [114.0, 115.0], [116.0, 117.0], [118.0, 119.0],
    [120.0, 121.0], [122.0, 123.0], [124.0, 125.0], [126.0, 127.0]]>
func.func @a_constant_is_laid_out_in_panels(
    %a: memref<40x2xf32>, %c: memref<40x64xf32>) {
  %b = memref.get_global @weights : memref<64x2xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x2xf32>, memref<64x2xf32>)
      outs(%c : memref<40x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Elements that are not known cannot be laid out.
// CHECK:       memref.global "private" constant @weights :
// CHECK-NOT:   memref.global
// CHECK-LABEL: func.func @other_constants_stay
// CHECK:         llvm.call @numera.contraction.0(
memref.global "private" constant @weights : memref<2x20xf32> = uninitialized
func.func @other_constants_stay(%a: memref<40x2xf32>, %c: memref<40x20xf32>) {
  %b = memref.get_global @weights : memref<2x20xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x2xf32>, memref<2x20xf32>)
      outs(%c : memref<40x20xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Two products read one constant: it is laid out once.
// CHECK:       memref.global "private" constant @weights_panels :
// CHECK-NOT:   memref.global
// CHECK-LABEL: func.func @a_constant_of_two_products
// CHECK-COUNT-2: llvm.call @numera.contraction.0(
memref.global "private" constant @weights : memref<1x16xf32> = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]]>
func.func @a_constant_of_two_products(
    %a: memref<40x1xf32>, %c: memref<40x16xf32>, %d: memref<40x16xf32>) {
  %b = memref.get_global @weights : memref<1x16xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x1xf32>, memref<1x16xf32>)
      outs(%c : memref<40x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x1xf32>, memref<1x16xf32>)
      outs(%d : memref<40x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Of 5 columns a panel of 16 is made, of which 11 are missing: zeros lie there.
// CHECK:       memref.global "private" constant @weights_panels : memref<1x2x16xf32> =
// CHECK-SAME:    dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 0.000000e+00, {{.*}}], [6.000000e+00, 7.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 0.000000e+00, {{.*}}
// CHECK-LABEL: func.func @some_columns_are_missing
// CHECK:         %[[C11:.*]] = arith.constant 11 : i32
// CHECK:         llvm.call @numera.contraction.0({{.*}}, %[[C11]])
memref.global "private" constant @weights : memref<2x5xf32> = dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]]>
func.func @some_columns_are_missing(%a: memref<40x2xf32>, %c: memref<40x5xf32>) {
  %b = memref.get_global @weights : memref<2x5xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x2xf32>, memref<2x5xf32>)
      outs(%c : memref<40x5xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// What overwrites the sums is a function that the kernel calls for each tile: of
// the bias of its columns and of what lies as the sums do. Lanes without a column
// read nothing.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#same = affine_map<(m, n) -> (m, n)>
#bias = affine_map<(m, n) -> (n)>
// CHECK-LABEL: func.func @finished
// CHECK:         %[[FUNCTION:.*]] = llvm.mlir.addressof @finished.finish
// CHECK:         %[[ARRAY:.*]] = llvm.alloca {{.*}} x !llvm.ptr
// CHECK:         llvm.store %[[FUNCTION]], %[[ARRAY]]
// CHECK:         llvm.call @numera.contraction.0({{.*}}, {{.*}}, {{.*}}, {{.*}}, %[[ARRAY]],
// CHECK-NOT:     linalg.generic
// CHECK:       func.func private @finished.finish.body(%[[INPUTS:.*]]: !llvm.ptr, %[[TILE:.*]]: !llvm.ptr,
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:             llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:             llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:             numera.add %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:             numera.mul %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:             numera.max %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:             llvm.store
// CHECK:           scf.if
// CHECK-COUNT-2:     llvm.intr.masked.load
// CHECK:       llvm.func internal @finished.finish(
func.func @finished(%a: memref<40x7xf32>, %b: memref<7x64xf32>, %bias: memref<64xf32>,
    %other: memref<40x64xf32>) -> memref<40x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<40x64xf32>
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<40x7xf32>, memref<7x64xf32>) outs(%c : memref<40x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = numera.mac %x, %y, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #bias, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias, %other : memref<40x64xf32>, memref<64xf32>, memref<40x64xf32>) outs(%c : memref<40x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %out: f32):
    %0 = numera.add %x, %y : f32
    %1 = numera.mul %0, %z : f32
    %2 = numera.max %1, %zero : f32
    linalg.yield %2 : f32
  }
  return %c : memref<40x64xf32>
}

// -----

// Sums that are only copied into a padded buffer are written there, beside its
// border.
#a = affine_map<(y, x, n, k) -> (y, x, k)>
#b = affine_map<(y, x, n, k) -> (k, n)>
#c = affine_map<(y, x, n, k) -> (y, x, n)>
#same = affine_map<(y, x, n) -> (y, x, n)>
#bias = affine_map<(y, x, n) -> (n)>
// CHECK-LABEL: func.func @padded
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<6x9x32xf32>
// CHECK-NOT:     memref.alloc
// CHECK-DAG:     %[[TOP:.*]] = memref.subview %[[ALL]][0, 0, 0] [1, 9, 32]
// CHECK-DAG:     %[[LEFT:.*]] = memref.subview %[[ALL]][1, 0, 0] [5, 1, 32]
// CHECK-DAG:     %[[RIGHT:.*]] = memref.subview %[[ALL]][1, 8, 0] [5, 1, 32]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[TOP]]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[LEFT]]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[RIGHT]]
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-NOT:     memref.copy
// CHECK:         return %[[ALL]]
func.func @padded(%a: memref<5x7x4xf32>, %b: memref<4x32xf32>, %bias: memref<32xf32>) -> memref<6x9x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<5x7x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<5x7x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<5x7x4xf32>, memref<4x32xf32>) outs(%c : memref<5x7x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = numera.mac %x, %y, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #bias, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %bias : memref<5x7x32xf32>, memref<32xf32>) outs(%c : memref<5x7x32xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = numera.add %x, %y : f32
    linalg.yield %0 : f32
  }
  %all = memref.alloc() : memref<6x9x32xf32>
  linalg.fill ins(%zero : f32) outs(%all : memref<6x9x32xf32>)
  %inside = memref.subview %all[1, 1, 0] [5, 7, 32] [1, 1, 1] : memref<6x9x32xf32> to memref<5x7x32xf32, strided<[288, 32, 1], offset: 320>>
  memref.copy %c, %inside : memref<5x7x32xf32> to memref<5x7x32xf32, strided<[288, 32, 1], offset: 320>>
  memref.dealloc %c : memref<5x7x32xf32>
  return %all : memref<6x9x32xf32>
}

// -----

// The same of a batch of a dynamic size.
#a = affine_map<(i, y, x, n, k) -> (i, y, x, k)>
#b = affine_map<(i, y, x, n, k) -> (k, n)>
#c = affine_map<(i, y, x, n, k) -> (i, y, x, n)>
#same = affine_map<(i, y, x, n) -> (i, y, x, n)>
#bias = affine_map<(i, y, x, n) -> (n)>
// CHECK-LABEL: func.func @padded_batch
// CHECK-SAME:    %[[N:[a-z0-9]*]]: index)
// CHECK:         %[[ALL:.*]] = memref.alloc(%[[N]]) : memref<?x6x9x32xf32>
// CHECK-NOT:     memref.alloc
// CHECK-DAG:     %[[TOP:.*]] = memref.subview %[[ALL]][0, 0, 0, 0] [%[[N]], 1, 9, 32]
// CHECK-DAG:     %[[LEFT:.*]] = memref.subview %[[ALL]][0, 1, 0, 0] [%[[N]], 5, 1, 32]
// CHECK-DAG:     %[[RIGHT:.*]] = memref.subview %[[ALL]][0, 1, 8, 0] [%[[N]], 5, 1, 32]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[TOP]]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[LEFT]]
// CHECK-DAG:     linalg.fill ins(%{{.*}}) outs(%[[RIGHT]]
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-NOT:     memref.copy
// CHECK:         return %[[ALL]]
func.func @padded_batch(%a: memref<?x5x7x4xf32>, %b: memref<4x32xf32>, %bias: memref<32xf32>, %n: index) -> memref<?x6x9x32xf32> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc(%n) : memref<?x5x7x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<?x5x7x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x5x7x4xf32>, memref<4x32xf32>) outs(%c : memref<?x5x7x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = numera.mac %x, %y, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #bias, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %bias : memref<?x5x7x32xf32>, memref<32xf32>) outs(%c : memref<?x5x7x32xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %0 = numera.add %x, %y : f32
    linalg.yield %0 : f32
  }
  %all = memref.alloc(%n) : memref<?x6x9x32xf32>
  linalg.fill ins(%zero : f32) outs(%all : memref<?x6x9x32xf32>)
  %inside = memref.subview %all[0, 1, 1, 0] [%n, 5, 7, 32] [1, 1, 1, 1] : memref<?x6x9x32xf32> to memref<?x5x7x32xf32, strided<[1728, 288, 32, 1], offset: 320>>
  memref.copy %c, %inside : memref<?x5x7x32xf32> to memref<?x5x7x32xf32, strided<[1728, 288, 32, 1], offset: 320>>
  memref.dealloc %c : memref<?x5x7x32xf32>
  return %all : memref<?x6x9x32xf32>
}
