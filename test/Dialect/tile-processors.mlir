// SPDX-License-Identifier: MIT
// Tiles are as large as leaves no processor of the GPU without one: a T4 has 40, for
// 32 tiles of 128 by 128; an H100 has 132, for 128 of 64 by 64.
// RUN: numera-opt %s --numera-tile-contractions=gpu=sm_75 --canonicalize | FileCheck %s --check-prefix=FEW
// RUN: numera-opt %s --numera-tile-contractions=gpu=sm_80 --canonicalize | FileCheck %s --check-prefix=MANY
// RUN: numera-opt %s --numera-tile-contractions=gpu=sm_90a --canonicalize | FileCheck %s --check-prefix=MANY
// RUN: numera-opt %s --numera-tile-contractions='gpu=sm_90a processors=40' --canonicalize | FileCheck %s --check-prefix=FEW
// FEW: %[[BLOCKS:.*]] = arith.constant 32 : index
// FEW: gpu.launch_func {{.*}} blocks in (%[[BLOCKS]],
// MANY: %[[BLOCKS:.*]] = arith.constant 128 : index
// MANY: gpu.launch_func {{.*}} blocks in (%[[BLOCKS]],

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

func.func @product(%a: memref<512x64xf32>, %b: memref<64x1024xf32>, %c: memref<512x1024xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x64xf32>, memref<64x1024xf32>)
      outs(%c : memref<512x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = numera.mac %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}
