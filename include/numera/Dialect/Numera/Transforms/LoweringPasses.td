// SPDX-License-Identifier: MIT
//
// The passes from operations on formats to integers and calls; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERINGPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERINGPASSES

include "mlir/Pass/PassBase.td"

def NumeraUseProofs : Pass<"numera-use-proofs", "::mlir::ModuleOp"> {
  let summary = "replace operations proven equal to a built-in format's";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* operations on codes of opaque formats, whose functions a library
    defines.
    *After:* operations proven equal to a built-in format's are replaced by it,
    operation by operation. All others stay as they are. This is possible
    because both formats use the same codes. If a proof excepts a few codes,
    `arith.select` gives the library's result for these.

    The step of a contraction is replaced if its product and its sum are proven,
    or, for accumulation in f32 and f64, if the cast of its factors is. It is
    not replaced if a function is registered for the step or for whole
    contractions.

    The module attribute `numera.library_uses` lists the operations of opaque
    formats: `operation`, `format`, the `equivalent` that the operation may be
    proven equal to, and, if it is proven, `exceptions`, the number of codes
    that the proof excepts.

    For example,

    ```mlir
    // numera-opt --formats=test/Docs/Inputs/proven.yaml --numera-lower-types --numera-use-proofs
    !my8 = !numera.num<opaque<"my8", 8>>
    func.func @f(%x: !my8) -> (!my8, !my8) {
      %0 = numera.neg %x : !my8
      %1 = numera.abs %x : !my8
      return %0, %1 : !my8, !my8
    }
    ```

    becomes

    ```mlir
    module attributes {numera.library_uses = […]} {
      func.func @f(%arg0: i8) -> (i8, i8) {
        %0 = numera.neg %arg0 {format = #numera.format<float<4, 3, fnuz>>} : i8
        %1 = numera.abs %arg0 {format = #numera.format<opaque<"my8", 8>>} : i8
        return %0, %1 : i8, i8
      }
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: the target whose functions are considered">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::numera::NumeraDialect"];
}

def NumeraStoreCarriers : Pass<"numera-store-carriers"> {
  let summary = "store once what is read as codes and as f32";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* `linalg.generic` that computes a tensor of codes element by
    element, which others read, and one or several that only cast it to f32,
    where f32 has all numbers of the format.
    *After:* the first has the cast in its body and makes the tensor of f32. What
    read the codes encodes them, element by element, which
    [`numera-promote-to-carrier`](#numera-promote-to-carrier) takes away where
    the operations run in f32.

    Codes that are looked up in a table stay, and so do those whose f32 are
    only padded.

    For example,

    ```mlir
    // numera-opt --numera-store-carriers
    #posit16 = #numera.format<posit<16, 2>>
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<64xi16>) -> (tensor<64xf32>, tensor<64xi16>) {
      %codes = tensor.empty() : tensor<64xi16>
      %numbers = tensor.empty() : tensor<64xf32>
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : tensor<64xi16>) outs(%codes : tensor<64xi16>) {
      ^bb0(%in: i16, %out: i16):
        %3 = numera.sqrt %in {format = #posit16} : i16
        linalg.yield %3 : i16
      } -> tensor<64xi16>
      %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%0 : tensor<64xi16>) outs(%numbers : tensor<64xf32>) {
      ^bb0(%in: i16, %out: f32):
        %3 = numera.cast %in {format = #numera.format<float<8, 23>>, operand_formats = [#posit16]} : i16 to f32
        linalg.yield %3 : f32
      } -> tensor<64xf32>
      %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%0 : tensor<64xi16>) outs(%codes : tensor<64xi16>) {
      ^bb0(%in: i16, %out: i16):
        %3 = numera.add %in, %in {format = #posit16} : i16
        linalg.yield %3 : i16
      } -> tensor<64xi16>
      return %1, %2 : tensor<64xf32>, tensor<64xi16>
    }
    ```

    becomes

    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%arg0: tensor<64xi16>) -> (tensor<64xf32>, tensor<64xi16>) {
      %0 = tensor.empty() : tensor<64xi16>
      %1 = tensor.empty() : tensor<64xf32>
      %2 = tensor.empty() : tensor<64xf32>
      %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<64xi16>) outs(%2 : tensor<64xf32>) {
      ^bb0(%in: i16, %out: f32):
        %5 = numera.sqrt %in {format = #numera.format<posit<16, 2>>} : i16
        %6 = numera.cast %5 {format = #numera.format<float<8, 23>>, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to f32
        linalg.yield %6 : f32
      } -> tensor<64xf32>
      %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<64xf32>) outs(%0 : tensor<64xi16>) {
      ^bb0(%in: f32, %out: i16):
        %5 = numera.encode %in {format = #numera.format<posit<16, 2>>} : f32 to i16
        %6 = numera.add %5, %5 {format = #numera.format<posit<16, 2>>} : i16
        linalg.yield %6 : i16
      } -> tensor<64xi16>
      return %3, %4 : tensor<64xf32>, tensor<64xi16>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraPromoteToCarrier : Pass<"numera-promote-to-carrier"> {
  let summary = "keep values decoded between operations";
  let description = [{
    A carrier is f32 or f64 when it stands in for a narrower format, all of
    whose values it has.

    *Requires:* `numera-lower-types`.
    *Before:* connected operations on codes of a format that embeds in f32 or
    f64.
    *After:* `numera.decode`, the machine's arithmetic, `numera.round_to` where
    a value is used by another operation of the group, and `numera.encode` where
    it leaves the group. Arithmetic, casts, comparisons, `neg abs min max` and
    `arith.select` take part, on scalars and vectors. A cast from f32 to a
    format and back becomes one `round_to`. The carrier is f32 if the family's
    proof covers the whole group of connected operations, else f64. A sum that
    must be rounded to odd is written out. Of a constant tensor of at most
    16,384 elements that a loop only decodes, the decoded numbers are stored.

    An opaque format takes part if its entry names a `carrier`. The operations
    that take part are those without a registered function, and those that its
    `round_to` names: they equal the carrier's operation and a rounding
    (docs/Configuration.md).

    Operations that would gain nothing stay on codes: an operation without a
    neighbour, and a group that only selects among codes. So do other operations
    with a registered function, operations whose operands the configuration
    truncates, and the steps of contractions.

    For example,

    ```mlir
    // numera-opt --numera-promote-to-carrier
    #f16 = #numera.format<float<5, 10>>
    func.func @f(%a: i16, %b: i16, %c: i16) -> i16 {
      %0 = numera.mul %a, %b {format = #f16} : i16
      %1 = numera.add %0, %c {format = #f16} : i16
      return %1 : i16
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: i16, %arg1: i16, %arg2: i16) -> i16 {
      %0 = numera.decode %arg0 {format = #numera.format<float<5, 10>>} : i16 to f32
      %1 = numera.decode %arg1 {format = #numera.format<float<5, 10>>} : i16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = numera.round_to %2 {format = #numera.format<float<5, 10>>} : f32
      %4 = numera.decode %arg2 {format = #numera.format<float<5, 10>>} : i16 to f32
      %5 = arith.addf %3, %4 : f32
      %6 = numera.encode %5 {format = #numera.format<float<5, 10>>, rounding = #numera.rounding<"nearest-even">} : f32 to i16
      return %6 : i16
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: the target whose lowerings are considered">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def NumeraLowerTypes : Pass<"numera-lower-types", "::mlir::ModuleOp"> {
  let summary = "turn values of formats into their storage integers";
  let description = [{
    *Before:* `!numera.num` and `!numera.quire` anywhere: in types, attributes,
    regions and signatures, on tensors, memrefs, vectors or scalars.
    *After:* their storage integers. Operations of `numera` take their form on
    storage, with the attribute `format`.
    *Ensures:* no type of `numera` is left.
    *Fails when* an operation cannot be rebuilt with the new types.

    For example,

    ```mlir
    // numera-opt --numera-lower-types
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%x: tensor<4x!posit16>, %y: f32)
        -> (tensor<4x!posit16>, !posit16) {
      %0 = numera.add %x, %x : tensor<4x!posit16>
      %1 = numera.cast %y : f32 to !posit16
      return %0, %1 : tensor<4x!posit16>, !posit16
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<4xi16>, %arg1: f32) -> (tensor<4xi16>, i16) {
      %0 = numera.add %arg0, %arg0 {format = #numera.format<posit<16, 2>>} : tensor<4xi16>
      %1 = numera.cast %arg1 {format = #numera.format<posit<16, 2>>, operand_formats = [#numera.format<float<8, 23>>]} : f32 to i16
      return %0, %1 : tensor<4xi16>, i16
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect"];
}

def NumeraDrawBlocks : InterfacePass<"numera-draw-blocks",
                                     "::mlir::FunctionOpInterface"> {
  let summary = "draw the random bits of a loop in blocks";
  let description = [{
    *Before:* inner loops of `scf` with `numera.random`.
    *After:* if the index of the random bits grows by one in each iteration, the
    loop is split into strips of 2048 iterations, and `numera.random_fill` draws
    the bits of a strip before it. The bits are the same.

    For example,

    ```mlir
    // numera-opt --pass-pipeline='builtin.module(func.func(numera-draw-blocks))'
    func.func @f(%seed: i64, %step: i64, %sample: i64, %n: index,
                 %out: memref<?xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %index = arith.index_cast %i : index to i64
        %0 = numera.random %seed, %step, %sample, %index id 3 bits 8
        memref.store %0, %out[%i] : memref<?xi32>
      }
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: i64, %arg1: i64, %arg2: i64, %arg3: index, %arg4: memref<?xi32>) {
      %alloca = memref.alloca() {alignment = 64 : i64} : memref<2048xi32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2048 = arith.constant 2048 : index
      scf.for %arg5 = %c0 to %arg3 step %c2048 {
        %0 = arith.subi %arg3, %arg5 : index
        %c2048_0 = arith.constant 2048 : index
        %1 = arith.minui %0, %c2048_0 : index
        %2 = arith.addi %arg5, %1 : index
        %3 = arith.index_cast %1 : index to i64
        %4 = arith.index_cast %arg5 : index to i64
        numera.random_fill %alloca, %arg0, %arg1, %arg2, %4, %3 id 3 bits 8 : memref<2048xi32>
        scf.for %arg6 = %arg5 to %2 step %c1 {
          %5 = arith.index_cast %arg6 : index to i64
          %6 = arith.subi %arg6, %arg5 : index
          %7 = memref.load %alloca[%6] : memref<2048xi32>
          memref.store %7, %arg4[%arg6] : memref<?xi32>
        }
      }
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLowerOps : Pass<"numera-lower-ops", "::mlir::ModuleOp"> {
  let summary = "turn operations into their registered lowerings";
  let description = [{
    *Requires:* `numera-lower-types`.
    *After:* each operation is a call of the function registered for it, or of
    the runtime's entry for its family. `mac` and casts between families become
    several calls. An operation on vectors becomes a call on vectors, of the
    function's vector form `_ZGV_LLVM_N16vvuu_…`, which the back end makes
    (docs/Architecture.md). For GPUs, vectors are split into scalars. A quire
    that is loaded, added to and stored at the same place stays in memory. Any
    other quire passes through a slot on the stack.
    *Ensures:* no operation of `numera` is left.
    *Fails when* an operation has no lowering. The error names operation, target
    and format, and prints the line that would register one.

    For example,

    ```mlir
    // numera-opt --numera-lower-ops
    #posit16 = #numera.format<posit<16, 2>>
    func.func @f(%x: i16, %y: vector<4xi16>) -> (i16, vector<4xi16>) {
      %0 = numera.add %x, %x {format = #posit16} : i16
      %1 = numera.sqrt %y {format = #posit16} : vector<4xi16>
      return %0, %1 : i16, vector<4xi16>
    }
    ```

    becomes

    ```mlir
    // …
    func.func @f(%arg0: i16, %arg1: vector<4xi16>) -> (i16, vector<4xi16>) {
      // …
      %0 = call @numera_posit_add_16(%arg0, %arg0, %c16_i32, %c2_i32, %c0_i32_0, %c0_i32) : (i16, i16, i32, i32, i32, i32) -> i16
      // …
      %1 = call @_ZGV_LLVM_N4vuuuu_numera_posit_sqrt_16(%arg1, %c16_i32_2, %c2_i32_3, %c0_i32_4, %c0_i32_1) : (vector<4xi16>, i32, i32, i32, i32) -> vector<4xi16>
      return %0, %1 : i16, vector<4xi16>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}], "cpu or nvptx">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraLower : Pass<"numera-lower", "::mlir::ModuleOp"> {
  let summary = "lower types and operations in one step";
  let description = [{
    Elementwise operations on tensors become `linalg.generic`. Then
    `numera-lower-types` and `numera-lower-ops` run.
    *Ensures:* no type or operation of `numera` is left.

    For example,

    ```mlir
    // numera-opt --numera-lower
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%x: tensor<4x!posit16>, %y: tensor<4x!posit16>)
        -> tensor<4x!posit16> {
      %0 = numera.add %x, %y : tensor<4x!posit16>
      return %0 : tensor<4x!posit16>
    }
    ```

    becomes

    ```mlir
    // …
    func.func @f(%arg0: tensor<4xi16>, %arg1: tensor<4xi16>) -> tensor<4xi16> {
      %0 = linalg.generic {…} ins(%arg0, %arg1 : tensor<4xi16>, tensor<4xi16>) outs(%arg0 : tensor<4xi16>) {
      ^bb0(%in: i16, %in_0: i16, %out: i16):
        // …
        %1 = func.call @numera_posit_add_16(%in, %in_0, %c16_i32, %c2_i32, %c0_i32_1, %c0_i32) : (i16, i16, i32, i32, i32, i32) -> i16
        linalg.yield %1 : i16
      } -> tensor<4xi16>
      return %0 : tensor<4xi16>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}], "cpu or nvptx">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_LOWERINGPASSES
