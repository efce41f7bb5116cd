// SPDX-License-Identifier: MIT
//
// Operations that raise no flags, because of the numbers that they read: to
// look at those takes less than to ask for the flags of each step of a
// contraction, or of each element.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// Where an operation raises no flags, done on all elements of tensors.
struct QuietRange {
  /// What is not known to be in range: nothing, for an operation that raises
  /// none whatever it reads. Tensors of f32, f64, or a format that one of them
  /// holds.
  llvm::SmallVector<mlir::Value> tensors;
  /// Of a nonzero number: at least 2^least, and less than 2^limit.
  int least = 0, limit = 0;
};

/// Null if nothing is known of the operation.
std::optional<QuietRange> findQuietRange(FormatOpInterface op);
/// The same of an operation in a body: the step of a contraction from zeros, or
/// one on elements.
std::optional<QuietRange> findQuietRange(mlir::linalg::GenericOp generic,
                                         FormatOpInterface op);

/// True, i1, if all of the tensors are in range.
mlir::Value createRangeTest(mlir::OpBuilder &builder, mlir::Location loc,
                            const QuietRange &range);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H
