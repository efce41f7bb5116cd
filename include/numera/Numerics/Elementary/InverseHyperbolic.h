// SPDX-License-Identifier: MIT
//
// asinh, acosh and atanh of an Unpacked. The result is the true value truncated
// to 96 bits with `sticky` for the rest; exact results have sticky false. The
// relative error before the truncation is below 2^-117, so that the contract
// fails only if the true value lies that close to a multiple of its 96-bit
// ulp, and a rounding only if it lies that close to a boundary of the format:
// for binary64 a chance of about 2^-63 for inputs without structure. Inputs
// whose results crowd around x, or around a root, are handled by exact
// truncated sums. Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_INVERSEHYPERBOLIC_H
#define NUMERA_NUMERICS_ELEMENTARY_INVERSEHYPERBOLIC_H

#include "numera/Numerics/Elementary/InverseTrigonometric.h"

namespace numera::exact {

namespace detail {

/// asinh z for 0 < z < 1/8, z^2 given as well: the exact truncated sum z - z^3
/// (1/6 - 3 z^2/40 + …), the first omitted term of which is below 2^-133 z.
constexpr Wide inverseHyperbolicSineSmall(const Wide &z, const Wide &square) {
  uint128_t tail =
      horner(inverseSineTail.coefficients, square.toFraction(), true);
  return z - z * square * Wide::fromFraction(tail);
}

/// |asinh x| for a finite x other than 0. From 1/8 on ln(|x| + sqrt(x^2 + 1)),
/// above 0.12; relative error below 2^-118.
constexpr Wide inverseHyperbolicSine(const Wide &x) {
  Wide magnitude = x.magnitude(), square = x * x;
  square.negative = false;
  if (x.exponent < -3)
    return inverseHyperbolicSineSmall(magnitude, square);
  return logarithm(magnitude + squareRoot(square + one));
}

/// acosh x for x > 1, of x and x - 1, which is exact for numbers of 64 bits.
/// Next to 1 it is 2 asinh(sqrt((x - 1) / 2)), and crowds around that root,
/// which is exact where it can be. From 1 + 2^-5 on ln(x + sqrt((x - 1) (x +
/// 1))), above 0.24; relative error below 2^-118.
constexpr Wide inverseHyperbolicCosine(const Wide &x, const Wide &above) {
  if (above.exponent < -5) {
    Wide square = above.scaled(-1);
    return inverseHyperbolicSineSmall(squareRoot(square), square).scaled(1);
  }
  return logarithm(x + squareRoot(above * (x + one)));
}

/// |atanh x| for 0 < |x| < 1, of |x| and 1 - |x|, exact for numbers of 64 bits.
/// Below 1/8 the exact truncated sum x + x^3 (1/3 + …), else half of ln((1 + x)
/// / (1 - x)), above 0.25; relative error below 2^-118.
constexpr Wide inverseHyperbolicTangent(const Wide &x, const Wide &toOne) {
  if (x.exponent < -3) {
    Wide square = x * x;
    uint128_t tail = horner(atanhTail.coefficients, square.toFraction(), false);
    return x + x * square * Wide::fromFraction(tail);
  }
  return logarithm((one + x) / toOne).scaled(-1);
}

} // namespace detail

/// asinh x. Exact only at 0, where it keeps the sign; asinh(±inf) = ±inf.
constexpr Unpacked asinh(const Unpacked &x) {
  if (!x.isFinite())
    return x;
  // |x| < 2^-32: |asinh x| lies below |x| by less than x^3/6 < 2^-66 |x|.
  if (x.exponent < -32)
    return justBelow(x);
  return detail::withSign(
      detail::inverseHyperbolicSine(Wide::from(x)).toUnpacked(), x.negative);
}

/// acosh x. Exact only at 1; NaN below; acosh(+inf) = +inf.
constexpr Unpacked acosh(const Unpacked &x) {
  if (x.isNaN() || x.isZero() || x.negative || (x.isFinite() && x.exponent < 0))
    return Unpacked::nan();
  if (x.isInfinite())
    return x;
  if (isMagnitudeOne(x))
    return Unpacked::zero();
  Wide argument = Wide::from(x);
  return detail::inverseHyperbolicCosine(argument, argument - one).toUnpacked();
}

/// atanh x. Exact only at 0, where it keeps the sign; atanh(±1) = ±inf, NaN
/// above.
constexpr Unpacked atanh(const Unpacked &x) {
  if (x.isNaN() || detail::isAboveOne(x))
    return Unpacked::nan();
  if (x.isZero())
    return x;
  if (isMagnitudeOne(x))
    return Unpacked::infinity(x.negative);
  // |x| < 2^-32: |atanh x| lies above |x| by less than x^3/2 < 2^-65 |x|.
  if (x.exponent < -32)
    return justAbove(x);
  Wide magnitude = Wide::from(x).magnitude();
  return detail::withSign(
      detail::inverseHyperbolicTangent(magnitude, one - magnitude).toUnpacked(),
      x.negative);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_INVERSEHYPERBOLIC_H
