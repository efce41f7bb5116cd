// SPDX-License-Identifier: MIT
//
// sin and cos of an Unpacked, radians. The result is the true value truncated
// to 96 bits with `sticky` for the rest; exact results have sticky false. The
// relative error before the truncation is below 2^-121, so that the contract
// fails only if the true value lies that close to a multiple of its 96-bit
// ulp, and a rounding only if it lies that close to a boundary of the format:
// for binary64 a chance of about 2^-67 for inputs without structure. Arguments
// must lie below 2^32960, where the table of 2/pi ends; beyond, the result is
// NaN rather than a guess. Exponents must stay above -2^28.

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

/// sin(x + quarters * pi/2) for |x| >= 1/2.
constexpr Unpacked sineShifted(const Unpacked &x, int32_t quarters) {
  // The window of 320 bits has to lie in the table.
  if (x.exponent - 65 + 320 > 64 * (twoOverPiWords - 1))
    return Unpacked::nan();
  uint64_t turns[5] = {};
  addTurns(turns, x.significand, x.exponent);
  return sineOfAngle(angleOf(turns, x.negative), quarters).toUnpacked();
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

} // namespace numera::exact

#endif // NUMERA_NUMERICS_ELEMENTARY_TRIGONOMETRIC_H
