// SPDX-License-Identifier: MIT
//
// What numera-count-status-flags says of the result that it adds to a function.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace numera {

/// The attribute of that result, for each row a dictionary with `name`,
/// `operation`, `format`, `known` and, of a scaled tensor, `tensor`.
inline constexpr llvm::StringLiteral flagCountsAttribute = "numera.counts";

/// An operation that is counted, or a scaled tensor.
struct FlagCounts {
  /// How many kinds of flags there are: each has a bit of
  /// Numerics/Flags/StatusFlag.h, 0 to 3, and a count behind that of how often
  /// the operation was done.
  static constexpr unsigned kinds = 4;
  /// So many i64 a row: that count and those of the kinds. Of a scaled tensor:
  /// how many elements there are, how many numbers became zero, and, as the
  /// bits of an f32, the least and the greatest divisor and the largest
  /// magnitude of an element.
  static constexpr unsigned numbers = 1 + kinds;

  std::string name; ///< of the model's node; may be empty
  std::string operation;
  std::string format;
  uint8_t known = 0; ///< the flags that can be told, as bits
  /// What the operation makes is a scaled tensor, and the format its own.
  bool isTensor = false;
};

mlir::ArrayAttr attributeOf(mlir::MLIRContext *context,
                            llvm::ArrayRef<FlagCounts> counts);
/// What the last result of the function counts; nothing if it is another one.
llvm::SmallVector<FlagCounts> flagCountsOf(mlir::func::FuncOp function);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGCOUNTS_H
