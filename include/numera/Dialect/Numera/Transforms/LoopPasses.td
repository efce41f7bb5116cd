// SPDX-License-Identifier: MIT
//
// The passes to loops on buffers and threads of a CPU; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES

include "mlir/Pass/PassBase.td"

def NumeraRoundBlocks : Pass<"numera-round-blocks", "::mlir::ModuleOp"> {
  let summary = "round to the elements of blocks without scaling";
  let description = [{
    *Before:* numbers times the reciprocals of scales, powers of two, rounded to
    a float of few bits, an integer or fixed point that saturates: to codes, or
    to numbers that are multiplied by the scales; blocks along the last dimension,
    whose scales come from their largest magnitudes.
    *After:* where a block's scale and numbers allow it, which `scf.if` asks
    once an element, the numbers are rounded to what elements stand for in their
    block: to a float by five integer operations, a subtraction and an addition,
    to its code by eleven and an addition. Other blocks are scaled as before.
    Every result has the same bits: the proof stands in BlockSteps.h.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraFuseRows : Pass<"numera-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "go through rows of memory with several operations at a time";
  let description = [{
    *Before:* linalg on memrefs, operations of constant sizes that follow each
    other, share memory and have the same number of rows, indices of the outer
    loop that do not depend on each other.
    *After:* one loop, `numera.parallel`, over as many rows as a core's cache
    holds; inside, the operations on views of these. Buffers that nothing else
    uses are as long as these rows, on the stack.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLoops : Pass<"numera-loops", "::mlir::func::FuncOp"> {
  let summary = "turn linalg on memrefs into loops with a parallel inner loop";
  let description = [{
    *Requires:* linalg on memrefs.
    *After:* scf loops. The innermost is a parallel dimension along which the
    result is contiguous, so that it vectorises although the steps of a
    reduction keep their order: reduction dimensions stay in written order.
    Loops of an elementwise operation along which all its operands are
    contiguous become one. Of short rows of integers whose order in a sum does
    not matter, sixteen go through the lanes at a time. A choice in an innermost
    loop that is the same for all its iterations is made before it, of two
    loops. A short inner loop on codes whose last vector is almost full is marked
    to be vectorised with masks. Outer loops whose iterations do not depend on
    each other have the attribute `numera.parallel`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraParallelize : Pass<"numera-parallelize", "::mlir::ModuleOp"> {
  let summary = "share parallel loops among the threads of a call";
  let description = [{
    *Before:* `scf.for` with the attribute `numera.parallel`, as numera-loops
    leaves it.
    *After:* a loop with enough work is a call of `numera_host_parallel` with a
    function for a part of its iterations, the values that this uses in a struct
    on the stack, and a grain, the number of iterations that are worth a
    thread's while. Loops right inside join in until there are iterations to
    share. Where sizes are known only at run time, so is the grain. Other loops
    lose the attribute.

    An iteration stays as it is, in one thread: sums keep their order, and bits
    do not depend on the number of threads.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraWriteInPlace : Pass<"numera-write-in-place"> {
  let summary = "let elementwise operations write where they read";
  let description = [{
    *Before:* an elementwise `linalg.generic` that writes a new tensor
    (`tensor.empty`) and reads another of the same type, in the same order, that
    an operation of linalg in the same block has made and nothing else uses.
    *After:* it writes to that tensor, which bufferization makes one memory.
  }];
}

def NumeraDestinations : Pass<"numera-destinations", "::mlir::ModuleOp"> {
  let summary = "let public functions write results where the caller wants them";
  let description = [{
    *Before:* public functions, called by none of the module, that return
    tensors.
    *After:* for every result whose sizes are constant or those of arguments,
    one argument more, a memref that the result is materialised in, and one
    result less. `numera.destinations` says which, and where the sizes come
    from. The memrefs share no memory with any argument. A tensor that several
    results begin with, such as a fill, is made once for each of them, and an
    input that one begins with is copied. No public function writes its inputs
    (`bufferization.writable = false`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraLowerAsserts : Pass<"numera-lower-asserts", "::mlir::ModuleOp"> {
  let summary = "let a failed assertion end the call with its message";
  let description = [{
    *Before:* `cf.assert`, which upstream's runtime verification puts before
    operations whose shapes may not agree.
    *After:* where the condition is false, a call of `numera_host_fail` with the
    message, which does not return: the program's entry gives it back as its
    error.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraAnnotateBranches : Pass<"numera-annotate-branches"> {
  let summary = "move loop annotations to where translation reads them";
  let description = [{
    *Before:* `llvm.br` with the discardable attribute `llvm.loop_annotation`,
    as upstream's lowering of scf leaves it.
    *After:* the branch's own attribute, which becomes LLVM's loop metadata. The
    pointers that a function's `numera.apart` names, by their places among its
    arguments, are `llvm.noalias`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_LOOPPASSES
