// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --canonicalize | FileCheck %s

!posit16 = !numera.num<posit<16, 2>>

// Constants of a slice fold to one with the same dimensions, whichever of several of
// one element it drops. MLIR 22 alone makes a slice of other sizes.
// CHECK-LABEL: func.func @last_is_dropped
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x1x!{{.*}}> to tensor<1x2x3x!{{.*}}>
func.func @last_is_dropped(%x: tensor<1x2x3x1x!posit16>) -> tensor<1x2x3x!posit16> {
  %zero = arith.constant 0 : index
  %0 = tensor.extract_slice %x[0, 0, 0, %zero] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x1x!posit16> to tensor<1x2x3x!posit16>
  return %0 : tensor<1x2x3x!posit16>
}

// CHECK-LABEL: func.func @of_a_larger_tensor
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 2] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<4x2x3x4x!{{.*}}> to tensor<1x2x3x!{{.*}}>
func.func @of_a_larger_tensor(%x: tensor<4x2x3x4x!posit16>) -> tensor<1x2x3x!posit16> {
  %two = arith.constant 2 : index
  %0 = tensor.extract_slice %x[0, 0, 0, %two] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<4x2x3x4x!posit16> to tensor<1x2x3x!posit16>
  return %0 : tensor<1x2x3x!posit16>
}

// CHECK-LABEL: func.func @sizes
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %{{.*}}[0, 0, %{{.*}}] [1, 2, 1] [1, 1, 1] : tensor<1x3x4x!{{.*}}> to tensor<1x2x!{{.*}}>
// CHECK: tensor.cast %[[SLICE]] : tensor<1x2x!{{.*}}> to tensor<1x?x!{{.*}}>
func.func @sizes(%x: tensor<1x3x4x!posit16>, %i: index) -> tensor<1x?x!posit16> {
  %two = arith.constant 2 : index
  %0 = tensor.extract_slice %x[0, 0, %i] [1, %two, 1] [1, 1, 1] : tensor<1x3x4x!posit16> to tensor<1x?x!posit16>
  return %0 : tensor<1x?x!posit16>
}

// Beyond the tensor it stays an error of the program.
// CHECK-LABEL: func.func @beyond
// CHECK: tensor.extract_slice %{{.*}}[0, 0, %c4]
func.func @beyond(%x: tensor<1x3x4x!posit16>) -> tensor<1x3x!posit16> {
  %four = arith.constant 4 : index
  %0 = tensor.extract_slice %x[0, 0, %four] [1, 3, 1] [1, 1, 1] : tensor<1x3x4x!posit16> to tensor<1x3x!posit16>
  return %0 : tensor<1x3x!posit16>
}

// MLIR fails inside at a view that drops dimensions and has other steps than 1.
// CHECK-LABEL: func.func @step_of_one
// CHECK: tensor.extract_slice %{{.*}}[1, 1] [1, 1] [1, 1] : tensor<3x3x!{{.*}}> to tensor<1x!{{.*}}>
func.func @step_of_one(%x: tensor<3x3x!posit16>) -> tensor<1x!posit16> {
  %0 = tensor.extract_slice %x[1, 1] [1, 1] [2, 1] : tensor<3x3x!posit16> to tensor<1x!posit16>
  return %0 : tensor<1x!posit16>
}

// CHECK-LABEL: func.func @steps
// CHECK: %[[WHOLE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 1] [2, 1, 1, 1] [2, 1, 1, 1] : tensor<3x1x1x2x!{{.*}}> to tensor<2x1x1x1x!{{.*}}>
// CHECK: tensor.collapse_shape %[[WHOLE]] {{\[\[}}0, 1, 2], [3]] : tensor<2x1x1x1x!{{.*}}> into tensor<2x1x!{{.*}}>
func.func @steps(%x: tensor<3x1x1x2x!posit16>) -> tensor<2x1x!posit16> {
  %0 = tensor.extract_slice %x[0, 0, 0, 1] [2, 1, 1, 1] [2, 1, 1, 1] : tensor<3x1x1x2x!posit16> to tensor<2x1x!posit16>
  return %0 : tensor<2x1x!posit16>
}
