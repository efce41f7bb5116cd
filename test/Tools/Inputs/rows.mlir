// Functions whose rows need each other, and some whose rows do not.

#rows = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>
#first = affine_map<(r, c) -> (0, c)>

// x less the sums of its columns.
func.func @sums(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x2xf32>) outs(%zero : tensor<2xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %n = arith.addf %sum, %e : f32
    linalg.yield %n : f32
  } -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x2xf32>, tensor<2xf32>) outs(%x : tensor<?x2xf32>) {
  ^bb0(%e: f32, %sum: f32, %out: f32):
    %d = arith.subf %e, %sum : f32
    linalg.yield %d : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// x plus the number of its row.
func.func @numbers(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x2xf32>) outs(%x : tensor<?x2xf32>) {
  ^bb0(%e: f32, %out: f32):
    %r = linalg.index 0 : index
    %i = arith.index_cast %r : index to i64
    %f = arith.sitofp %i : i64 to f32
    %d = arith.addf %e, %f : f32
    linalg.yield %d : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// x plus how many rows it has.
func.func @count(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %i = arith.index_cast %n : index to i64
  %f = arith.sitofp %i : i64 to f32
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x2xf32>) outs(%x : tensor<?x2xf32>) {
  ^bb0(%e: f32, %out: f32):
    %d = arith.addf %e, %f : f32
    linalg.yield %d : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// x plus its first row.
func.func @first(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %one = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<?x2xf32> to tensor<1x2xf32>
  %y = linalg.generic {indexing_maps = [#rows, #first, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %one : tensor<?x2xf32>, tensor<1x2xf32>) outs(%x : tensor<?x2xf32>) {
  ^bb0(%e: f32, %f: f32, %out: f32):
    %d = arith.addf %e, %f : f32
    linalg.yield %d : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// The sum of x so far, a row at a time.
func.func @running(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %zero = arith.constant dense<0.0> : tensor<1x2xf32>
  %init = tensor.empty(%n) : tensor<?x2xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %init, %s = %zero) -> (tensor<?x2xf32>, tensor<1x2xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<?x2xf32> to tensor<1x2xf32>
    %next = arith.addf %s, %row : tensor<1x2xf32>
    %z = tensor.insert_slice %next into %y[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x2xf32>
    scf.yield %z, %next : tensor<?x2xf32>, tensor<1x2xf32>
  }
  return %r#0 : tensor<?x2xf32>
}

// Each row's sum, subtracted from it; through a reshape and a call.
func.func private @double(%x: tensor<?x2x1xf32>) -> tensor<?x2x1xf32> {
  %y = arith.addf %x, %x : tensor<?x2x1xf32>
  return %y : tensor<?x2x1xf32>
}
func.func @apart(%x: tensor<?x2xf32> {numera.name = "x"}) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#rows, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x2xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %t = arith.addf %sum, %v : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#rows, affine_map<(r, c) -> (r)>, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x2xf32>, tensor<?xf32>) outs(%x : tensor<?x2xf32>) {
  ^bb0(%v: f32, %sum: f32, %out: f32):
    %t = arith.subf %v, %sum : f32
    linalg.yield %t : f32
  } -> tensor<?x2xf32>
  %wide = tensor.expand_shape %d [[0], [1, 2]] output_shape [%n, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %two = func.call @double(%wide) : (tensor<?x2x1xf32>) -> tensor<?x2x1xf32>
  %y = tensor.collapse_shape %two [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
