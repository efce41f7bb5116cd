// SPDX-License-Identifier: MIT
//
// The operations on exact values, before any rounding to a format.

#ifndef NUMERA_REGISTRY_FORMATS_EXACTVALUE_H
#define NUMERA_REGISTRY_FORMATS_EXACTVALUE_H

#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Registry/Formats/OpKind.h"
#include "llvm/ADT/ArrayRef.h"

namespace numera {

/// The value of an operation on numbers, with enough bits for one rounding;
/// elementary functions to 128 bits. `rounding` decides the sign of a sum that
/// is zero. `cast` gives its operand, `mac` is an fma. Not for `cmp` and
/// `isnan`.
Unpacked exactValue(OpKind operation, llvm::ArrayRef<Unpacked> operands,
                    Rounding rounding);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_EXACTVALUE_H
