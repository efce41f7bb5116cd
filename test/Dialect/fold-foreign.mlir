// SPDX-License-Identifier: MIT
// Operations of other dialects see no constant in numera.constant: what they
// would make of its codes is none of its type. They fold once types are lowered.
// RUN: numera-opt %s --canonicalize | FileCheck %s
// RUN: numera-opt %s --numera-lower='target=cpu' --canonicalize | FileCheck %s --check-prefix=LOWER
// RUN: rm -rf %t && mkdir %t && %python -c 'import numpy; numpy.save("%t/x.npy", numpy.full((4, 8), 1920, "u2"))'
// RUN: numera run %s --function reshaped --input %t/x.npy --output-dir %t/reshaped
// RUN: numera run %s --function splat --input %t/x.npy --output-dir %t/splat
// RUN: numera run %s --function element --input %t/x.npy --output-dir %t/element
// RUN: %python -c 'import numpy; numpy.save("%t/two.npy", numpy.full(2, 1920, "u2"))'
// RUN: numera run %s --function elements --input %t/two.npy --output-dir %t/elements
// RUN: %python -c 'import numpy; print(*(numpy.unique(numpy.load("%t/" + f + "/output_0.npy")) for f in ("reshaped", "splat", "element", "elements")))' | FileCheck %s --check-prefix=CODES
// CODES: {{\[2080\] \[2080\] \[2112\] \[2048 2112\]}}

!num = !numera.num<float<5, 7>>

// CHECK-LABEL: @splat
// CHECK: %[[C:.*]] = numera.constant 1.5
// CHECK: tensor.splat %[[C]]
// LOWER-LABEL: @splat
// LOWER-NOT: tensor.splat
func.func @splat(%x: tensor<4x8x!num>) -> tensor<4x8x!num> {
  %c = numera.constant 1.5 : !num
  %s = tensor.splat %c : tensor<4x8x!num>
  %r = numera.add %x, %s : tensor<4x8x!num>
  return %r : tensor<4x8x!num>
}

// CHECK-LABEL: @reshaped
// CHECK: %[[C:.*]] = numera.constant codes dense<1984> : tensor<32xi16>
// CHECK: tensor.expand_shape %[[C]]
// LOWER-LABEL: @reshaped
// LOWER-NOT: tensor.expand_shape
func.func @reshaped(%x: tensor<4x8x!num>) -> tensor<4x8x!num> {
  %c = numera.constant codes dense<1984> : tensor<32xi16> as tensor<32x!num>
  %s = tensor.expand_shape %c [[0, 1]] output_shape [4, 8] : tensor<32x!num> into tensor<4x8x!num>
  %r = numera.add %x, %s : tensor<4x8x!num>
  return %r : tensor<4x8x!num>
}

// CHECK-LABEL: @element
// CHECK: tensor.extract
func.func @element(%x: tensor<4x8x!num>) -> tensor<4x8x!num> {
  %c = numera.constant codes dense<[1920, 2048]> : tensor<2xi16> as tensor<2x!num>
  %one = arith.constant 1 : index
  %e = tensor.extract %c[%one] : tensor<2x!num>
  %s = tensor.splat %e : tensor<4x8x!num>
  %r = numera.add %x, %s : tensor<4x8x!num>
  return %r : tensor<4x8x!num>
}

// CHECK-LABEL: @elements
// CHECK: numera.add
// LOWER-LABEL: @elements
// LOWER: arith.constant dense<[1920, 2048]> : tensor<2xi16>
func.func @elements(%x: tensor<2x!num>) -> tensor<2x!num> {
  %one = numera.constant 1.0 : !num
  %two = numera.constant 2.0 : !num
  %c = tensor.from_elements %one, %two : tensor<2x!num>
  %r = numera.add %x, %c : tensor<2x!num>
  return %r : tensor<2x!num>
}
