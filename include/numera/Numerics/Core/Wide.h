// SPDX-License-Identifier: MIT
//
// The software float in which elementary functions are evaluated:
//
//   (-1)^negative * significand * 2^(exponent - 127)
//
// 128 significant bits, the leading one at bit 127; zero has significand 0.
// Every operation truncates toward zero. Add and subtract return the exact
// result truncated, so a sum `1 + tail` or `x - tail` lands on the correct
// side of 1 or x however small the tail is: the functions rely on it next to
// representable values. Exponents must stay below 2^30 in magnitude.

#ifndef NUMERA_NUMERICS_CORE_WIDE_H
#define NUMERA_NUMERICS_CORE_WIDE_H

#include "numera/Numerics/Core/FixedPoint.h"

namespace numera::exact {

/// Beyond ±2^20 an exponent of a result says no more than "overflows" or
/// "underflows every format".
inline constexpr int32_t exponentLimit = 1 << 20;

/// A finite result beyond every format's range.
constexpr Unpacked outOfRange(bool negative, bool huge) {
  return {.kind = Kind::Finite,
          .negative = negative,
          .sticky = true,
          .exponent = huge ? exponentLimit : -exponentLimit,
          .significand = uint64_t{1} << 63};
}

struct Wide {
  bool negative = false;
  int32_t exponent = 0;
  uint128_t significand = 0;

  constexpr bool isZero() const { return significand == 0; }

  /// The value of a finite or zero Unpacked, exactly; its sticky is ignored.
  static constexpr Wide from(const Unpacked &value) {
    return {value.negative, value.exponent, join(value.significand, 0)};
  }

  static constexpr Wide fromInteger(int64_t value) {
    if (value == 0)
      return {};
    uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value)
                                   : static_cast<uint64_t>(value);
    int shift = __builtin_clzll(magnitude);
    return {value < 0, 63 - shift, join(magnitude << shift, 0)};
  }

  /// fraction * 2^(scale - 128), exactly.
  static constexpr Wide fromFraction(uint128_t fraction, int32_t scale = 0) {
    if (fraction == 0)
      return {};
    int shift = countLeadingZeros(fraction);
    return {false, scale - 1 - shift, fraction << shift};
  }

  /// floor(|this| * 2^128) for |this| < 1.
  constexpr uint128_t toFraction() const {
    int32_t shift = -1 - exponent;
    return isZero() || shift > 127 ? 0 : significand >> shift;
  }

  /// The integer nearest to this, ties away from zero; |this| < 2^30.
  constexpr int32_t toNearestInteger() const {
    if (exponent < -1 || isZero())
      return 0;
    auto doubled = static_cast<int32_t>(significand >> (126 - exponent));
    int32_t magnitude = (doubled + 1) >> 1;
    return negative ? -magnitude : magnitude;
  }

  /// The first 96 bits, `sticky` for the rest. An inexact value keeps its
  /// sticky even if the rest of the computed bits is zero. Exponents are held
  /// within exponentLimit.
  constexpr Unpacked toUnpacked(bool inexact = true) const {
    if (isZero())
      return Unpacked::zero(negative);
    if (exponent > exponentLimit || exponent < -exponentLimit)
      return outOfRange(negative, exponent > 0);
    return {.kind = Kind::Finite,
            .negative = negative,
            .sticky = inexact || static_cast<uint32_t>(significand) != 0,
            .exponent = exponent,
            .significand = static_cast<uint64_t>(significand >> 64),
            .tail = static_cast<uint32_t>(significand >> 32)};
  }

  /// this * 2^power, exactly.
  constexpr Wide scaled(int32_t power) const {
    return {negative, exponent + power, significand};
  }
  constexpr Wide operator-() const {
    return {!negative, exponent, significand};
  }
  constexpr Wide magnitude() const { return {false, exponent, significand}; }
};

inline constexpr Wide one{false, 0, join(uint64_t{1} << 63, 0)};

/// True if |a| < |b|.
constexpr bool isSmaller(const Wide &a, const Wide &b) {
  if (a.isZero() || b.isZero())
    return !b.isZero();
  return a.exponent != b.exponent ? a.exponent < b.exponent
                                  : a.significand < b.significand;
}

/// |a| + |b|, truncated, for |a| >= |b| > 0; the sign of a.
constexpr Wide addMagnitudes(const Wide &a, const Wide &b) {
  int32_t distance = a.exponent - b.exponent;
  uint128_t sum = a.significand;
  sum += distance < 128 ? b.significand >> distance : 0;
  if (sum >= a.significand)
    return {a.negative, a.exponent, sum};
  return {a.negative, a.exponent + 1, sum >> 1 | uint128_t{1} << 127};
}

/// |a| - |b|, truncated, for |a| >= |b| > 0; the sign of a. The difference is
/// formed in 256 bits: exact up to a distance of 128, and from there on the
/// result loses at most one leading bit, so that any nonzero stand-in for b's
/// bits in the lower half gives the truncated result.
constexpr Wide subtractMagnitudes(const Wide &a, const Wide &b) {
  int32_t distance = a.exponent - b.exponent;
  uint128_t bHigh = distance < 128 ? b.significand >> distance : 0;
  uint128_t bLow = 1;
  if (distance <= 128)
    bLow = distance == 0 ? 0 : b.significand << (128 - distance);
  uint128_t high = a.significand - bHigh - (bLow != 0);
  uint128_t low = -bLow;
  if (high == 0 && low == 0)
    return {};
  if (high == 0) {
    int shift = countLeadingZeros(low);
    return {a.negative, a.exponent - 128 - shift, low << shift};
  }
  int shift = countLeadingZeros(high);
  if (shift != 0)
    high = high << shift | low >> (128 - shift);
  return {a.negative, a.exponent - shift, high};
}

/// The exact sum, truncated toward zero to 128 bits.
constexpr Wide operator+(const Wide &a, const Wide &b) {
  if (a.isZero() || b.isZero())
    return a.isZero() ? b : a;
  bool swap = isSmaller(a, b);
  const Wide &large = swap ? b : a;
  const Wide &small = swap ? a : b;
  return a.negative == b.negative ? addMagnitudes(large, small)
                                  : subtractMagnitudes(large, small);
}

/// The exact difference, truncated toward zero to 128 bits.
constexpr Wide operator-(const Wide &a, const Wide &b) { return a + -b; }

/// The exact product, truncated toward zero to 128 bits; exact for factors of
/// 64 bits.
constexpr Wide operator*(const Wide &a, const Wide &b) {
  bool negative = a.negative != b.negative;
  if (a.isZero() || b.isZero())
    return {negative, 0, 0};
  Product product = multiplyFull(a.significand, b.significand);
  if (product.high >> 127 != 0)
    return {negative, a.exponent + b.exponent + 1, product.high};
  return {negative, a.exponent + b.exponent,
          product.high << 1 | product.low >> 127};
}

/// The quotient with a relative error below 2^-122; b is not zero.
constexpr Wide operator/(const Wide &a, const Wide &b) {
  bool negative = a.negative != b.negative;
  if (a.isZero())
    return {negative, 0, 0};
  uint128_t r = reciprocal(b.significand);
  // a * r is in units of 2^-126 and lies in (1/2, 2).
  Wide quotient = Wide::fromFraction(multiplyHigh(a.significand, r), 2);
  return {negative, quotient.exponent + a.exponent - b.exponent,
          quotient.significand};
}

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

/// The root of a number that is not negative, relative error below 2^-125;
/// exact where it has at most 64 bits.
constexpr Wide squareRoot(const Wide &x) {
  if (x.isZero())
    return x;
  // The radicand is at least 2^126, its root then has 64 bits.
  int32_t odd = x.exponent & 1;
  uint128_t radicand = odd ? x.significand : x.significand >> 1;
  uint64_t root = integerSquareRoot(radicand);
  uint128_t remainder = radicand - static_cast<uint128_t>(root) * root;
  // 64 more bits, (root + t)^2 = root^2 + remainder but for t^2: one too many
  // at most. The remainder is at most twice the root.
  uint128_t t = (remainder << 63) / root;
  t = t >> 64 != 0 ? ~uint64_t{0} : t;
  return {false, (x.exponent - odd) / 2, join(root, static_cast<uint64_t>(t))};
}

/// A value next to `value` on the side of zero: what a function returns that
/// is smaller in magnitude by less than 2^-64 of it.
constexpr Unpacked justBelow(Unpacked value) {
  bool power = value.significand == uint64_t{1} << 63;
  value.exponent -= power ? 1 : 0;
  value.significand = power ? ~uint64_t{0} : value.significand - 1;
  value.tail = ~uint32_t{0};
  value.sticky = true;
  return value;
}

/// The same away from zero, larger by less than 2^-63.
constexpr Unpacked justAbove(Unpacked value) {
  value.sticky = true;
  return value;
}

inline constexpr Unpacked unpackedOne{.kind = Kind::Finite,
                                      .significand = uint64_t{1} << 63};

constexpr bool isMagnitudeOne(const Unpacked &x) {
  return x.isFinite() && x.exponent == 0 && x.significand == uint64_t{1} << 63;
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_CORE_WIDE_H
