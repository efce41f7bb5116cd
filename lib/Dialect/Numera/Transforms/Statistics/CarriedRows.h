// SPDX-License-Identifier: MIT
//
// Rows of counters out of loops and branches of scf: through memory. Results
// that carried hundreds of numbers out of them would be most of what the
// compiler looks at.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CARRIEDROWS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CARRIEDROWS_H

#include "CounterRow.h"

namespace numera {

/// True of `scf.if`, `scf.for` and `scf.while`: the rows of their blocks can be
/// carried out of them.
bool canCarryRows(mlir::Operation *op);

/// Makes the numbers of `rows` those of the whole function, in its block, which
/// is its only one. A row of a loop's body is what all iterations have
/// together: their sum, and for the magnitudes of a scaled tensor the least or
/// the largest. Where a branch is not taken, its rows have nothing. Everything
/// around a row, up to the function, is an operation that `canCarryRows`.
void carryRows(mlir::func::FuncOp function,
               llvm::MutableArrayRef<CounterRow> rows);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CARRIEDROWS_H
