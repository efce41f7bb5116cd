// SPDX-License-Identifier: MIT
//
// What a program counts while it runs, on its way to the function's result.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTED_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTED_H

#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Statistics/EventCounts.h"

namespace numera {

/// On an operation that is none of the program: numera-count-events leaves it
/// out.
inline constexpr llvm::StringLiteral uncountedAttribute = "numera.uncounted";

/// What is counted, and its EventCounts::numbers numbers, i64, in the block of
/// its function.
struct Counted {
  EventCounts description;
  llvm::SmallVector<mlir::Value> numbers;
};

/// Adds rows to what the function returns behind its own results.
void returnCounted(mlir::func::FuncOp function, llvm::ArrayRef<Counted> rows);

/// The row of the scaled tensor that `op` makes (EventCounts::numbers).
/// `numbers` are those that it was made of, and `read`, as many, are 0 where
/// elements stand for 0; null: nobody asks which became zero.
Counted countScales(mlir::OpBuilder &builder, mlir::Operation *op,
                    mlir::Value numbers, mlir::Value read, mlir::Value elements,
                    mlir::Value divisors);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_COUNTED_H
