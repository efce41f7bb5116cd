// SPDX-License-Identifier: MIT
//
// The passes on matrix products and convolutions; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONPASSES

include "mlir/Pass/PassBase.td"

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

def NumeraNarrowQuires : Pass<"numera-narrow-quires"> {
  let summary = "keep exact sums of few products in floats";
  let description = [{
    *Before:* a contraction whose sums are quires that begin empty, or with
    values such as a bias, and are rounded once.
    *After:* its sums are f32 or f64, in which every product and every partial
    sum, in whatever order, is exact: the format's range and the number of terms
    say so. A cast rounds them. The bits are the same.

    For example, sums of up to 1023 products of `fixed<3, 4>` and a value are in
    f32, more of them, or those of `fixed<7, 8>` and `f8E4M3FN`, in f64:

    ```mlir
    // numera-opt --numera-narrow-quires
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>

    !fixed = !numera.num<fixed<3, 4>>
    !quire = !numera.quire<fixed<3, 4>>
    func.func @f(%a: tensor<2x3x!fixed>, %b: tensor<3x4x!fixed>)
        -> tensor<2x4x!fixed> {
      %0 = numera.quire_zero : !quire
      %1 = tensor.empty() : tensor<2x4x!quire>
      %2 = linalg.fill ins(%0 : !quire) outs(%1 : tensor<2x4x!quire>)
          -> tensor<2x4x!quire>
      %3 = linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<2x3x!fixed>, tensor<3x4x!fixed>)
          outs(%2 : tensor<2x4x!quire>) {
      ^bb0(%x: !fixed, %y: !fixed, %s: !quire):
        %4 = numera.quire_mac %x, %y, %s : !fixed, !quire
        linalg.yield %4 : !quire
      } -> tensor<2x4x!quire>
      %5 = numera.quire_round %3 : tensor<2x4x!quire> to tensor<2x4x!fixed>
      return %5 : tensor<2x4x!fixed>
    }
    ```

    becomes

    ```mlir
    !fixed_3_4 = !numera.num<fixed<3, 4>>
    #map = affine_map<(d0, d1, d2) -> (d0, d2)>
    #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
    #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @f(%arg0: tensor<2x3x!fixed_3_4>, %arg1: tensor<3x4x!fixed_3_4>) -> tensor<2x4x!fixed_3_4> {
      %cst = arith.constant 0.000000e+00 : f32
      %0 = tensor.empty() : tensor<2x4xf32>
      %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x3x!fixed_3_4>, tensor<3x4x!fixed_3_4>) outs(%1 : tensor<2x4xf32>) {
      ^bb0(%in: !fixed_3_4, %in_0: !fixed_3_4, %out: f32):
        %4 = numera.mac %in, %in_0, %out : (!fixed_3_4, !fixed_3_4, f32) -> f32
        linalg.yield %4 : f32
      } -> tensor<2x4xf32>
      %3 = numera.cast %2 : tensor<2x4xf32> to tensor<2x4x!fixed_3_4>
      return %3 : tensor<2x4x!fixed_3_4>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraWidenContractions : Pass<"numera-widen-contractions"> {
  let summary = "cast the operands of contractions to their accumulator";
  let description = [{
    *Before:* `numera.mac` on narrow operands with a wide accumulator and one
    rounding in each step.
    *After:* the operands are cast to the accumulator's format once, outside the
    contraction, and the step has one format. The pass applies only if every
    value of the operands' format is a value of the accumulator's, so the casts
    are exact. Operands that the kernel of `numera-contract` packs stay narrow,
    as it decodes them, except for windows of images that overlap; and except
    on CPUs where the accumulator is f32 or f64, and of both factors at least 16
    sums read each element or it has at most 16,384 of them (a constant 2^21),
    since the kernel for floats takes one factor from where it lies and is the
    same for all formats.
    A constant is then stored as f32 or f64. An operand is padded after the cast,
    so that what computes it writes into the padded memory.

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

    If both factors are stored as the floats that are computed with, the kernel
    takes rows from where they lie, and has no `.row` and no `.column`. Which
    factor has the rows then follows from the sizes: in a convolution with many
    filters that is the image, of which no windows are copied. A constant that
    has the columns is laid out in panels of 48, 32 or 16 columns, where one
    loop goes through them: all steps of some columns, then those of the next.
    The last panel may have fewer. Other columns are packed.
    An elementwise operation in f32 right behind that overwrites the sums, from
    them, from elements that lie as they do, and from one of each column, goes:
    the kernel calls a function for each tile instead, `<function>.finish`. If
    the result is then only copied into a padded buffer, it is written there.

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
    llvm.mlir.global internal constant @numera.contraction.constant(dense<[8, 16, 0, 32, 32, 0, 1, 1, 16, 1, 32, 0]> : …
    func.func @f(%arg0: memref<8x16xi16>, %arg1: memref<16x32xi16>, %arg2: memref<8x32xf32>) {
      // …
      %0 = llvm.mlir.addressof @numera.contraction.constant : !llvm.ptr
      // …
      llvm.call @numera.contraction.0(%3, %5, %7, %1, %1, %0, %c0_i32, %c1_i32, %c1_i32, %c1_i32, %c0_i32) : …
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
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONPASSES
