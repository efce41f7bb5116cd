// SPDX-License-Identifier: MIT
//
// The status flags of rounding a value to a format, found on the host
// (docs/Semantics/StatusFlags.md).

#ifndef NUMERA_REGISTRY_FORMATS_FLAGSOFROUNDING_H
#define NUMERA_REGISTRY_FORMATS_FLAGSOFROUNDING_H

#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Numerics/Flags/StatusFlag.h"
#include "numera/Registry/Formats/Format.h"

namespace numera {

/// The flags (numera::flag) of rounding an exact value, not NaN, to a format
/// with arithmetic: overflow, underflow, invalid, or none. A format whose
/// family does not know its range (FormatFamily::knowsRange) has none.
uint8_t flagsOfRounding(const Format &format, const Unpacked &exact,
                        RoundingMode mode);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_FLAGSOFROUNDING_H
