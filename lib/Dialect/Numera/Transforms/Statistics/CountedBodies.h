// SPDX-License-Identifier: MIT
//
// Status flags in the bodies of linalg operations.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTEDBODIES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTEDBODIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// The same operation with the status flags of `operations`, of its body, as
/// further results: one each, or, if it reduces, as many as there are kinds.
mlir::linalg::GenericOp withCounts(mlir::RewriterBase &rewriter,
                                   mlir::linalg::GenericOp generic,
                                   llvm::ArrayRef<mlir::Operation *> operations,
                                   Target target);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTEDBODIES_H
