// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --split-input-file --verify-diagnostics --numera-show-rows

// expected-error@+1 {{has 1 rows of layers; expected one block that returns 3 tensors for each}}
func.func @too_few(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {numera.layers = [{}]} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{has 1 rows of layers; expected one block}}
func.func @blocks(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {numera.layers = [{}]} {
  cf.br ^end
^end:
  return %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{has a row of 'tensor<4xf16>'; expected tensors of f32 or f64}}
func.func @types(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>)
    attributes {numera.layers = [{}]} {
  return %x, %x, %x : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
}
