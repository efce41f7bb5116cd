// SPDX-License-Identifier: MIT
//
// Rows of counters in a program, and the function's result that returns them.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTERROW_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTERROW_H

#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"

namespace numera {

/// On an operation that is none of the program: numera-count-status-flags
/// leaves it out.
inline constexpr llvm::StringLiteral uncountedAttribute = "numera.uncounted";

/// What is counted, and its FlagCounts::numbers numbers, i64, in the block of
/// its function, or together in one further inside (CarriedRows.h).
struct CounterRow {
  FlagCounts description;
  llvm::SmallVector<mlir::Value> numbers;
};

/// How many elements there are, i64.
mlir::Value createCount(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// Adds rows to what the function returns behind its own results, in front of
/// rows of layers.
void returnCounterRows(mlir::func::FuncOp function,
                       llvm::ArrayRef<CounterRow> rows);

/// The operations in the function's only block whose values its own results
/// are computed from: not those that are there for rows of layers alone.
llvm::DenseSet<mlir::Operation *>
computedForOwnResults(mlir::func::FuncOp function);

/// The row of the scaled tensor that `op` makes (FlagCounts::numbers).
/// `numbers` are those that it was made of, and `read`, as many, are 0 where
/// elements stand for 0; null: nobody asks which became zero.
CounterRow countScales(mlir::OpBuilder &builder, mlir::Operation *op,
                       mlir::Value numbers, mlir::Value read,
                       mlir::Value elements, mlir::Value divisors);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTERROW_H
