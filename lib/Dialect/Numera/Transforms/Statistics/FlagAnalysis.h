// SPDX-License-Identifier: MIT
//
// Determines which operations may raise flags (docs/Semantics/StatusFlags.md),
// and creates the operations that compute them.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGANALYSIS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGANALYSIS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// What can be known of an operation.
struct FlagAnalysis {
  /// The status flags that can be told, as bits (Numerics/Flags/StatusFlag.h):
  /// of an opaque format's operation, and of one that a library has, NaNs at
  /// most.
  uint8_t known = 0;
  Format format; ///< of the result; null for an integer
  /// A term of an exact sum: it is counted, and never has flags.
  bool isTerm = false;
};

/// Null for an operation that has no flags whatever its operands are, but for
/// terms of exact sums.
std::optional<FlagAnalysis> analyzeFlags(mlir::Operation *op, Target target);

/// True for an operation that has flags for some operands.
bool mayRaiseFlags(mlir::Operation *op, Target target);

/// The status flags of `op`, i8 in the shape of its result, at the builder's
/// place behind it; null where none can be told.
mlir::Value createStatusFlags(mlir::OpBuilder &builder, mlir::Operation *op,
                              const FlagAnalysis &analysis);

/// True if every number of the format has its negative there.
bool isSymmetric(const Format &format);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGANALYSIS_H
