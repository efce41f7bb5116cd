// SPDX-License-Identifier: MIT
//
// The kinds of status flags (StatusFlags.h), as numbers.

#ifndef NUMERA_NUMERICS_FLAGS_STATUSFLAG_H
#define NUMERA_NUMERICS_FLAGS_STATUSFLAG_H

#include <stdint.h>

namespace numera {

/// A set of flags. The numbers are part of the runtime ABI.
namespace flag {
inline constexpr uint8_t none = 0;
inline constexpr uint8_t overflow = 1;
inline constexpr uint8_t underflow = 2;
inline constexpr uint8_t invalid = 4;
inline constexpr uint8_t divisionByZero = 8;
} // namespace flag

} // namespace numera

#endif // NUMERA_NUMERICS_FLAGS_STATUSFLAG_H
