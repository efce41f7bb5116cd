// SPDX-License-Identifier: MIT
//
// hypot of two Unpacked: 96 bits of the root of the sum of two squares, exactly
// cut. The root of a sum cut to 128 bits is near; comparing integers settles
// its last bit, and whether anything follows.

#ifndef NUMERA_NUMERICS_EXACT_HYPOTENUSE_H
#define NUMERA_NUMERICS_EXACT_HYPOTENUSE_H

#include "numera/Numerics/Core/Wide.h"

namespace numera::exact {

namespace detail {

/// An integer below 2^320, least significant word first.
struct FiveWords {
  uint64_t words[5] = {};

  /// Adds value * 2^shift.
  constexpr void add(uint128_t value, int32_t shift) {
    int32_t first = shift >> 6, bits = shift & 63;
    uint64_t parts[3] = {
        static_cast<uint64_t>(value << bits),
        static_cast<uint64_t>(value >> (64 - bits)),
        static_cast<uint64_t>(bits == 0 ? 0 : value >> (128 - bits))};
    uint64_t carry = 0;
    for (int32_t i = first; i < 5; ++i) {
      uint128_t sum = static_cast<uint128_t>(words[i]) + carry +
                      (i - first < 3 ? parts[i - first] : 0);
      words[i] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
  }
  /// Negative, 0 or positive.
  constexpr int compare(const FiveWords &other) const {
    for (int32_t i = 4; i >= 0; --i)
      if (words[i] != other.words[i])
        return words[i] > other.words[i] ? 1 : -1;
    return 0;
  }
};

/// How root^2 * 2^shift compares with a sum; `root` has at most 97 bits.
constexpr int compareRoot(uint128_t root, int32_t shift, const FiveWords &sum) {
  Product square = multiplyFull(root, root);
  FiveWords words;
  words.add(square.low, shift);
  words.add(square.high, shift + 128);
  return words.compare(sum);
}

} // namespace detail

/// sqrt(x^2 + y^2), never negative. Infinite if either operand is, whatever the
/// other one. Exact where the sum of squares is a square.
constexpr Unpacked hypot(const Unpacked &x, const Unpacked &y) {
  if (x.isInfinite() || y.isInfinite())
    return Unpacked::infinity();
  if (x.isNaN() || y.isNaN())
    return Unpacked::nan();
  bool swap = x.isZero() || (!y.isZero() && y.exponent > x.exponent);
  Unpacked large = swap ? y : x, small = swap ? x : y;
  large.negative = false;
  if (small.isZero())
    return large; // of two zeros, +0
  // Above the larger one by less than 2^-131 of it.
  int32_t distance = large.exponent - small.exponent;
  if (distance > 65)
    return justAbove(large);
  // The squares in units of 2^(2 large.exponent - 256), small ones below the
  // last bit of which there is none.
  detail::FiveWords sum;
  auto squareOf = [](uint64_t m) { return static_cast<uint128_t>(m) * m; };
  sum.add(squareOf(large.significand), 130);
  sum.add(squareOf(small.significand), 130 - 2 * distance);
  Wide a = Wide::from(large), b = Wide::from(small);
  Wide near = squareRoot(a * a + b * b);
  uint128_t root = near.significand >> 32;
  int32_t shift = 66 + 2 * (near.exponent - large.exponent);
  int order = detail::compareRoot(root, shift, sum);
  if (order > 0)
    order = detail::compareRoot(--root, shift, sum);
  else if (order < 0 && detail::compareRoot(root + 1, shift, sum) <= 0)
    order = detail::compareRoot(++root, shift, sum);
  return Unpacked::fromWide(false, root, near.exponent - 95, order != 0);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_HYPOTENUSE_H
