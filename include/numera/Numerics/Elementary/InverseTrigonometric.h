// SPDX-License-Identifier: MIT
//
// asin, acos, atan and atan2 of Unpacked, radians. The result is the true value
// truncated to 96 bits with `sticky` for the rest; exact results have sticky
// false. The relative error before the truncation is below 2^-119, so that the
// contract fails only if the true value lies that close to a multiple of its
// 96-bit ulp, and a rounding only if it lies that close to a boundary of the
// format: for binary64 a chance of about 2^-65 for inputs without structure.
// Inputs whose results crowd around x, or y/x, are handled by exact truncated
// sums. Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_INVERSETRIGONOMETRIC_H
#define NUMERA_NUMERICS_ELEMENTARY_INVERSETRIGONOMETRIC_H

#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Trigonometric.h"

namespace numera::exact {

namespace detail {

/// atan k/4 for k = 1 to 4, in units of 2^-128.
inline constexpr uint128_t inverseTangents[4] = {
    join(0x3eb6ebf25901bac5, 0x5b71e7bd7de885f9),
    join(0x76b19c1586ed3da2, 0xb7f222f65e1d4681),
    join(0xa4bc7d1934f70924, 0x19a87f2a457dac9e),
    join(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1),
};

/// z - atan z = z^3 (1/3 - z^2/5 + …) for |z| <= 1/7: the first omitted term is
/// z^51/51, below 2^-140 z.
constexpr Wide inverseTangentDefect(const Wide &z) {
  Wide square = z * z;
  uint128_t tail = horner(atanhTail.coefficients, square.toFraction(), true);
  return z * square * Wide::fromFraction(tail);
}

/// atan(y / x) for 0 <= y <= x, x > 0. With c the multiple of 1/4 next to y/x,
///
///     atan(y / x) = atan c + atan((y - c x) / (x + c y))
///
/// Numbers of 64 bits give both exactly, and the quotient is at most 1/8 in
/// magnitude; where c = 0 it is y / x. Relative error below 2^-121, from the
/// division; where x is a power of two there is none in y / x, and the
/// truncated sum lies on the right side of it.
constexpr Wide inverseTangentOfRatio(const Wide &y, const Wide &x) {
  Wide ratio = y / x;
  int32_t quarters = ratio.scaled(2).toNearestInteger();
  if (quarters == 0)
    return ratio - inverseTangentDefect(ratio);
  Wide c = Wide::fromInteger(quarters).scaled(-2);
  Wide z = (y - c * x) / (x + c * y);
  return Wide::fromFraction(inverseTangents[quarters - 1]) +
         (z - inverseTangentDefect(z));
}

/// |atan x| for a finite x other than 0.
constexpr Wide inverseTangent(const Wide &x) {
  Wide magnitude = x.magnitude();
  if (magnitude.exponent < -3) // without a division
    return magnitude - inverseTangentDefect(magnitude);
  if (magnitude.exponent < 0)
    return inverseTangentOfRatio(magnitude, one);
  return halfPi - inverseTangentOfRatio(one, magnitude);
}

/// (2k)! / (4^k k!^2 (2k+1)) for k from 1: asin z = z + z^3 (1/6 + 3 z^2/40 +
/// …), and asinh z with alternating signs.
consteval Series<20> inverseSineSeries() {
  Series<20> series{};
  uint128_t middle = 1; // the binomial coefficient of 2k over k
  for (int k = 1; k <= 20; ++k) {
    auto n = static_cast<uint128_t>(k);
    middle = middle * (4 * n - 2) / n;
    series.coefficients[k - 1] = (middle << (128 - 2 * k)) / (2 * n + 1);
  }
  return series;
}
inline constexpr Series<20> inverseSineTail = inverseSineSeries();

/// asin z for 0 <= z <= sqrt(1/2), z^2 given as well. Below 1/8 the exact
/// truncated sum, the first omitted term of which is below 2^-133 z; relative
/// error below 2^-120.
constexpr Wide inverseSineReduced(const Wide &z, const Wide &square) {
  if (z.exponent >= -3)
    return inverseTangentOfRatio(z, squareRoot(one - square));
  uint128_t tail =
      horner(inverseSineTail.coefficients, square.toFraction(), false);
  return z + z * square * Wide::fromFraction(tail);
}

/// acos x = 2 asin(sqrt((1 - x) / 2)) for 1/2 <= x <= 1, of 1 - x, which is
/// exact for numbers of 64 bits, and so is its root where it can be: acos next
/// to 1 crowds around it.
constexpr Wide inverseCosineNearOne(const Wide &toOne) {
  Wide square = toOne.scaled(-1);
  return inverseSineReduced(squareRoot(square), square).scaled(1);
}

/// |asin x| for 0 < |x| <= 1, of |x| and 1 - |x|.
constexpr Wide inverseSine(const Wide &magnitude, const Wide &toOne) {
  if (magnitude.exponent >= -1)
    return halfPi - inverseCosineNearOne(toOne);
  return inverseSineReduced(magnitude, magnitude * magnitude);
}

/// acos x for |x| < 1 or x = -1, of x other than 0 and 1 - |x|.
constexpr Wide inverseCosine(const Wide &x, const Wide &toOne) {
  if (x.exponent >= -1 && !x.negative)
    return inverseCosineNearOne(toOne);
  Wide arc = inverseSine(x.magnitude(), toOne);
  return x.negative ? halfPi + arc : halfPi - arc;
}

/// True if |x| is above 1.
constexpr bool isAboveOne(const Unpacked &x) {
  return x.isInfinite() ||
         (x.isFinite() && x.exponent >= 0 && !isMagnitudeOne(x));
}

constexpr Unpacked withSign(Unpacked value, bool negative) {
  value.negative = negative;
  return value;
}

/// y / x of 64 bits each: the first 128, and the rest to 122 more.
struct LongQuotient {
  Wide high;
  Wide low;
};
constexpr LongQuotient divideLong(const Unpacked &y, const Unpacked &x) {
  uint64_t divisor = x.significand;
  int32_t large = y.significand >= divisor ? 1 : 0;
  uint128_t dividend = static_cast<uint128_t>(y.significand) << (64 - large);
  auto first = static_cast<uint64_t>(dividend / divisor);
  dividend = dividend % divisor << 64;
  auto second = static_cast<uint64_t>(dividend / divisor);
  auto rest = static_cast<uint64_t>(dividend % divisor);
  int32_t exponent = y.exponent - x.exponent - 1 + large;
  Wide low = Wide::from(Unpacked::fromInteger(false, rest)) /
             Wide::from(Unpacked::fromInteger(false, divisor));
  return {{false, exponent, join(first, second)}, low.scaled(exponent - 127)};
}

/// atan2 of positive numbers, between 0 and pi/2. Where y/x is below 1/8 it is
/// y/x less its defect, with all bits of the quotient that can tell on which
/// side of a short number the difference lies.
constexpr Wide angleOfPoint(const Unpacked &y, const Unpacked &x) {
  int32_t distance = y.exponent - x.exponent;
  Wide b = Wide::from(y).magnitude(), a = Wide::from(x).magnitude();
  if (distance < -3) {
    auto [high, low] = divideLong(y, x);
    return high + (low - inverseTangentDefect(high));
  }
  return isSmaller(a, b) ? halfPi - inverseTangentOfRatio(a, b)
                         : inverseTangentOfRatio(b, a);
}

/// k pi/4 for k = 1 to 4.
constexpr Wide quartersOfPi(int32_t k) {
  return Wide::fromInteger(k) * halfPi.scaled(-1);
}

/// |atan2| where an operand is zero or infinite.
constexpr Unpacked angleOfSpecialPoint(const Unpacked &y, const Unpacked &x) {
  bool diagonal = y.isInfinite() && x.isInfinite();
  if (!diagonal && (y.isInfinite() || (x.isZero() && !y.isZero())))
    return quartersOfPi(2).toUnpacked();
  if (diagonal)
    return quartersOfPi(x.negative ? 3 : 1).toUnpacked();
  return x.negative ? quartersOfPi(4).toUnpacked() : Unpacked::zero();
}

} // namespace detail

/// asin x. Exact only at 0, where it keeps the sign; NaN above 1.
constexpr Unpacked asin(const Unpacked &x) {
  if (x.isNaN() || detail::isAboveOne(x))
    return Unpacked::nan();
  if (x.isZero())
    return x;
  // |x| < 2^-32: |asin x| lies above |x| by less than x^3/5 < 2^-66 |x|.
  if (x.exponent < -32)
    return justAbove(x);
  Wide magnitude = Wide::from(x).magnitude();
  return detail::withSign(
      detail::inverseSine(magnitude, one - magnitude).toUnpacked(), x.negative);
}

/// acos x. Exact only at 1; NaN above.
constexpr Unpacked acos(const Unpacked &x) {
  if (x.isNaN() || detail::isAboveOne(x))
    return Unpacked::nan();
  if (isMagnitudeOne(x) && !x.negative)
    return Unpacked::zero();
  if (x.isZero())
    return detail::halfPi.toUnpacked();
  Wide argument = Wide::from(x);
  return detail::inverseCosine(argument, one - argument.magnitude())
      .toUnpacked();
}

/// atan x. Exact only at 0, where it keeps the sign; atan(±inf) = ±pi/2.
constexpr Unpacked atan(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.isInfinite())
    return detail::withSign(detail::halfPi.toUnpacked(), x.negative);
  // |x| < 2^-32: |atan x| lies below |x| by less than x^3/3 < 2^-65 |x|.
  if (x.exponent < -32)
    return justBelow(x);
  return detail::withSign(detail::inverseTangent(Wide::from(x)).toUnpacked(),
                          x.negative);
}

/// The angle of the point (x, y), from -pi to pi, with the sign of y. Exact
/// only where it is 0: y = ±0 and x positive or +0, or x = +inf.
constexpr Unpacked atan2(const Unpacked &y, const Unpacked &x) {
  if (x.isNaN() || y.isNaN())
    return Unpacked::nan();
  if (!x.isFinite() || !y.isFinite())
    return detail::withSign(detail::angleOfSpecialPoint(y, x), y.negative);
  int32_t distance = y.exponent - x.exponent;
  Wide angle{}; // of (|x|, |y|)
  if (distance > exponentLimit)
    angle = detail::halfPi;
  else if (distance >= -exponentLimit)
    angle = detail::angleOfPoint(y, x);
  else if (!x.negative) // below every format's numbers
    return outOfRange(y.negative, false);
  if (x.negative)
    angle = detail::halfPi.scaled(1) - angle;
  return detail::withSign(angle.toUnpacked(), y.negative);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_INVERSETRIGONOMETRIC_H
