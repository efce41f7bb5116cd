// SPDX-License-Identifier: MIT
//
// A format as IR spells it: `posit<16, 2>`, `opaque<"mybf16", 16>`.

#ifndef NUMERA_LIB_DIALECT_NUMERA_IR_FORMATSYNTAX_H
#define NUMERA_LIB_DIALECT_NUMERA_IR_FORMATSYNTAX_H

#include "mlir/IR/OpImplementation.h"
#include "numera/Registry/Formats/Format.h"

namespace numera {

/// Parses a spelling without the angle brackets around it; a null Format after
/// an error.
Format parseFormat(mlir::AsmParser &parser);
void printFormat(mlir::AsmPrinter &printer, const Format &format);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_IR_FORMATSYNTAX_H
