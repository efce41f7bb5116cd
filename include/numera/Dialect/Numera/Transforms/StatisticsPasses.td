// SPDX-License-Identifier: MIT
//
// The passes of `numera run --stats` and `--layers` (docs/Passes.md is generated from here).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES

include "mlir/Pass/PassBase.td"

def NumeraCountScales : Pass<"numera-count-scales", "::mlir::ModuleOp"> {
  let summary = "expand scaled tensors and return statistics about them";
  let description = [{
    Does what `numera-expand-scales` does, and quantizes constants at run time.
    *After:* every function with scaled tensors has one more result, like that
    of `numera-count-status-flags`. For each tensor it holds the number of
    elements, the number of nonzero values that became zero, and, as the bits of
    an f32, the least and the greatest divisor and the largest magnitude of an
    element.
    One that is made in `scf.if`, `scf.for` or `scf.while` has a row for all
    times together. *Fails when* `numera-expand-scales` fails, and when a scaled
    tensor is made between branches or inside of another operation.

    For example,

    ```mlir
    // numera-opt --numera-count-scales --canonicalize
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
    func.func @f(%arg0: tensor<64xf32>) -> (tensor<64xf32>, tensor<5xi64> {numera.counts = […]}) {
      // …
      %from_elements = tensor.from_elements %c64_i64, %13, %11#0, %11#1, %12 : tensor<5xi64>
      return %10, %from_elements : tensor<64xf32>, tensor<5xi64>
    }
    // …
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraCountStatusFlags : Pass<"numera-count-status-flags", "::mlir::ModuleOp"> {
  let summary = "count overflow, underflow and invalid operations";
  let description = [{
    *Requires:* no scaled tensors, and computation only on tensors and scalars.
    *Before:* functions with operations of `numera`, on tensors and in bodies of
    linalg operations.
    *After:* every function with an operation that may raise flags
    (docs/Semantics/StatusFlags.md) has one more result, a tensor of i64. For
    each such operation, in program order, it holds the number of executions,
    overflows, underflows, invalid operations and divisions by zero. The
    result's attribute `numera.counts` describes them. Everything else is
    computed as before. A contraction whose factors are in a range in which its
    steps raise no flags is not counted step by step. Where formats do not tell,
    a test at run time does (`scf.if`). With `postpone` the program tests, and
    returns -1 for each count that it would have to make: another program, which
    is rarely needed, counts those `rows`. Where the function has rows of layers,
    what they alone need is not counted.
    What is counted in blocks of `scf.if`, `scf.for` and `scf.while` is added up
    in memory.
    *Fails when* such an operation is where flags cannot be counted: on memrefs,
    on vectors, between branches or inside of another operation.

    For example,

    ```mlir
    // numera-opt --numera-count-status-flags
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%x: !posit16, %y: !posit16) -> !posit16 {
      %0 = numera.add %x, %y : !posit16
      return %0 : !posit16
    }
    ```

    becomes

    ```mlir
    !posit16 = !numera.num<posit<16, 2>>
    func.func @f(%arg0: !posit16, %arg1: !posit16) -> (!posit16, tensor<5xi64> {numera.counts = […]}) {
      %0 = numera.add %arg0, %arg1 : !posit16
      %c1_i64 = arith.constant 1 : i64
      %1 = numera.status_flags "add"(%arg0, %arg1) gives %0 {…} : (!posit16, !posit16, !posit16) -> i8
      // …
      %from_elements = tensor.from_elements %c1_i64, %4, %7, %10, %13 : tensor<5xi64>
      return %0, %from_elements : !posit16, tensor<5xi64>
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", [{"cpu"}],
                        "cpu or nvptx: the target whose NaN tests are used">,
                 Option<"postpone", "postpone", "bool", "false",
                        "test numbers only, and return -1 for counts to be made">,
                 ListOption<"rows", "rows", "int64_t",
                            "the rows that are counted in functions that have "
                            "rows of layers; none: all">];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraShowRows : Pass<"numera-show-rows", "::mlir::ModuleOp"> {
  let summary = "hand over what layers make where it is made";
  let description = [{
    *Before:* functions that return the rows of their layers (`numera-retype`
    with `layers`), as their attribute `numera.layers` says.
    *After:* they do not. `numera.show_row` hands each row to the caller behind
    what makes it. Its memory can serve others, and is read before it leaves the
    cache.

    For example,

    ```mlir
    // numera-opt --numera-show-rows
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>)
        -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
        attributes {numera.layers = [ {name = "a", operation = "add", format = "bf16", inputs = array<i32>} ]} {
      return %x, %x, %y, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> tensor<8xf32> {
      numera.show_row 0 of %arg0, %arg1, %arg2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
      return %arg0 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES
