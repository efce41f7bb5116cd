// SPDX-License-Identifier: MIT
// Clauses: V11
// RUN: numera-opt %s --numera-decompose | FileCheck %s

// CHECK-LABEL: func.func @a_pack_is_pad_reshape_and_transposition(
// CHECK: tensor.pad
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
func.func @a_pack_is_pad_reshape_and_transposition(%a: tensor<5x7xf32>, %e: tensor<2x3x4x3xf32>) -> tensor<2x3x4x3xf32> {
  %c = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e : tensor<5x7xf32> -> tensor<2x3x4x3xf32>
  return %0 : tensor<2x3x4x3xf32>
}

// CHECK-LABEL: func.func @an_unpack_is_transposition_reshape_and_slice(
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
func.func @an_unpack_is_transposition_reshape_and_slice(%a: tensor<2x3x4x3xf32>, %e: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e : tensor<2x3x4x3xf32> -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @a_gather_reads_elements(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[I:.*]]: tensor<3x1xi32>)
// CHECK: linalg.generic
// CHECK: %[[B:.*]] = linalg.index 0
// CHECK: %[[D:.*]] = linalg.index 1
// CHECK: %[[R:.*]] = tensor.extract %[[I]][%[[B]], %{{.*}}]
// CHECK: %[[C:.*]] = arith.index_cast %[[R]]
// CHECK: tensor.extract %[[X]][%[[D]], %[[C]]]
func.func @a_gather_reads_elements(%x: tensor<4x6xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  %0 = tensor.gather %x[%i] gather_dims([1]) : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_scatter_inserts_slices(
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[D:.*]] = %{{.*}})
// CHECK: %[[C:.*]] = tensor.extract %{{.*}}[%[[I]], %{{.*}}]
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0, 0] [1, 1, 6] [1, 1, 1] : tensor<2x1x6xf32> to tensor<1x6xf32>
// CHECK: tensor.insert_slice %[[S]] into %[[D]][%[[C]], 0] [1, 6] [1, 1]
func.func @a_scatter_inserts_slices(%y: tensor<2x1x6xf32>, %x: tensor<4x6xf32>, %i: tensor<2x1xindex>) -> tensor<4x6xf32> {
  %0 = tensor.scatter %y into %x[%i] scatter_dims([0]) unique : (tensor<2x1x6xf32>, tensor<4x6xf32>, tensor<2x1xindex>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @bits_have_no_sign(
// CHECK: arith.bitcast %{{.*}} : tensor<4xf32> to tensor<4xi32>
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : i32 to ui32
func.func @bits_have_no_sign(%x: tensor<4xf32>) -> tensor<4xui32> {
  %0 = tensor.bitcast %x : tensor<4xf32> to tensor<4xui32>
  return %0 : tensor<4xui32>
}

// CHECK-LABEL: func.func @a_loop_of_affine_reduces(
// CHECK: scf.parallel
// CHECK: scf.reduce
// CHECK: arith.maximumf
// CHECK: affine.apply
func.func @a_loop_of_affine_reduces(%x: tensor<8xf32>, %n: index) -> (f32, index) {
  %0 = affine.parallel (%i) = (0) to (8) reduce ("maximumf") -> (f32) {
    %1 = tensor.extract %x[%i] : tensor<8xf32>
    affine.yield %1 : f32
  }
  %2 = affine.apply affine_map<(d) -> (d + 2)>(%n)
  return %0, %2 : f32, index
}

// CHECK-LABEL: func.func @a_loop_of_branches_is_of_scf(
// CHECK: scf.while
// CHECK-NOT: cf.br
func.func @a_loop_of_branches_is_of_scf(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<8xf32>)
^head(%i: index, %t: tensor<8xf32>):
  %0 = arith.cmpi slt, %i, %n : index
  cf.cond_br %0, ^body, ^exit
^body:
  %1 = arith.addf %t, %x : tensor<8xf32>
  %2 = arith.addi %i, %c1 : index
  cf.br ^head(%2, %1 : index, tensor<8xf32>)
^exit:
  return %t : tensor<8xf32>
}

// Nothing is folded: (a - b) + b is no a.
// CHECK-LABEL: func.func @complex_numbers_are_their_parts(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK: %[[R:.*]] = arith.subf %[[A]], %{{.*}}
// CHECK: arith.addf %[[R]], %{{.*}}
// CHECK-NOT: complex
func.func @complex_numbers_are_their_parts(%a: f32, %b: f32) -> (f32, f32) {
  %0 = complex.create %a, %b : complex<f32>
  %1 = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %2 = complex.sub %0, %1 : complex<f32>
  %3 = complex.add %2, %1 : complex<f32>
  %4 = complex.re %3 : complex<f32>
  %5 = complex.im %3 : complex<f32>
  return %4, %5 : f32, f32
}

// CHECK-NOT: ml_program
// CHECK-LABEL: func.func @a_constant_global_is_a_constant(
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]>
ml_program.global private @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @a_constant_global_is_a_constant() -> tensor<2xf32> {
  %0 = ml_program.global_load_const @w : tensor<2xf32>
  return %0 : tensor<2xf32>
}
