// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-contract --canonicalize \
// RUN:     --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Rows come from the left factor, columns from the right one, along which the
// result is contiguous; loops are {extent, rows, columns, sums}.
// CHECK-LABEL: func.func @a_matrix_product_calls_the_kernel
// CHECK-NOT:     linalg.generic
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-LABEL: llvm.func @numera.contraction.0.row(
// CHECK:         %[[CODE:.*]] = llvm.load {{.*}} -> i16
// CHECK:         numera.cast %[[CODE]] {{.*}} : i16 to f32
// CHECK-LABEL: llvm.func @numera.contraction.0.column(
// CHECK-LABEL: llvm.func @numera.contraction.0.load(
// CHECK:         llvm.load {{.*}} -> f32
// CHECK-LABEL: llvm.func @numera.contraction.0.store(
// CHECK-LABEL: llvm.func @numera.contraction.0.prefetch(
// CHECK:         llvm.intr.prefetch
// CHECK-LABEL: llvm.func @numera.contraction.0.step(
// CHECK-SAME:      %[[SUM:.*]]: vector<16xf32>, %[[ROW:.*]]: vector<16xf32>, %[[COLUMN:.*]]: vector<16xf32>
// CHECK:         numera.mac %[[ROW]], %[[COLUMN]], %[[SUM]] {{.*}} : vector<16xf32>
// CHECK:       llvm.func @numera.contraction.0(
// CHECK-SAME:    attributes {numera.kernel = "f32"}
func.func @a_matrix_product_calls_the_kernel(
    %a: memref<8x16xi16>, %b: memref<16x32xi16>, %c: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
      outs(%c : memref<8x32xf32>) {
  ^bb0(%x: i16, %y: i16, %sum: f32):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<float<8, 23>>,
        operand_formats = [#numera.format<posit<16, 2>>,
                           #numera.format<posit<16, 2>>,
                           #numera.format<float<8, 23>>]}
        : (i16, i16, f32) -> f32
    linalg.yield %next : f32
  }
  return
}

// -----

#image = affine_map<(n, f, y, x, c, i, j) -> (n, c, y * 2 + i, x * 2 + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>

// The image's pixels are the columns, the filters the rows: counts of loops are
// 0, 1, 3 and 3. Every product and sum is rounded, in a carrier: the step is the
// runtime's, and has a short form.
// CHECK-LABEL: func.func @a_convolution_is_one_with_other_strides
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i32
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-SAME:      %[[C0]], %[[C1]], %[[C3]], %[[C3]], %[[C0]])
// CHECK-LABEL: llvm.func @numera.contraction.0.store(
// CHECK:         %[[CODE:.*]] = numera.cast {{.*}} : f32 to i16
// CHECK:         llvm.store %[[CODE]]
// CHECK-LABEL: llvm.func @numera.contraction.0.step(
// CHECK:         call @_ZGV_LLVM_N16vvvuu_numera_posit_step_f32_32(
// CHECK-LABEL: llvm.func @numera.contraction.0.short(
// CHECK:         call @_ZGV_LLVM_N16vvvvuuu_numera_posit_step_short_f32_32(
// CHECK:       attributes {numera.kernel = "f32_short"}
func.func @a_convolution_is_one_with_other_strides(
    %image: memref<2x3x21x21xi16>, %filter: memref<8x3x3x3xi16>,
    %result: memref<2x8x10x10xi16>) {
  linalg.generic {indexing_maps = [#image, #filter, #result],
                  iterator_types = ["parallel", "parallel", "parallel",
                      "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %filter : memref<2x3x21x21xi16>, memref<8x3x3x3xi16>)
      outs(%result : memref<2x8x10x10xi16>) {
  ^bb0(%x: i16, %y: i16, %sum: i16):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<posit<16, 2>>,
        product = #numera.format<posit<16, 2>>} : i16
    linalg.yield %next : i16
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// In binary16 too, for CPUs that compute in it: the same in 32 lanes. A format
// of more than four bits has no such hooks.
// CHECK-LABEL: func.func @small_floats_have_steps_in_binary16
// CHECK-LABEL: llvm.func @numera.contraction.0.short(
// CHECK-SAME:      vector<16xf32>
// CHECK-LABEL: llvm.func @numera.contraction.0.half.first(
// CHECK-SAME:      f32) -> f16
// CHECK:         call @numera_float_half_first_f32_32(
// CHECK-LABEL: llvm.func @numera.contraction.0.half.result(
// CHECK-SAME:      f16) -> f32
// CHECK-LABEL: llvm.func @numera.contraction.0.half.short(
// CHECK-SAME:      vector<32xf16>
// CHECK:         call @_ZGV_LLVM_N32vvvv{{u+}}_numera_float_half_short_f32_32(
// CHECK:       attributes {numera.kernel = "f32_short"}
func.func @small_floats_have_steps_in_binary16(
    %a: memref<8x16xi8>, %b: memref<16x32xi8>, %c: memref<8x32xi8>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi8>, memref<16x32xi8>)
      outs(%c : memref<8x32xi8>) {
  ^bb0(%x: i8, %y: i8, %sum: i8):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<float<5, 2>>,
        product = #numera.format<float<5, 2>>} : i8
    linalg.yield %next : i8
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Which of two short steps is the faster, the CPU says.
// CHECK-LABEL: func.func @sums_are_fused_or_split
// CHECK-NOT:   .half.
// CHECK:       llvm.func @numera_fuses_additions() -> i1
// CHECK-LABEL: llvm.func @numera.contraction.0.short(
// CHECK:         %[[FUSES:.*]] = llvm.call @numera_fuses_additions()
// CHECK:         %[[FUSED:.*]] = {{.*}}call @_ZGV_LLVM_N16vvvv{{u+}}_numera_float_step_short_f32_32(
// CHECK:         %[[SPLIT:.*]] = {{.*}}call @_ZGV_LLVM_N16vvvv{{u+}}_numera_float_step_short_f32_32(
// CHECK:         llvm.select %[[FUSES]], %[[FUSED]], %[[SPLIT]]
func.func @sums_are_fused_or_split(
    %a: memref<8x16xi16>, %b: memref<16x32xi16>, %c: memref<8x32xi16>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
      outs(%c : memref<8x32xi16>) {
  ^bb0(%x: i16, %y: i16, %sum: i16):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<float<8, 7>>,
        product = #numera.format<float<8, 7>>} : i16
    linalg.yield %next : i16
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Every sum starts with the element at `initial`: its memory is not filled.
// What is known of it, as of the loops, is a constant of the program.
// CHECK-DAG:   llvm.mlir.global internal constant @[[ONE:.*]](1.000000e+00 : f32)
// CHECK-DAG:   llvm.mlir.global internal constant @[[LOOPS:.*]](dense<[8, 16, 0, 32, 32, 0, 1, 1, 16, 1, 32, 0]>
// CHECK-LABEL: func.func @sums_need_no_fill
// CHECK-DAG:     %[[INITIAL:.*]] = llvm.mlir.addressof @[[ONE]] :
// CHECK-DAG:     llvm.mlir.addressof @[[LOOPS]] :
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     llvm.store
// CHECK:         llvm.call @numera.contraction.0({{[^,]*}}, {{[^,]*}}, {{[^,]*}}, %[[INITIAL]],
func.func @sums_need_no_fill(%a: memref<8x16xf32>, %b: memref<16x32xf32>)
    -> memref<8x32xf32> {
  %one = arith.constant 1.0 : f32
  %c = memref.alloc() : memref<8x32xf32>
  linalg.fill ins(%one : f32) outs(%c : memref<8x32xf32>)
  memref.copy %a, %a : memref<8x16xf32> to memref<8x16xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%c : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return %c : memref<8x32xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// What was filled is written, read, or perhaps another's memory: the sums are
// what is there.
// CHECK-LABEL: func.func @a_fill_that_something_comes_after_stays
// CHECK:         %[[NONE:.*]] = llvm.mlir.zero
// CHECK-COUNT-3: linalg.fill
// CHECK-COUNT-3: llvm.call @numera.contraction.0({{[^,]*}}, {{[^,]*}}, {{[^,]*}}, %[[NONE]],
func.func @a_fill_that_something_comes_after_stays(
    %a: memref<8x16xf32>, %b: memref<16x32xf32>, %part: memref<4x32xf32>,
    %argument: memref<8x32xf32>) -> (memref<8x32xf32>, memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<8x32xf32>
  %d = memref.alloc() : memref<8x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<8x32xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<8x32xf32>)
  linalg.fill ins(%zero : f32) outs(%argument : memref<8x32xf32>)
  %view = memref.subview %c[0, 0] [4, 32] [1, 1]
      : memref<8x32xf32> to memref<4x32xf32, strided<[32, 1]>>
  memref.copy %part, %view
      : memref<4x32xf32> to memref<4x32xf32, strided<[32, 1]>>
  %row = memref.subview %d[0, 0] [4, 32] [1, 1]
      : memref<8x32xf32> to memref<4x32xf32, strided<[32, 1]>>
  memref.copy %row, %part
      : memref<4x32xf32, strided<[32, 1]>> to memref<4x32xf32>
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%c : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%d : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%argument : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return %c, %d : memref<8x32xf32>, memref<8x32xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Without a carrier, steps are taken on codes, one rounding each.
// CHECK-LABEL: func.func @a_step_may_stay_on_codes
// CHECK-LABEL: llvm.func @numera.contraction.0.step(
// CHECK:         numera.mac {{.*}} : vector<16xi16>
// CHECK:       attributes {numera.kernel = "i16"}
func.func @a_step_may_stay_on_codes(
    %a: memref<8x16xi16>, %b: memref<16x32xi16>, %c: memref<8x32xi16>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
      outs(%c : memref<8x32xi16>) {
  ^bb0(%x: i16, %y: i16, %sum: i16):
    %next = numera.mac %x, %y, %sum {
        format = #numera.format<takum<16>>} : i16
    linalg.yield %next : i16
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @kernels_are_shared_by_shapes
// CHECK:         llvm.call @numera.contraction.0(
// CHECK:         llvm.call @numera.contraction.0(
// CHECK-NOT:   @numera.contraction.1
func.func @kernels_are_shared_by_shapes(
    %a: memref<8x16xf32>, %b: memref<16x32xf32>, %c: memref<8x32xf32>,
    %d: memref<?x32xf32>, %e: memref<?x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xf32>, memref<16x32xf32>)
      outs(%c : memref<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c, %d : memref<8x32xf32>, memref<?x32xf32>)
      outs(%c : memref<8x32xf32>) {
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

// One row: the matrix is read once, which packing would only delay.
// CHECK-LABEL: func.func @a_product_with_a_vector_stays
// CHECK:         linalg.generic
func.func @a_product_with_a_vector_stays(
    %a: memref<1x16xf32>, %b: memref<16x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1x16xf32>, memref<16x32xf32>)
      outs(%c : memref<1x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

#image = affine_map<(c, x, j) -> (c, x + j)>
#filter = affine_map<(c, x, j) -> (c, j)>
#result = affine_map<(c, x, j) -> (c, x)>

// CHECK-LABEL: func.func @a_depthwise_convolution_stays
// CHECK:         linalg.generic
func.func @a_depthwise_convolution_stays(
    %image: memref<4x18xf32>, %filter: memref<4x3xf32>,
    %result: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<4x18xf32>, memref<4x3xf32>)
      outs(%result : memref<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}
