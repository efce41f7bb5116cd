// SPDX-License-Identifier: MIT
//
// Square root and its reciprocal, by integer square roots.

#ifndef NUMERA_NUMERICS_EXACT_SQUAREROOT_H
#define NUMERA_NUMERICS_EXACT_SQUAREROOT_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Wide.h"

namespace numera::exact {

/// sqrt(x). sqrt(-0) = -0; a negative operand gives NaN. The tail is worked out
/// for stochastic rounding; any other needs no more than that it is not zero.
constexpr Unpacked sqrt(const Unpacked &x, Rounding mode) {
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
  uint128_t remainder = radicand - static_cast<uint128_t>(root) * root;
  int32_t scale = (x.exponent - odd) / 2 - 63;
  if (mode != Rounding::Stochastic)
    return Unpacked::fromWide(false, root, scale, remainder != 0);
  // 32 more bits: the largest t with (2^32 root + t)^2 <= 2^64 radicand, which
  // is 2^33 root t + t^2 <= 2^64 remainder. As remainder <= 2 root, the
  // quotient is that t or one more than it.
  uint128_t twice = static_cast<uint128_t>(root) << 1;
  uint128_t t = (remainder << 32) / twice;
  uint128_t left = ((remainder << 32) % twice) << 32;
  if (t * t > left) {
    --t;
    left += twice << 32;
  }
  return Unpacked::fromWide(false, (static_cast<uint128_t>(root) << 32) + t,
                            scale - 32, left != t * t);
}

/// How root^2 * factor compares with 2^power: negative, 0 or positive. `root`
/// has up to 128 bits, the product up to 320.
constexpr int compareSquare(uint128_t root, uint64_t factor, int32_t power) {
  auto low = static_cast<uint64_t>(root);
  auto high = static_cast<uint64_t>(root >> 64);
  // root * factor, then times root, in words of 64 bits.
  uint128_t partial = static_cast<uint128_t>(low) * factor;
  uint128_t upper = static_cast<uint128_t>(high) * factor + (partial >> 64);
  uint64_t a[3] = {static_cast<uint64_t>(partial), static_cast<uint64_t>(upper),
                   static_cast<uint64_t>(upper >> 64)};
  uint64_t words[5] = {};
  for (int i = 0; i < 3; ++i) {
    uint128_t sum = static_cast<uint128_t>(a[i]) * low + words[i];
    words[i] = static_cast<uint64_t>(sum);
    sum = static_cast<uint128_t>(a[i]) * high + words[i + 1] + (sum >> 64);
    words[i + 1] = static_cast<uint64_t>(sum);
    words[i + 2] += static_cast<uint64_t>(sum >> 64);
  }
  int32_t at = power / 64;
  for (int32_t i = 4; i >= 0; --i) {
    uint64_t bound = i == at ? uint64_t{1} << (power % 64) : 0;
    if (words[i] != bound)
      return words[i] > bound ? 1 : -1;
  }
  return 0;
}

/// 1 / sqrt(x). rsqrt(±0) is a pole of that sign (IEEE 754-2019, 9.2). The
/// tail is worked out for stochastic rounding.
constexpr Unpacked rsqrt(const Unpacked &x, Rounding mode) {
  if (x.isNaN())
    return x;
  if (x.isZero())
    return Unpacked::pole(x.negative);
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
  if (mode != Rounding::Stochastic || exact)
    return Unpacked::fromWide(false, root, -half - 63, !exact);
  // 32 more bits of the root, in the same way: none but an even power of two
  // has a reciprocal root that ends.
  uint128_t longer = static_cast<uint128_t>(root) << 32;
  for (int32_t bit = 31; bit >= 0; --bit)
    if (compareSquare(longer | uint128_t{1} << bit, x.significand,
                      189 - odd + 64) <= 0)
      longer |= uint128_t{1} << bit;
  return Unpacked::fromWide(false, longer, -half - 95, true);
}

/// With the tail that every rounding needs.
constexpr Unpacked rsqrt(const Unpacked &x) {
  return rsqrt(x, Rounding::Stochastic);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_SQUAREROOT_H
