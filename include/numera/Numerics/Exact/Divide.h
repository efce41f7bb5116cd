// SPDX-License-Identifier: MIT
//
// Quotient and remainder (fmod).

#ifndef NUMERA_NUMERICS_EXACT_DIVIDE_H
#define NUMERA_NUMERICS_EXACT_DIVIDE_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"

namespace numera::exact {

/// x / y. 0/0, inf/inf and NaN operands give NaN. x/0 is a pole: an infinity,
/// or what replaces it in the format. The tail is computed for stochastic
/// rounding; other modes only need to know whether it is zero.
constexpr Unpacked div(const Unpacked &x, const Unpacked &y, Rounding mode) {
  bool negative = x.negative != y.negative;
  if (x.isNaN() || y.isNaN() || (x.isZero() && y.isZero()) ||
      (x.isInfinite() && y.isInfinite()))
    return Unpacked::nan();
  if (y.isZero())
    return Unpacked::pole(negative);
  if (x.isInfinite())
    return Unpacked::infinity(negative);
  if (x.isZero() || y.isInfinite())
    return Unpacked::zero(negative);
  // 128 bits over 64: a quotient of 64 or 65 bits, and what follows is in the
  // remainder.
  uint64_t divisor = y.significand;
  bool large = x.significand >= divisor;
  uint128_t numerator = static_cast<uint128_t>(x.significand)
                        << (large ? 63 : 64);
  uint128_t quotient = numerator / divisor; // 64 bits
  uint128_t remainder = numerator % divisor;
  int32_t scale = x.exponent - y.exponent - (large ? 63 : 64);
  if (mode == Rounding::Stochastic) {
    remainder <<= 32;
    quotient = quotient << 32 | remainder / divisor;
    remainder %= divisor;
    scale -= 32;
  }
  return Unpacked::fromWide(negative, quotient, scale, remainder != 0);
}

/// fmod(x, y): x - n*y with n = trunc(x/y), exact, with the sign of x.
/// rem(inf, y), rem(x, 0) and NaN operands give NaN; rem(x, inf) = x.
constexpr Unpacked rem(const Unpacked &x, const Unpacked &y) {
  if (x.isNaN() || y.isNaN() || x.isInfinite() || y.isZero())
    return Unpacked::nan();
  if (x.isZero() || y.isInfinite() || x.exponent < y.exponent)
    return x;
  // Long division, up to 63 quotient bits a step: r < y holds throughout.
  uint64_t divisor = y.significand;
  uint64_t remainder =
      x.significand >= divisor ? x.significand - divisor : x.significand;
  for (int32_t gap = x.exponent - y.exponent; gap > 0 && remainder != 0;) {
    int32_t step = gap < 63 ? gap : 63;
    remainder = static_cast<uint64_t>(
        (static_cast<uint128_t>(remainder) << step) % divisor);
    gap -= step;
  }
  return Unpacked::fromInteger(x.negative, remainder, y.exponent - 63);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_DIVIDE_H
