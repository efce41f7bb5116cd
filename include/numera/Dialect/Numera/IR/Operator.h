// SPDX-License-Identifier: MIT
//
// The operator of the model that an operation comes from, such as
// `onnx.Softmax`, is stored in its location. So a rule of a policy can match it
// after the operation has been decomposed. numera-retype removes it.

#ifndef NUMERA_DIALECT_NUMERA_IR_OPERATOR_H
#define NUMERA_DIALECT_NUMERA_IR_OPERATOR_H

#include "mlir/IR/Location.h"

namespace numera {

inline constexpr llvm::StringLiteral operatorKey = "numera.operator";

/// The location, fused with `{numera.operator = name}`.
mlir::Location withOperator(mlir::Location loc, llvm::StringRef name);
/// The operator in a location; empty if there is none.
llvm::StringRef operatorOf(mlir::Location loc);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_OPERATOR_H
