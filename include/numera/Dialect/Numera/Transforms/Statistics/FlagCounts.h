// SPDX-License-Identifier: MIT
//
// The description of the result that numera-count-status-flags adds to a
// function.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace numera {

/// The attribute of that result, for each row a dictionary with `name`,
/// `operation`, `format`, `known` and, of a scaled tensor, `tensor`; `constant`
/// where it is computed from constants alone.
inline constexpr llvm::StringLiteral flagCountsAttribute = "numera.counts";

/// An operation that is counted, or a scaled tensor.
struct FlagCounts {
  /// How many kinds of flags there are: each has a bit of
  /// Numerics/Flags/StatusFlag.h, 0 to 3, and a count behind that of how often
  /// the operation was done.
  static constexpr unsigned kinds = 4;
  /// The number of i64 in a row: the number of executions and the counts of the
  /// kinds. For a scaled tensor: the number of elements, the number of values
  /// that became zero, and, as the bits of an f32, the least and the greatest
  /// divisor and the largest magnitude of an element.
  static constexpr unsigned numbers = 1 + kinds;

  /// In place of the counts of kinds, if another program is to count them
  /// (`postpone` of numera-count-status-flags).
  static constexpr int64_t postponed = -1;

  std::string name; ///< of the model's node; may be empty
  std::string operation;
  std::string format;
  uint8_t known = 0; ///< the flags that can be detected, as bits
  /// True if the row describes a scaled tensor, and `format` is its format.
  bool isTensor = false;
  /// True if all calls count the same: constants alone are read.
  bool isConstant = false;
};

mlir::ArrayAttr attributeOf(mlir::MLIRContext *context,
                            llvm::ArrayRef<FlagCounts> counts);
/// The rows of the last of the function's own results (LayerRows.h); empty if
/// that has no counts.
llvm::SmallVector<FlagCounts> flagCountsOf(mlir::func::FuncOp function);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H
