// SPDX-License-Identifier: MIT

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_INDEPENDENTROWS_H
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_INDEPENDENTROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// True if row i of each result depends on row i of the inputs that have the
/// batch, and on inputs without it: the function may be called with a part of
/// the rows at a time. False also where that is not known.
bool hasIndependentRows(mlir::ModuleOp module, mlir::func::FuncOp function);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_INDEPENDENTROWS_H
