// SPDX-License-Identifier: MIT
//
// Rounding to integral values, and conversions from and to integers.

#ifndef NUMERA_NUMERICS_EXACT_INTEGRAL_H
#define NUMERA_NUMERICS_EXACT_INTEGRAL_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"

namespace numera::exact {

/// x rounded to an integral value: floor is Down, ceil Up, trunc TowardZero,
/// round NearestAway, roundeven NearestEven. The sign of zero is x's.
constexpr Unpacked roundToIntegral(const Unpacked &x, Rounding mode) {
  if (!x.isFinite() || x.exponent >= 63)
    return x;
  if (x.exponent < -1) { // below one half: all of it is tail
    bool up = roundsUp(mode, x.negative, false, {0, true});
    return up ? Unpacked::fromInteger(x.negative, 1)
              : Unpacked::zero(x.negative);
  }
  int32_t cut = 63 - x.exponent; // 1 to 64 fraction bits
  uint64_t kept = cut < 64 ? x.significand >> cut : 0;
  Remainder rest = Remainder::of(x.wide() << (64 - cut), x.sticky);
  kept += roundsUp(mode, x.negative, (kept & 1) != 0, rest);
  return Unpacked::fromInteger(x.negative, kept);
}

constexpr Unpacked floor(const Unpacked &x) {
  return roundToIntegral(x, Rounding::Down);
}
constexpr Unpacked ceil(const Unpacked &x) {
  return roundToIntegral(x, Rounding::Up);
}
constexpr Unpacked trunc(const Unpacked &x) {
  return roundToIntegral(x, Rounding::TowardZero);
}
constexpr Unpacked round(const Unpacked &x) {
  return roundToIntegral(x, Rounding::NearestAway);
}
constexpr Unpacked roundeven(const Unpacked &x) {
  return roundToIntegral(x, Rounding::NearestEven);
}

/// The integer `x` as an operand.
constexpr Unpacked fromSigned(int64_t x) {
  bool negative = x < 0;
  auto bits = static_cast<uint64_t>(x);
  Unpacked value = Unpacked::fromInteger(negative, negative ? ~bits + 1 : bits);
  value.negative = negative;
  return value;
}
constexpr Unpacked fromUnsigned(uint64_t x) {
  return Unpacked::fromInteger(false, x);
}

/// x truncated toward zero to an integer of `width` bits, in two's complement
/// or unsigned. It saturates; NaN gives 0.
constexpr uint64_t toInteger(const Unpacked &x, int32_t width, bool isSigned) {
  if (x.isNaN() || x.isZero())
    return 0;
  uint64_t most = ~uint64_t{0} >> (64 - width) >> (isSigned ? 1 : 0);
  uint64_t limit = x.negative ? (isSigned ? most + 1 : 0) : most;
  uint64_t magnitude = limit;
  if (x.isFinite() && x.exponent < 64) {
    magnitude = x.exponent < 0 ? 0 : x.significand >> (63 - x.exponent);
    magnitude = magnitude < limit ? magnitude : limit;
  }
  uint64_t mask = ~uint64_t{0} >> (64 - width);
  return (x.negative ? ~magnitude + 1 : magnitude) & mask;
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_INTEGRAL_H
