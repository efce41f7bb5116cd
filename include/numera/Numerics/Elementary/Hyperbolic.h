// SPDX-License-Identifier: MIT
//
// sinh, cosh, tanh and sigmoid of an Unpacked. The result is the true value
// truncated to 96 bits with `sticky` for the rest; exact results have sticky
// false. The relative error before the truncation is below 2^-117, so that the
// contract fails only if the true value lies that close to a multiple of its
// 96-bit ulp, and a rounding only if it lies that close to a boundary of the
// format: for binary64 a chance of about 2^-63 for inputs without structure.
// Inputs whose results crowd around 0, 1/2 or 1 are handled by exact truncated
// sums. Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_HYPERBOLIC_H
#define NUMERA_NUMERICS_ELEMENTARY_HYPERBOLIC_H

#include "numera/Numerics/Elementary/Exponential.h"
#include "numera/Numerics/Elementary/Trigonometric.h"

namespace numera::exact {

namespace detail {

/// tanh x for 0 < |x| < 1/8 as the exact truncated sum x - x^3 (1/3 - …). The
/// coefficients fall like (4/pi^2)^k, so that the first omitted term is below
/// 2^-130 x; relative error below 2^-126.
constexpr Wide tanhSmall(const Wide &x) {
  Wide square = x * x;
  uint128_t tail = horner(tangentTail.coefficients, square.toFraction(), true);
  return x - x * square * Wide::fromFraction(tail);
}

/// 1 / (1 + e^x) for 0 < x < 2^21 as e^-x / (1 + e^-x); relative error below
/// 2^-121.
constexpr Wide logisticTail(const Wide &x) {
  Wide power = exponential(-x);
  return power / (one + power);
}

/// tanh x for 0 < |x| < 32. 1 - 2 / (1 + e^2x) loses three bits to cancellation
/// at 1/8.
constexpr Wide hyperbolicTangent(const Wide &x) {
  if (x.exponent < -3)
    return tanhSmall(x);
  Wide value = one - logisticTail(x.magnitude().scaled(1)).scaled(1);
  return x.negative ? -value : value;
}

/// 1 / (1 + e^-x) for 0 < |x| < 2^21, and x < 64.
constexpr Wide logistic(const Wide &x) {
  if (x.exponent < -2) // 1/2 + tanh(x/2)/2
    return one.scaled(-1) + tanhSmall(x.scaled(-1)).scaled(-1);
  Wide tail = logisticTail(x.magnitude());
  return x.negative ? tail : one - tail;
}

/// sinh x for 0 < |x| < 2^21. Below 1/2 the exact truncated sum x + x^3 (1/6 +
/// …), else (e^x - e^-x) / 2, whose terms have a distance of at least 1.4 bits;
/// relative error below 2^-121.
constexpr Wide hyperbolicSine(const Wide &x) {
  if (x.exponent < -1) {
    Wide square = x * x;
    uint128_t tail = horner(sineTail.coefficients, square.toFraction(), false);
    return x + x * square * Wide::fromFraction(tail);
  }
  Wide power = exponential(x.magnitude());
  Wide value = (power - one / power).scaled(-1);
  return x.negative ? -value : value;
}

/// cosh x for 0 < |x| < 2^21. Below 1/2 the exact truncated sum 1 + x^2 (1/2 +
/// …); relative error below 2^-123.
constexpr Wide hyperbolicCosine(const Wide &x) {
  if (x.exponent < -1) {
    Wide square = x * x;
    uint128_t tail =
        horner(cosineTail.coefficients, square.toFraction(), false);
    return one + square * Wide::fromFraction(tail);
  }
  Wide power = exponential(x.magnitude());
  return (power + one / power).scaled(-1);
}

} // namespace detail

/// sinh x. Exact only at 0, where it keeps the sign; sinh(±inf) = ±inf.
constexpr Unpacked sinh(const Unpacked &x) {
  if (!x.isFinite())
    return x;
  // |x| < 2^-32: |sinh x| lies above |x| by less than x^3/5 < 2^-66 |x|.
  if (x.exponent < -32)
    return justAbove(x);
  if (x.exponent > 20)
    return outOfRange(x.negative, true);
  return detail::hyperbolicSine(Wide::from(x)).toUnpacked();
}

/// cosh x. Exact only at 0; cosh(±inf) = +inf.
constexpr Unpacked cosh(const Unpacked &x) {
  if (x.isNaN())
    return x;
  if (x.isInfinite())
    return Unpacked::infinity();
  if (x.isZero())
    return unpackedOne;
  // |x| < 2^-32: 1 < cosh x < 1 + x^2 < 1 + 2^-64.
  if (x.exponent < -32)
    return justAbove(unpackedOne);
  if (x.exponent > 20)
    return outOfRange(false, true);
  return detail::hyperbolicCosine(Wide::from(x)).toUnpacked();
}

/// tanh x. Exact only at 0, where it keeps the sign; tanh(±inf) = ±1.
constexpr Unpacked tanh(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.isInfinite())
    return Unpacked::fromInteger(x.negative, 1);
  // |x| < 2^-32: |tanh x| lies below |x| by less than |x|^3/3 < 2^-65 |x|.
  if (x.exponent < -32)
    return justBelow(x);
  // |x| >= 32: |tanh x| lies below 1 by 2 e^-2|x| < 2^-91.
  if (x.exponent >= 5)
    return justBelow(Unpacked::fromInteger(x.negative, 1));
  return detail::hyperbolicTangent(Wide::from(x)).toUnpacked();
}

/// 1 / (1 + e^-x). Exact only at 0; sigmoid(-inf) = +0, sigmoid(+inf) = 1.
constexpr Unpacked sigmoid(const Unpacked &x) {
  if (x.isNaN())
    return x;
  if (x.isInfinite())
    return x.negative ? Unpacked::zero() : unpackedOne;
  Unpacked half = Unpacked::fromInteger(false, 1, -1);
  if (x.isZero())
    return half;
  // |x| < 2^-63: sigmoid x lies beside 1/2 by less than |x|/4 < 2^-65.
  if (x.exponent < -63)
    return x.negative ? justBelow(half) : justAbove(half);
  // x >= 64: sigmoid x > 1 - e^-x > 1 - 2^-92.
  if (x.exponent > 5 && !x.negative)
    return justBelow(unpackedOne);
  if (x.exponent > 20)
    return outOfRange(false, false);
  return detail::logistic(Wide::from(x)).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_HYPERBOLIC_H
