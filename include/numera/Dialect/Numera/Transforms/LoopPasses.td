// SPDX-License-Identifier: MIT
//
// The passes to loops and threads of a CPU; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES

include "mlir/Pass/PassBase.td"

def NumeraRoundBlocks : Pass<"numera-round-blocks", "::mlir::ModuleOp"> {
  let summary = "round to the elements of blocks without scaling";
  let description = [{
    *Before:* numbers that are multiplied by the reciprocals of scales and
    rounded to elements, either to codes, or to numbers that are multiplied by
    the scales again. Scales are powers of two. Elements are a float of few
    bits, or an integer or fixed-point number that saturates. Blocks lie along
    the last dimension, and their scales follow from their largest magnitudes.
    *After:* an `scf.if` tests for each element whether the block's scale and
    numbers allow the fast way. If they do, the number is rounded in place to
    the value that its element has in the block: to a float by five integer
    operations, a subtraction and an addition, to its code by eleven integer
    operations and an addition. Other blocks are scaled as before. Every result
    has the same bits. BlockSteps.h has the proof.

    For example,

    ```mlir
    // numera-opt --numera-expand-scales --numera-simplify --numera-lower-types --convert-elementwise-to-linalg --numera-fuse --numera-promote-to-carrier --numera-round-blocks --canonicalize --cse
    #mx = #numera.scaling<floor, float<8, 0, fnu>, axis = 1, block = 32>
    !mx = tensor<4x32x!numera.num<float<4, 3, fn>>, #mx>
    func.func @f(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
      %0 = numera.quantize %x : tensor<4x32xf32> to !mx
      %1 = numera.dequantize %0 : !mx to tensor<4x32xf32>
      return %1 : tensor<4x32xf32>
    }
    ```

    becomes

    ```mlir
    // …
      %7 = linalg.generic {…} ins(%expanded, %6#0, %6#1, %6#2 : …) outs(%5 : tensor<4x1x32xf32>) {
      ^bb0(%in: f32, %in_0: i32, %in_1: i32, %in_2: i32, %out: f32):
        %8 = arith.cmpi eq, %in_0, %c0_i32 : i32
        %9 = scf.if %8 -> (f32) {
          // …
          %12 = arith.minsi %11, %in_1 : i32
          %13 = arith.addi %12, %c167772160_i32 : i32
          %14 = arith.maxsi %13, %in_2 : i32
          %15 = arith.bitcast %14 : i32 to f32
          %16 = arith.bitcast %12 : i32 to f32
          %17 = arith.subf %16, %15 : f32
          %18 = arith.addf %17, %15 : f32
          // …
        } else {
          // …
          %13 = numera.div %cst, %12 : f32
          %14 = arith.mulf %in, %13 : f32
          %15 = numera.round_to %14 {format = #numera.format<float<4, 3, fn>>} : f32
          %16 = numera.mul %15, %12 : f32
          scf.yield %16 : f32
        }
        linalg.yield %9 : f32
      } -> tensor<4x1x32xf32>
    // …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraFuseRows : Pass<"numera-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "run consecutive operations on a few rows of memory at a time";
  let description = [{
    *Before:* consecutive linalg operations on memrefs, of constant sizes, that
    share memory and have the same number of rows. A row is an index of the
    outer loop, and rows do not depend on each other.
    *After:* one loop with the attribute `numera.parallel`, over as many rows as
    a core's cache holds. Its body has the operations on views of these rows.
    Buffers that nothing else uses shrink to the size of these rows and are
    allocated on the stack.

    For example,

    ```mlir
    // numera-opt --pass-pipeline='builtin.module(func.func(numera-fuse-rows,canonicalize))'
    #all = affine_map<(i, j) -> (i, j)>
    #row = affine_map<(i, j) -> (i)>
    func.func @f(%x: memref<64x256xi32>, %y: memref<64x256xi32>)
        attributes {numera.destinations = [array<i64: -1, -1, -1, -1>]} {
      %zero = arith.constant 0 : i32
      %max = memref.alloc() : memref<64xi32>
      linalg.fill ins(%zero : i32) outs(%max : memref<64xi32>)
      linalg.generic {indexing_maps = [#all, #row],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x : memref<64x256xi32>) outs(%max : memref<64xi32>) {
      ^bb0(%a: i32, %m: i32):
        %0 = arith.maxui %m, %a : i32
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
    ```

    becomes

    ```mlir
    // …
      scf.for %arg2 = %c0 to %c4 step %c1 {
        %0 = arith.muli %arg2, %c16 : index
        %alloca = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
        linalg.fill ins(%c0_i32 : i32) outs(%alloca : memref<16xi32>)
        %subview = memref.subview %arg0[%0, 0] [16, 256] [1, 1] : memref<64x256xi32> to memref<16x256xi32, …>
        linalg.generic {…, iterator_types = ["parallel", "reduction"]} ins(%subview : …) outs(%alloca : memref<16xi32>) {
        // …
        linalg.generic {…, iterator_types = ["parallel", "parallel"]} ins(%subview_0, %alloca : …) outs(%subview_1 : …) {
        // …
      } {numera.parallel}
      return
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLoops : Pass<"numera-loops", "::mlir::func::FuncOp"> {
  let summary = "turn linalg on memrefs into loops with a parallel inner loop";
  let description = [{
    *Requires:* linalg on memrefs.
    *After:* scf loops. The innermost loop is a parallel dimension along which
    the result is contiguous. So the loop vectorises although reduction
    dimensions stay in written order.

    * Loops of an elementwise operation along which all operands are contiguous
      are merged into one.
    * Short rows of integers whose order in a sum does not matter are processed
      sixteen at a time, one in each lane.
    * Sums over short windows in f32 or f64, such as those of depthwise
      convolutions, and maxima and minima in any format, such as those of
      pools, keep neighbouring results in a vector for the whole window.
      They begin with what a fill right before them writes; the fill goes. An
      elementwise operation in f32 right behind that overwrites the results is
      computed on the vectors before these are written.
    * A new buffer that is filled with a constant, and into a part of which
      another is copied, which is what padding becomes, is written once, row by
      row. Where the other is computed element by element right before it, and
      not read again, it is computed there.
    * A condition in an innermost loop that is the same in all iterations is
      tested before the loop, which is duplicated.
    * A short inner loop on codes whose last vector is almost full is marked to
      be vectorised with masks.
    * Outer loops with independent iterations get the attribute
      `numera.parallel`.

    For example,

    ```mlir
    // numera-opt --pass-pipeline='builtin.module(func.func(numera-loops,canonicalize))'
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>

    func.func @f(%a: memref<2x3xf32>, %b: memref<3x16xf32>, %c: memref<2x16xf32>) {
      linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : memref<2x3xf32>, memref<3x16xf32>)
          outs(%c : memref<2x16xf32>) {
      ^bb0(%x: f32, %y: f32, %s: f32):
        %0 = numera.mac %x, %y, %s : f32
        linalg.yield %0 : f32
      }
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<2x3xf32>, %arg1: memref<3x16xf32>, %arg2: memref<2x16xf32>) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c16 = arith.constant 16 : index
      scf.for %arg3 = %c0 to %c2 step %c1 {
        scf.for %arg4 = %c0 to %c3 step %c1 {
          scf.for %arg5 = %c0 to %c16 step %c1 {
            %0 = memref.load %arg0[%arg3, %arg4] : memref<2x3xf32>
            %1 = memref.load %arg1[%arg4, %arg5] : memref<3x16xf32>
            %2 = memref.load %arg2[%arg3, %arg5] : memref<2x16xf32>
            %3 = numera.mac %0, %1, %2 : f32
            memref.store %3, %arg2[%arg3, %arg5] : memref<2x16xf32>
          }
        }
      } {numera.parallel}
      return
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraParallelize : Pass<"numera-parallelize", "::mlir::ModuleOp"> {
  let summary = "share parallel loops among the threads of a call";
  let description = [{
    *Before:* `scf.for` with the attribute `numera.parallel`, which
    `numera-loops` sets.
    *After:* a loop with enough work becomes a call of `numera_host_parallel`.
    Its arguments are a function for a range of iterations, the values that this
    function uses, in a struct on the stack, and a grain: the least number of
    iterations that justify a thread. Perfectly nested loops are included until
    there are enough iterations to share. If sizes are known only at run time,
    the grain is computed at run time. Other loops lose the attribute.

    Each iteration runs unchanged in one thread. Sums keep their order, and the
    bits do not depend on the number of threads.

    For example,

    ```mlir
    // numera-opt --numera-parallelize --canonicalize
    func.func @f(%x: memref<1000000xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 1000000 : index
      scf.for %i = %c0 to %n step %c1 {
        %0 = memref.load %x[%i] : memref<1000000xf32>
        %1 = arith.negf %0 : f32
        memref.store %1, %x[%i] : memref<1000000xf32>
      } {numera.parallel}
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<1000000xf32>) {
      %0 = llvm.mlir.addressof @f.chunk : !llvm.ptr
      // …
      llvm.call @numera_host_parallel(%0, %3, %6, %7) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
      return
    }
    func.func private @f.loop(%arg0: index, %arg1: index, %arg2: memref<1000000xf32>) {
      %c1 = arith.constant 1 : index
      scf.for %arg3 = %arg0 to %arg1 step %c1 {
        // …
      }
      return
    }
    llvm.func internal @f.chunk(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) attributes {no_inline} {
      // …
      func.call @f.loop(%1, %2, %4) : (index, index, memref<1000000xf32>) -> ()
      llvm.return
    }
    llvm.func @numera_host_parallel(!llvm.ptr, !llvm.ptr, i64, i64)
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraOutlineLoops : Pass<"numera-outline-loops", "::mlir::ModuleOp"> {
  let summary = "make functions of the loops of a long function";
  let description = [{
    *Before:* functions on buffers, with loops.
    *After:* each loop of a function that has many is a private function, which
    is not inlined. Private functions that are alike are one. Constant tensors
    are passed, apart from tables and those of a few elements, so that layers of
    the same sizes share their functions.

    LLVM takes more than twice as long for a function of twice the size.

    For example,

    ```mlir
    // numera-opt --numera-outline-loops=most-loops=1
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %zero, %x[%i] : memref<8xf32>
      }
      scf.for %i = %c0 to %c8 step %c1 {
        memref.store %zero, %y[%i] : memref<8xf32>
      }
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
      // …
      call @f.loop(%arg0) : (memref<8xf32>) -> ()
      call @f.loop(%arg1) : (memref<8xf32>) -> ()
      return
    }
    func.func private @f.loop(%arg0: memref<8xf32>) attributes {passthrough = ["noinline"]} {
      // …
      scf.for %arg1 = %c0 to %c8 step %c1 {
        memref.store %cst, %arg0[%arg1] : memref<8xf32>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"mostLoops", "most-loops", "unsigned", "8",
           "functions with as many loops, or fewer, keep them">];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES
