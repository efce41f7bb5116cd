// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-retype='to=posit<8,0,stochastic>' -split-input-file -verify-diagnostics

func.func @what_is_generated_has_no_number(%x: f32, %n: index) -> tensor<?xf32> {
  %r = tensor.generate %n {
  ^bb0(%i: index):
    // expected-error@+1 {{'numera.add' rounds stochastically inside of 'tensor.generate', whose steps have no number; expected scf.for or scf.while}}
    %b = arith.addf %x, %x : f32
    tensor.yield %b : f32
  } : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @bounds_change(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> f32 {
      // expected-error@+1 {{'numera.add' rounds stochastically in a loop whose bounds change; expected bounds from outside of all loops}}
      %c = arith.addf %b, %b : f32
      scf.yield %c : f32
    }
    scf.yield %s : f32
  }
  return %r : f32
}

// -----

func.func @the_batch_is_cut_up(%x: tensor<8x3xf32>) -> tensor<2x4x3xf32> {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 4, 3] : tensor<8x3xf32> into tensor<2x4x3xf32>
  // expected-error@+1 {{'numera.add' rounds stochastically where the batch is mixed with other dimensions; expected the batch to be a dimension of its own}}
  %r = arith.addf %y, %y : tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// -----

func.func @vectors_have_no_place(%x: f32) -> vector<2xf32> {
  %v = vector.broadcast %x : f32 to vector<2xf32>
  // expected-error@+1 {{'numera.add' rounds stochastically on 'vector<2x!numera.num<posit<8, 0, stochastic>>>', whose elements have no place; expected a scalar or a ranked tensor}}
  %r = arith.addf %v, %v : vector<2xf32>
  return %r : vector<2xf32>
}

// -----

func.func @twice(%x: tensor<4x5xf32>, %w: tensor<3x5xf32>) -> (tensor<4x5xf32>, tensor<3x5xf32>) {
  %d = tensor.cast %x : tensor<4x5xf32> to tensor<?x5xf32>
  %e = tensor.cast %w : tensor<3x5xf32> to tensor<?x5xf32>
  %a = func.call @root(%d) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %b = func.call @root(%e) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %f = tensor.cast %a : tensor<?x5xf32> to tensor<4x5xf32>
  %g = tensor.cast %b : tensor<?x5xf32> to tensor<3x5xf32>
  return %f, %g : tensor<4x5xf32>, tensor<3x5xf32>
}
// expected-error@+1 {{function 'root' rounds stochastically and is called with the batch in different places; expected the same in every call}}
func.func private @root(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %r = math.sqrt %x : tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

// -----

// Of sizes alone it is not known whether rows of a sample lie side by side.
func.func @a_size_is_no_place(%x: tensor<?x3xf32>, %w: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %m = arith.muli %n, %c4 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%w : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{'numera.mul' rounds stochastically where the batch is mixed with other dimensions; expected the batch to be a dimension of its own}}
  %r = arith.mulf %f, %f : tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A part of steps that lie before samples has no whole steps.
func.func @a_part_of_steps(%x: tensor<?x4xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x4xf32>) outs(%e : tensor<4x?xf32>) permutation = [1, 0]
  %y = tensor.collapse_shape %t [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  %s = tensor.extract_slice %y[0] [5] [1] : tensor<?xf32> to tensor<5xf32>
  // expected-error@+1 {{'numera.mul' rounds stochastically where the batch is mixed with other dimensions; expected the batch to be a dimension of its own}}
  %r = arith.mulf %s, %s : tensor<5xf32>
  return %r : tensor<5xf32>
}
