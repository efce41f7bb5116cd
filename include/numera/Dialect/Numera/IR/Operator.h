// SPDX-License-Identifier: MIT
//
// The operator of a model that an operation comes from, `onnx.Softmax`, kept
// in its location: what a rule of a policy may name after the operation has
// become others. numera-retype takes it away.

#ifndef NUMERA_DIALECT_NUMERA_IR_OPERATOR_H
#define NUMERA_DIALECT_NUMERA_IR_OPERATOR_H

#include "mlir/IR/Location.h"

namespace numera {

inline constexpr llvm::StringLiteral operatorKey = "numera.operator";

/// The location, fused with `{numera.operator = name}`.
mlir::Location withOperator(mlir::Location loc, llvm::StringRef name);
/// Empty where none is kept.
llvm::StringRef operatorOf(mlir::Location loc);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_OPERATOR_H
