// SPDX-License-Identifier: MIT
//
// sin, cos and tan of an Unpacked, radians. The result is the true value
// truncated to 96 bits with `sticky` for the rest; exact results have sticky
// false. The relative error before the truncation is below 2^-120, so that the
// contract fails only if the true value lies that close to a multiple of its
// 96-bit ulp, and a rounding only if it lies that close to a boundary of the
// format: for binary64 a chance of about 2^-66 for inputs without structure.
// Arguments must lie below 2^32960, where the table of 2/pi ends; beyond, the
// result is NaN rather than a guess. Exponents must stay above -2^28.

#ifndef NUMERA_NUMERICS_ELEMENTARY_TRIGONOMETRIC_H
#define NUMERA_NUMERICS_ELEMENTARY_TRIGONOMETRIC_H

#include "numera/Numerics/Core/Wide.h"
#include "numera/Numerics/Elementary/TwoOverPi.h"

namespace numera::exact {

namespace detail {

inline constexpr Wide halfPi{false, 0,
                             join(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1)};

/// 1/(2k + first)!.
template <int N> consteval Series<N> everySecondFactorial(int first) {
  Series<N> series{};
  for (int k = 0; k < N; ++k)
    series.coefficients[k] = reciprocalOf(factorial(2 * k + first));
  return series;
}
inline constexpr Series<15> sineTail = everySecondFactorial<15>(3);
inline constexpr Series<16> cosineTail = everySecondFactorial<16>(2);

/// sin r for 0 < |r| < 0.79 as the exact truncated sum r - r^3 (1/6 - …). The
/// first omitted term is r^33/33! < 2^-133 r; relative error below 2^-125.
constexpr Wide sineReduced(const Wide &r) {
  Wide square = r * r;
  uint128_t tail = horner(sineTail.coefficients, square.toFraction(), true);
  return r - r * square * Wide::fromFraction(tail);
}

/// cos r for 0 < |r| < 0.79 as the exact truncated sum 1 - r^2 (1/2 - …). The
/// first omitted term is r^34/34! < 2^-139; relative error below 2^-125.
constexpr Wide cosineReduced(const Wide &r) {
  Wide square = r * r;
  uint128_t tail = horner(cosineTail.coefficients, square.toFraction(), true);
  return one - square * Wide::fromFraction(tail);
}

/// |c_k| of tan x = x + x^3 (c_0 + c_1 x^2 + …) and of tanh x = x - x^3 (c_0 -
/// c_1 x^2 + …): with n = k + 2, 2^2n (2^2n - 1) |B_2n| / (2n)!, in units of
/// 2^-128.
inline constexpr Series<17> tangentTail{{
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

/// tan r for 0 < |r| < 0.79. Up to 1/8 it is the exact truncated sum r + r^3
/// (1/3 + …), whose coefficients fall like (4/pi^2)^k: the first omitted term
/// is below 2^-130 r. Relative error below 2^-121, from the division.
constexpr Wide tangentReduced(const Wide &r) {
  if (r.exponent >= -3)
    return sineReduced(r) / cosineReduced(r);
  Wide square = r * r;
  uint128_t tail = horner(tangentTail.coefficients, square.toFraction(), false);
  return r + r * square * Wide::fromFraction(tail);
}

/// 64 bits of 2/pi from the one of weight 2^-(1 + start) on; zeros before the
/// first.
constexpr uint64_t twoOverPiBits(int32_t start) {
  auto word = [](int32_t i) { return i < 0 ? 0 : twoOverPi[i]; };
  int32_t index = start >> 6; // rounds down
  int32_t shift = start & 63;
  if (shift == 0)
    return word(index);
  return word(index) << shift | word(index + 1) >> (64 - shift);
}

/// x = (4n + quadrant) pi/2 + remainder, |remainder| <= pi/4.
struct ReducedAngle {
  int32_t quadrant;
  Wide remainder;
};

/// Payne and Hanek's reduction. Of a positive number below 2^32960 one word is
/// an integer M times 2^(exponent - 63). Bits of 2/pi whose product with it is
/// a multiple of 4 are left out, and 320 bits are used from there:
///
///     M * bits mod 2^320 = quadrant (2 bits) . fraction (318 bits)
///
/// The bits behind add less than 2^64 units of 2^-318. Adds the product to
/// `turns`, most significant word first.
constexpr void addTurns(uint64_t (&turns)[5], uint64_t word, int32_t exponent) {
  uint64_t carry = 0;
  for (int i = 4; i >= 0; --i) {
    uint64_t bits = twoOverPiBits(exponent - 65 + 64 * i);
    uint128_t sum = static_cast<uint128_t>(word) * bits + carry + turns[i];
    turns[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> 64);
  }
}

/// What remains of the turns of a number of that sign. A product of 64 bits
/// with 2/pi comes no closer to an integer than about 2^-(64 + 15 + 10), so
/// that the remainder is right to 2^-160, before it is cut to 128 bits.
constexpr ReducedAngle angleOf(uint64_t (&turns)[5], bool negative) {
  auto quadrant = static_cast<int32_t>(turns[0] >> 62);
  for (int i = 0; i < 5; ++i) // the fraction to the top
    turns[i] = turns[i] << 2 | (i < 4 ? turns[i + 1] >> 62 : 0);
  bool above = turns[0] >> 63 != 0; // over 1/2: measure from the next one
  if (above)
    for (uint64_t &word : turns)
      word = ~word; // 1 - fraction, less 2^-320
  int32_t scale = 0;
  while (turns[0] == 0 && scale > -128) { // 64 bits cancelled
    for (int i = 0; i < 4; ++i)
      turns[i] = turns[i + 1];
    turns[4] = 0;
    scale -= 64;
  }
  int shift = __builtin_clzll(turns[0] | 1);
  uint128_t fraction = join(turns[0], turns[1]);
  if (shift != 0)
    fraction = fraction << shift | turns[2] >> (64 - shift);
  Wide remainder = Wide::fromFraction(fraction, scale - shift) * halfPi;
  remainder.negative = above != negative;
  quadrant += above ? 1 : 0;
  return {(negative ? -quadrant : quadrant) & 3, remainder};
}

/// sin(angle + quarters * pi/2).
constexpr Wide sineOfAngle(const ReducedAngle &angle, int32_t quarters) {
  int32_t quadrant = (angle.quadrant + quarters) & 3;
  Wide value = quadrant & 1 ? cosineReduced(angle.remainder)
                            : sineReduced(angle.remainder);
  return quadrant & 2 ? -value : value;
}

/// tan(angle): of odd quadrants -1 / tan(remainder).
constexpr Wide tangentOfAngle(const ReducedAngle &angle) {
  if ((angle.quadrant & 1) == 0)
    return tangentReduced(angle.remainder);
  return -(cosineReduced(angle.remainder) / sineReduced(angle.remainder));
}

/// True if |x| is too large to be reduced: the window of 320 bits has to lie in
/// the table.
constexpr bool isBeyondTwoOverPi(const Unpacked &x) {
  return x.exponent - 65 + 320 > 64 * (twoOverPiWords - 1);
}

/// For |x| >= 1/2 that is not too large.
constexpr ReducedAngle reduceByHalfPi(const Unpacked &x) {
  uint64_t turns[5] = {};
  addTurns(turns, x.significand, x.exponent);
  return angleOf(turns, x.negative);
}

/// sin(x + quarters * pi/2) for |x| >= 1/2.
constexpr Unpacked sineShifted(const Unpacked &x, int32_t quarters) {
  if (isBeyondTwoOverPi(x))
    return Unpacked::nan();
  return sineOfAngle(reduceByHalfPi(x), quarters).toUnpacked();
}

} // namespace detail

/// sin x. Exact only at 0, where it keeps the sign; NaN for infinities.
constexpr Unpacked sin(const Unpacked &x) {
  if (x.isNaN() || x.isInfinite())
    return Unpacked::nan();
  if (x.isZero())
    return x;
  // |x| < 2^-32: |sin x| lies below |x| by less than x^3/6 < 2^-66 |x|.
  if (x.exponent < -32)
    return justBelow(x);
  if (x.exponent < -1)
    return detail::sineReduced(Wide::from(x)).toUnpacked();
  return detail::sineShifted(x, 0);
}

/// cos x. Exact only at 0; NaN for infinities.
constexpr Unpacked cos(const Unpacked &x) {
  if (x.isNaN() || x.isInfinite())
    return Unpacked::nan();
  if (x.isZero())
    return unpackedOne;
  // |x| < 2^-32: 1 - 2^-65 < 1 - x^2/2 < cos x < 1.
  if (x.exponent < -32)
    return justBelow(unpackedOne);
  if (x.exponent < -1)
    return detail::cosineReduced(Wide::from(x)).toUnpacked();
  return detail::sineShifted(x, 1);
}

/// tan x. Exact only at 0, where it keeps the sign; NaN for infinities.
constexpr Unpacked tan(const Unpacked &x) {
  if (x.isNaN() || x.isInfinite())
    return Unpacked::nan();
  if (x.isZero())
    return x;
  // |x| < 2^-32: |tan x| lies above |x| by less than x^3/2 < 2^-65 |x|.
  if (x.exponent < -32)
    return justAbove(x);
  if (x.exponent < -1)
    return detail::tangentReduced(Wide::from(x)).toUnpacked();
  if (detail::isBeyondTwoOverPi(x))
    return Unpacked::nan();
  return detail::tangentOfAngle(detail::reduceByHalfPi(x)).toUnpacked();
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_TRIGONOMETRIC_H
