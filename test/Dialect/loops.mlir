// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --pass-pipeline='builtin.module(func.func(numera-loops,canonicalize))' | FileCheck %s --implicit-check-not='linalg.'
// RUN: numera-opt %s --pass-pipeline='builtin.module(func.func(numera-loops,canonicalize))' | FileCheck %s --check-prefix=MARK

// The result is contiguous along j: it goes inside, and k ascends outside it.
// CHECK-LABEL: @the_loop_along_the_result_is_inside
// CHECK-SAME: (%[[A:.*]]: memref<2x3xf32>, %[[B:.*]]: memref<3x16xf32>, %[[C:.*]]: memref<2x16xf32>)
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK-NEXT: scf.for %[[K:.*]] = {{.*}} {
// CHECK-NEXT: scf.for %[[J:.*]] = {{.*}} {
// CHECK-DAG: %[[X:.*]] = memref.load %[[A]][%[[I]], %[[K]]]
// CHECK-DAG: %[[Y:.*]] = memref.load %[[B]][%[[K]], %[[J]]]
// CHECK-DAG: %[[Z:.*]] = memref.load %[[C]][%[[I]], %[[J]]]
// CHECK: %[[R:.*]] = numera.mac %[[X]], %[[Y]], %[[Z]] : f32
// CHECK: memref.store %[[R]], %[[C]][%[[I]], %[[J]]]
func.func @the_loop_along_the_result_is_inside(
    %a: memref<2x3xf32>, %b: memref<3x16xf32>, %c: memref<2x16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                       affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x3xf32>, memref<3x16xf32>)
      outs(%c : memref<2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = numera.mac %x, %y, %z : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @the_order_of_the_reduction_is_kept
// CHECK: %[[X:.*]] = memref.collapse_shape %{{.*}} {{.}}[0], [1, 2]]
// CHECK: scf.for %[[CR:.*]] = {{.*}} to %c20 {{.*}} {
// CHECK-NEXT: scf.for %[[I:.*]] = {{.*}} {
// CHECK: memref.load %[[X]][%[[I]], %[[CR]]]
func.func @the_order_of_the_reduction_is_kept(
    %x: memref<16x4x5xf32>, %sum: memref<16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, c, r) -> (i, c, r)>,
                       affine_map<(i, c, r) -> (i)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : memref<16x4x5xf32>) outs(%sum : memref<16xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = numera.add %acc, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// The sum stays in a register.
// CHECK-LABEL: @a_sum_to_a_scalar_is_one_loop
// CHECK: %[[BEFORE:.*]] = memref.load %{{.*}}[] : memref<f32>
// CHECK: %[[SUM:.*]] = scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%{{.*}} = %[[BEFORE]])
// CHECK: memref.load %{{.*}}[%[[I]]]
// CHECK: memref.store %[[SUM]], %{{.*}}[] : memref<f32>
func.func @a_sum_to_a_scalar_is_one_loop(%x: memref<?xf32>, %sum: memref<f32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%sum : memref<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = numera.add %acc, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @loops_that_are_contiguous_become_one
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0, 1, 2, 3]] : memref<64x3x7x7xf32> into memref<9408xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c9408
// CHECK-NEXT: memref.load %{{.*}}[%[[I]]] : memref<9408xf32>
func.func @loops_that_are_contiguous_become_one(
    %x: memref<64x3x7x7xf32>, %y: memref<64x3x7x7xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
                       affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<64x3x7x7xf32>) outs(%y : memref<64x3x7x7xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = numera.neg %a : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @a_bias_parts_them
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c64
// CHECK-NEXT: scf.for %[[C:.*]] = %{{.*}} to %c3
// CHECK-NEXT: scf.for %[[I:.*]] = %{{.*}} to %c49
// CHECK-NEXT: memref.load %{{.*}}[%[[N]], %[[C]], %[[I]]] : memref<64x3x49xf32>
// CHECK-NEXT: memref.load %{{.*}}[%[[C]]] : memref<3xf32>
func.func @a_bias_parts_them(
    %x: memref<64x3x7x7xf32>, %bias: memref<3xf32>, %y: memref<64x3x7x7xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
                       affine_map<(a, b, c, d) -> (b)>,
                       affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %bias : memref<64x3x7x7xf32>, memref<3xf32>)
      outs(%y : memref<64x3x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = numera.add %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @one_permutation_for_all_is_none
// CHECK: %[[SIZE:.*]] = memref.dim %{{.*}} : memref<?xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SIZE]]
// CHECK-NEXT: memref.load %{{.*}} : memref<?xf32>
func.func @one_permutation_for_all_is_none(%x: memref<?x?xf32>,
                                           %y: memref<?x?xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>,
                       affine_map<(i, j) -> (j, i)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = numera.neg %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Gaps, a transposition, a step that asks for its place:
// CHECK-LABEL: @other_loops_stay
// CHECK-NOT: memref.collapse_shape
func.func @other_loops_stay(%x: memref<4x16xf32>, %y: memref<16x4xf32>,
                            %z: memref<4x16xf32, strided<[32, 1]>>,
                            %i: memref<4x16xindex>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (j, i)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x16xf32>) outs(%y : memref<16x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x16xf32>)
      outs(%z : memref<4x16xf32, strided<[32, 1]>>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      outs(%i : memref<4x16xindex>) {
  ^bb0(%b: index):
    %row = linalg.index 0 : index
    linalg.yield %row : index
  }
  return
}

// CHECK-LABEL: @a_copy_into_a_part_of_a_buffer_is_a_loop
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.store
// CHECK-NOT: memref.copy
func.func @a_copy_into_a_part_of_a_buffer_is_a_loop(
    %x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32, strided<[2]>>
  return
}

// As scalar code, the rest of a short loop on codes would take longer than its
// vectors.
// CHECK-LABEL: @a_short_loop_on_codes_is_vectorised_with_masks
// CHECK: memref.store
// CHECK-NEXT: } {llvm.loop_annotation = #loop_annotation{{[0-9]*}}, numera.parallel}
// CHECK-LABEL: @a_rest_of_two_needs_no_masks
// CHECK-NOT: llvm.loop_annotation
// CHECK-LABEL: @a_multiple_of_the_lanes_needs_no_masks
// CHECK-NOT: llvm.loop_annotation
func.func @a_short_loop_on_codes_is_vectorised_with_masks(
    %x: memref<10xi16>, %y: memref<10xi16>) {
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : memref<10xi16>) outs(%y : memref<10xi16>) {
  ^bb0(%a: i16, %b: i16):
    %0 = numera.neg %a {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}
func.func @a_rest_of_two_needs_no_masks(
    %x: memref<50xi16>, %y: memref<50xi16>) {
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : memref<50xi16>) outs(%y : memref<50xi16>) {
  ^bb0(%a: i16, %b: i16):
    %0 = numera.neg %a {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}
func.func @a_multiple_of_the_lanes_needs_no_masks(
    %x: memref<32xi16>, %y: memref<32xi16>) {
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : memref<32xi16>) outs(%y : memref<32xi16>) {
  ^bb0(%a: i16, %b: i16):
    %0 = numera.neg %a {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}

// Steps of k write one element, and so does a loop that the result does not
// depend on: neither they nor what is inside them is shared.
// MARK-LABEL: @outer_loops_are_marked
// MARK: scf.for %[[I:.*]] =
// MARK-NEXT: scf.for %[[K:.*]] =
// MARK-NEXT: scf.for %[[J:.*]] =
// MARK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// MARK-NEXT: {{^ +[}]$}}
// MARK-NEXT: {{^ +[}]$}}
// MARK-NEXT: } {numera.parallel}
// MARK: scf.for
// MARK-NOT: numera.parallel
// MARK: return
func.func @outer_loops_are_marked(%x: memref<8x9x5xf32>, %sum: memref<8x9xf32>,
                                  %last: memref<9x5xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<8x9x5xf32>) outs(%sum : memref<8x9xf32>) {
  ^bb0(%a: f32, %s: f32):
    %0 = numera.add %s, %a {format = #numera.format<float<8, 23>>} : f32
    linalg.yield %0 : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>,
                       affine_map<(i, j, k) -> (j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<8x9x5xf32>) outs(%last : memref<9x5xf32>) {
  ^bb0(%a: f32, %s: f32):
    linalg.yield %a : f32
  }
  return
}

// The largest of integers is the same in any order: lanes share a row.
// CHECK-LABEL: @the_largest_of_a_row
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[MAX:.*]] = scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: arith.maxui
// CHECK: } {llvm.loop_annotation =
// CHECK: memref.store %[[MAX]], %{{.*}}[%[[I]]]
func.func @the_largest_of_a_row(%x: memref<8x32xi32>, %max: memref<8xi32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x32xi32>) outs(%max : memref<8xi32>) {
  ^bb0(%a: i32, %m: i32):
    %0 = arith.maxui %m, %a : i32
    linalg.yield %0 : i32
  }
  return
}

// A choice that is the same along the inner loop is made before it.
// CHECK-LABEL: func.func @a_choice_for_each_row
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[ROW:.*]] = memref.load %{{.*}}[%[[I]]] : memref<64xi32>
// CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[ROW]], %{{.*}} : i32
// CHECK-NEXT: scf.if %[[IS]] {
// CHECK-NEXT: scf.for
// CHECK: arith.addf
// CHECK-NOT: arith.mulf
// CHECK: } else {
// CHECK-NEXT: scf.for
// CHECK-NOT: arith.addf
// CHECK: arith.mulf
func.func @a_choice_for_each_row(%x: memref<64x32xf32>, %row: memref<64xi32>,
                                 %y: memref<64x32xf32>) {
  %zero = arith.constant 0 : i32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i)>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %row : memref<64x32xf32>, memref<64xi32>)
      outs(%y : memref<64x32xf32>) {
  ^bb0(%a: f32, %r: i32, %out: f32):
    %is = arith.cmpi eq, %r, %zero : i32
    %b = scf.if %is -> f32 {
      %0 = arith.addf %a, %a : f32
      scf.yield %0 : f32
    } else {
      %0 = arith.mulf %a, %a : f32
      scf.yield %0 : f32
    }
    linalg.yield %b : f32
  }
  return
}

// One that is not stays.
// CHECK-LABEL: func.func @a_choice_for_each_element
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
func.func @a_choice_for_each_element(%x: memref<64x64xf32>,
                                     %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %is = arith.cmpf oeq, %a, %zero : f32
    %b = scf.if %is -> f32 {
      scf.yield %zero : f32
    } else {
      %0 = arith.mulf %a, %a : f32
      scf.yield %0 : f32
    }
    linalg.yield %b : f32
  }
  return
}

// A fill, a bias with dimensions of one, a sum over a first dimension that
// became several operands: as few loops as memory allows.
// CHECK-LABEL: @a_fill_is_one_loop
// CHECK: memref.collapse_shape %{{.*}} {{.}}[0, 1, 2]]
// CHECK: scf.for %{{.*}} to %c60
// CHECK-NOT: scf.for
// CHECK: return
func.func @a_fill_is_one_loop(%x: memref<3x4x5xi16>) {
  %zero = arith.constant 0 : i16
  linalg.fill ins(%zero : i16) outs(%x : memref<3x4x5xi16>)
  return
}

// CHECK-LABEL: @a_bias_is_an_element_a_row
// CHECK-DAG: %[[X:.*]] = memref.collapse_shape %{{.*}} {{.}}[0], [1], [2, 3]]
// CHECK-DAG: %[[B:.*]] = memref.collapse_shape %{{.*}} {{.}}[0, 1, 2, 3]] : memref<1x3x1x1xf32>
// CHECK: scf.for
// CHECK-NEXT: scf.for %[[C:.*]] = %
// CHECK: scf.for %{{.*}} to %c42
// CHECK-NOT: scf.for
// CHECK: return
func.func @a_bias_is_an_element_a_row(
    %x: memref<2x3x6x7xf32>, %b: memref<1x3x1x1xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(n, c, h, w) -> (0, c, 0, 0)>,
                       affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : memref<1x3x1x1xf32>) outs(%x : memref<2x3x6x7xf32>) {
  ^bb0(%bias: f32, %old: f32):
    %0 = arith.addf %old, %bias : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: @slices_are_views
// CHECK: scf.for %[[I:.*]] = {{.*}} to %c48
// CHECK-NOT: scf.for
// CHECK: return
func.func @slices_are_views(%x: memref<2x6x8xf32>, %y: memref<6x8xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (0, i, j)>,
                       affine_map<(i, j) -> (1, i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : memref<2x6x8xf32>, memref<2x6x8xf32>)
      outs(%y : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Rows of a padded image stand apart.
// CHECK-LABEL: @rows_with_gaps_stay_rows
// CHECK: scf.for %{{.*}} to %c6
// CHECK: scf.for %{{.*}} to %c20
// CHECK-NOT: scf.for
// CHECK: return
func.func @rows_with_gaps_stay_rows(
    %x: memref<6x4x5xf32>, %y: memref<6x4x5xf32, strided<[30, 5, 1], offset: 7>>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>,
                       affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<6x4x5xf32>)
      outs(%y : memref<6x4x5xf32, strided<[30, 5, 1], offset: 7>>) {
  ^bb0(%a: f32, %old: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A short loop, and a window around it, are unrolled; a loop over a tensor is
// not.
// CHECK-LABEL: @short_loops_are_unrolled
// CHECK: scf.for %{{.*}} to %c30
// CHECK: scf.for %{{.*}} to %c2
// CHECK: scf.for %{{.*}} to %c5
// CHECK: memref.store
// CHECK-NEXT: } {llvm.loop_annotation = #[[FULL:loop_annotation[0-9]*]]
// CHECK-NEXT: } {llvm.loop_annotation = #[[FULL]]
// CHECK-NEXT: } {numera.parallel}
func.func @short_loops_are_unrolled(
    %x: memref<30x10xi16>, %w: memref<2xi16>, %y: memref<30x5xi16>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j * 2 + k)>,
                       affine_map<(i, j, k) -> (k)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<30x10xi16>, memref<2xi16>)
      outs(%y : memref<30x5xi16>) {
  ^bb0(%a: i16, %k: i16, %old: i16):
    %0 = arith.maxsi %a, %old : i16
    linalg.yield %0 : i16
  }
  return
}
