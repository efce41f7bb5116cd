// SPDX-License-Identifier: MIT
//
// The passes to values of formats; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPEPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPEPASSES

include "mlir/Pass/PassBase.td"

def NumeraDecompose : Pass<"numera-decompose", "::mlir::ModuleOp"> {
  let summary = "write a model in the operations that later passes know";
  let description = [{
    *Before:* a model.
    *After:* the same model without these operations:

    * `linalg.pack`, `linalg.unpack` and `linalg.winograd_*` become pads,
      reshapes, transpositions and products, as MLIR has it.
    * `tensor.gather` is a `linalg.generic` that reads each element,
      `tensor.scatter` a loop that inserts each slice, and `tensor.bitcast` an
      `arith.bitcast`.
    * Loops, branches, loads and stores of affine, and loops of branches, become
      those of scf and memref.
    * Operations of complex become arithmetic on the parts, as in MLIR's
      `convert-complex-to-standard`. Nothing is folded.
    * `ml_program.global_load_const` becomes a constant.

    *Fails when* one cannot be decomposed, or nothing can compile it. The error
    names it.

    For example,

    ```mlir
    // numera-opt --numera-decompose
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xi32>) -> tensor<8xf32> {
      %0 = tensor.bitcast %y : tensor<8xi32> to tensor<8xf32>
      %1 = affine.for %i = 0 to 3 iter_args(%sum = %x) -> tensor<8xf32> {
        %2 = arith.addf %sum, %0 : tensor<8xf32>
        affine.yield %2 : tensor<8xf32>
      }
      return %1 : tensor<8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<8xi32>) -> tensor<8xf32> {
      %0 = arith.bitcast %arg1 : tensor<8xi32> to tensor<8xf32>
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %1 = scf.for %arg2 = %c0 to %c3 step %c1 iter_args(%arg3 = %arg0) -> (tensor<8xf32>) {
        %2 = arith.addf %arg3, %0 : tensor<8xf32>
        scf.yield %2 : tensor<8xf32>
      }
      return %1 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::complex::ComplexDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"];
}

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
           "what public functions return in place of these: f32, f64, "
           "storage (the format itself) or model (what the model says, the "
           "default); one for all results, or one for each, as in "
           "f32,storage">,
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
    ListOption<"quires", "quires", "unsigned",
               "return the words of the quires that these results of public "
               "functions were rounded from, behind all results">,
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
    *After:* plain tensors and elementwise operations. Constants are quantized,
    and on CPUs those of which contractions read the values are these values.
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
  let options = [
    Option<"target", "target", "std::string", [{"cpu"}],
           "cpu or nvptx: the target whose kernels take codes of constants">,
  ];
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
    of them; loops and branches of `scf` that carry or return them.
    *After:* each scaled tensor in a signature, or carried, is replaced by its
    parts: elements, scales and, if the format has them, zero points or the scale
    of the tensor (Z15). A name `x` becomes `x`, `x.scales`, `x.zeros` and
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
                           "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_RETYPEPASSES
