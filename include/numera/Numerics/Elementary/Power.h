// SPDX-License-Identifier: MIT
//
// pow of two Unpacked, with the special cases of IEEE 754-2019, 9.2.1. The
// result is the true value truncated to 96 bits with `sticky` for the rest;
// exact results have sticky false, also where a root is exact. The relative
// error before the truncation is below 2^-118 (1 + |log2 result|): 2^-107 over
// the range of binary64, 2^-102 where exponents have 16 bits. The contract
// fails only if the true value lies that close to a multiple of its 96-bit ulp,
// and a rounding to binary64 with a chance of about 2^-51.
// Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_POWER_H
#define NUMERA_NUMERICS_ELEMENTARY_POWER_H

#include "numera/Numerics/Elementary/Logarithm.h"

namespace numera::exact {

namespace detail {

/// odd * 2^power: a binary fraction with nothing left to cancel.
struct OddForm {
  uint64_t odd;
  int32_t power;
};

constexpr OddForm toOddForm(const Unpacked &value) {
  int zeros = __builtin_ctzll(value.significand);
  return {value.significand >> zeros, value.exponent - 63 + zeros};
}

constexpr bool isInteger(const Unpacked &y) {
  return y.isZero() || (y.isFinite() && toOddForm(y).power >= 0);
}
constexpr bool isOddInteger(const Unpacked &y) {
  return y.isFinite() && toOddForm(y).power == 0;
}

/// floor(sqrt(value)), bit by bit.
constexpr uint64_t integerSquareRoot(uint64_t value) {
  uint64_t root = 0;
  for (int bit = 31; bit >= 0; --bit) {
    uint64_t trial = root | uint64_t{1} << bit;
    if (trial * trial <= value)
      root = trial;
  }
  return root;
}

/// base^exponent if it fits 128 bits, else 0; base > 1.
constexpr uint128_t powerOfInteger(uint64_t base, uint64_t exponent) {
  uint128_t product = 1;
  for (uint64_t i = 0; i < exponent; ++i) {
    if (multiplyHigh(product, base) != 0)
      return 0; // after at most 80 steps, since 3^81 > 2^128
    product *= base;
  }
  return product;
}

/// |x|^y where that is a binary fraction of at most 128 bits: true, and the
/// value; x is 1 only for integers y. With x = m 2^e and y = n 2^s, m and n
/// odd: for s < 0 both m and e must be 2^-s times divisible, m as a power; a
/// negative y needs m = 1. Every other power is no binary fraction, or has more
/// bits.
constexpr bool powerExactly(const Unpacked &x, const Unpacked &y,
                            Unpacked &result) {
  auto [m, e] = toOddForm(x);
  auto [n, s] = toOddForm(y);
  for (; s < 0; ++s) { // ends: e and m - 1 lose bits until one fails
    uint64_t root = integerSquareRoot(m);
    if (root * root != m || e % 2 != 0)
      return false;
    m = root;
    e /= 2;
  }
  if (m == 1 && e == 0) {
    result = unpackedOne;
    return true;
  }
  // The exponent e n 2^s must be in range, and n 2^s an ordinary integer.
  if ((m != 1 && y.negative) || s > 30 || n >> 31 != 0)
    return false;
  Wide exponent =
      Wide::fromInteger(e) * Wide::fromInteger(int64_t(n)).scaled(s);
  if (exponent.exponent >= 20)
    return false;
  int32_t scale = exponent.toNearestInteger();
  uint128_t product = 1;
  if (m != 1) {
    if (s > 6 || n << s > 80)
      return false;
    product = powerOfInteger(m, n << s);
  }
  if (product == 0)
    return false;
  result = Unpacked::fromWide(false, product, y.negative ? -scale : scale,
                              /*sticky=*/false);
  return true;
}

/// |x|^y = 2^(y log2 |x|) where it is not exact. With x = m 2^e, m near 1, the
/// product y e is exact, and so is taking its integer part away; the error
/// is that of y log2 m, 2^-119 of it. For results near 1 the tail of
/// 1 + tail keeps its relative accuracy.
constexpr Unpacked powerInexactly(const Unpacked &x, const Unpacked &y) {
  auto [e, m] = splitAroundOne(Wide::from(x));
  Wide whole = Wide::from(y) * Wide::fromInteger(e);
  Wide part = m.exponent == 0 && m.significand == one.significand
                  ? Wide{}
                  : Wide::from(y) * logReduced(m);
  // In base 2 for the range, in base e for the remainder.
  Wide logarithm = whole + part * inverseLn2;
  if (logarithm.exponent > 20)
    return outOfRange(false, !logarithm.negative);
  // 1 - 2^-64 < result < 1 + 2^-63, result not 1.
  if (logarithm.exponent < -64)
    return logarithm.negative ? justBelow(unpackedOne) : justAbove(unpackedOne);
  int32_t power = logarithm.toNearestInteger();
  Wide rest = (whole - Wide::fromInteger(power)) * ln2 + part;
  return (one + expm1Reduced(rest)).scaled(power).toUnpacked();
}

/// pow where x or y is zero, infinite or NaN; y is not zero, x is not 1.
constexpr Unpacked powerSpecial(const Unpacked &x, const Unpacked &y) {
  if (x.isNaN() || y.isNaN())
    return Unpacked::nan();
  if (y.isInfinite()) {
    if (isMagnitudeOne(x))
      return unpackedOne; // (-1)^±inf
    bool large = x.isInfinite() || (x.isFinite() && x.exponent >= 0);
    return large != y.negative ? Unpacked::infinity() : Unpacked::zero();
  }
  bool negative = x.negative && isOddInteger(y);
  return x.isInfinite() != y.negative ? Unpacked::infinity(negative)
                                      : Unpacked::zero(negative);
}

} // namespace detail

/// x^y. pow(x, ±0) = 1 and pow(1, y) = 1 even for NaN; a negative x needs an
/// integer y, otherwise NaN; the sign of x survives odd integers.
constexpr Unpacked pow(const Unpacked &x, const Unpacked &y) {
  if (y.isZero() || (isMagnitudeOne(x) && !x.negative))
    return unpackedOne;
  if (!x.isFinite() || !y.isFinite())
    return detail::powerSpecial(x, y);
  if (x.negative && !detail::isInteger(y))
    return Unpacked::nan();
  Unpacked magnitude = x;
  magnitude.negative = false;
  Unpacked result;
  if (!detail::powerExactly(magnitude, y, result))
    result = detail::powerInexactly(magnitude, y);
  result.negative = x.negative && detail::isOddInteger(y);
  return result;
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_POWER_H
