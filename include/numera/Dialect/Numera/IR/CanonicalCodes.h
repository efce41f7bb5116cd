// SPDX-License-Identifier: MIT
//
// Canonical codes: the codes that operations return.

#ifndef NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H
#define NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H

#include "mlir/IR/Value.h"
#include "numera/Registry/Formats/Format.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace numera {

/// Adds the values whose elements a value contains unchanged; false if they are
/// not known.
using ElementTrace =
    llvm::function_ref<bool(mlir::Value, llvm::SmallVectorImpl<mlir::Value> &)>;

/// True if `value`, codes of `format`, has only canonical codes (F4, F6): the
/// format has no others, or an operation returned them. `trace` is called for
/// values that no operation of the dialect defines.
bool hasCanonicalCodes(mlir::Value value, const Format &format,
                       ElementTrace trace = nullptr);

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_CANONICALCODES_H
