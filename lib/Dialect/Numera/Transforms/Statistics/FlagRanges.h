// SPDX-License-Identifier: MIT
//
// Operations that raise no flags, because of the numbers that they read: to
// look at those takes less than to ask for the flags of each step of a
// contraction, or of each element.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/MapVector.h"

namespace numera {

/// Where the numbers of a tensor of f32, f64, or a format that one of them
/// holds, are to be: zero, or of a magnitude from 2^least to below 2^limit.
struct NumberRange {
  mlir::Value tensor;
  int least = 0, limit = 0;
};

/// Where an operation raises no flags: what is not known to be in range,
/// nothing for an operation that raises none whatever it reads.
using QuietRanges = llvm::SmallVector<NumberRange, 2>;

/// Null if nothing is known of the operation.
std::optional<QuietRanges> findQuietRanges(FormatOpInterface op);
/// The same of an operation in a body: the step of a contraction from zeros, or
/// one on elements.
std::optional<QuietRanges> findQuietRanges(mlir::linalg::GenericOp generic,
                                           FormatOpInterface op);

/// Where the step of a contraction from zeros has no other flag than the
/// underflow of products that are rounded by themselves. Null if nothing is
/// known of the operation, or f32 does not hold its products.
std::optional<QuietRanges> findUnderflowRanges(mlir::linalg::GenericOp generic,
                                               FormatOpInterface op);

/// How many products underflow in such a contraction, i64 (Underflows.cpp).
mlir::Value countUnderflows(mlir::OpBuilder &builder,
                            mlir::linalg::GenericOp generic,
                            FormatOpInterface op);

/// The input whose elements an operand in the body is, through exact casts
/// there; null for any other one, such as a sum so far.
mlir::OpOperand *elementsOf(mlir::linalg::GenericOp generic,
                            mlir::Value operand);

/// True, i1, if all numbers are in range, at the builder's place.
mlir::Value createTests(mlir::OpBuilder &builder, mlir::Location loc,
                        const QuietRanges &ranges);

/// Tests of tensors, mostly one for each: where several operations need it in a
/// range, it is tested for what is in all of them, if anything is.
class RangeTests {
public:
  /// True, i1, if all numbers are in range, behind `op`. The test itself is
  /// made by `create`.
  mlir::Value find(mlir::OpBuilder &builder, mlir::Operation *op,
                   const QuietRanges &ranges);
  void create(mlir::OpBuilder &builder);

private:
  struct Test {
    int least, limit;
    mlir::Operation *place; ///< in whose place it comes
  };
  llvm::MapVector<mlir::Value, llvm::SmallVector<Test, 1>> tests;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_FLAGRANGES_H
