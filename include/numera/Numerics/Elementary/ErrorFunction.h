// SPDX-License-Identifier: MIT
//
// The error function of an Unpacked. The result is the true value truncated to
// 96 bits with `sticky` for the rest; exact results have sticky false. The
// relative error before the truncation is below 2^-119, so that the contract
// fails only if the true value lies that close to a multiple of its 96-bit
// ulp, and a rounding only if it lies that close to a boundary of the format:
// for binary64 a chance of about 2^-65 for inputs without structure. Exponents
// of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_ERRORFUNCTION_H
#define NUMERA_NUMERICS_ELEMENTARY_ERRORFUNCTION_H

#include "numera/Numerics/Core/Wide.h"

namespace numera::exact {

namespace detail {

inline constexpr Wide twoOverSqrtPi{
    false, 0, join(0x906eba8214db688d, 0x71d48a7f6bfec344)};

/// 1/(k! (2k+1)); the first is one unit of 2^-128 short of 1.
consteval Series<32> errorFunctionSeries() {
  Series<32> series{};
  for (int k = 0; k < 32; ++k)
    series.coefficients[k] =
        reciprocalOf(factorial(k) * static_cast<uint128_t>(2 * k + 1));
  return series;
}
inline constexpr Series<32> erfSeries = errorFunctionSeries();

/// erf x for 0 < |x| < 1: 2/sqrt(pi) x (1 - x^2/3 + x^4/10 - …). The sum is
/// above 0.74 and the first omitted term below 2^-123 at 1, falling like x^64;
/// relative error below 2^-122. Next to 0 no side has to be kept: the slope
/// is irrational.
constexpr Wide erfSmall(const Wide &x) {
  uint128_t sum = horner(erfSeries.coefficients, (x * x).toFraction(), true);
  return twoOverSqrtPi * x * Wide::fromFraction(sum);
}

/// erf and its derivative 2/sqrt(pi) e^(-c^2) at c, in units of 2^-128.
struct ErrorFunctionPoint {
  uint128_t value;
  uint128_t slope;
};

/// The points c = 1, 5/4, … 13/2.
inline constexpr ErrorFunctionPoint erfPoints[23] = {
    {join(0xd7bb3d3a08445636, 0x80887edd869379d3),
     join(0x6a447c25bef096f7, 0x95f608ca4cd58fa5)},
    {join(0xec432ecc55f00406, 0x276a08d164e2cd2a),
     join(0x3c8ca5f5b96d63f0, 0xb57be4b7f7ee14cb)},
    {join(0xf752aab89bd6fd8f, 0x437741a6d266cb5c),
     join(0x1e723726b824a8db, 0xbf9cd022b13865d6)},
    {join(0xfc9683bfc6ab698b, 0x55ef493fce6ebd94),
     join(0x0d82a98191080ab9, 0x753d4c1da0323f92)},
    {join(0xfecd70a13caf1997, 0x2801904b9a33eef4),
     join(0x054a6e7a33e6878d, 0xa3df67896271ef18)},
    {join(0xffa023b018cda1f1, 0x4207143202514f27),
     join(0x01d4143a9dfe964d, 0x22278794702522d7)},
    {join(0xffe5547a64df5361, 0x9dc2c022df2253e0),
     join(0x008ec18b87dfb7db, 0xd46ce3df76e942b8)},
    {join(0xfff967d8229ecb35, 0x226d0c0854610b27),
     join(0x00266c199a47b674, 0x09cf0aa2274eeeb0)},
    {join(0xfffe8d6209afcbdd, 0x5f43d9ad9deb2f5b),
     join(0x000920474dd1993f, 0x503c4fd4f1f7e750)},
    {join(0xffffb7cfb3f2abc3, 0xc890774069646845),
     join(0x0001e9b5e8d00ce7, 0x68d10744cb8c151a)},
    {join(0xfffff3886ab2f393, 0xd4a5aedb807d014a),
     join(0x00005a965c866a4f, 0x663407043d32a32e)},
    {join(0xfffffe178b8f1b0b, 0xdba072be8ea96d0c),
     join(0x00000ec9b8f17fbe, 0x1aa15da12a3c0f1a)},
    {join(0xffffffbdc88bb10b, 0x2865615db4031938),
     join(0x00000221629115d6, 0x469f194525beb9fa)},
    {join(0xfffffff80d45b012, 0x3370eca5ca6996d3),
     join(0x0000004556824197, 0x53db41d149c75f84)},
    {join(0xffffffff27d180e8, 0xb35e5b40e3db00aa),
     join(0x00000007c78d48ed, 0x075f28cfcac93af4)},
    {join(0xffffffffebacebef, 0x7dcfd646840401f6),
     join(0x00000000c530ba2f, 0x63e8e99d509f787b)},
    {join(0xfffffffffe4f3e58, 0xa6088c76ca15a215),
     join(0x00000000113af4f0, 0x4f9997beb3466e0c)},
    {join(0xffffffffffe02a0f, 0x752d4d65c349c5e7),
     join(0x00000000015422ef, 0x5d8949d1ff622588)},
    {join(0xfffffffffffdedcf, 0xa99b29bae48ba16c),
     join(0x0000000000172586, 0x10b3b232f4fa1c44)},
    {join(0xffffffffffffe181, 0x15fd1b1278609330),
     join(0x00000000000163da, 0xf8b4b1e0c0f9c400)},
    {join(0xfffffffffffffe73, 0x07eaa82df49e5800),
     join(0x00000000000012dc, 0x119095729ebaa64b)},
    {join(0xffffffffffffffee, 0x286e44ecdb5eacf8),
     join(0x00000000000000e1, 0xcfd06a52d157f60d)},
    {join(0xffffffffffffffff, 0x4a8f46df598a3053),
     join(0x0000000000000009, 0x5203712fe5a20964)},
};

/// 2/(n+2) in units of 2^-128, less at most two.
consteval Series<29> doubledReciprocals() {
  Series<29> series{};
  for (int n = 0; n < 29; ++n)
    series.coefficients[n] = reciprocalOf(static_cast<uint128_t>(n + 2)) * 2;
  return series;
}
inline constexpr Series<29> twoOver = doubledReciprocals();

/// value * fraction / 2^128, toward zero.
constexpr __int128 multiplySigned(__int128 value, uint128_t fraction) {
  bool negative = value < 0;
  uint128_t magnitude =
      negative ? -static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
  auto product = static_cast<__int128>(multiplyHigh(magnitude, fraction));
  return negative ? -product : product;
}

/// |erf x| for 1 <= |x| < 6.625, by Taylor's series around the nearest point c.
/// With h = |x| - c, |h| <= 1/8, and e^(-2ch - h^2) = sum G_n:
///
///     erf(c + h) = erf c + slope(c) h sum G_n / (n + 1)
///     G_0 = 1,  G_1 = -2ch,  G_n+1 = -2 (ch G_n + h^2 G_n-1) / (n + 1)
///
/// |G_n| < 2 throughout. At every c the terms from n = 28 on are below 2^-126.
/// Terms are kept in units of 2^-124; the errors of 30 steps, each a few units
/// damped by |h|/8 and the slope below 0.42, sum up to less than 2^-120.
constexpr Wide erfLarge(const Wide &x) {
  int32_t index = x.magnitude().scaled(2).toNearestInteger();
  Wide h = x.magnitude() - Wide::fromInteger(index).scaled(-2); // exact
  uint128_t ch = (Wide::fromInteger(index).scaled(-2) * h).toFraction();
  uint128_t square = (h * h).toFraction();
  __int128 previous = __int128{1} << 124;
  auto term = static_cast<__int128>(ch >> 3);
  term = h.negative ? term : -term;
  __int128 sum = previous + term / 2;
  for (int n = 1; n < 29; ++n) {
    __int128 first = multiplySigned(term, ch);
    __int128 both =
        (h.negative ? first : -first) - multiplySigned(previous, square);
    previous = term;
    term = multiplySigned(both, twoOver.coefficients[n - 1]);
    sum += multiplySigned(term, twoOver.coefficients[n]) / 2;
  }
  const ErrorFunctionPoint &point = erfPoints[index - 4];
  return Wide::fromFraction(point.value) +
         Wide::fromFraction(point.slope) * h *
             Wide::fromFraction(static_cast<uint128_t>(sum), 4);
}

/// True from |x| = 6.625 on, where |erf x| lies below 1 by erfc |x| < 2^-66.
constexpr bool isErfNextToOne(const Wide &x) {
  return x.exponent > 2 || (x.exponent == 2 && x.significand >> 122 >= 53);
}

/// erf x for 0 < |x| < 6.625.
constexpr Wide errorFunction(const Wide &x) {
  if (x.exponent < 0)
    return erfSmall(x);
  Wide value = erfLarge(x);
  return x.negative ? -value : value;
}

} // namespace detail

/// erf x. Exact only at 0, where it keeps the sign; erf(±inf) = ±1.
constexpr Unpacked erf(const Unpacked &x) {
  if (x.isNaN() || x.isZero())
    return x;
  if (x.isInfinite())
    return Unpacked::fromInteger(x.negative, 1);
  Wide argument = Wide::from(x);
  if (detail::isErfNextToOne(argument))
    return justBelow(Unpacked::fromInteger(x.negative, 1));
  return detail::errorFunction(argument).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_ERRORFUNCTION_H
