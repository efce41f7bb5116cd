// SPDX-License-Identifier: MIT
//
// The passes of `numera run --stats` (docs/Passes.md is generated from here).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES

include "mlir/Pass/PassBase.td"

def NumeraCountScales : Pass<"numera-count-scales", "::mlir::ModuleOp"> {
  let summary = "expand scaled tensors, and return what they are like";
  let description = [{
    `numera-expand-scales`, which quantizes constants as the program runs.
    *After:* every function with scaled tensors has one more result, as
    `numera-count-events` adds it: for each tensor how many elements there are,
    how many numbers became zero, and, as the bits of an f32, the least and the
    greatest divisor and the largest magnitude of an element.
    *Fails when* numera-expand-scales does, and when a scaled tensor is made in
    a loop or a branch.
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NumeraCountEvents : Pass<"numera-count-events", "::mlir::ModuleOp"> {
  let summary = "count overflow, underflow and invalid operations";
  let description = [{
    *Requires:* no scaled tensors, and that nothing but tensors and scalars is
    computed on.
    *Before:* functions with operations of `numera`, on tensors and in bodies of
    linalg operations.
    *After:* every function with an operation that may have events
    (docs/Semantics/Events.md) has one more result, i64: for each such operation
    in the order of the program, how often it was done, overflowed,
    underflowed, was invalid and divided by zero. The result's attribute
    `numera.counts` says what they are. Everything else is computed as before.
    *Fails when* such an operation is where events cannot be counted: on
    memrefs, on vectors, in a loop or a branch.
  }];
  let options = [Option<"target", "target", "std::string", [{"cpu"}],
                        "cpu or nvptx: whose functions can tell NaN">];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES
