// SPDX-License-Identifier: MIT
//
// Numbers as people write them, read exactly: a literal is rounded once, to the
// format it is meant for, and never through a double.

#ifndef NUMERA_REGISTRY_FORMATS_NUMBER_H
#define NUMERA_REGISTRY_FORMATS_NUMBER_H

#include "numera/Numerics/Core/Unpacked.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace numera {

/// How many characters at the front of `text` are a number without a sign:
/// decimal (`12`, `.5`, `1e-7`) or hexadecimal as C has it (`0x41`,
/// `0x1.8p+1`). 0 if it starts with none.
size_t lengthOfNumber(llvm::StringRef text);

/// The value of a number with or without a minus sign, exact to all that a
/// rounding looks at (Unpacked), whatever its length; none if `text` is no
/// number. Beyond 10^±100000, where no format reaches, it is some number there.
std::optional<Unpacked> parseNumber(llvm::StringRef text);

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_NUMBER_H
