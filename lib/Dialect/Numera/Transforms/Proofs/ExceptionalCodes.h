// SPDX-License-Identifier: MIT
//
// Operations of one operand that are proven equal to a built-in format's, with
// a few exceptions.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_PROOFS_EXCEPTIONALCODES_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_PROOFS_EXCEPTIONALCODES_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// True if there are operations to tell the codes of its operand apart.
bool canTellApart(FormatOpInterface op);

/// Lets what reads the result of `op`, an operation in the format `meaning` by
/// now, have the results of the exceptions.
void tellApart(FormatOpInterface op, const Format &meaning,
               llvm::ArrayRef<Proof::Exception> exceptions);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_PROOFS_EXCEPTIONALCODES_H
