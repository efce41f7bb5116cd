// SPDX-License-Identifier: MIT
//
// The parts of numera-decompose.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_DECOMPOSE_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_DECOMPOSE_H

#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// Loads of constant globals of ml_program become constants; the globals go.
mlir::LogicalResult decomposeGlobals(mlir::ModuleOp module);

/// Operations on tensors that are never bufferized become several that are.
mlir::LogicalResult decomposeTensorOperations(mlir::ModuleOp module);

/// Loops and branches of affine, and loops of cf, become those of scf.
mlir::LogicalResult decomposeControlFlow(mlir::ModuleOp module);

/// Operations of the complex dialect become arithmetic on their parts.
mlir::LogicalResult decomposeComplex(mlir::ModuleOp module);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_RETYPE_DECOMPOSE_H
