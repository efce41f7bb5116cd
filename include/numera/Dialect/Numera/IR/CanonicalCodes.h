// SPDX-License-Identifier: MIT
//
// Which codes are those that an operation gives.

#ifndef NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H
#define NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H

#include "mlir/IR/Value.h"
#include "numera/Registry/Formats/Format.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace numera {

/// Adds the values that the elements of a value come from, unchanged; false if
/// that is not known.
using ElementTrace =
    llvm::function_ref<bool(mlir::Value, llvm::SmallVectorImpl<mlir::Value> &)>;

/// True if `value`, codes of `format`, has no code but those that operations
/// give (F4, F6): the format has no others, or an operation gave it. `trace` is
/// asked about values that no operation of the dialect defines.
bool hasCanonicalCodes(mlir::Value value, const Format &format,
                       ElementTrace trace = nullptr);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H
