// SPDX-License-Identifier: MIT
//
// The passes on the dialect (docs/Passes.md is generated from here and from the
// files below).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NumeraSimplify : Pass<"numera-simplify"> {
  let summary = "remove casts that change nothing and fold constants";
  let description = [{
    *Before / after:* `cast B→C (cast A→B x)` becomes `cast A→C x` if every
    value of A is a value of B. `cast A→A x` becomes `x` if each value of A has
    one code, or if x is the result of an operation. An argument is excluded
    because it may hold any of the codes of NaN. Constants are folded. No
    rounding is removed. A negative amount of `tensor.pad` becomes a slice of
    what is padded.

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
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraChannelsLast : Pass<"numera-channels-last"> {
  let summary = "keep images with their channels last in memory";
  let description = [{
    *Before:* convolutions whose images have channels before rows and columns,
    as ONNX and PyTorch write them, and what is computed of their results.
    *After:* these values have their channels last, until one is returned or
    goes where only the written order will do: there it is transposed. Results
    with one number in `numera.any_order` are returned as they lie, if all of
    them lie alike, and the sizes that are not known stay in their places. Loops
    go over the same elements, and each sum has its steps in the same order, so no
    result changes. Constants are laid out anew where they are read along
    channels.

    A value is left as it is if it has fewer than 16 channels, or a number that
    is known only when the program runs; and a whole function, if it has
    convolutions in groups of fewer than 8 filters.

    For example,

    ```mlir
    // numera-opt --numera-channels-last --canonicalize
    #image = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
    #filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
    #sum = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>

    func.func @f(%image: tensor<1x3x9x9xf32>, %filter: tensor<16x3x2x2xf32>)
        -> tensor<1x16x8x8xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.empty() : tensor<1x16x8x8xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x16x8x8xf32>)
          -> tensor<1x16x8x8xf32>
      %2 = linalg.generic {
          indexing_maps = [#image, #filter, #sum],
          iterator_types = ["parallel", "parallel", "parallel", "parallel",
                            "reduction", "reduction", "reduction"]}
          ins(%image, %filter : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>)
          outs(%1 : tensor<1x16x8x8xf32>) {
      ^bb0(%x: f32, %w: f32, %s: f32):
        %3 = numera.mac %x, %w, %s : f32
        linalg.yield %3 : f32
      } -> tensor<1x16x8x8xf32>
      return %2 : tensor<1x16x8x8xf32>
    }
    ```

    becomes

    ```mlir
    #map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d1 + d5, d2 + d6)>
    #map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
    #map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
    func.func @f(%arg0: tensor<1x3x9x9xf32>, %arg1: tensor<16x3x2x2xf32>) -> tensor<1x16x8x8xf32> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = tensor.empty() : tensor<1x8x8x16xf32>
      %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<1x3x9x9xf32>, tensor<16x3x2x2xf32>) outs(%1 : tensor<1x8x8x16xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %4 = numera.mac %in, %in_0, %out : f32
        linalg.yield %4 : f32
      } -> tensor<1x8x8x16xf32>
      %3 = tensor.empty() : tensor<1x16x8x8xf32>
      %transposed = linalg.transpose ins(%2 : tensor<1x8x8x16xf32>) outs(%3 : tensor<1x16x8x8xf32>) permutation = [0, 3, 1, 2]
      return %transposed : tensor<1x16x8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [Option<"fewestConvolutions", "fewest-convolutions", "unsigned",
                        "0",
                        "functions with fewer, or with fewer than two for each "
                        "image that they take or return, are left as they are">];
}

def NumeraFuse : Pass<"numera-fuse"> {
  let summary = "fuse elementwise operations on tensors";
  let description = [{
    Upstream's elementwise fusion, except into reductions and into operations
    with more loops. A producer that is fused into a contraction would be
    computed again in every step. A producer with fewer loops than its reader,
    such as a scale or a mean of a row, would be computed again for every
    element.

    With `trees`, the levels of a tree of sums become one operation as well:
    each reads pairs of what the level before has, all of it once. For a GPU
    that is one launch instead of one a level.

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
  let options = [
    Option<"trees", "trees", "bool", "false",
           "fuse what is read whole and once, by several operands, too">,
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

include "numera/Dialect/Numera/Transforms/BufferPasses.td"
include "numera/Dialect/Numera/Transforms/ContractionPasses.td"
include "numera/Dialect/Numera/Transforms/DevicePasses.td"
include "numera/Dialect/Numera/Transforms/LoopPasses.td"
include "numera/Dialect/Numera/Transforms/LoweringPasses.td"
include "numera/Dialect/Numera/Transforms/RetypePasses.td"
include "numera/Dialect/Numera/Transforms/TablePasses.td"

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_PASSES
