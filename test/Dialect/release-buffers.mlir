// SPDX-License-Identifier: MIT
// RUN: numera-opt %s --numera-release-buffers | FileCheck %s

// A buffer lives from its first use to its last.

// CHECK-LABEL: func @chain
//  CHECK-NEXT: %[[A:.*]] = memref.alloc()
//  CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[A]]
//  CHECK-NEXT: %[[B:.*]] = memref.alloc()
//  CHECK-NEXT: linalg.exp ins(%[[A]] {{.*}} outs(%[[B]]
//  CHECK-NEXT: memref.dealloc %[[A]]
//  CHECK-NEXT: linalg.exp ins(%[[B]]
//  CHECK-NEXT: memref.dealloc %[[B]]
//  CHECK-NEXT: return
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %b = memref.alloc() : memref<8xf32>
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.exp ins(%b : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %b : memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}

// What uses a view, or a pointer, uses the buffer; also inside of a region.

// CHECK-LABEL: func @views
//       CHECK: memref.alloc() : memref<8xf32>
//       CHECK: scf.if
//       CHECK:   call @read
//       CHECK: }
//  CHECK-NEXT: memref.dealloc %{{.*}} : memref<8xf32>
//  CHECK-NEXT: linalg.exp
func.func private @read(!llvm.ptr)
func.func @views(%x: memref<8xf32>, %y: memref<8xf32>, %c: i1) {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  %v = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %i = memref.extract_aligned_pointer_as_index %v : memref<4xf32, strided<[1], offset: 4>> -> index
  %n = arith.index_cast %i : index to i64
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  scf.if %c {
    %p = llvm.inttoptr %n : i64 to !llvm.ptr
    func.call @read(%p) : (!llvm.ptr) -> ()
  }
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  return
}

// What a loop carries is used by what uses the loop's results.

// CHECK-LABEL: func @carried
//       CHECK: scf.for
//       CHECK: linalg.exp ins(%{{.*}}#1
//  CHECK-NEXT: memref.dealloc
//  CHECK-NEXT: memref.dealloc
//  CHECK-NEXT: linalg.exp ins(%arg0
func.func @carried(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b)
      -> (memref<8xf32>, memref<8xf32>) {
    linalg.exp ins(%p : memref<8xf32>) outs(%q : memref<8xf32>)
    scf.yield %q, %p : memref<8xf32>, memref<8xf32>
  }
  linalg.exp ins(%r#1 : memref<8xf32>) outs(%y : memref<8xf32>)
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// Numbers that are read do not lead to the memory, nor do its sizes.

// CHECK-LABEL: func @numbers
//       CHECK: memref.load
//  CHECK-NEXT: memref.dealloc
//       CHECK: arith.addi
func.func @numbers(%x: memref<?xindex>, %n: index) -> index {
  %a = memref.alloc(%n) : memref<?xindex>
  linalg.copy ins(%x : memref<?xindex>) outs(%a : memref<?xindex>)
  %base, %offset, %size, %stride = memref.extract_strided_metadata %a
      : memref<?xindex> -> memref<index>, index, index, index
  %r = memref.load %a[%n] : memref<?xindex>
  %s = arith.addi %r, %size : index
  %t = arith.addi %s, %r : index
  memref.dealloc %a : memref<?xindex>
  return %t : index
}

// A pointer that is stored may be read anywhere.

// CHECK-LABEL: func @stored
//       CHECK: call @read
//  CHECK-NEXT: memref.dealloc
//  CHECK-NEXT: return
func.func @stored(%p: !llvm.ptr) {
  %a = memref.alloc() : memref<8xf32>
  %i = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
  %n = arith.index_cast %i : index to i64
  llvm.store %n, %p : i64, !llvm.ptr
  func.call @read(%p) : (!llvm.ptr) -> ()
  memref.dealloc %a : memref<8xf32>
  return
}

// A block inside of a region has its own.

// CHECK-LABEL: func @inside
//       CHECK: scf.for
//  CHECK-NEXT:   memref.alloc
//  CHECK-NEXT:   linalg.exp
//  CHECK-NEXT:   linalg.exp
//  CHECK-NEXT:   memref.dealloc
//  CHECK-NEXT:   linalg.exp
func.func @inside(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<8xf32>
    linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
    linalg.exp ins(%a : memref<8xf32>) outs(%y : memref<8xf32>)
    linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    memref.dealloc %a : memref<8xf32>
  }
  return
}
