// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_DRIVER_SIGNATURES_H
#define NUMERA_LIB_TARGET_DRIVER_SIGNATURES_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Target/Interface/Signature.h"

namespace numera {

/// Numbers at the boundary of public functions become tensors of rank 0, inside
/// of them and where they are called.
void passNumbersAsTensors(mlir::ModuleOp module);

/// Public functions on memory take and give dense arrays, and leave what they
/// are given as it is: they work on copies of arguments that they may write,
/// and return those if they return nothing. An argument whose layout no dense
/// array has is an error.
mlir::LogicalResult passMemoryDense(mlir::ModuleOp module);

/// The signatures of the public functions with a body, in order, taking the
/// names of tensors (`numera.name`) off the functions. Boundary types without a
/// dtype are an error at the function.
mlir::FailureOr<std::vector<FunctionSignature>>
collectSignatures(mlir::ModuleOp module);

/// Says which outputs are destinations, as numera-destinations left it on the
/// lowered functions.
void readDestinations(mlir::ModuleOp lowered,
                      std::vector<FunctionSignature> &signatures);

/// Removes every public function but `name`; an error naming the functions
/// there are if none has it.
mlir::LogicalResult keepFunction(mlir::ModuleOp module, llvm::StringRef name);

} // namespace numera

#endif // NUMERA_LIB_TARGET_DRIVER_SIGNATURES_H
