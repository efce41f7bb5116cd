// SPDX-License-Identifier: MIT
//
// Maxima and minima of floats whose sign is the first bit of a word need no
// comparison of numbers. With words as integers, positive numbers ascend, and
// so do unsigned words of negative ones as the numbers descend. So three
// integers tell both of a window:
//
//   the largest, signed      is the maximum where it is positive
//   the least, unsigned      is the maximum where none is positive, and the
//                            minimum where none is negative
//   the largest, unsigned    is the minimum where it is negative
//
// A NaN is above infinity: a positive one in the first, another in the last.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_EXTREMA_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_EXTREMA_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "numera/Numerics/Formats/Float.h"

#include <optional>

namespace numera {

/// The maximum or minimum that is all of the body, of what is read and of the
/// result; null if the body is anything else.
mlir::Operation *extremumOf(mlir::linalg::GenericOp generic);

/// The format of an extremum whose words as integers tell it: a NaN is above
/// all numbers of its sign. None where a function is registered for it, or an
/// operand has another format.
std::optional<FloatFormat> wordsOf(mlir::Operation *extremum);

/// The three integers with one more word.
llvm::SmallVector<mlir::Value> stepOfWords(mlir::OpBuilder &builder,
                                           mlir::Location loc,
                                           mlir::Value words,
                                           mlir::ValueRange before);

/// The word of the maximum or minimum that the three integers tell, or vectors
/// of them.
mlir::Value extremumOfWords(mlir::OpBuilder &builder, mlir::Operation *extremum,
                            const FloatFormat &words,
                            mlir::ValueRange integers);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_EXTREMA_H
