// SPDX-License-Identifier: MIT
//
// Whole products of matrices by a library's function: `{op: matmul, …}` and
// `{op: dot, …}` of the configuration.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CALLPRODUCTS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CALLPRODUCTS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// Every contraction on memrefs for which there is such a function becomes
/// calls of it. Fails at one that the function cannot compute.
llvm::LogicalResult callProducts(mlir::ModuleOp module);

/// Fails at every contraction for which the CPU has such a function: what it
/// computes is its own affair, and other targets would give other bits.
llvm::LogicalResult refuseProducts(mlir::ModuleOp module, Target target);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CALLPRODUCTS_H
