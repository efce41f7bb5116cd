// SPDX-License-Identifier: MIT
//
// Loops over all elements of tensors that many operations need: in a function
// for matrices of any size, that they call. Thousands of loops would be most of
// a program that counts, and their buffers most of what its compiler looks at.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SHAREDLOOPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SHAREDLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace numera {

/// How terms are put together. `start` has the type of the result.
struct Fold {
  mlir::IntegerAttr start;
  mlir::Value (*combine)(mlir::OpBuilder &, mlir::Location, mlir::Value term,
                         mlir::Value before);

  /// By one of arith's operations on integers.
  template <typename Op> static Fold by(mlir::IntegerAttr start) {
    return {start,
            [](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value term,
               mlir::Value before) -> mlir::Value {
              return Op::create(builder, loc, term, before);
            }};
  }
};

/// A tensor as a matrix of unknown sizes, with long rows.
mlir::Value asMatrix(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value tensor);

/// What each fold makes of its term of corresponding elements: `terms` is given
/// them, and `scalars`. The function is one for all calls with the name and
/// with these types. Tensors have one shape, and their elements one order,
/// which may be any (anyOrderAttribute).
llvm::SmallVector<mlir::Value> foldAll(
    mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
    mlir::ValueRange tensors, mlir::ValueRange scalars,
    llvm::ArrayRef<Fold> folds,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(
        mlir::OpBuilder &, mlir::ValueRange elements, mlir::ValueRange scalars)>
        terms);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SHAREDLOOPS_H
