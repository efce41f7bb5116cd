// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-tile-contractions --canonicalize \
// RUN:     --split-input-file | FileCheck %s
// RUN: numera-opt %s --numera-tile-contractions=gpu=sm_90a \
// RUN:     --split-input-file | FileCheck %s --check-prefix=SM90A
// RUN: numera-opt %s --numera-tile-contractions=gpu=sm_100a \
// RUN:     --split-input-file | FileCheck %s --check-prefix=SM100A

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// One block for a tile of 64x64 sums; the value of the fill is an argument of
// the kernel. Elements of 2 bytes run along the steps for rows, along the columns
// for columns, where 4 of them can be fetched at once: 2 + 32 + 64, 2 + 64.
// CHECK-LABEL: func.func @a_matrix_product_is_launched_in_tiles
// CHECK-NOT:     linalg
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         gpu.launch_func @kernels::@contraction_0
// CHECK-SAME:      blocks in (%[[BLOCKS]], {{.*}}) threads in (%[[THREADS]],
// CHECK-SAME:      %[[ZERO]] : f32
// CHECK:       gpu.module @kernels
// CHECK:         gpu.func @contraction_0(
// CHECK-SAME:      kernel attributes {known_block_size = array<i32: 256, 1, 1>, nvvm.minctasm = 2 : i32}
// CHECK:           llvm.call @numera.contraction.0(
// CHECK:         llvm.func @numera.contraction.0.row_layout()
// CHECK-NEXT:      llvm.mlir.constant(98 : i32)
// CHECK:         llvm.func @numera.contraction.0.column_layout()
// CHECK-NEXT:      llvm.mlir.constant(66 : i32)
// CHECK:         llvm.func @numera.contraction.0.fetch_row(
// CHECK:           llvm.load {{.*}} -> i16
// CHECK:           llvm.zext {{.*}} : i16 to i64
// CHECK:         llvm.func @numera.contraction.0.row(
// CHECK:           numera.cast {{.*}} : i16 to f32
// CHECK:         llvm.func @numera.contraction.0.load(
// CHECK:         llvm.func @numera.contraction.0.store(
// CHECK:         llvm.func @numera.contraction.0.step(
// CHECK:           numera.mac {{.*}} : f32
// CHECK:         llvm.func @numera.contraction.0(
// CHECK-SAME:      numera.kernel = "f32", numera.tile = "64x64"
func.func @a_matrix_product_is_launched_in_tiles(
    %a: memref<100x16xi16>, %b: memref<16x132xi16>) -> memref<100x132xf32> {
  %c = memref.alloc() : memref<100x132xf32>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<100x132xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<100x16xi16>, memref<16x132xi16>)
      outs(%c : memref<100x132xf32>) {
  ^bb0(%x: i16, %y: i16, %sum: f32):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<float<8, 23>>,
        operand_formats = [#numera.format<posit<16, 2>>,
                           #numera.format<posit<16, 2>>,
                           #numera.format<float<8, 23>>]}
        : (i16, i16, f32) -> f32
    linalg.yield %next : f32
  }
  return %c : memref<100x132xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A value is the bits of an element (16). 17 steps and 2049 columns are no multiple
// of what is fetched at once. What is not filled is read.
// CHECK-LABEL: func.func @floats_are_copied_as_they_are
// CHECK:         gpu.launch_func @kernels::@contraction_0
// CHECK-NOT:       : f32
// CHECK:         llvm.func @numera.contraction.0.row_layout()
// CHECK-NEXT:      llvm.mlir.constant(52 : i32)
// CHECK:         llvm.func @numera.contraction.0.column_layout()
// CHECK-NEXT:      llvm.mlir.constant(20 : i32)
// CHECK:         numera.tile = "128x128"
func.func @floats_are_copied_as_they_are(
    %a: memref<8000x17xf32>, %b: memref<17x2049xf32>, %c: memref<8000x2049xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8000x17xf32>, memref<17x2049xf32>)
      outs(%c : memref<8000x2049xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum {format = #numera.format<float<8, 23>>} : f32
    linalg.yield %next : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Factors of matrix instructions stay codes, cast to f16 for a GPU that
// multiplies none of f8E4M3FN; 16 bytes of them are fetched at once along the
// steps, 4 elements along columns: 1 + 32 + 64, 1 + 64.
// CHECK-LABEL: func.func @tensor_cores_take_codes
// CHECK:         llvm.func @numera.contraction.0.row_layout()
// CHECK-NEXT:      llvm.mlir.constant(97 : i32)
// CHECK:         llvm.func @numera.contraction.0.column_layout()
// CHECK-NEXT:      llvm.mlir.constant(65 : i32)
// CHECK:         llvm.func @numera.contraction.0.row(
// CHECK:           numera.cast {{.*}} : i8 to i16
// CHECK-NOT:     numera.contraction.0.step
// CHECK:         llvm.func @numera.contraction.0(
// CHECK-SAME:      numera.kernel = "tensor16", numera.tile = "64x64_f16"
// SM90A: numera.kernel = "warpgroup8", numera.tile = "64x64_e4m3_e4m3"
// SM100A: numera.kernel = "tensor8", numera.tile = "64x64_e4m3_e4m3"
func.func @tensor_cores_take_codes(
    %a: memref<100x16xi8>, %b: memref<16x132xi8>, %c: memref<100x132xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<100x16xi8>, memref<16x132xi8>)
      outs(%c : memref<100x132xf32>) {
  ^bb0(%x: i8, %y: i8, %z: f32):
    %0 = numera.mac %x, %y, %z {format = #numera.format<float<8, 23>>,
        operand_formats = [#numera.format<float<4, 3, fn>>,
                           #numera.format<float<4, 3, fn>>,
                           #numera.format<float<8, 23>>],
        tensorcore} : (i8, i8, f32) -> f32
    linalg.yield %0 : f32
  }
  return
}
