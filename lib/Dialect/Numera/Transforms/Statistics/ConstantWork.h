// SPDX-License-Identifier: MIT
//
// What a program computes from its constants alone, as the quantization of
// weights: the same in every call.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CONSTANTWORK_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CONSTANTWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace numera {

/// The operations in the function's blocks, and in those of loops and branches
/// (`canCarryRows`), that read nothing but constants and each other.
llvm::DenseSet<mlir::Operation *>
computedFromConstants(mlir::func::FuncOp function);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_CONSTANTWORK_H
