// SPDX-License-Identifier: MIT
//
// Reads decimal and hexadecimal literals exactly. A literal is rounded once, to
// its format, and never through a double.

#ifndef NUMERA_REGISTRY_FORMATS_NUMBER_H
#define NUMERA_REGISTRY_FORMATS_NUMBER_H

#include "numera/Numerics/Core/Unpacked.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace numera {

/// The number of characters at the front of `text` that form a number without a
/// sign: decimal (`12`, `.5`, `1e-7`) or hexadecimal as C has it (`0x41`,
/// `0x1.8p+1`). 0 if it starts with none.
size_t lengthOfNumber(llvm::StringRef text);

/// The value of a number of any length, with or without a minus sign, as
/// precise as a rounding needs (Unpacked); none if `text` is not a number.
/// Beyond 10^±100000, which no format reaches, the value is unspecified, but
/// beyond every format.
std::optional<Unpacked> parseNumber(llvm::StringRef text);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_NUMBER_H
