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
// CHECK: scf.for %[[C:.*]] = {{.*}} {
// CHECK-NEXT: scf.for %[[R:.*]] = {{.*}} {
// CHECK-NEXT: scf.for %[[I:.*]] = {{.*}} {
// CHECK: memref.load %{{.*}}[%[[I]], %[[C]], %[[R]]]
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

// CHECK-LABEL: @a_sum_to_a_scalar_is_one_loop
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK: memref.load %{{.*}}[%[[I]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[] : memref<f32>
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

// CHECK-LABEL: @an_elementwise_operation_keeps_its_loops
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK-NEXT: scf.for %[[J:.*]] = {{.*}} {
// CHECK-NEXT: memref.load %{{.*}}[%[[I]], %[[J]]]
func.func @an_elementwise_operation_keeps_its_loops(
    %x: memref<4x16xf32>, %y: memref<4x16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = numera.neg %a : f32
    linalg.yield %0 : f32
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
// CHECK-NEXT: } {llvm.loop_annotation = #loop_annotation, numera.parallel}
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
