// SPDX-License-Identifier: MIT
//
// The passes on buffers, asserts and branches of a program for a CPU; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_BUFFERPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_BUFFERPASSES

include "mlir/Pass/PassBase.td"

def NumeraSeparateFills : Pass<"numera-separate-fills"> {
  let summary = "give each operation that starts from a fill one of its own";
  let description = [{
    *Before:* `linalg.fill` of a new tensor (`tensor.empty`) that several
    operations read, and some write to, such as sums that start at zero.
    *After:* each operation that writes to it has a fill of its own.
    Bufferization would copy the one instead. A new tensor has at most 16 uses,
    and others like it the rest: bufferization compares all of them.

    For example,

    ```mlir
    // numera-opt --numera-separate-fills --canonicalize
    func.func @f(%x: tensor<3x4xi32>, %y: tensor<3x4xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
      %zero = arith.constant 0 : i32
      %0 = tensor.empty() : tensor<3xi32>
      %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
      %2 = linalg.reduce {arith.addi} ins(%x : tensor<3x4xi32>) outs(%1 : tensor<3xi32>) dimensions = [1]
      %3 = linalg.reduce {arith.addi} ins(%y : tensor<3x4xi32>) outs(%1 : tensor<3xi32>) dimensions = [1]
      return %2, %3 : tensor<3xi32>, tensor<3xi32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<3x4xi32>, %arg1: tensor<3x4xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
      %c0_i32 = arith.constant 0 : i32
      %0 = tensor.empty() : tensor<3xi32>
      %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<3xi32>) -> tensor<3xi32>
      %reduced = linalg.reduce { arith.addi {overflowFlags = #arith.overflow<none>} } ins(%arg0 : tensor<3x4xi32>) outs(%1 : tensor<3xi32>) dimensions = [1]
      %2 = tensor.empty() : tensor<3xi32>
      %3 = linalg.fill ins(%c0_i32 : i32) outs(%2 : tensor<3xi32>) -> tensor<3xi32>
      %reduced_0 = linalg.reduce { arith.addi {overflowFlags = #arith.overflow<none>} } ins(%arg1 : tensor<3x4xi32>) outs(%3 : tensor<3xi32>) dimensions = [1]
      return %reduced, %reduced_0 : tensor<3xi32>, tensor<3xi32>
    }
    ```
  }];
}

def NumeraWriteInPlace : Pass<"numera-write-in-place"> {
  let summary = "let elementwise operations overwrite an operand";
  let description = [{
    *Before:* an elementwise `linalg.generic` that writes a new tensor
    (`tensor.empty`) and reads another of the same type in the same order. That
    other tensor is the result of a linalg operation in the same block and has
    no other use.
    *After:* the operation writes to the tensor that it reads, so that
    bufferization gives both the same memory.

    For example,

    ```mlir
    // numera-opt --numera-write-in-place
    #map = affine_map<(i, j) -> (i, j)>
    func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = tensor.empty() : tensor<4x4xf32>
      %1 = linalg.transpose ins(%x : tensor<4x4xf32>)
          outs(%0 : tensor<4x4xf32>) permutation = [1, 0]
      %2 = linalg.generic {
          indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%1 : tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) {
      ^bb0(%a: f32, %out: f32):
        %3 = arith.negf %a : f32
        linalg.yield %3 : f32
      } -> tensor<4x4xf32>
      return %2 : tensor<4x4xf32>
    }
    ```

    becomes

    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0 = tensor.empty() : tensor<4x4xf32>
      %transposed = linalg.transpose ins(%arg0 : tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) permutation = [1, 0]
      %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<4x4xf32>) outs(%transposed : tensor<4x4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %2 = arith.negf %in : f32
        linalg.yield %2 : f32
      } -> tensor<4x4xf32>
      return %1 : tensor<4x4xf32>
    }
    ```
  }];
}

def NumeraDestinations : Pass<"numera-destinations", "::mlir::ModuleOp"> {
  let summary = "let public functions write results to the caller's memory";
  let description = [{
    *Before:* public functions that return tensors and that the module does not
    call.
    *After:* each result whose sizes are constant, or are sizes of arguments, is
    replaced by a further argument: a memref in which the result is
    materialised. The attribute `numera.destinations` says which results these
    are, and where their sizes come from. The memrefs share no memory with any
    argument. A tensor that several results start from, such as a fill, is
    duplicated for each of them. An input that a result starts from is copied.
    No public function writes its inputs (`bufferization.writable = false`).

    For example,

    ```mlir
    // numera-opt --numera-destinations --canonicalize
    func.func @f(%x: tensor<?x3xf32>) -> tensor<3x?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x3xf32>
      %0 = tensor.empty(%n) : tensor<3x?xf32>
      %1 = linalg.transpose ins(%x : tensor<?x3xf32>)
          outs(%0 : tensor<3x?xf32>) permutation = [1, 0]
      return %1 : tensor<3x?xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<?x3xf32> {bufferization.writable = false}, %arg1: memref<3x?xf32>) attributes {numera.destinations = [array<i64: -1, -1, 0, 0>]} {
      %c0 = arith.constant 0 : index
      %dim = tensor.dim %arg0, %c0 : tensor<?x3xf32>
      %0 = tensor.empty(%dim) : tensor<3x?xf32>
      %transposed = linalg.transpose ins(%arg0 : tensor<?x3xf32>) outs(%0 : tensor<3x?xf32>) permutation = [1, 0]
      bufferization.materialize_in_destination %transposed in restrict writable %arg1 : (tensor<3x?xf32>, memref<3x?xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraSplitDeallocations : Pass<"numera-split-deallocations"> {
  let summary = "free each buffer by an operation of its own";
  let description = [{
    *Before:* `bufferization.dealloc`, as `ownership-based-buffer-deallocation`
    leaves it at the end of a block.
    *After:* one that only frees buffers which `memref.alloc` has allocated,
    each once and whatever happens, is `memref.dealloc` of each. All others stay.

    `buffer-deallocation-simplification` does the same, but compares each buffer
    with each other.

    For example,

    ```mlir
    // numera-opt --numera-split-deallocations
    func.func @f(%x: memref<8xf32>) {
      %true = arith.constant true
      %0 = memref.alloc() : memref<8xf32>
      %1 = memref.alloc() : memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%0 : memref<8xf32>)
      linalg.exp ins(%0 : memref<8xf32>) outs(%1 : memref<8xf32>)
      bufferization.dealloc (%0, %1 : memref<8xf32>, memref<8xf32>) if (%true, %true)
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<8xf32>) {
      // …
      linalg.exp ins(%alloc : memref<8xf32>) outs(%alloc_0 : memref<8xf32>)
      memref.dealloc %alloc : memref<8xf32>
      memref.dealloc %alloc_0 : memref<8xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def NumeraReleaseBuffers : Pass<"numera-release-buffers"> {
  let summary = "let buffers live from their first use to their last";
  let description = [{
    *Before:* `memref.alloc` and `memref.dealloc` of it in one block.
    *After:* the first stands in front of what uses the buffer first, the second
    behind what uses it last. A use is also that of a view, or of a pointer that
    comes from the buffer. What hands such a value to other code, by memory or
    by a branch, leaves both where they are.

    For example,

    ```mlir
    // numera-opt --numera-release-buffers
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      %0 = memref.alloc() : memref<8xf32>
      %1 = memref.alloc() : memref<8xf32>
      linalg.exp ins(%x : memref<8xf32>) outs(%0 : memref<8xf32>)
      linalg.tanh ins(%0 : memref<8xf32>) outs(%1 : memref<8xf32>)
      linalg.exp ins(%1 : memref<8xf32>) outs(%y : memref<8xf32>)
      memref.dealloc %0 : memref<8xf32>
      memref.dealloc %1 : memref<8xf32>
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<8xf32>, %arg1: memref<8xf32>) {
      %alloc = memref.alloc() : memref<8xf32>
      linalg.exp ins(%arg0 : memref<8xf32>) outs(%alloc : memref<8xf32>)
      %alloc_0 = memref.alloc() : memref<8xf32>
      linalg.tanh ins(%alloc : memref<8xf32>) outs(%alloc_0 : memref<8xf32>)
      memref.dealloc %alloc : memref<8xf32>
      linalg.exp ins(%alloc_0 : memref<8xf32>) outs(%arg1 : memref<8xf32>)
      memref.dealloc %alloc_0 : memref<8xf32>
      return
    }
    ```
  }];
}

def NumeraVerifyShapes : Pass<"numera-verify-shapes"> {
  let summary = "assert that shapes which are known only at run time agree";
  let description = [{
    *Before:* operations whose sizes or indices are known only at run time.
    *After:* `cf.assert` before each, for what upstream's interface of such
    operations (`RuntimeVerifiableOpInterface`) says. Structured operations
    whose sizes are known, and agree, get none. `tensor.reshape`,
    `tensor.expand_shape` and `tensor.insert_slice`, which have no such
    interface, get some, the last one as early in its block as it can be: an
    offset of it comes from behind it, lest something is computed into the slice
    before. So do `tensor.parallel_insert_slice`, loads, stores and transfers of
    vectors, and divisions of integers that a divisor could have no quotient in.

    For example,

    ```mlir
    // numera-opt --numera-verify-shapes --canonicalize --cse
    func.func @f(%x: tensor<?xf32>) -> tensor<4xf32> {
      %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<?xf32>) -> tensor<4xf32> {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
      %0 = arith.cmpi eq, %dim, %c4 : index
      cf.assert %0, "the shapes do not agree: size mismatch of dim 0"
      %cast = tensor.cast %arg0 : tensor<?xf32> to tensor<4xf32>
      return %cast : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
      "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
      "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def NumeraLowerAsserts : Pass<"numera-lower-asserts", "::mlir::ModuleOp"> {
  let summary = "let a failed assertion end the call with its message";
  let description = [{
    *Before:* `cf.assert`, of models or of `numera-verify-shapes`.
    *After:* if the condition is false, the program calls `numera_host_fail`
    with the message. This call does not return; the program's entry returns the
    message as its error.

    For example,

    ```mlir
    // numera-opt --numera-lower-asserts
    func.func @f(%same: i1) {
      cf.assert %same, "shapes differ"
      return
    }
    ```

    becomes

    ```mlir
    llvm.mlir.global private constant @numera_assertion_0("shapes differ\00") {addr_space = 0 : i32}
    llvm.func @numera_host_fail(!llvm.ptr)
    func.func @f(%arg0: i1) {
      %true = arith.constant true
      %0 = arith.xori %arg0, %true : i1
      scf.if %0 {
        %1 = llvm.mlir.addressof @numera_assertion_0 : !llvm.ptr
        llvm.call @numera_host_fail(%1) : (!llvm.ptr) -> ()
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLowerShapes : Pass<"numera-lower-shapes"> {
  let summary = "write out dimensions that are split into unknown sizes";
  let description = [{
    *Requires:* memrefs; runs before upstream's `expand-strided-metadata`, which
    takes no such operation.
    *Before:* `memref.expand_shape` with a group of several dynamic sizes, and
    `memref.reshape` whose sizes are of type index; `memref.alloc` of dynamic sizes.
    *After:* `memref.reinterpret_cast` with sizes and strides. Buffers whose bytes
    64 bits do not count ask for a size that no memory has, so they fail as those
    of other sizes that are too large do.

    For example,

    ```mlir
    // numera-opt --numera-lower-shapes
    func.func @f(%x: memref<?x8xf32>, %b: index, %s: index) -> memref<?x?x8xf32> {
      %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8] : memref<?x8xf32> into memref<?x?x8xf32>
      return %0 : memref<?x?x8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<?x8xf32>, %arg1: index, %arg2: index) -> memref<?x?x8xf32> {
      %base_buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %arg0 : memref<?x8xf32> -> memref<f32>, index, index, index, index, index
      %0 = arith.muli %arg2, %strides#0 : index
      %reinterpret_cast = memref.reinterpret_cast %base_buffer to offset: [0], sizes: [%arg1, %arg2, 8], strides: [%0, 8, 1] : memref<f32> to memref<?x?x8xf32>
      return %reinterpret_cast : memref<?x?x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NumeraConvertVectors : Pass<"numera-convert-vectors"> {
  let summary = "convert operations on vectors, where there are any";
  let description = [{
    *Before:* operations of the dialect vector.
    *After:* what upstream's `convert-vector-to-scf` makes of them or, with
    `to=llvm`, `convert-vector-to-llvm`. Where nothing is a vector, which goes
    for nearly all models, all stays as it is: upstream's passes would look at
    every operation several times, a fifth of the time of lowering.

    For example,

    ```mlir
    // numera-opt --numera-convert-vectors
    func.func @f(%x: memref<3x4xf32>, %y: vector<3x4xf32>) {
      %c0 = arith.constant 0 : index
      vector.transfer_write %y, %x[%c0, %c0] {in_bounds = [true, true]} : vector<3x4xf32>, memref<3x4xf32>
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<3x4xf32>, %arg1: vector<3x4xf32>) {
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c0 = arith.constant 0 : index
      %alloca = memref.alloca() : memref<vector<3x4xf32>>
      memref.store %arg1, %alloca[] : memref<vector<3x4xf32>>
      %0 = vector.type_cast %alloca : memref<vector<3x4xf32>> to memref<3xvector<4xf32>>
      scf.for %arg2 = %c0 to %c3 step %c1 {
        %1 = memref.load %0[%arg2] : memref<3xvector<4xf32>>
        vector.transfer_write %1, %arg0[%arg2, %c0] {in_bounds = [true]} : vector<4xf32>, memref<3x4xf32>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"to", "to", "std::string", [{"loops"}], "loops or llvm">,
  ];
}

def NumeraAnnotateBranches : Pass<"numera-annotate-branches"> {
  let summary = "move loop annotations to where translation reads them";
  let description = [{
    *Before:* `llvm.br` with the discardable attribute `llvm.loop_annotation`,
    which upstream's lowering of scf leaves.
    *After:* the branch's own attribute, which becomes LLVM's loop metadata. The
    function attribute `numera.apart` lists arguments by index; these pointers
    get `llvm.noalias`.

    For example,

    ```mlir
    // numera-opt --numera-annotate-branches
    #masks = #llvm.loop_vectorize<disable = false, predicateEnable = true>
    #annotation = #llvm.loop_annotation<vectorize = #masks>
    llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %go: i1)
        attributes {numera.apart = array<i64: 1>} {
      llvm.br ^loop {llvm.loop_annotation = #annotation}
    ^loop:
      llvm.cond_br %go, ^loop, ^end
    ^end:
      llvm.return
    }
    ```

    becomes

    ```mlir
    #loop_vectorize = #llvm.loop_vectorize<disable = false, predicateEnable = true>
    #loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize>
    llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr {llvm.noalias}, %arg2: i1) {
      llvm.br ^bb1 {loop_annotation = #loop_annotation}
    ^bb1:  // 2 preds: ^bb0, ^bb1
      llvm.cond_br %arg2, ^bb1, ^bb2
    ^bb2:  // pred: ^bb1
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_BUFFERPASSES
