// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-kernels --canonicalize --cse \
// RUN:     --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK: module attributes {gpu.container_module}

// A thread an element, 40 of them in one block.
// CHECK-LABEL: func.func @a_sum_stays_in_a_register
// CHECK-SAME:      %[[A:.*]]: memref<8x16xi16>, %[[B:.*]]: memref<16x5xi16>, %[[C:.*]]: memref<8x5xi16>
// CHECK-NOT:     linalg.generic
// CHECK:         gpu.launch_func @kernels::@a_sum_stays_in_a_register
// CHECK-SAME:      blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK-SAME:      args(%[[A]] : memref<8x16xi16>, %[[B]] : memref<16x5xi16>, %[[C]] : memref<8x5xi16>)

// CHECK:       gpu.module @kernels
// CHECK:       gpu.func @a_sum_stays_in_a_register(
// CHECK-SAME:      %[[A:.*]]: memref<8x16xi16>, %[[B:.*]]: memref<16x5xi16>, %[[C:.*]]: memref<8x5xi16>)
// CHECK-SAME:      kernel attributes {known_block_size = array<i32: 256, 1, 1>}
// CHECK:         %[[THREAD:.*]] = arith.addi
// CHECK:         arith.cmpi ult, %[[THREAD]], %c40
// CHECK:         %[[N:.*]] = arith.remui %[[THREAD]], %c5
// CHECK:         %[[M:.*]] = arith.divui %[[THREAD]], %c5
// CHECK:         %[[START:.*]] = memref.load %[[C]][%[[M]], %[[N]]]
// CHECK:         %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c16 step %c1 iter_args(%[[S:.*]] = %[[START]])
// CHECK:           %[[X:.*]] = memref.load %[[A]][%[[M]], %[[K]]]
// CHECK:           %[[Y:.*]] = memref.load %[[B]][%[[K]], %[[N]]]
// CHECK:           %[[NEXT:.*]] = numera.mac %[[X]], %[[Y]], %[[S]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         memref.store %[[SUM]], %[[C]][%[[M]], %[[N]]]
// CHECK:         gpu.return
func.func @a_sum_stays_in_a_register(
    %a: memref<8x16xi16>, %b: memref<16x5xi16>, %c: memref<8x5xi16>) {
  linalg.generic {indexing_maps = [#a, #b, #c],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi16>, memref<16x5xi16>)
      outs(%c : memref<8x5xi16>) {
  ^bb0(%x: i16, %y: i16, %s: i16):
    %0 = numera.mac %x, %y, %s {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Loops without gaps are one, and a size of the run is an argument; what is
// constant is not.
// CHECK-LABEL: func.func @one_pass_over_memory
// CHECK:         %[[COUNT:.*]] = memref.dim
// CHECK:         arith.ceildivui %{{.*}}, %c256
// CHECK:         gpu.launch_func @kernels::@one_pass_over_memory
// CHECK:       gpu.func @one_pass_over_memory(%{{[^:]*}}: memref<?xi16>, %{{[^:]*}}: memref<?xi16>, %[[N:.*]]: index)
// CHECK:         arith.cmpi ult, %[[I:.*]], %[[N]]
// CHECK-NOT:     arith.divui
// CHECK:         memref.load %{{.*}}[%[[I]]]
// CHECK:         numera.exp
// CHECK:         numera.add %{{.*}}, %c7_i16
// CHECK:         memref.store %{{.*}}[%[[I]]]
func.func @one_pass_over_memory(%x: memref<?x8xi16>, %y: memref<?x8xi16>) {
  %seven = arith.constant 7 : i16
  linalg.generic {indexing_maps = [#id, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x8xi16>) outs(%y : memref<?x8xi16>) {
  ^bb0(%a: i16, %o: i16):
    %0 = numera.exp %a {format = #numera.format<posit<16, 2>>} : i16
    %1 = numera.add %0, %seven {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %1 : i16
  }
  return
}

// -----

#scalar = affine_map<(k) -> ()>
#all = affine_map<(k) -> (k)>

// A quire is added to in the thread's own memory.
// CHECK-LABEL: gpu.func @a_quire_has_a_slot
// CHECK:         %[[SLOT:.*]] = memref.alloca() : memref<i256>
// CHECK:         memref.store %{{.*}}, %[[SLOT]][]
// CHECK:         scf.for
// CHECK:           %[[Q:.*]] = memref.load %[[SLOT]][]
// CHECK:           %[[R:.*]] = numera.quire_mac %{{.*}}, %{{.*}}, %[[Q]]
// CHECK:           memref.store %[[R]], %[[SLOT]][]
// CHECK:         memref.load %[[SLOT]][]
func.func @a_quire_has_a_slot(%a: memref<9xi16>, %q: memref<i256>) {
  linalg.generic {indexing_maps = [#all, #all, #scalar], iterator_types = ["reduction"]}
      ins(%a, %a : memref<9xi16>, memref<9xi16>) outs(%q : memref<i256>) {
  ^bb0(%x: i16, %y: i16, %s: i256):
    %0 = numera.quire_mac %x, %y, %s {format = #numera.format<posit<16, 2>>} : i16, i256
    linalg.yield %0 : i256
  }
  return
}

// -----

// A copy into a part of a buffer is a kernel; one of all of it is not.
// CHECK-LABEL: func.func @copies
// CHECK:         gpu.launch_func @kernels::@copies
// CHECK:         memref.copy
// CHECK-NOT:     memref.copy
func.func @copies(%x: memref<4xi8>, %y: memref<8xi8>, %z: memref<4xi8>) {
  %part = memref.subview %y[2] [4] [1] : memref<8xi8> to memref<4xi8, strided<[1], offset: 2>>
  memref.copy %x, %part : memref<4xi8> to memref<4xi8, strided<[1], offset: 2>>
  memref.copy %x, %z : memref<4xi8> to memref<4xi8>
  return
}

// -----

llvm.mlir.global private constant @numera_assertion_3("no\00")
llvm.func @numera_host_fail(!llvm.ptr)

// The number goes to a word of the call.
// CHECK-LABEL: func.func @a_failure_leaves_its_number
// CHECK:         %[[WORD:.*]] = llvm.call @numera_cuda_failure() : () -> !llvm.ptr
// CHECK:         gpu.launch_func {{.*}} %[[WORD]] : !llvm.ptr)
// CHECK-LABEL: gpu.func @a_failure_leaves_its_number
// CHECK-SAME:      %[[WORD:[a-z0-9]*]]: !llvm.ptr)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[NUMBER:.*]] = arith.constant 4 : i32
// CHECK:         scf.if
// CHECK:           %[[LEFT:.*]] = llvm.load %[[WORD]] : !llvm.ptr -> i32
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[LEFT]], %[[ZERO]] : i32
// CHECK:           %[[WHY:.*]] = arith.select %[[FIRST]], %[[NUMBER]], %[[LEFT]] : i32
// CHECK:           llvm.store %[[WHY]], %[[WORD]] : i32, !llvm.ptr
// CHECK:           llvm.call_intrinsic "llvm.nvvm.exit"()
// CHECK-NOT:     numera_host_fail
func.func @a_failure_leaves_its_number(%x: memref<4xi1>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%x : memref<4xi1>) {
  ^bb0(%failed: i1):
    scf.if %failed {
      %text = llvm.mlir.addressof @numera_assertion_3 : !llvm.ptr
      llvm.call @numera_host_fail(%text) : (!llvm.ptr) -> ()
    }
    linalg.yield %failed : i1
  }
  return
}

// -----

// Elements of 2 bytes: 8 a thread, where there are so many; the rest one by one.
// CHECK-LABEL: gpu.func @short_elements_are_read_16_bytes_at_a_time(
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %c8
// CHECK:         %[[END:.*]] = arith.addi %[[FIRST]], %c8
// CHECK:         %[[WHOLE:.*]] = arith.cmpi ule, %[[END]], %c1003
// CHECK:         scf.if %[[WHOLE]]
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK-COUNT-8:   numera.add
// CHECK:           llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>
// CHECK:         } else {
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %c1003
// CHECK:             numera.add
func.func @short_elements_are_read_16_bytes_at_a_time(
    %a: memref<1003xi16>, %b: memref<1003xi16>, %c: memref<1003xi16>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%a, %b : memref<1003xi16>, memref<1003xi16>) outs(%c : memref<1003xi16>) {
  ^bb0(%x: i16, %y: i16, %o: i16):
    %0 = numera.add %x, %y {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}

// -----

#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

// A row of 49 does not begin at a multiple of 8; an exponential is long.
// CHECK-LABEL: gpu.func @what_is_long_or_not_aligned_is_read_one_by_one(
// CHECK-NOT:     vector
// CHECK-LABEL: gpu.func @what_is_long_or_not_aligned_is_read_one_by_one_0(
// CHECK-NOT:     vector
func.func @what_is_long_or_not_aligned_is_read_one_by_one(
    %a: memref<4x49xi16>, %b: memref<49xi16>, %c: memref<4x49xi16>, %d: memref<64xi16>) {
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<4x49xi16>, memref<49xi16>) outs(%c : memref<4x49xi16>) {
  ^bb0(%x: i16, %y: i16, %o: i16):
    %0 = numera.add %x, %y {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%d : memref<64xi16>) {
  ^bb0(%x: i16):
    %0 = numera.exp %x {format = #numera.format<posit<16, 2>>} : i16
    linalg.yield %0 : i16
  }
  return
}

// -----

#x = affine_map<(m, n) -> (m, n)>
#y = affine_map<(m, n) -> (m)>

// What memory is filled with in front of sums is where they start.
// CHECK-LABEL: func.func @a_sum_starts_with_a_constant
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT:     gpu.launch_func
// CHECK:       gpu.func @a_sum_starts_with_a_constant(
// CHECK-NOT:     memref.load
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %cst)
func.func @a_sum_starts_with_a_constant(%a: memref<8x16xf32>) -> memref<8xf32> {
  %one = arith.constant 1.0 : f32
  %sums = memref.alloc() : memref<8xf32>
  linalg.fill ins(%one : f32) outs(%sums : memref<8xf32>)
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x16xf32>) outs(%sums : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  }
  return %sums : memref<8xf32>
}

// -----

#x = affine_map<(m, n) -> (m, n)>
#y = affine_map<(m, n) -> (m)>
#diagonal = affine_map<(m, n) -> (n)>

// Where it is read in between, or by the kernel itself, it is filled.
// CHECK-LABEL: func.func @a_fill_that_is_read
// CHECK-COUNT-4: gpu.launch_func
// CHECK:       gpu.func @a_fill_that_is_read(
func.func @a_fill_that_is_read(%a: memref<8x8xf32>, %copy: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %sums = memref.alloc() : memref<8xf32>
  linalg.fill ins(%one : f32) outs(%sums : memref<8xf32>)
  memref.copy %sums, %copy : memref<8xf32> to memref<8xf32>
  linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x8xf32>) outs(%sums : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  }
  %others = memref.alloc() : memref<8xf32>
  linalg.fill ins(%one : f32) outs(%others : memref<8xf32>)
  linalg.generic {indexing_maps = [#x, #diagonal, #y], iterator_types = ["parallel", "reduction"]}
      ins(%a, %others : memref<8x8xf32>, memref<8xf32>) outs(%others : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %0 : f32
    linalg.yield %next : f32
  }
  return %sums, %others : memref<8xf32>, memref<8xf32>
}
