// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-loops --split-input-file | FileCheck %s

// Fourteen results are the lanes of one vector, in a register from the first step
// of the window to the last.
#image = affine_map<(y, x, i, j) -> (y + i, x + j)>
#filter = affine_map<(y, x, i, j) -> (i, j)>
#result = affine_map<(y, x, i, j) -> (y, x)>
// CHECK-LABEL: func.func @one_row
// CHECK: vector.constant_mask [14] : vector<16xi1>
// CHECK: %[[START:.*]] = vector.maskedload %{{.*}} : memref<14x14xf32>
// CHECK: %[[FIRST:.*]] = numera.mac %{{.*}}, %{{.*}}, %[[START]] : vector<16xf32>
// CHECK: %[[SECOND:.*]] = numera.mac %{{.*}}, %{{.*}}, %[[FIRST]] : vector<16xf32>
// CHECK: %[[THIRD:.*]] = numera.mac %{{.*}}, %{{.*}}, %[[SECOND]] : vector<16xf32>
// CHECK: %[[LAST:.*]] = numera.mac %{{.*}}, %{{.*}}, %[[THIRD]] : vector<16xf32>
// CHECK: vector.maskedstore %{{.*}}, %[[LAST]]
// CHECK-NOT: numera.mac
func.func @one_row(%image: memref<15x15xf32>, %filter: memref<2x2xf32>, %result: memref<14x14xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%image, %filter : memref<15x15xf32>, memref<2x2xf32>) outs(%result : memref<14x14xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// With a stride of 2, whole vectors are every other element of two; the second
// has no element behind the last that is used.
#image = affine_map<(x, j) -> (x * 2 + j)>
#filter = affine_map<(x, j) -> (j)>
#result = affine_map<(x, j) -> (x)>
// CHECK-LABEL: func.func @every_other
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<66xf32>, vector<16xf32>
// CHECK: vector.constant_mask [15] : vector<16xi1>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
func.func @every_other(%image: memref<66xf32>, %filter: memref<3xf32>, %result: memref<32xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction"]}
      ins(%image, %filter : memref<66xf32>, memref<3xf32>) outs(%result : memref<32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Widths that are not known are loops of scalars.
#image = affine_map<(x, j) -> (x + j)>
#filter = affine_map<(x, j) -> (j)>
#result = affine_map<(x, j) -> (x)>
// CHECK-LABEL: func.func @scalars
// CHECK-NOT: vector
// CHECK: return
func.func @scalars(%image: memref<?xf32>, %filter: memref<3xf32>, %result: memref<?xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction"]}
      ins(%image, %filter : memref<?xf32>, memref<3xf32>) outs(%result : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What all results begin with is in the register, and not in memory before.
#image = affine_map<(x, j) -> (x + j)>
#filter = affine_map<(x, j) -> (j)>
#result = affine_map<(x, j) -> (x)>
// CHECK-LABEL: func.func @filled
// CHECK-SAME: %[[START:[a-z0-9]+]]: f32
// CHECK-NOT: memref.store
// CHECK: %[[SUM:.*]] = vector.broadcast %[[START]] : f32 to vector<16xf32>
// CHECK: numera.mac %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK-NOT: memref.store
func.func @filled(%start: f32, %image: memref<18xf32>, %filter: memref<3xf32>, %result: memref<16xf32>) {
  linalg.fill ins(%start : f32) outs(%result : memref<16xf32>)
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction"]}
      ins(%image, %filter : memref<18xf32>, memref<3xf32>) outs(%result : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A maximum of f32 is told by three integers. What the buffer was filled with is
// not written first.
#image = affine_map<(c, x, j) -> (c, x + j)>
#taps = affine_map<(c, x, j) -> (j)>
#result = affine_map<(c, x, j) -> (c, x)>
// CHECK-LABEL: func.func @maxima
// CHECK-NOT: memref.store
// CHECK: %[[FIRST:.*]] = arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: %[[X:.*]] = arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: %[[MOST:.*]] = arith.maxsi %[[FIRST]], %[[X]]
// CHECK: %[[LEAST:.*]] = arith.minui %[[FIRST]], %[[X]]
// CHECK: %[[LAST:.*]] = arith.maxui %[[FIRST]], %[[X]]
// CHECK: arith.maxsi %[[MOST]],
// CHECK: arith.minui %[[LEAST]],
// CHECK: arith.maxui %[[LAST]],
// CHECK: arith.select
// CHECK-NOT: numera.max
func.func @maxima(%image: memref<3x17xf32>, %taps: memref<2xf32>, %result: memref<3x16xf32>) {
  %lowest = arith.constant 0xFF800000 : f32
  linalg.fill ins(%lowest : f32) outs(%result : memref<3x16xf32>)
  linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %taps : memref<3x17xf32>, memref<2xf32>) outs(%result : memref<3x16xf32>) {
  ^bb0(%a: f32, %unread: f32, %max: f32):
    %0 = numera.max %a, %max : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Codes have the format's own operation, on vectors. The sizes of the window come
// from a buffer of any type.
#image = affine_map<(c, x, j) -> (c, x + j)>
#taps = affine_map<(c, x, j) -> (j)>
#result = affine_map<(c, x, j) -> (c, x)>
// CHECK-LABEL: func.func @minima_of_codes
// CHECK: numera.min %{{.*}}, %{{.*}} {format = #numera.format<posit<16, 2>>} : vector<16xi16>
// CHECK: numera.min %{{.*}}, %{{.*}} {format = #numera.format<posit<16, 2>>} : vector<16xi16>
// CHECK: vector.store
func.func @minima_of_codes(%image: memref<3x17xi16>, %taps: memref<2xf32>, %result: memref<3x16xi16>) {
  linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %taps : memref<3x17xi16>, memref<2xf32>) outs(%result : memref<3x16xi16>) {
  ^bb0(%a: i16, %unread: f32, %min: i16):
    %0 = numera.min %a, %min {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}

// -----

// Codes of floats whose sign is their first bit are told by integers, as f32 is.
#image = affine_map<(c, x, j) -> (c, x + j)>
#taps = affine_map<(c, x, j) -> (j)>
#result = affine_map<(c, x, j) -> (c, x)>
// CHECK-LABEL: func.func @maxima_of_f8
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : vector<16xi8>
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : vector<16xi8>
// CHECK: vector.store
// CHECK-NOT: numera.max
func.func @maxima_of_f8(%image: memref<3x17xi8>, %taps: memref<2xf32>, %result: memref<3x16xi8>) {
  linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %taps : memref<3x17xi8>, memref<2xf32>) outs(%result : memref<3x16xi8>) {
  ^bb0(%a: i8, %unread: f32, %max: i8):
    %0 = numera.max %a, %max {format = #numera.format<float<4, 3, fn>>} : i8
    linalg.yield %0 : i8
  }
  return
}

// -----

// Operands of another format are converted: their words say something else.
#image = affine_map<(c, x, j) -> (c, x + j)>
#taps = affine_map<(c, x, j) -> (j)>
#result = affine_map<(c, x, j) -> (c, x)>
// CHECK-LABEL: func.func @maxima_of_two_formats
// CHECK: numera.max {{.*}}operand_formats{{.*}} : vector<16xi8>
// CHECK: numera.max {{.*}}operand_formats{{.*}} : vector<16xi8>
// CHECK-NOT: arith.maxsi
func.func @maxima_of_two_formats(%image: memref<3x17xi8>, %taps: memref<2xf32>, %result: memref<3x16xi8>) {
  linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %taps : memref<3x17xi8>, memref<2xf32>) outs(%result : memref<3x16xi8>) {
  ^bb0(%a: i8, %unread: f32, %max: i8):
    %0 = numera.max %a, %max {format = #numera.format<float<4, 3, fn>>,
        operand_formats = [#numera.format<float<5, 2>>, #numera.format<float<4, 3, fn>>]} : i8
    linalg.yield %0 : i8
  }
  return
}

// -----

// Of a row of six, four sums are computed side by side, then two. The first
// loop, of rows, is left for threads.
#image = affine_map<(y, x, c, i) -> (y, x + i, c)>
#filter = affine_map<(y, x, c, i) -> (i, c)>
#result = affine_map<(y, x, c, i) -> (y, x, c)>
// CHECK-LABEL: func.func @side_by_side
// CHECK: scf.for %[[Y:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: scf.for %[[X:.*]] = %{{.*}} to %[[FOUR]] step %{{.*}} {
// CHECK-COUNT-4: vector.load %{{.*}} : memref<3x6x16xf32>
// CHECK-NOT: vector.store
// CHECK-COUNT-12: numera.mac
// CHECK-COUNT-4: vector.store
// CHECK-NEXT: }
// CHECK-COUNT-2: vector.load %{{.*}} : memref<3x6x16xf32>
// CHECK-COUNT-6: numera.mac
// CHECK-COUNT-2: vector.store
// CHECK-NEXT: } {numera.parallel}
func.func @side_by_side(%image: memref<3x8x16xf32>, %filter: memref<3x16xf32>, %result: memref<3x6x16xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<3x8x16xf32>, memref<3x16xf32>) outs(%result : memref<3x6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A function of the results is long: it stands there once, in a loop over them.
#image = affine_map<(y, x, c, i) -> (y, x + i, c)>
#filter = affine_map<(y, x, c, i) -> (i, c)>
#result = affine_map<(y, x, c, i) -> (y, x, c)>
#same = affine_map<(y, x, c) -> (y, x, c)>
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @function_of_sums
// CHECK-COUNT-8: numera.mac
// CHECK-COUNT-4: vector.store
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: affine.apply #[[PLACE]](%{{.*}}, %[[I]])
// CHECK: vector.load %{{.*}} : memref<3x4x16xf32>
// CHECK: numera.exp
// CHECK: vector.store
// CHECK-NOT: numera.exp
func.func @function_of_sums(%image: memref<3x5x16xf32>, %filter: memref<2x16xf32>) -> memref<3x4x16xf32> {
  %result = memref.alloc() : memref<3x4x16xf32>
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<3x5x16xf32>, memref<2x16xf32>) outs(%result : memref<3x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%result : memref<3x4x16xf32>) outs(%result : memref<3x4x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = numera.exp %a : f32
    linalg.yield %0 : f32
  }
  return %result : memref<3x4x16xf32>
}

// -----

// What overwrites the results, one by one, is computed before they are written:
// here by a number of their channel, and by what lies in another buffer. Its two
// loops are three of theirs.
#image = affine_map<(y, x, c, i) -> (y + i, x, c)>
#filter = affine_map<(y, x, c, i) -> (i, c)>
#result = affine_map<(y, x, c, i) -> (y, x, c)>
#same = affine_map<(p, c) -> (p, c)>
#bias = affine_map<(p, c) -> (c)>
// CHECK: #[[PIXEL:.*]] = affine_map<(d0, d1) -> (d0 * 4 + d1)>
// CHECK-LABEL: func.func @overwritten
// CHECK: %[[RESULT:.*]] = memref.alloc() : memref<3x4x16xf32>
// CHECK-COUNT-8: numera.mac
// CHECK: %[[BIAS:.*]] = vector.load %{{.*}} : memref<16xf32>
// CHECK: %[[P:.*]] = affine.apply #[[PIXEL]]
// CHECK: %[[OTHER:.*]] = vector.load %{{.*}}[%[[P]], %{{.*}}] : memref<12x16xf32>
// CHECK: %[[SUM:.*]] = numera.add %{{.*}}, %[[BIAS]] : vector<16xf32>
// CHECK: %[[LAST:.*]] = numera.mul %[[SUM]], %[[OTHER]] : vector<16xf32>
// CHECK: vector.store %[[LAST]], %[[RESULT]]
// CHECK-COUNT-3: numera.mul
// CHECK-NOT: numera.mul
func.func @overwritten(%image: memref<4x4x16xf32>, %filter: memref<2x16xf32>, %bias: memref<16xf32>,
    %other: memref<12x16xf32>) -> memref<3x4x16xf32> {
  %result = memref.alloc() : memref<3x4x16xf32>
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<4x4x16xf32>, memref<2x16xf32>) outs(%result : memref<3x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  %pixels = memref.collapse_shape %result [[0, 1], [2]] : memref<3x4x16xf32> into memref<12x16xf32>
  linalg.generic {indexing_maps = [#same, #bias, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%pixels, %bias, %other : memref<12x16xf32>, memref<16xf32>, memref<12x16xf32>)
      outs(%pixels : memref<12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = numera.add %a, %b : f32
    %1 = numera.mul %0, %c : f32
    linalg.yield %1 : f32
  }
  return %result : memref<3x4x16xf32>
}

// -----

// The same of a batch of a dynamic size, which is in one loop with the places.
#image = affine_map<(n, y, x, c, i) -> (n, y + i, x, c)>
#filter = affine_map<(n, y, x, c, i) -> (i, c)>
#result = affine_map<(n, y, x, c, i) -> (n, y, x, c)>
#same = affine_map<(n, p, c) -> (n, p, c)>
#bias = affine_map<(n, p, c) -> (c)>
// CHECK: #[[PIXEL:.*]] = affine_map<(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2)>
// CHECK-LABEL: func.func @overwritten_batch
// CHECK: %[[RESULT:.*]] = memref.alloc(%{{.*}}) : memref<?x3x4x16xf32>
// CHECK-COUNT-8: numera.mac
// CHECK: vector.load %{{.*}} : memref<16xf32>
// CHECK: %[[P:.*]] = affine.apply #[[PIXEL]]
// CHECK: %[[OTHER:.*]] = vector.load %{{.*}}[%[[P]], %{{.*}}] : memref<?x16xf32>
// CHECK: %[[LAST:.*]] = numera.mul %{{.*}}, %[[OTHER]] : vector<16xf32>
// CHECK: vector.store %[[LAST]], %[[RESULT]]
// CHECK-COUNT-3: numera.mul
// CHECK-NOT: numera.mul
func.func @overwritten_batch(%image: memref<?x4x4x16xf32>, %filter: memref<2x16xf32>, %bias: memref<16xf32>,
    %other: memref<?x12x16xf32>, %n: index) -> memref<?x3x4x16xf32> {
  %result = memref.alloc(%n) : memref<?x3x4x16xf32>
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<?x4x4x16xf32>, memref<2x16xf32>) outs(%result : memref<?x3x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  %pixels = memref.collapse_shape %result [[0], [1, 2], [3]] : memref<?x3x4x16xf32> into memref<?x12x16xf32>
  linalg.generic {indexing_maps = [#same, #bias, #same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%pixels, %bias, %other : memref<?x12x16xf32>, memref<16xf32>, memref<?x12x16xf32>)
      outs(%pixels : memref<?x12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = numera.add %a, %b : f32
    %1 = numera.mul %0, %c : f32
    linalg.yield %1 : f32
  }
  return %result : memref<?x3x4x16xf32>
}

// -----

// What it reads may be a view that is made behind the reduction.
#image = affine_map<(y, x, c, i) -> (y + i, x, c)>
#filter = affine_map<(y, x, c, i) -> (i, c)>
#result = affine_map<(y, x, c, i) -> (y, x, c)>
#same = affine_map<(y, x, c) -> (y, x, c)>
#bias = affine_map<(y, x, c) -> (c)>
// CHECK-LABEL: func.func @view_made_behind
// CHECK: %[[OTHER:.*]] = memref.collapse_shape
// CHECK-COUNT-8: numera.mac
// CHECK: vector.load %[[OTHER]]
// CHECK-COUNT-4: numera.mul %{{.*}} : vector<16xf32>
// CHECK-NOT: numera.mul
func.func @view_made_behind(%image: memref<4x4x16xf32>, %filter: memref<2x16xf32>, %bias: memref<16xf32>,
    %other: memref<3x4x16xf32>) -> memref<3x4x16xf32> {
  %result = memref.alloc() : memref<3x4x16xf32>
  linalg.generic {indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%image, %filter : memref<4x4x16xf32>, memref<2x16xf32>) outs(%result : memref<3x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #bias, #same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%result, %bias, %other : memref<3x4x16xf32>, memref<16xf32>, memref<3x4x16xf32>)
      outs(%result : memref<3x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %0 = numera.add %a, %b : f32
    %1 = numera.mul %0, %c : f32
    linalg.yield %1 : f32
  }
  return %result : memref<3x4x16xf32>
}

// -----

// Not where it reads results at other places, too.
#image = affine_map<(c, x, j) -> (c, x + j)>
#taps = affine_map<(c, x, j) -> (j)>
#result = affine_map<(c, x, j) -> (c, x)>
#same = affine_map<(c, x) -> (c, x)>
#first = affine_map<(c, x) -> (0, x)>
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-COUNT-2: numera.mac
// CHECK: vector.store
// CHECK: numera.add
func.func @read_elsewhere(%image: memref<3x17xf32>, %taps: memref<2xf32>) -> memref<3x16xf32> {
  %result = memref.alloc() : memref<3x16xf32>
  linalg.generic {indexing_maps = [#image, #taps, #result],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%image, %taps : memref<3x17xf32>, memref<2xf32>) outs(%result : memref<3x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = numera.mac %a, %b, %sum : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #first, #same], iterator_types = ["parallel", "parallel"]}
      ins(%result, %result : memref<3x16xf32>, memref<3x16xf32>) outs(%result : memref<3x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = numera.add %a, %b : f32
    linalg.yield %0 : f32
  }
  return %result : memref<3x16xf32>
}
