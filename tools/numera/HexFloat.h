// SPDX-License-Identifier: MIT

#ifndef NUMERA_TOOLS_NUMERA_HEXFLOAT_H
#define NUMERA_TOOLS_NUMERA_HEXFLOAT_H

#include "numera/Numerics/Unpacked.h"
#include <string>

namespace numera {

/// The exact value in C's hexadecimal notation, the leading digit 1 whatever
/// the exponent: `0x1.8p+1`, `-0x1p-16445`; also `0x0p+0`, `-0x0p+0`, `inf`,
/// `-inf`, `nan`.
std::string printHexFloat(const Unpacked &value);

/// The value to six decimal digits, for people: `448`, `1.52588e-05`. Empty
/// where a double does not reach.
std::string printDecimal(const Unpacked &value);

} // namespace numera

#endif // NUMERA_TOOLS_NUMERA_HEXFLOAT_H
