// SPDX-License-Identifier: MIT

#ifndef NUMERA_REGISTRY_DESCRIPTION_HEXFLOAT_H
#define NUMERA_REGISTRY_DESCRIPTION_HEXFLOAT_H

#include "numera/Numerics/Core/Unpacked.h"
#include <string>

namespace numera {

/// The exact value in C's hexadecimal notation, with the leading digit 1 for
/// any exponent: `0x1.8p+1`, `-0x1p-16445`; also `0x0p+0`, `-0x0p+0`, `inf`,
/// `-inf`, `nan`. A value that continues beyond its 96 bits ends in `…`.
std::string printHexFloat(const Unpacked &value);

/// The same of the nearest number of 53 significant bits, which is the value
/// itself in all formats whose values are binary fractions.
std::string printNearestHexFloat(const Unpacked &value);

} // namespace numera

#endif // NUMERA_REGISTRY_DESCRIPTION_HEXFLOAT_H
