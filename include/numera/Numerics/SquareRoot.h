// SPDX-License-Identifier: MIT
//
// Square root and its reciprocal, by integer square roots.

#ifndef NUMERA_NUMERICS_SQUAREROOT_H
#define NUMERA_NUMERICS_SQUAREROOT_H

#include "numera/Numerics/Unpacked.h"

namespace numera::exact {

/// floor(sqrt(x)), bit by bit: `root` grows from the top, and a bit stays if
/// the square still fits.
constexpr uint64_t integerSquareRoot(uint128_t x) {
  uint128_t remainder = x, root = 0;
  for (uint128_t bit = uint128_t{1} << 126; bit != 0; bit >>= 2) {
    if (remainder >= root + bit) {
      remainder -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return static_cast<uint64_t>(root);
}

/// sqrt(x). sqrt(-0) = -0; a negative operand gives NaN.
constexpr Unpacked sqrt(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.negative)
    return Unpacked::nan();
  if (x.isInfinite())
    return x;
  // significand * 2^63 or 2^64 with an even exponent left: a 64-bit root.
  int32_t odd = x.exponent & 1;
  uint128_t radicand = static_cast<uint128_t>(x.significand) << (63 + odd);
  uint64_t root = integerSquareRoot(radicand);
  bool sticky = static_cast<uint128_t>(root) * root != radicand;
  return Unpacked::fromWide(false, root, (x.exponent - odd) / 2 - 63, sticky);
}

/// 1 / sqrt(x). rsqrt(±0) is an infinity of that sign (IEEE 754-2019, 9.2).
constexpr Unpacked rsqrt(const Unpacked &x) {
  if (x.isNaN())
    return x;
  if (x.isZero())
    return Unpacked::infinity(x.negative);
  if (x.negative)
    return Unpacked::nan();
  if (x.isInfinite())
    return Unpacked::zero();
  // x = s * 2^(2*half + odd - 63) with 2^63 <= s < 2^64, so that
  //   1/sqrt(x) = sqrt(2^(189 - odd) / s) * 2^(-half - 63).
  // The largest r with r^2 * s <= 2^(189 - odd) has 63 bits (64 where s is a
  // power of two); whether equality holds is the sticky bit.
  int32_t odd = x.exponent & 1;
  int32_t half = (x.exponent - odd) / 2;
  uint64_t root = 0;
  bool exact = false;
  for (int32_t bit = 63; bit >= 0; --bit) {
    uint64_t trial = root | uint64_t{1} << bit;
    // trial^2 * s against 2^(189 - odd), in 192 bits: high and low words.
    uint128_t square = static_cast<uint128_t>(trial) * trial;
    uint128_t low =
        static_cast<uint128_t>(static_cast<uint64_t>(square)) * x.significand;
    uint128_t high = (square >> 64) * x.significand + (low >> 64);
    auto bottom = static_cast<uint64_t>(low);
    uint128_t bound = uint128_t{1} << (125 - odd); // over 2^64
    if (high > bound || (high == bound && bottom != 0))
      continue;
    root = trial;
    exact = high == bound && bottom == 0;
  }
  return Unpacked::fromWide(false, root, -half - 63, !exact);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_SQUAREROOT_H
