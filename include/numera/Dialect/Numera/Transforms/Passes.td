// SPDX-License-Identifier: MIT
//
// The passes on the dialect (docs/Passes.md is generated from here).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NumeraRetype : Pass<"numera-retype", "::mlir::ModuleOp"> {
  let summary = "rewrite a model in f32 to a format";
  let description = [{
    *Before:* operations of linalg, arith, math and tensor on floats.
    *After:* the same computation in the format, as operations of `numera`.
    Function signatures keep f32, with one cast for each argument and result. An
    option lets public functions return f32, f64 or the format itself.

    `replace` names the float types that the format replaces, f32 if nothing
    else is said. Numbers of any other type are computed in the format that has
    the type's name: f64 in f64, bf16 in `float<8,7>`. Signatures and memory
    have types of the dialect in place of float types other than f32 and f64;
    their codes are the same, and the attribute `numera.dtype` of an argument or
    result of a public function says which type it was. A conversion between two
    types that the format replaces is nothing, any other is a `numera.cast`.

    Constants are encoded. An infinite constant becomes the format's lowest or
    highest value, because it is the initial value of a maximum or a mask.

    A contraction (a named linalg operation, or a generic whose body multiplies
    and adds) becomes a `linalg.generic` whose `outs` is the accumulator and
    whose body is one `numera.mac`. An elementwise cast to the format follows. A
    sum is reduced in the accumulator too, as 32 interleaved partial sums that
    are added in pairs (C7). With `accumulate=quire` the body is one
    `numera.quire_mac` or `quire_add`, and an elementwise `quire_round` follows.

    If the policy stores operands or results of contractions in a scaled format,
    they pass through a `numera.quantize`, and the contraction reads its result.
    Everything else is in the policy's format, or in f32 if that format is
    scaled.

    A rule of the policy applies to the operations that it matches, by the name
    in their location or by their operator (docs/Configuration.md). Where two
    formats meet, one `numera.cast` converts the value. Operations that only
    move values (tensor operations, a generic whose body is a yield) keep the
    format of their operand. Constants, empty tensors, fills with constants and
    function arguments, moved or not, take the format of each operation that
    reads them. The module attribute `numera.rules` lists the operations that
    each rule was applied to. A rule that matches none is a warning.

    *Ensures:* no operation of arith or math on floats is left, and no float
    type but f32 and f64.
    *Fails when* an operation has no counterpart. The error names it.

    For example,

    ```mlir
    // numera-opt --numera-retype=to=posit16
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.mulf %x, %y : tensor<4xf32>
      %1 = math.exp %0 : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
      %0 = numera.cast %arg0 : tensor<4xf32> to tensor<4x!posit16>
      %1 = numera.cast %arg1 : tensor<4xf32> to tensor<4x!posit16>
      %2 = numera.mul %0, %1 : tensor<4x!posit16>
      %3 = numera.exp %2 : tensor<4x!posit16>
      %4 = numera.cast %3 : tensor<4x!posit16> to tensor<4xf32>
      return %4 : tensor<4xf32>
    }
    ```

    A contraction,

    ```mlir
    // numera-opt --numera-retype='to=f8E4M3FN accumulate=f32'
    func.func @f(%a: tensor<2x8xf32>, %b: tensor<8x4xf32>, %c: tensor<2x4xf32>)
        -> tensor<2x4xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<2x8xf32>, tensor<8x4xf32>)
          outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```

    becomes

    ```mlir
    !f8E4M3FN = !numera.num<float<4, 3, fn>>
    #map = affine_map<(d0, d1, d2) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
    #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @f(%arg0: tensor<2x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = numera.cast %arg0 : tensor<2x8xf32> to tensor<2x8x!f8E4M3FN>
      %1 = numera.cast %arg1 : tensor<8x4xf32> to tensor<8x4x!f8E4M3FN>
      %2 = numera.cast %arg2 : tensor<2x4xf32> to tensor<2x4x!f8E4M3FN>
      %3 = numera.cast %2 : tensor<2x4x!f8E4M3FN> to tensor<2x4xf32>
      %4 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<2x8x!f8E4M3FN>, tensor<8x4x!f8E4M3FN>) outs(%3 : tensor<2x4xf32>) {
      ^bb0(%in: !f8E4M3FN, %in_0: !f8E4M3FN, %out: f32):
        %7 = numera.mac %in, %in_0, %out : (!f8E4M3FN, !f8E4M3FN, f32) -> f32
        linalg.yield %7 : f32
      } -> tensor<2x4xf32>
      %5 = numera.cast %4 : tensor<2x4xf32> to tensor<2x4x!f8E4M3FN>
      %6 = numera.cast %5 : tensor<2x4x!f8E4M3FN> to tensor<2x4xf32>
      return %6 : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"to", "to", "std::string", [{""}],
           "format, by name or spelling, or scaled format; default: the "
           "policy's, else f32">,
    Option<"accumulate", "accumulate", "std::string", [{""}],
           "same, quire, tensorcore, f32, f64 or a format; default: the "
           "policy's, else chosen by the format">,
    Option<"replace", "replace", "std::string", [{""}],
           "float types that the format replaces, as in f32,bf16; default: the "
           "policy's, else f32">,
    Option<"outputAs", "output-as", "std::string", [{""}],
           "what public functions return in place of these: f32, f64 or "
           "storage (the format itself); default: what the model says">,
    Option<"keepRoles", "keep-roles", "bool", [{false}],
           "apply the policy's roles (weights, activations, outputs) and "
           "rules even if `to` is given">,
    Option<"observe", "observe", "bool", [{false}],
           "return the tensors that would be quantized at run time as results "
           "of public functions, and quantize nothing">,
    Option<"layers", "layers", "bool", [{false}],
           "return what each layer makes, what it makes of the reference's "
           "numbers, and the reference's, behind the results of public "
           "functions">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraExpandPacked : Pass<"numera-expand-packed", "::mlir::ModuleOp"> {
  let summary = "turn packing and unpacking into linalg on bytes";
  let description = [{
    *Requires:* `numera-lower-types`.
    *Before:* `numera.pack` and `numera.unpack` on storage integers.
    *After:* `linalg.generic` on bytes. Its body reads a code from the bytes,
    `numera.load_packed`, or assembles a byte from codes. Packed constants
    become constants of bytes. For nvptx, codes are assembled from bytes too.

    For example,

    ```mlir
    // numera-opt --numera-lower-types --numera-expand-packed --canonicalize
    !f4 = !numera.num<float<2, 1, finite>>
    func.func @f(%x: tensor<16x!f4, #numera.packed>) -> tensor<16x!f4> {
      %0 = numera.unpack %x : tensor<16x!f4, #numera.packed> to tensor<16x!f4>
      return %0 : tensor<16x!f4>
    }
    ```

    becomes

    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%arg0: tensor<8xi8>) -> tensor<16xi8> {
      %0 = tensor.empty() : tensor<16xi8>
      %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<16xi8>) {
      ^bb0(%out: i8):
        %2 = linalg.index 0 : index
        %3 = numera.load_packed %arg0[%2] width 4 : tensor<8xi8> to i8
        linalg.yield %3 : i8
      } -> tensor<16xi8>
      return %1 : tensor<16xi8>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx; nvptx assembles codes from bytes">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraExpandScales : Pass<"numera-expand-scales", "::mlir::ModuleOp"> {
  let summary = "turn scaled tensors into tensors of elements and of scales";
  let description = [{
    *Before:* tensors with the encoding `#numera.scaling`, which operations of
    `numera` make and read, and which contractions (`numera.mac`,
    `numera.quire_mac`) read.
    *After:* plain tensors and elementwise operations. Constants are quantized.
    If the scale of an operand is the same for all terms of a sum, the
    contraction reads the elements, and its result is multiplied by the scales.
    If scales change from step to step, the contraction reads the values (Z7).
    *Fails when* a scaled tensor crosses a function's boundary, or is an operand
    of an operation that does not know scales.

    For example,

    ```mlir
    // numera-opt --numera-expand-scales --canonicalize
    #scaling = #numera.scaling<absmax, float<8, 23>>
    func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = numera.quantize %x : tensor<64xf32>
          to tensor<64x!numera.num<float<4, 3, fn>>, #scaling>
      %1 = numera.dequantize %0
          : tensor<64x!numera.num<float<4, 3, fn>>, #scaling> to tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```

    becomes

    ```mlir
    // …
    func.func @f(%arg0: tensor<64xf32>) -> tensor<64xf32> {
      // …
        %13 = arith.maxui %out, %12 : i32
      // …
        %11 = numera.div %in, %cst_1 : f32
      // …
      %8 = linalg.generic {…} ins(%arg0, %6 : tensor<64xf32>, tensor<f32>) outs(%7 : tensor<64x!f8E4M3FN>) {
      ^bb0(%in: f32, %in_2: f32, %out: !f8E4M3FN):
        %11 = numera.div %in, %in_2 : f32
        %12 = numera.cast %11 {overflow = #numera.overflow<saturate>} : f32 to !f8E4M3FN
        linalg.yield %12 : !f8E4M3FN
      } -> tensor<64x!f8E4M3FN>
      // …
      %10 = linalg.generic {…} ins(%8, %6 : tensor<64x!f8E4M3FN>, tensor<f32>) outs(%9 : tensor<64xf32>) {
      ^bb0(%in: !f8E4M3FN, %in_2: f32, %out: f32):
        %11 = numera.cast %in : !f8E4M3FN to f32
        %12 = numera.mul %11, %in_2 : f32
        linalg.yield %12 : f32
      } -> tensor<64xf32>
      return %10 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraDecomposeScaledSignatures : Pass<"numera-decompose-scaled-signatures", "::mlir::ModuleOp"> {
  let summary = "pass the parts of scaled tensors between functions";
  let description = [{
    *Before:* functions of `func` that take and return scaled tensors, and calls
    of them.
    *After:* each scaled tensor in a signature is replaced by its parts:
    elements, scales and, if the format has them, zero points or the scale of
    the tensor (Z15). A name `x` becomes `x`, `x.scales`, `x.zeros` and
    `x.tensor_scale`.

    For example,

    ```mlir
    // numera-opt --numera-decompose-scaled-signatures
    #scaling = #numera.scaling<absmax, float<8, 23>>
    func.func @f(%x: tensor<64x!numera.num<float<4, 3, fn>>, #scaling>
                     {numera.name = "x"}) -> tensor<64xf32> {
      %0 = numera.dequantize %x
          : tensor<64x!numera.num<float<4, 3, fn>>, #scaling> to tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    ```

    becomes

    ```mlir
    !f8E4M3FN = !numera.num<float<4, 3, fn>>
    func.func @f(%arg0: tensor<64x!f8E4M3FN> {numera.name = "x"}, %arg1: tensor<f32> {numera.name = "x.scales"}) -> tensor<64xf32> {
      %0 = numera.scaled_from_parts %arg0, %arg1 : (tensor<64x!f8E4M3FN>, tensor<f32>) -> tensor<64x!f8E4M3FN, #numera.scaling<absmax, float<8, 23>>>
      %1 = numera.dequantize %0 : tensor<64x!f8E4M3FN, #numera.scaling<absmax, float<8, 23>>> to tensor<64xf32>
      return %1 : tensor<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::func::FuncDialect"];
}

def NumeraSimplify : Pass<"numera-simplify"> {
  let summary = "remove casts that change nothing and fold constants";
  let description = [{
    *Before / after:* `cast B→C (cast A→B x)` becomes `cast A→C x` if every
    value of A is a value of B. `cast A→A x` becomes `x` if each value of A has
    one code, or if x is the result of an operation. An argument is excluded
    because it may hold any of the codes of NaN. Constants are folded. No
    rounding is removed.

    For example,

    ```mlir
    // numera-opt --numera-simplify
    !posit16 = !numera.num<posit<16, 2>>
    !bf16 = !numera.num<float<8, 7>>
    func.func @f(%x: !posit16) -> (!posit16, !bf16) {
      %0 = numera.cast %x : !posit16 to f32
      %1 = numera.cast %0 : f32 to !posit16
      %2 = numera.cast %0 : f32 to !bf16
      return %1, %2 : !posit16, !bf16
    }
    ```

    becomes

    ```mlir
    !bf16 = !numera.num<float<8, 7>>
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%arg0: !posit16) -> (!posit16, !bf16) {
      %0 = numera.cast %arg0 : !posit16 to !bf16
      return %arg0, %0 : !posit16, !bf16
    }
    ```
  }];
}

def NumeraFoldTransposes : Pass<"numera-fold-transposes"> {
  let summary = "let contractions read transposed operands in place";
  let description = [{
    *Before:* a `linalg.transpose`, or a `linalg.generic` that only moves
    elements, and a contraction (`numera.mac`, `numera.quire_mac`) that reads
    its result.
    *After:* the contraction reads the original operand, through an indexing map
    that includes the transposition. Constants are left alone, because the
    compiler transposes them. Contractions that stay loops are left alone too.

    For example,

    ```mlir
    // numera-opt --numera-fold-transposes --canonicalize
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>

    !bf16 = !numera.num<float<8, 7>>
    func.func @f(%a: tensor<4x8x!bf16>, %b: tensor<6x8x!bf16>,
                 %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %0 = tensor.empty() : tensor<8x6x!bf16>
      %1 = linalg.transpose ins(%b : tensor<6x8x!bf16>)
          outs(%0 : tensor<8x6x!bf16>) permutation = [1, 0]
      %2 = linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %1 : tensor<4x8x!bf16>, tensor<8x6x!bf16>)
          outs(%c : tensor<4x6xf32>) {
      ^bb0(%x: !bf16, %y: !bf16, %s: f32):
        %3 = numera.mac %x, %y, %s : (!bf16, !bf16, f32) -> f32
        linalg.yield %3 : f32
      } -> tensor<4x6xf32>
      return %2 : tensor<4x6xf32>
    }
    ```

    becomes

    ```mlir
    !bf16 = !numera.num<float<8, 7>>
    #map = affine_map<(d0, d1, d2) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
    #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @f(%arg0: tensor<4x8x!bf16>, %arg1: tensor<6x8x!bf16>, %arg2: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %0 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<4x8x!bf16>, tensor<6x8x!bf16>) outs(%arg2 : tensor<4x6xf32>) {
      ^bb0(%in: !bf16, %in_0: !bf16, %out: f32):
        %1 = numera.mac %in, %in_0, %out : (!bf16, !bf16, f32) -> f32
        linalg.yield %1 : f32
      } -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def NumeraWidenContractions : Pass<"numera-widen-contractions"> {
  let summary = "cast the operands of contractions to their accumulator";
  let description = [{
    *Before:* `numera.mac` on narrow operands with a wide accumulator and one
    rounding in each step.
    *After:* the operands are cast to the accumulator's format once, outside the
    contraction, and the step has one format. The pass applies only if every
    value of the operands' format is a value of the accumulator's, so the casts
    are exact.

    For example,

    ```mlir
    // numera-opt --numera-widen-contractions
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>

    !f8 = !numera.num<float<4, 3, fn>>
    func.func @f(%a: tensor<2x3x!f8>, %b: tensor<3x4x!f8>, %c: tensor<2x4xf32>)
        -> tensor<2x4xf32> {
      %0 = linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x3x!f8>, tensor<3x4x!f8>)
          outs(%c : tensor<2x4xf32>) {
      ^bb0(%x: !f8, %y: !f8, %s: f32):
        %1 = numera.mac %x, %y, %s : (!f8, !f8, f32) -> f32
        linalg.yield %1 : f32
      } -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```

    becomes

    ```mlir
    !f8E4M3FN = !numera.num<float<4, 3, fn>>
    #map = affine_map<(d0, d1, d2) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
    #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @f(%arg0: tensor<2x3x!f8E4M3FN>, %arg1: tensor<3x4x!f8E4M3FN>, %arg2: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = numera.cast %arg0 : tensor<2x3x!f8E4M3FN> to tensor<2x3xf32>
      %1 = numera.cast %arg1 : tensor<3x4x!f8E4M3FN> to tensor<3x4xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %1 : tensor<2x3xf32>, tensor<3x4xf32>) outs(%arg2 : tensor<2x4xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %3 = numera.mac %in, %in_0, %out : f32
        linalg.yield %3 : f32
      } -> tensor<2x4xf32>
      return %2 : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: the target whose kernels take narrow operands">,
  ];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraFuse : Pass<"numera-fuse"> {
  let summary = "fuse elementwise operations on tensors";
  let description = [{
    Upstream's elementwise fusion, except into reductions and into operations
    with more loops. A producer that is fused into a contraction would be
    computed again in every step. A producer with fewer loops than its reader,
    such as a scale or a mean of a row, would be computed again for every
    element.

    For example,

    ```mlir
    // numera-opt --convert-elementwise-to-linalg --numera-fuse
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%x: tensor<4x!posit16>, %y: tensor<4x!posit16>)
        -> tensor<4x!posit16> {
      %0 = numera.add %x, %y : tensor<4x!posit16>
      %1 = numera.exp %0 : tensor<4x!posit16>
      return %1 : tensor<4x!posit16>
    }
    ```

    becomes

    ```mlir
    !posit16 = !numera.num<posit<16, 2>>
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%arg0: tensor<4x!posit16>, %arg1: tensor<4x!posit16>) -> tensor<4x!posit16> {
      %0 = tensor.empty() : tensor<4x!posit16>
      %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%arg0, %arg1 : tensor<4x!posit16>, tensor<4x!posit16>) outs(%0 : tensor<4x!posit16>) {
      ^bb0(%in: !posit16, %in_0: !posit16, %out: !posit16):
        %2 = numera.add %in, %in_0 : !posit16
        %3 = numera.exp %2 : !posit16
        linalg.yield %3 : !posit16
      } -> tensor<4x!posit16>
      return %1 : tensor<4x!posit16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

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
    must be rounded to odd is written out.

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
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
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

def NumeraContract : Pass<"numera-contract", "::mlir::ModuleOp"> {
  let summary = "turn contractions into calls of a packed kernel";
  let description = [{
    *Requires:* linalg on memrefs, types lowered.
    *Before:* a `linalg.generic` whose body is one `numera.mac`: matrix products
    and convolutions, with any strides and dilation, batches and groups.
    *After:* a call of `numera.contraction.<i>`. Its declaration has the
    attribute `numera.kernel`, which names the carrier: the f32 or f64 type that
    the kernel computes in. Beside it stand its hooks, functions in operations
    of `numera` that the kernel calls: `.row` and `.column` decode an element,
    `.load` and `.store` move a sum, `.prefetch` prefetches a sum's memory, and
    `.step` is the `numera.mac` on a vector. The back end links runtime/kernels
    with the hooks. The kernel packs and decodes each operand once, keeps sums
    in registers, and runs steps in written order. A fill of the sums before the
    contraction is removed, and its value is passed to the call.

    A body of one `numera.quire_mac` becomes such a call if every factor is
    exact in f64 and the step truncates no operand. Its `.span`, `.add` and
    `.mac` are the runtime's entries for slices and quires.

    Products with a vector and depthwise convolutions are left to
    `numera-loops`.

    If the configuration registers a `matmul` or a `dot` for the formats of a
    contraction, it becomes calls of that function, whatever its sizes. The
    function takes dense row-major matrices; operands with another layout are
    copied.

    *Fails when* a contraction with a registered function computes more than
    sums of products, or when its sums are not known to start at zero.

    For example,

    ```mlir
    // numera-opt --numera-contract --canonicalize --cse
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>
    #posit16 = #numera.format<posit<16, 2>>
    #f32 = #numera.format<float<8, 23>>
    func.func @f(%a: memref<8x16xi16>, %b: memref<16x32xi16>,
                 %c: memref<8x32xf32>) {
      linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
          outs(%c : memref<8x32xf32>) {
      ^bb0(%x: i16, %y: i16, %s: f32):
        %0 = numera.mac %x, %y, %s {
            format = #f32, operand_formats = [#posit16, #posit16, #f32]}
            : (i16, i16, f32) -> f32
        linalg.yield %0 : f32
      }
      return
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: memref<8x16xi16>, %arg1: memref<16x32xi16>, %arg2: memref<8x32xf32>) {
      // …
      llvm.call @numera.contraction.0(%3, %5, %7, %0, %1, %c0_i32, %c1_i32, %c1_i32, %c1_i32) : …
      return
    }
    llvm.func @numera.contraction.0.row(%arg0: !llvm.ptr, %arg1: i64) -> f32 attributes {always_inline} {
      %0 = llvm.getelementptr %arg0[%arg1] : (!llvm.ptr, i64) -> !llvm.ptr, i16
      %1 = llvm.load %0 : !llvm.ptr -> i16
      %2 = numera.cast %1 {…, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to f32
      llvm.return %2 : f32
    }
    // …
    llvm.func @numera.contraction.0.step(%arg0: vector<16xf32>, %arg1: vector<16xf32>, %arg2: vector<16xf32>) -> vector<16xf32> … {
      %0 = numera.mac %arg1, %arg2, %arg0 {format = #numera.format<float<8, 23>>} : vector<16xf32>
      llvm.return %0 : vector<16xf32>
    }
    llvm.func @numera.contraction.0(…) attributes {numera.kernel = "f32"}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraTabulate : Pass<"numera-tabulate"> {
  let summary = "replace slow operations on few bits by table lookups";
  let description = [{
    *Before:* an operation on storage integers, scalars or vectors, whose
    operands have at most 16 bits together, not counting constants.
    *After:* `numera.lookup` in a table that holds the operation's result for
    every code, computed by the code that the program would run. A `numera.mac`
    that rounds its product becomes two lookups if both are worth it. Arithmetic
    of two 8-bit floats becomes a choice, by a call of
    `numera_has_byte_lookups`, between the operation and a program of small
    tables and integer operations on bytes with the same result for every pair
    of codes. If no such program is known, the operation stays.

    The choice follows from measured costs (Zen 4, 1 M elements of every code,
    one core, ns an element; CPUs without AVX512_VBMI in brackets):

    | a table | takes |
    |---|---|
    | of 8 bits, results of 8 | 0.02 (0.22); of 7 or 6 bits 0.007 |
    | of 8 bits, results of 16 or 32 | 0.32 to 0.36 (0.23) |
    | of two operands of 8 bits | 0.46 (0.39) |
    | of 16 bits, results of 16 | 0.56 (0.65) |

    | `FormatFamily::effort` | operations | computed | tables |
    |---|---|---|---|
    | `Codes` | neg, abs, min, max, cmp, isnan; add, sub, mul of fixed point | 0.04 to 0.3 | none |
    | `Short` | arithmetic and casts of floats; casts and div of fixed point | 0.2 to 0.5 (0.3 to 1.4) | of 8 bits, results of 8: sqrt, casts, two operands of 4; on bytes: add, sub, mul, div of floats of 8, 0.06 to 0.15 |
    | `Long` | arithmetic and casts of posits; mul, div of lns | 0.5 to 0.7 (0.9 to 1.4) | of operands of 8 bits |
    | `Slow` | functions, rem, integral values; takums; add, sub and casts of lns | 1.3 to 150 | all, up to 128 KiB |

    Operations that draw random bits, and operations with a registered function,
    are not tabulated.

    For example,

    ```mlir
    // numera-opt --numera-tabulate
    func.func @f(%x: i8) -> i8 {
      %0 = numera.exp %x {format = #numera.format<float<2, 1, finite>>} : i8
      return %0 : i8
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: i8) -> i8 {
      %0 = numera.lookup %arg0 in dense<[2, 3, 5, 6, 7, 7, 7, 7, 2, 1, 1, 0, 0, 0, 0, 0]> : tensor<16xi8> : i8 to i8
      return %0 : i8
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect"];
}

include "numera/Dialect/Numera/Transforms/DevicePasses.td"
include "numera/Dialect/Numera/Transforms/LoopPasses.td"

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
