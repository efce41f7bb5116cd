// SPDX-License-Identifier: MIT
//
// The complementary error function of an Unpacked. The result is the true value
// truncated to 96 bits with `sticky` for the rest; exact results have sticky
// false. The relative error before the truncation is below 2^-117, so that the
// contract fails only if the true value lies that close to a multiple of its
// 96-bit ulp, and a rounding only if it lies that close to a boundary of the
// format: for binary64 a chance of about 2^-63 for inputs without structure.
// Exponents of inputs must stay below 2^28 in magnitude.

#ifndef NUMERA_NUMERICS_ELEMENTARY_COMPLEMENTARYERROR_H
#define NUMERA_NUMERICS_ELEMENTARY_COMPLEMENTARYERROR_H

#include "numera/Numerics/Elementary/ErrorFunction.h"
#include "numera/Numerics/Elementary/Exponential.h"

namespace numera::exact {

namespace detail {

/// e^-(kh)^2 for h = 21/64 and k from 1, in units of 2^-128; the next is 0.
inline constexpr uint128_t gaussianPoints[28] = {
    join(0xe5de929d5f299904, 0xa8d33ff21d02e16c),
    join(0xa66b76991bf48238, 0x19298b4923e15d3e),
    join(0x612496743ab34206, 0xd5bc6ae23a3d14bc),
    join(0x2db8260a8414f284, 0xa4dcfa7db7b29c74),
    join(0x11594f2dfdbda52a, 0x2a49188e80a3e437),
    join(0x054ed422e80783fc, 0x19010ac765b2d756),
    join(0x014f329409efa482, 0xa25e85eb0365416c),
    join(0x0042ab1711bbb6d7, 0x6996cad57749ec95),
    join(0x000ab0e9212c1ea2, 0x3bf60231c2148767),
    join(0x000161ded3265285, 0xadf21f8d53ba0b97),
    join(0x000024e3e08b5015, 0x26a615460ac30242),
    join(0x00000319c71b8b5c, 0xbba65b7800513f68),
    join(0x00000035cb248fe0, 0xe15abe4128c7a244),
    join(0x00000002f075d261, 0xa023c8705f300cc8),
    join(0x00000000212652d3, 0x74f8aefac98f0018),
    join(0x00000000012d7026, 0xe60ab5de8208c801),
    join(0x000000000008a208, 0xf094b26a6ada4cc0),
    join(0x0000000000003308, 0x31b18aa13d1e7735),
    join(0x00000000000000f3, 0x39a921926be908c2),
    join(0x0000000000000003, 0xa6aadb1bc1305673),
    join(0x0000000000000000, 0x0b4fee0f358d92c9),
    join(0x0000000000000000, 0x001c4261fea6820a),
    join(0x0000000000000000, 0x000038eb4525b872),
    join(0x0000000000000000, 0x0000005c6f53ea3e),
    join(0x0000000000000000, 0x000000007907f201),
    join(0x0000000000000000, 0x00000000007fc5f7),
    join(0x0000000000000000, 0x0000000000006cc2),
    join(0x0000000000000000, 0x000000000000004a),
};
/// 2h/pi and 2 pi/h.
inline constexpr Wide twiceStepOverPi{
    false, -3, join(0xd5e77c80c6b95bc7, 0x1af3a34391d5630d)};
inline constexpr Wide twicePiOverStep{
    false, 4, join(0x9930a693e8b15703, 0xa21d3ee4316ac09f)};

/// erfc x for 1/2 <= x < 2^10 by the trapezoidal rule, which converges
/// geometrically here [Chiarella and Reichel, 1968]:
///
///     erfc x = 2x/pi e^(-x^2) integral over t > 0 of e^(-t^2) / (t^2 + x^2)
///            = 2hx/pi e^(-x^2) (1/(2x^2) + sum of e^-(kh)^2 / ((kh)^2 + x^2))
///              - 2 / (e^(2 pi x/h) - 1), where x < pi/h = 9.57
///
/// The last term is the pole's at t = ix. Without it, or with it beyond pi/h,
/// an error of e^(2 pi x/h - x^2) would be left; what is left here, with the
/// sum cut at 28 terms, is below 2^-127. The sum is added up as one fraction,
/// all of whose terms are positive: an error below 2^-120. The pole's takes
/// away less than 2^-11. Relative error below 2^-118, and that of e^(-x^2),
/// 2^-126 x^2, where the square of x is not exact.
constexpr Wide complementaryErrorLarge(const Wide &x) {
  Wide square = x * x;
  Wide numerator = one, denominator = square.scaled(1);
  for (int32_t k = 1; k <= 28; ++k) {
    Wide term = square + Wide::fromInteger(441 * k * k).scaled(-12); // (kh)^2
    numerator = numerator * term +
                denominator * Wide::fromFraction(gaussianPoints[k - 1]);
    denominator = denominator * term;
  }
  Wide value =
      twiceStepOverPi * x * exponential(-square) * (numerator / denominator);
  bool isWithinPole =
      x.exponent < 3 || (x.exponent == 3 && x.significand >> 124 < 9);
  if (!isWithinPole)
    return value;
  return value - one.scaled(1) / exponentialLessOne(x * twicePiOverStep);
}

/// erfc x for -6.625 < x < 2^10, x not 0. Below 1/2 the difference loses one
/// bit at most, and lies on the right side of 1.
constexpr Wide complementaryError(const Wide &x) {
  if (x.negative || x.exponent < -1)
    return one - errorFunction(x);
  return complementaryErrorLarge(x);
}

} // namespace detail

/// erfc x = 1 - erf x. Exact only at 0; erfc(-inf) = 2, erfc(+inf) = +0.
constexpr Unpacked erfc(const Unpacked &x) {
  if (x.isNaN())
    return x;
  if (x.isZero())
    return unpackedOne;
  Unpacked two = Unpacked::fromInteger(false, 2);
  if (x.isInfinite())
    return x.negative ? two : Unpacked::zero();
  Wide argument = Wide::from(x);
  if (x.negative && detail::isErfNextToOne(argument)) // 2 - 2^-66 and above
    return justBelow(two);
  if (x.exponent >= 10 && !x.negative) // below e^-(2^20)
    return outOfRange(false, false);
  return detail::complementaryError(argument).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_COMPLEMENTARYERROR_H
