// SPDX-License-Identifier: MIT
//
// Folding of elementwise operations on constants.

#ifndef NUMERA_LIB_DIALECT_NUMERA_IR_FOLDELEMENTS_H
#define NUMERA_LIB_DIALECT_NUMERA_IR_FOLDELEMENTS_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace numera {

/// Operations are folded only where the constant stays small; casts, whatever
/// their size: weights are encoded at compile time.
inline constexpr int64_t largestFoldedConstant = 1024;

/// The result of `evaluate` on the operands' codes, or bits of machine numbers,
/// element by element; null where an operand is no constant, or `evaluate` says
/// nothing. `type` is the result's.
mlir::OpFoldResult foldElements(
    mlir::Type type, llvm::ArrayRef<mlir::Attribute> operands,
    llvm::function_ref<std::optional<uint64_t>(llvm::ArrayRef<uint64_t>)>
        evaluate,
    int64_t largest = largestFoldedConstant);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_IR_FOLDELEMENTS_H
