// SPDX-License-Identifier: MIT
//
// The two halves of lowering, types and operations, for the passes that run one
// or both.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERTYPES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERTYPES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// Turns `!numera.num` and `!numera.quire` into storage integers everywhere
/// under `module`.
mlir::LogicalResult lowerTypes(mlir::ModuleOp module);
/// True if the operation's types, attributes or block arguments mention one.
bool mentionsNum(mlir::Operation *op);

class Lowerings;
/// Turns every operation on quires under `module` into calls of the runtime.
mlir::LogicalResult lowerQuires(mlir::ModuleOp module, Lowerings &lowerings);
/// Turns every `numera.show_row` under `module` into a call of the runtime.
mlir::LogicalResult lowerRows(mlir::ModuleOp module);
/// Turns every operation of `numera` under `module` into its lowering.
mlir::LogicalResult lowerOps(mlir::ModuleOp module, Target target);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_LOWERING_LOWERTYPES_H
