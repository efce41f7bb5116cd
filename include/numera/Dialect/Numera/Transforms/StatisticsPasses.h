// SPDX-License-Identifier: MIT
//
// The passes of `numera run --stats` (docs/Passes.md).

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES_H

#include "numera/Dialect/Numera/Transforms/Passes.h"

namespace numera {

#define GEN_PASS_DECL
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"

/// How `numera.show_row` becomes an operation on buffers.
void registerShowRowBufferization(mlir::DialectRegistry &dialects);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICSPASSES_H
