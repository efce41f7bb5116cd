// SPDX-License-Identifier: MIT
// Clauses: Z14.
// RUN: numera-opt %s -numera-lower-types | FileCheck %s --check-prefix=TYPES
// RUN: numera-opt %s -numera-lower-types -numera-expand-packed -canonicalize | FileCheck %s
// RUN: numera-opt %s -numera-lower-types -numera-expand-packed='target=nvptx' -canonicalize | FileCheck %s --check-prefix=NVPTX

!f4 = !numera.num<float<2, 1, finite>>
!f6 = !numera.num<float<3, 2, finite>>

// Bytes go in and out; a code is read where it is needed.
// TYPES-LABEL: func @unpack(
// TYPES-SAME: %[[BYTES:.*]]: tensor<16xi8>) -> tensor<4x8xi8>
// TYPES: numera.unpack %[[BYTES]] width 4 : tensor<16xi8> to tensor<4x8xi8>
// CHECK-LABEL: func @unpack(
// CHECK-SAME: %[[BYTES:.*]]: tensor<16xi8>)
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[PLACE:.*]] = affine.apply {{.*}}[%[[I]], %[[J]]]
// CHECK: numera.load_packed %[[BYTES]][%[[PLACE]]] width 4 : tensor<16xi8> to i8
// NVPTX-LABEL: func @unpack(
// NVPTX-NOT: numera.load_packed
// NVPTX: tensor.extract
func.func @unpack(%x: tensor<4x8x!f4, #numera.packed>) -> tensor<4x8x!f4> {
  %0 = numera.unpack %x : tensor<4x8x!f4, #numera.packed> to tensor<4x8x!f4>
  return %0 : tensor<4x8x!f4>
}

// A byte of two codes.
// TYPES-LABEL: func @pack(
// TYPES-SAME: tensor<3x5xi8>) -> tensor<8xi8>
// CHECK-LABEL: func @pack(
// CHECK: tensor.collapse_shape %{{.*}} : tensor<3x5xi8> into tensor<15xi8>
// CHECK: linalg.generic
// CHECK-COUNT-2: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK: arith.trunci %{{.*}} : i64 to i8
func.func @pack(%x: tensor<3x5x!f4>) -> tensor<3x5x!f4, #numera.packed> {
  %0 = numera.pack %x : tensor<3x5x!f4> to tensor<3x5x!f4, #numera.packed>
  return %0 : tensor<3x5x!f4, #numera.packed>
}

// Constants are bytes in the program: 0x2a | 0x15 << 6 | 0x3f << 12.
// CHECK-LABEL: func @constant
// CHECK: arith.constant dense<[106, -11, 3]> : tensor<3xi8>
// CHECK-NOT: numera.pack
func.func @constant() -> tensor<3x!f6, #numera.packed> {
  %c = numera.constant codes dense<[42, 21, 63]> : tensor<3xi8> as tensor<3x!f6>
  %0 = numera.pack %c : tensor<3x!f6> to tensor<3x!f6, #numera.packed>
  return %0 : tensor<3x!f6, #numera.packed>
}

// What is read in another shape is unpacked in it; sizes are passed.
// CHECK-LABEL: func @reshaped
// CHECK-NOT: tensor.expand_shape
// CHECK: -> tensor<4x2x4xi8>
func.func @reshaped(%x: tensor<4x8x!f4, #numera.packed>) -> tensor<4x2x4x!f4> {
  %0 = numera.unpack %x : tensor<4x8x!f4, #numera.packed> to tensor<4x8x!f4>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8x!f4> into tensor<4x2x4x!f4>
  return %1 : tensor<4x2x4x!f4>
}

// TYPES-LABEL: func @sizes
// TYPES: numera.unpack %{{.*}} sizes(%{{.*}}) width 4 : tensor<?xi8> to tensor<?x8xi8>
// CHECK-LABEL: func @sizes
// CHECK: tensor.empty(%{{.*}}) : tensor<?x8xi8>
func.func @sizes(%x: tensor<?x8x!f4, #numera.packed>, %n: index) -> tensor<?x8x!f4> {
  %0 = numera.unpack %x sizes(%n) : tensor<?x8x!f4, #numera.packed> to tensor<?x8x!f4>
  return %0 : tensor<?x8x!f4>
}
