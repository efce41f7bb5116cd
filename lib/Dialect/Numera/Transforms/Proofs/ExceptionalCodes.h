// SPDX-License-Identifier: MIT
//
// An operation of one operand that is proven to be a built-in format's, but for
// a few codes.

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
