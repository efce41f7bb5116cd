// SPDX-License-Identifier: MIT
//
// What operations on codes make of all codes, by folding them.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_FOLDING_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_FOLDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// How many codes are folded at once.
constexpr int64_t foldedCodes = 1024;

/// What an operation costs. Of a cast: that of the format which the machine
/// does not have.
FormatFamily::Effort effortOf(FormatOpInterface op);

/// The element of a constant that has one value; else null.
mlir::Attribute splatOf(mlir::Value value);

/// The type of `count` elements of `value`, a scalar or a vector.
mlir::RankedTensorType typeOfCodes(mlir::Value value, int64_t count);

/// The result of an elementwise operation with one result on `count` elements
/// of its operands; null where it does not fold.
mlir::DenseElementsAttr foldOn(mlir::Operation *op,
                               mlir::ArrayRef<mlir::Attribute> operands,
                               int64_t count);

/// Appends the elements to `bytes`, as a buffer of `DenseElementsAttr` has
/// them.
void appendTo(std::vector<char> &bytes, mlir::DenseElementsAttr elements);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_TABLES_FOLDING_H
