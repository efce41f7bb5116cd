// SPDX-License-Identifier: MIT
//
// log, log2, log10 and log1p of an Unpacked. The result is the true value
// truncated to 96 bits with `sticky` for the rest; exact results have sticky
// false. The relative error before the truncation is below 2^-117, so that the
// contract fails only if the true value lies that close to a multiple of its
// 96-bit ulp, and a rounding only if it lies that close to a boundary of the
// format: for binary64 a chance of about 2^-63 for inputs without structure.
// Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_LOGARITHM_H
#define NUMERA_NUMERICS_ELEMENTARY_LOGARITHM_H

#include "numera/Numerics/Elementary/Exponential.h"

namespace numera::exact {

namespace detail {

/// 1/(2k+3): atanh z = z + z^3 (1/3 + z^2/5 + …).
consteval Series<24> inverseTangentSeries() {
  Series<24> series{};
  for (int k = 0; k < 24; ++k)
    series.coefficients[k] = reciprocalOf(static_cast<uint128_t>(2 * k + 3));
  return series;
}
inline constexpr Series<24> atanhTail = inverseTangentSeries();

/// 1/(k+2): log(1 + x) = x - x^2 (1/2 - x/3 + …).
consteval Series<7> logarithmSeries() {
  Series<7> series{};
  for (int k = 0; k < 7; ++k)
    series.coefficients[k] = reciprocalOf(static_cast<uint128_t>(k + 2));
  return series;
}
inline constexpr Series<7> log1pTail = logarithmSeries();

/// log(1 + x) for 0 < |x| < 2^-16 as the exact truncated sum x - x^2 (…): it
/// lies on the right side of x and of x - x^2/2. The first omitted term is
/// x^9/9 < 2^-131 x.
constexpr Wide log1pSmall(const Wide &x) {
  uint128_t tail = horner(log1pTail.coefficients, x.toFraction(), !x.negative);
  return x - x * x * Wide::fromFraction(tail);
}

/// log m for sqrt(1/2) < m < sqrt(2), m not 1: with z = (m-1)/(m+1),
/// |z| < 0.1716, it is 2 atanh z. The first omitted term is z^51/51, 2^-132 of
/// z. Relative error below 2^-121, from the division.
constexpr Wide logReduced(const Wide &m) {
  Wide f = m - one; // exact by Sterbenz' lemma
  if (f.exponent < -16)
    return log1pSmall(f);
  Wide z = f / (m + one);
  Wide square = z * z;
  uint128_t tail = horner(atanhTail.coefficients, square.toFraction(), false);
  return (z + z * square * Wide::fromFraction(tail)).scaled(1);
}

/// x = fraction * 2^power with the fraction between sqrt(1/2) and sqrt(2).
struct ReducedLogarithm {
  int32_t power;
  Wide fraction;
};

constexpr ReducedLogarithm splitAroundOne(const Wide &x) {
  // 0xb504… is sqrt(2).
  bool high = x.significand >> 64 >= 0xb504f333f9de6484;
  int32_t power = x.exponent + (high ? 1 : 0);
  return {power, x.scaled(-power)};
}

/// log x for a positive x other than 1. |log m| <= ln(2)/2, so that the sum
/// cancels at most one bit; relative error below 2^-119.
constexpr Wide logarithm(const Wide &x) {
  auto [power, fraction] = splitAroundOne(x);
  Wide sum = Wide::fromInteger(power) * ln2;
  if (isSmaller(fraction, one) || isSmaller(one, fraction))
    sum = sum + logReduced(fraction);
  return sum;
}

/// log(1 + x) for x > -1 other than 0. 1 + x is exact for a binary fraction of
/// 64 bits below 2^64; beyond, truncated by less than 2^-127.
constexpr Wide logarithmOfOnePlus(const Wide &x) {
  return x.exponent < -16 ? log1pSmall(x) : logarithm(one + x);
}

inline constexpr Wide log10Of2{false, -2,
                               join(0x9a209a84fbcff798, 0x8f8959ac0b7c9178)};
inline constexpr Wide log10OfE{false, -2,
                               join(0xde5bd8a937287195, 0x355baaafad33dc32)};

/// True for the powers of ten that are binary fractions of 64 bits: 10^power
/// is 5^power * 2^power, and 5^27 < 2^64.
constexpr bool isPowerOfTen(const Unpacked &x, int32_t &power) {
  int zeros = __builtin_ctzll(x.significand);
  power = x.exponent - 63 + zeros;
  if (power < 0 || power > 27)
    return false;
  uint64_t odd = 1;
  for (int32_t i = 0; i < power; ++i)
    odd *= 5;
  return x.significand >> zeros == odd;
}

/// What logarithms to any base have in common: true where the result is
/// special.
constexpr bool isSpecialLogarithm(const Unpacked &x, Unpacked &result) {
  if (x.isZero()) {
    result = Unpacked::infinity(true);
    return true;
  }
  if (x.isNaN() || x.negative) {
    result = Unpacked::nan();
    return true;
  }
  result = x;
  return x.isInfinite();
}

} // namespace detail

/// ln x. Exact only at 1; log(±0) = -inf, NaN below zero.
constexpr Unpacked log(const Unpacked &x) {
  Unpacked special;
  if (detail::isSpecialLogarithm(x, special))
    return special;
  if (x.exponent == 0 && x.significand == uint64_t{1} << 63)
    return Unpacked::zero();
  return detail::logarithm(Wide::from(x)).toUnpacked();
}

/// log to base 2. Exact for the powers of two, irrational elsewhere;
/// log2(±0) = -inf, NaN below zero.
constexpr Unpacked log2(const Unpacked &x) {
  Unpacked special;
  if (detail::isSpecialLogarithm(x, special))
    return special;
  if (x.significand == uint64_t{1} << 63)
    return Wide::fromInteger(x.exponent).toUnpacked(/*inexact=*/false);
  auto [power, fraction] = detail::splitAroundOne(Wide::from(x));
  Wide small = detail::logReduced(fraction) * detail::inverseLn2;
  return (Wide::fromInteger(power) + small).toUnpacked();
}

/// log to base 10. Exact for the powers of ten, irrational for every other
/// binary fraction; log10(±0) = -inf, NaN below zero.
constexpr Unpacked log10(const Unpacked &x) {
  Unpacked special;
  if (detail::isSpecialLogarithm(x, special))
    return special;
  int32_t ten = 0;
  if (detail::isPowerOfTen(x, ten))
    return Wide::fromInteger(ten).toUnpacked(/*inexact=*/false);
  // As in detail::logarithm.
  auto [power, fraction] = detail::splitAroundOne(Wide::from(x));
  Wide sum = Wide::fromInteger(power) * detail::log10Of2;
  if (isSmaller(fraction, one) || isSmaller(one, fraction))
    sum = sum + detail::logReduced(fraction) * detail::log10OfE;
  return sum.toUnpacked();
}

/// ln(1 + x). Exact only at 0, where it keeps the sign; log1p(-1) = -inf, NaN
/// below.
constexpr Unpacked log1p(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.negative && (x.isInfinite() || x.exponent >= 0)) {
    bool minusOne =
        x.isFinite() && x.exponent == 0 && x.significand == uint64_t{1} << 63;
    return minusOne ? Unpacked::infinity(true) : Unpacked::nan();
  }
  if (x.isInfinite())
    return x;
  // |x| < 2^-65: log(1 + x) = x - x^2/2 + … lies below x, by less than 2^-65 x.
  if (x.exponent < -65)
    return x.negative ? justAbove(x) : justBelow(x);
  return detail::logarithmOfOnePlus(Wide::from(x)).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_LOGARITHM_H
