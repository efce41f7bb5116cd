// SPDX-License-Identifier: MIT
// What tiles have to cope with: sizes that are no multiples of one, batches, operands that lie otherwise, strides, dilation,
// groups, no steps at all, and the shape of every tile.
#a = affine_map<(m, n, k) -> (m, k)>
#at = affine_map<(m, n, k) -> (k, m)>
#bt = affine_map<(m, n, k) -> (n, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#ct = affine_map<(m, n, k) -> (n, m)>
#gi = affine_map<(n, g, f, y, x, c, i, j) -> (n, g, c, y * 2 + i, x + j * 3)>
#gf = affine_map<(n, g, f, y, x, c, i, j) -> (g, f, c, i, j)>
#go = affine_map<(n, g, f, y, x, c, i, j) -> (n, g, f, y, x)>
func.func @tiles(%a: tensor<70x37xf32>, %b: tensor<37x65xf32>, %p: tensor<3x5x40xf32>, %q: tensor<3x40x33xf32>,
    %image: tensor<2x3x11x9xf32>, %filter: tensor<6x3x3x3xf32>, %grouped: tensor<1x2x3x9x10xf32>, %filters: tensor<2x5x3x3x2xf32>,
    %r: tensor<160x48xf32>, %s: tensor<48x144xf32>, %none: tensor<4x0xf32>, %less: tensor<0x5xf32>, %any: tensor<?x16xf32>)
    -> (tensor<70x65xf32>, tensor<65x70xf32>, tensor<3x5x33xf32>, tensor<2x6x5x4xf32>, tensor<1x2x5x4x7xf32>, tensor<160x144xf32>,
        tensor<144x144xf32>, tensor<4x5xf32>, tensor<70x65xf32>, tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.5 : f32
  %c0 = arith.constant 0 : index
  %e0 = tensor.empty() : tensor<70x65xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<70x65xf32>) -> tensor<70x65xf32>
  %product = linalg.matmul ins(%a, %b : tensor<70x37xf32>, tensor<37x65xf32>) outs(%i0 : tensor<70x65xf32>) -> tensor<70x65xf32>
  %e1 = tensor.empty() : tensor<65x70xf32>
  %i1 = linalg.fill ins(%one : f32) outs(%e1 : tensor<65x70xf32>) -> tensor<65x70xf32>
  %transposed = linalg.generic {indexing_maps = [#a, #b, #ct], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<70x37xf32>, tensor<37x65xf32>) outs(%i1 : tensor<65x70xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<65x70xf32>
  %e2 = tensor.empty() : tensor<3x5x33xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<3x5x33xf32>) -> tensor<3x5x33xf32>
  %batched = linalg.batch_matmul ins(%p, %q : tensor<3x5x40xf32>, tensor<3x40x33xf32>) outs(%i2 : tensor<3x5x33xf32>) -> tensor<3x5x33xf32>
  %e3 = tensor.empty() : tensor<2x6x5x4xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %strided = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>}
      ins(%image, %filter : tensor<2x3x11x9xf32>, tensor<6x3x3x3xf32>) outs(%i3 : tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  %e4 = tensor.empty() : tensor<1x2x5x4x7xf32>
  %i4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<1x2x5x4x7xf32>) -> tensor<1x2x5x4x7xf32>
  %dilated = linalg.generic {indexing_maps = [#gi, #gf, #go],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%grouped, %filters : tensor<1x2x3x9x10xf32>, tensor<2x5x3x3x2xf32>) outs(%i4 : tensor<1x2x5x4x7xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x2x5x4x7xf32>
  %e5 = tensor.empty() : tensor<160x144xf32>
  %i5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<160x144xf32>) -> tensor<160x144xf32>
  %large = linalg.matmul ins(%r, %s : tensor<160x48xf32>, tensor<48x144xf32>) outs(%i5 : tensor<160x144xf32>) -> tensor<160x144xf32>
  %e6 = tensor.empty() : tensor<144x144xf32>
  %i6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<144x144xf32>) -> tensor<144x144xf32>
  %square = linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %s : tensor<48x144xf32>, tensor<48x144xf32>) outs(%i6 : tensor<144x144xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<144x144xf32>
  %e7 = tensor.empty() : tensor<4x5xf32>
  %i7 = linalg.fill ins(%one : f32) outs(%e7 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %nothing = linalg.matmul ins(%none, %less : tensor<4x0xf32>, tensor<0x5xf32>) outs(%i7 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %more = linalg.matmul ins(%a, %b : tensor<70x37xf32>, tensor<37x65xf32>) outs(%product : tensor<70x65xf32>) -> tensor<70x65xf32>
  %rows = tensor.dim %any, %c0 : tensor<?x16xf32>
  %e9 = tensor.empty(%rows, %rows) : tensor<?x?xf32>
  %i9 = linalg.fill ins(%zero : f32) outs(%e9 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %dynamic = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%any, %any : tensor<?x16xf32>, tensor<?x16xf32>) outs(%i9 : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %z, %m : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %product, %transposed, %batched, %strided, %dilated, %large, %square, %nothing, %more, %dynamic
    : tensor<70x65xf32>, tensor<65x70xf32>, tensor<3x5x33xf32>, tensor<2x6x5x4xf32>, tensor<1x2x5x4x7xf32>, tensor<160x144xf32>,
      tensor<144x144xf32>, tensor<4x5xf32>, tensor<70x65xf32>, tensor<?x?xf32>
}
func.func @large(%a: tensor<108x100x9xf32>, %b: tensor<108x9x120xf32>, %image: tensor<1x2x98x97xf32>, %filter: tensor<5x2x3x3xf32>)
    -> (tensor<108x100x120xf32>, tensor<1x5x96x95xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<108x100x120xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<108x100x120xf32>) -> tensor<108x100x120xf32>
  %large = linalg.batch_matmul ins(%a, %b : tensor<108x100x9xf32>, tensor<108x9x120xf32>) outs(%i0 : tensor<108x100x120xf32>) -> tensor<108x100x120xf32>
  %e1 = tensor.empty() : tensor<1x5x96x95xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x5x96x95xf32>) -> tensor<1x5x96x95xf32>
  %flat = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x2x98x97xf32>, tensor<5x2x3x3xf32>) outs(%i1 : tensor<1x5x96x95xf32>) -> tensor<1x5x96x95xf32>
  return %large, %flat : tensor<108x100x120xf32>, tensor<1x5x96x95xf32>
}
