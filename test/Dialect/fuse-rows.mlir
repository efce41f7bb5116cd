// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --pass-pipeline='builtin.module(func.func(numera-fuse-rows,canonicalize))' | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#turned = affine_map<(i, j) -> (j, i)>
#image = affine_map<(n, i, j) -> (n, i, j)>

// 64 KB at a time: of 64 rows of 256 i32, read and written, 16. What nothing
// else uses is as long as they are, on the stack.
// CHECK-LABEL: @a_reduction_and_what_reads_it
// CHECK-SAME: (%[[X:.*]]: memref<64x256xi32>, %[[Y:.*]]: memref<64x256xi32>)
// CHECK-NOT: memref.alloc(
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[I]], %c16
// CHECK-NEXT: %[[MAX:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[MAX]]
// CHECK: memref.subview %[[X]][%[[FIRST]], 0] [16, 256] [1, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: memref.subview %[[Y]][%[[FIRST]], 0] [16, 256] [1, 1]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: } {numera.parallel}
// CHECK-NEXT: return
func.func @a_reduction_and_what_reads_it(
    %x: memref<64x256xi32>, %y: memref<64x256xi32>)
    attributes {numera.destinations = [array<i64: -1, -1, -1, -1>]} {
  %zero = arith.constant 0 : i32
  %max = memref.alloc() : memref<64xi32>
  linalg.fill ins(%zero : i32) outs(%max : memref<64xi32>)
  linalg.generic {indexing_maps = [#all, #row],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xi32>) outs(%max : memref<64xi32>) {
  ^bb0(%a: i32, %acc: i32):
    %0 = arith.maxui %acc, %a : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<64x256xi32>, memref<64xi32>)
      outs(%y : memref<64x256xi32>) {
  ^bb0(%a: i32, %m: i32, %out: i32):
    %0 = arith.subi %m, %a : i32
    linalg.yield %0 : i32
  }
  memref.dealloc %max : memref<64xi32>
  return
}

// Sums in the order of their steps: rows go through the lanes together.
// CHECK-LABEL: @sums
// CHECK-NOT: scf.for
// CHECK: return
func.func @sums(%x: memref<64x256xf32>, %y: memref<64x256xf32>)
    attributes {numera.destinations = [array<i64: -1, -1, -1, -1>]} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#all, #row],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x256xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %0 = numera.add %acc, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x256xf32>, memref<64xf32>)
      outs(%y : memref<64x256xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %0 = numera.div %a, %s : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %sum : memref<64xf32>
  return
}

// A row would need what other rows write.
// CHECK-LABEL: @columns
// CHECK-NOT: scf.for
// CHECK: return
func.func @columns(%x: memref<64x64xf32>, %y: memref<64x64xf32>)
    attributes {numera.destinations = [array<i64: -1, -1, -1, -1>]} {
  %t = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.mul %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.add %a, %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<64x64xf32>
  return
}

// Arguments may share memory, those for results apart.
// CHECK-LABEL: @arguments_that_are_written
// CHECK-NOT: scf.for
// CHECK: return
func.func @arguments_that_are_written(%x: memref<64x256xf32>,
                                      %y: memref<64x256xf32>,
                                      %z: memref<64x256xf32>) {
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%y : memref<64x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.mul %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%z : memref<64x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.add %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Between the two, a buffer is freed; and what fits the cache gains nothing.
// CHECK-LABEL: @freed
// CHECK-NOT: scf.for
// CHECK: return
func.func @freed(%x: memref<64x256xf32>, %small: memref<4x4xf32>) {
  %t = memref.alloc() : memref<64x256xf32>
  %u = memref.alloc() : memref<64x256xf32>
  %v = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%t : memref<64x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.mul %a, %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<64x256xf32>
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xf32>) outs(%u : memref<64x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.add %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%small : memref<4x4xf32>) outs(%v : memref<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.mul %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%v : memref<4x4xf32>) outs(%v : memref<4x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.add %a, %a : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %u : memref<64x256xf32>
  memref.dealloc %v : memref<4x4xf32>
  return
}

// The maximum of what a row's operations have made begins with a fill that shares
// nothing with them: it is one loop all the same.
// CHECK-LABEL: @maximum_of_squares
// CHECK: scf.for
// CHECK: memref.alloca() {{.*}} : memref<{{[0-9]+}}x256xi32>
// CHECK: linalg.fill
// CHECK: arith.subi
// CHECK: }
// CHECK-NOT: scf.for
// CHECK: return
func.func @maximum_of_squares(%x: memref<64x256xi32>, %y: memref<64x256xi32>)
    attributes {numera.destinations = [array<i64: -1, -1, -1, -1>]} {
  %zero = arith.constant 0 : i32
  %t = memref.alloc() : memref<64x256xi32>
  linalg.generic {indexing_maps = [#all, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x256xi32>) outs(%t : memref<64x256xi32>) {
  ^bb0(%a: i32, %out: i32):
    %0 = arith.muli %a, %a : i32
    linalg.yield %0 : i32
  }
  %max = memref.alloc() : memref<64xi32>
  linalg.fill ins(%zero : i32) outs(%max : memref<64xi32>)
  linalg.generic {indexing_maps = [#all, #row],
                  iterator_types = ["parallel", "reduction"]}
      ins(%t : memref<64x256xi32>) outs(%max : memref<64xi32>) {
  ^bb0(%a: i32, %s: i32):
    %0 = arith.maxui %s, %a : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#all, #row, #all],
                  iterator_types = ["parallel", "parallel"]}
      ins(%t, %max : memref<64x256xi32>, memref<64xi32>) outs(%y : memref<64x256xi32>) {
  ^bb0(%a: i32, %s: i32, %out: i32):
    %0 = arith.subi %s, %a : i32
    linalg.yield %0 : i32
  }
  memref.dealloc %t : memref<64x256xi32>
  memref.dealloc %max : memref<64xi32>
  return
}

// An image of a batch of one: its lines are the rows, 16 of 64 at a time. What
// is in between has room for them.
// CHECK-LABEL: @one_image
// CHECK: scf.for {{.*}} to %c4
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<1x16x256xi32>
// CHECK: memref.subview {{.*}}[0, %{{.*}}, 0] [1, 16, 256] [1, 1, 1]
func.func @one_image(%x: memref<1x64x256xi32>, %y: memref<1x64x256xi32>)
    attributes {numera.destinations = [array<i64: -1, -1, -1, -1, -1, -1>]} {
  %between = memref.alloc() : memref<1x64x256xi32>
  linalg.generic {indexing_maps = [#image, #image],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<1x64x256xi32>) outs(%between : memref<1x64x256xi32>) {
  ^bb0(%a: i32, %out: i32):
    %0 = arith.addi %a, %a : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#image, #image],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%between : memref<1x64x256xi32>) outs(%y : memref<1x64x256xi32>) {
  ^bb0(%a: i32, %out: i32):
    %0 = arith.muli %a, %a : i32
    linalg.yield %0 : i32
  }
  memref.dealloc %between : memref<1x64x256xi32>
  return
}

// Sizes are read of all types, the machine's index among them.
// CHECK-LABEL: @places
// CHECK: linalg.generic
func.func @places(%from: memref<1xindex>, %to: memref<4xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (0)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%from : memref<1xindex>) outs(%to : memref<4xindex>) {
  ^bb0(%place: index, %out: index):
    linalg.yield %place : index
  }
  return
}
