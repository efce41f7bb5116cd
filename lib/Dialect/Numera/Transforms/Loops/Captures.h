// SPDX-License-Identifier: MIT
//
// What a loop uses of the function around it, for passes that make a function
// of it.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_CAPTURES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_CAPTURES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace numera {

/// Values that are defined outside of an operation and used inside. Constants
/// are made again in a new function; all else is passed.
class Captures {
public:
  Captures() = default;
  Captures(mlir::Operation *op, mlir::ValueRange others = {});

  llvm::ArrayRef<mlir::Value> getPassed() const { return passed; }

  /// At the start of `function`, whose last arguments are the passed values.
  void define(mlir::OpBuilder &builder, mlir::func::FuncOp function,
              mlir::IRMapping &map) const;

  /// Has the function's attribute `numera.apart` say which of these arguments
  /// reach memory that nothing else in it reaches.
  void noteApart(mlir::func::FuncOp function) const;

private:
  llvm::SmallVector<mlir::Value> remade, passed;
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOOPS_CAPTURES_H
