// SPDX-License-Identifier: MIT
//
// Which operations may have events (docs/Semantics/Events.md), and the
// operations that look for them.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_JUDGEMENT_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_JUDGEMENT_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// What can be known of an operation.
struct Judgement {
  /// The events that can be told, as bits (Numerics/Flags/Event.h): of an
  /// opaque format's operation, and of one that a library has, NaNs at most.
  uint8_t known = 0;
  Format format; ///< of the result; null for an integer
};

/// Null for an operation that has no events whatever its operands are.
std::optional<Judgement> judge(mlir::Operation *op, Target target);

/// The events of `op`, i8 in the shape of its result, at the builder's place
/// behind it; null where none can be told.
mlir::Value createEvents(mlir::OpBuilder &builder, mlir::Operation *op,
                         const Judgement &judgement);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_JUDGEMENT_H
