// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_DRIVER_MODELOPERATIONS_H
#define NUMERA_LIB_TARGET_DRIVER_MODELOPERATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace numera {

/// A model computes: it calls no function of the system, holds no machine code,
/// and makes no addresses, as LLVM's dialect and those of devices do. Fails at
/// the first operation, or type of a value, that models have none of, and drops
/// attributes of such dialects, which would go to LLVM as they are.
mlir::LogicalResult checkOperations(mlir::ModuleOp model);

} // namespace numera

#endif // NUMERA_LIB_TARGET_DRIVER_MODELOPERATIONS_H
