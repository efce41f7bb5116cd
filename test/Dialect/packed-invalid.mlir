// SPDX-License-Identifier: MIT
// RUN: numera-opt %s -split-input-file -verify-diagnostics -numera-lower-types

// expected-error@+1 {{a packed tensor has elements of type 'i8'; expected a '!numera.num'}}
func.func private @element(tensor<4xi8, #numera.packed>)

// -----

!f4 = !numera.num<float<2, 1, finite>>
func.func @shapes(%x: tensor<4x!f4>) {
  // expected-error@+1 {{expected the same tensor of '!numera.num', once with the encoding '#numera.packed'}}
  %0 = numera.pack %x : tensor<4x!f4> to tensor<5x!f4, #numera.packed>
  return
}

// -----

func.func @bytes(%x: tensor<4xi8>) {
  // expected-error@+1 {{expected a tensor of 3 bytes}}
  %0 = numera.pack %x width 5 : tensor<4xi8> to tensor<2xi8>
  return
}

// -----

func.func @width(%x: tensor<4xi8>) {
  // expected-error@+1 {{has codes of 9 bits in 'i8'; expected an integer that holds them}}
  %0 = numera.pack %x width 9 : tensor<4xi8> to tensor<5xi8>
  return
}

// -----

!f4 = !numera.num<float<2, 1, finite>>
func.func @sizes(%x: tensor<?x!f4, #numera.packed>) {
  // expected-error@+1 {{has 0 sizes; expected 1}}
  %0 = numera.unpack %x : tensor<?x!f4, #numera.packed> to tensor<?x!f4>
  return
}

// -----

!f4 = !numera.num<float<2, 1, finite>>
func.func @slice(%x: tensor<8x!f4, #numera.packed>) {
  // expected-error@+1 {{'tensor.cast' is on a packed tensor; unpack it first}}
  %0 = tensor.cast %x : tensor<8x!f4, #numera.packed> to tensor<?x!f4, #numera.packed>
  return
}

// -----

// expected-error@+1 {{undefined symbol alias id 'unknown'}}
func.func private @unknown_element(tensor<4x!unknown, #numera.packed>)
