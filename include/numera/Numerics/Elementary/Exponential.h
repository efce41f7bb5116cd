// SPDX-License-Identifier: MIT
//
// exp, exp2 and expm1 of an Unpacked. The result is the true value truncated
// to 96 bits with `sticky` for the rest; exact results have sticky false. The
// relative error before the truncation is below 2^-120, so that the contract
// fails only if the true value lies that close to a multiple of its 96-bit
// ulp, and a rounding only if it lies that close to a boundary of the format:
// for binary64 a chance of about 2^-66 for inputs without structure. Inputs
// whose results crowd around 1, 0 or x are handled by exact truncated sums.
// Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_EXPONENTIAL_H
#define NUMERA_NUMERICS_ELEMENTARY_EXPONENTIAL_H

#include "numera/Numerics/Core/Wide.h"

namespace numera::exact {

namespace detail {

inline constexpr Wide ln2{false, -1,
                          join(0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af)};
/// ln 2 cut to 96 bits, so that its product with an integer below 2^32 is
/// exact, and what is missing.
inline constexpr Wide ln2High{false, -1,
                              join(0xb17217f7d1cf79ab, 0xc9e3b39800000000)};
inline constexpr Wide ln2Low{false, -103,
                             join(0xfcbdabd03cd0c99c, 0xa62d8b628345d6e2)};
inline constexpr Wide inverseLn2{false, 0,
                                 join(0xb8aa3b295c17f0bb, 0xbe87fed0691d3e88)};

/// 1/(k+2)! for the tail of exp.
consteval Series<26> exponentialSeries() {
  Series<26> series{};
  for (int k = 0; k < 26; ++k)
    series.coefficients[k] = reciprocalOf(factorial(k + 2));
  return series;
}
inline constexpr Series<26> exponentialTail = exponentialSeries();

/// e^r - 1 for |r| < 0.35, as the exact truncated sum r + r^2 (1/2 + r/6 + …).
/// The first omitted term is r^28/28! < 2^-140. Relative error below 2^-126,
/// and the tail's own error is 2^-125 of the tail: the side of r on which the
/// result lies is right.
constexpr Wide expm1Reduced(const Wide &r) {
  if (r.isZero())
    return r;
  uint128_t tail =
      horner(exponentialTail.coefficients, r.toFraction(), r.negative);
  return r + r * r * Wide::fromFraction(tail);
}

/// x = power * ln 2 + remainder.
struct ReducedExponent {
  int32_t power;
  Wide remainder;
};

/// Cody and Waite's reduction in two parts, for |x| < 2^22. The first product
/// and difference are exact; the remainder has an absolute error below 2^-200
/// beside the 2^-127 relative of its truncation.
constexpr ReducedExponent reduceByLn2(const Wide &x) {
  int32_t power = (x * inverseLn2).toNearestInteger();
  Wide multiple = Wide::fromInteger(power);
  return {power, (x - multiple * ln2High) - multiple * ln2Low};
}

/// e^x for |x| < 2^22, relative error below 2^-126. Next to 1 the truncated
/// sum keeps the right side.
constexpr Wide exponential(const Wide &x) {
  ReducedExponent reduced = reduceByLn2(x);
  return (one + expm1Reduced(reduced.remainder)).scaled(reduced.power);
}

/// 2^x for |x| < 2^22; relative error below 2^-125.
constexpr Wide powerOfTwo(const Wide &x) {
  int32_t power = x.toNearestInteger();
  Wide fraction = x - Wide::fromInteger(power); // exact
  return (one + expm1Reduced(fraction * ln2)).scaled(power);
}

/// e^x - 1 for 0 < |x| < 2^22; relative error below 2^-123.
constexpr Wide exponentialLessOne(const Wide &x) {
  // e^x - 1 > -1 by less than 2^-90.
  if (x.negative && x.exponent > 5)
    return {true, -1, ~uint128_t{0}};
  auto [power, remainder] = reduceByLn2(x);
  Wide tail = expm1Reduced(remainder);
  if (power == 0)
    return tail;
  // No cancellation beyond two bits: for power = 1 the sum is 1 + 2 tail,
  // tail > -0.30; for power = -1 it is -1/2 + tail/2.
  return (one + tail).scaled(power) - one;
}

/// True where e^x and 2^x need no evaluation: x is no number or zero, so small
/// that the power is next to 1, or so large that it is beyond every format.
constexpr bool isEdgeOfPower(const Unpacked &x) {
  return !x.isFinite() || x.exponent < -64 || x.exponent > 20;
}

/// e^x or 2^x there. For |x| < 2^-64 both lie strictly between 1 - 2^-64 and
/// 1 + 2^-63, on x's side of 1.
constexpr Unpacked edgeOfPower(const Unpacked &x) {
  if (x.isNaN())
    return Unpacked::nan();
  if (x.isInfinite())
    return x.negative ? Unpacked::zero() : x;
  if (x.isZero())
    return unpackedOne;
  if (x.exponent > 20)
    return outOfRange(false, !x.negative);
  return x.negative ? justBelow(unpackedOne) : justAbove(unpackedOne);
}

} // namespace detail

/// e^x. Exact only at 0; exp(-inf) = +0, exp(+inf) = +inf.
constexpr Unpacked exp(const Unpacked &x) {
  if (detail::isEdgeOfPower(x))
    return detail::edgeOfPower(x);
  return detail::exponential(Wide::from(x)).toUnpacked();
}

/// 2^x. Exact for the integers, irrational for every other binary fraction;
/// exp2(-inf) = +0, exp2(+inf) = +inf.
constexpr Unpacked exp2(const Unpacked &x) {
  if (detail::isEdgeOfPower(x))
    return detail::edgeOfPower(x);
  Wide argument = Wide::from(x);
  int32_t power = argument.toNearestInteger();
  Wide fraction = argument - Wide::fromInteger(power); // exact
  if (fraction.isZero())
    return one.scaled(power).toUnpacked(
        /*inexact=*/power > exponentLimit || power < -exponentLimit);
  return detail::powerOfTwo(argument).toUnpacked();
}

/// e^x - 1. Exact only at 0, where it keeps the sign; expm1(-inf) = -1.
constexpr Unpacked expm1(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.isInfinite())
    return x.negative ? Unpacked::fromInteger(true, 1) : x;
  // |x| < 2^-65: e^x - 1 = x + x^2/2 + … lies above x, by less than 2^-65 x.
  if (x.exponent < -65)
    return x.negative ? justBelow(x) : justAbove(x);
  // e^x - 1 > -1 by less than 2^-90.
  if (x.negative && x.exponent > 5)
    return justBelow(Unpacked::fromInteger(true, 1));
  if (x.exponent > 20)
    return outOfRange(false, true);
  return detail::exponentialLessOne(Wide::from(x)).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_EXPONENTIAL_H
