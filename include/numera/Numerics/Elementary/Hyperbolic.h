// SPDX-License-Identifier: MIT
//
// tanh and sigmoid of an Unpacked. The result is the true value truncated to
// 96 bits with `sticky` for the rest; exact results have sticky false. The
// relative error before the truncation is below 2^-117, so that the contract
// fails only if the true value lies that close to a multiple of its 96-bit
// ulp, and a rounding only if it lies that close to a boundary of the format:
// for binary64 a chance of about 2^-63 for inputs without structure. Inputs
// whose results crowd around 0, 1/2 or 1 are handled by exact truncated sums.
// Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_HYPERBOLIC_H
#define NUMERA_NUMERICS_ELEMENTARY_HYPERBOLIC_H

#include "numera/Numerics/Elementary/Exponential.h"

namespace numera::exact {

namespace detail {

/// |c_k| of tanh x = x - x^3 (c_0 - c_1 x^2 + …): with n = k + 2,
/// 2^2n (2^2n - 1) |B_2n| / (2n)!, in units of 2^-128.
inline constexpr Series<17> tanhTail{{
    join(0x5555555555555555, 0x5555555555555555),
    join(0x2222222222222222, 0x2222222222222222),
    join(0x0dd0dd0dd0dd0dd0, 0xdd0dd0dd0dd0dd0d),
    join(0x05993d220b043e7c, 0xcb5aee9277605993),
    join(0x0244dc6abcd84791, 0xeb6a3872e9f6403b),
    join(0x00eb69e870abeefd, 0xafe606d2e4d1e65f),
    join(0x005f68d914add78a, 0xda8764d7a2d130cc),
    join(0x0026ab049006ce88, 0xa446cab1f8f9189f),
    join(0x000fabebb9a68b32, 0x10d55a913ccb500a),
    join(0x000659f862bf2beb, 0x2289eb5bd2bb19f2),
    join(0x000292fb1dd44a4b, 0x267cb40b934a18c8),
    join(0x00010b132d39a605, 0x04ec9d30b0658500),
    join(0x00006c3dcb4fb893, 0xa48b446eeacab047),
    join(0x00002bde5b48e9cb, 0x6d8f678a051770c3),
    join(0x000011c77df95c1c, 0x0d02dc9139620f15),
    join(0x00000734a67792b9, 0xaece137ec362e354),
    join(0x000002eb9bccac7f, 0xdb1d0df6a3df0e15),
}};

/// tanh x for 0 < |x| < 1/8 as the exact truncated sum x - x^3 (1/3 - …). The
/// coefficients fall like (4/pi^2)^k, so that the first omitted term is below
/// 2^-130 x; relative error below 2^-126.
constexpr Wide tanhSmall(const Wide &x) {
  Wide square = x * x;
  uint128_t tail = horner(tanhTail.coefficients, square.toFraction(), true);
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

} // namespace detail

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
