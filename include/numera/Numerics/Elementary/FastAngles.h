// SPDX-License-Identifier: MIT
//
// The quick phase of trigonometric functions and their inverses, as FastPath.h
// describes it.

#ifndef NUMERA_NUMERICS_ELEMENTARY_FASTANGLES_H
#define NUMERA_NUMERICS_ELEMENTARY_FASTANGLES_H

#include "numera/Numerics/Elementary/FastPath.h"

namespace numera::fast {

namespace detail {

/// x less a multiple of pi/2, and the multiple's last bits.
struct ReducedAngle {
  double remainder;
  uint64_t quadrant;
};

/// For |x| <= 2^10, by pi/2 in three parts, of which the first two have 33 and
/// 32 bits, so that their products with a multiple are exact, and the first
/// difference is. What the second rounds off is taken along with the third
/// part. The product with that has an error below 2^-111, while a number of 53
/// bits comes no closer to a multiple than about 2^-59: relative error below
/// 2^-51.
constexpr ReducedAngle reduceByHalfPi(double x) {
#pragma clang fp contract(off)
  constexpr double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34,
                   third = 0x1.3198a2e037073p-69;
  double shifted = x * 0x1.45f306dc9c883p-1 + shifter;
  double multiple = shifted - shifter;
  double high = x - multiple * first;
  double part = multiple * second;
  double middle = high - part;
  double lost = (high - middle) - part;
  return {middle - (multiple * third - lost),
          __builtin_bit_cast(uint64_t, shifted)};
}

/// sin r for |r| <= 0.79 by Taylor's series to r^17/17!; the first omitted term
/// is below 2^-62 r. Relative error below 2^-51.
constexpr double sineReduced(double r) {
#pragma clang fp contract(off)
  double square = r * r;
  double sum = 1.0 / 355687428096000;
  sum = sum * square - 1.0 / 1307674368000;
  sum = sum * square + 1.0 / 6227020800;
  sum = sum * square - 1.0 / 39916800;
  sum = sum * square + 1.0 / 362880;
  sum = sum * square - 1.0 / 5040;
  sum = sum * square + 1.0 / 120;
  sum = sum * square - 1.0 / 6;
  return r + r * (square * sum);
}

/// cos r for |r| <= 0.79 to r^16/16!; the first omitted term is below 2^-59.
constexpr double cosineReduced(double r) {
#pragma clang fp contract(off)
  double square = r * r;
  double sum = 1.0 / 20922789888000;
  sum = sum * square - 1.0 / 87178291200;
  sum = sum * square + 1.0 / 479001600;
  sum = sum * square - 1.0 / 3628800;
  sum = sum * square + 1.0 / 40320;
  sum = sum * square - 1.0 / 720;
  sum = sum * square + 1.0 / 24;
  sum = sum * square - 0.5;
  return 1.0 + square * sum;
}

constexpr double negatedIf(double value, bool negate) {
  return negate ? -value : value;
}

} // namespace detail

/// sin x for |x| <= 2^10.
constexpr double sin(double x) {
  detail::ReducedAngle angle = detail::reduceByHalfPi(x);
  double sine = detail::sineReduced(angle.remainder);
  double cosine = detail::cosineReduced(angle.remainder);
  return detail::negatedIf(angle.quadrant & 1 ? cosine : sine,
                           (angle.quadrant & 2) != 0);
}

/// cos x for |x| <= 2^10.
constexpr double cos(double x) {
  detail::ReducedAngle angle = detail::reduceByHalfPi(x);
  double sine = detail::sineReduced(angle.remainder);
  double cosine = detail::cosineReduced(angle.remainder);
  return detail::negatedIf(angle.quadrant & 1 ? sine : cosine,
                           ((angle.quadrant + 1) & 2) != 0);
}

/// tan x for |x| <= 2^10.
constexpr double tan(double x) {
  detail::ReducedAngle angle = detail::reduceByHalfPi(x);
  double sine = detail::sineReduced(angle.remainder);
  double cosine = detail::cosineReduced(angle.remainder);
  bool odd = (angle.quadrant & 1) != 0;
  return (odd ? -cosine : sine) / (odd ? sine : cosine);
}

/// atan x for every x, infinite ones too. Of |x| > tan(3 pi/8) it is pi/2 -
/// atan(1/|x|), of |x| > tan(pi/8) pi/4 + atan((|x| - 1) / (|x| + 1)); the
/// polynomial is a Chebyshev approximation to z^2 <= 0.1716 with a relative
/// error of 2^-57.
constexpr double atan(double x) {
#pragma clang fp contract(off)
  double magnitude = x < 0 ? -x : x;
  bool isLarge = magnitude > 2.414, isMiddle = magnitude > 0.4142;
  double numerator = isLarge ? -1.0 : isMiddle ? magnitude - 1.0 : magnitude;
  double denominator = isLarge ? magnitude : isMiddle ? magnitude + 1.0 : 1.0;
  double base = isLarge    ? 0x1.921fb54442d18p+0
                : isMiddle ? 0x1.921fb54442d18p-1
                           : 0.0;
  double z = numerator / denominator;
  double square = z * z;
  double sum = -0x1.3a27dd63af0a7p-6;
  sum = sum * square + 0x1.415ebcba15fd3p-5;
  sum = sum * square - 0x1.a09838b71a7cfp-5;
  sum = sum * square + 0x1.dfe60585956a5p-5;
  sum = sum * square - 0x1.10fa73c8057afp-4;
  sum = sum * square + 0x1.3b1262bf324fdp-4;
  sum = sum * square - 0x1.745d0b25982f3p-4;
  sum = sum * square + 0x1.c71c71852a359p-4;
  sum = sum * square - 0x1.2492492436016p-3;
  sum = sum * square + 0x1.9999999999349p-3;
  sum = sum * square - 0x1.5555555555555p-2;
  double value = base + (z + z * (square * sum));
  return x < 0 ? -value : value;
}

/// asin x for |x| <= 1, through atan.
inline double asin(double x) {
#pragma clang fp contract(off)
  return atan(x / __builtin_sqrt((1.0 - x) * (1.0 + x)));
}

/// acos x for |x| <= 1, as twice the angle of half.
inline double acos(double x) {
#pragma clang fp contract(off)
  return 2.0 * atan(__builtin_sqrt((1.0 - x) / (1.0 + x)));
}

} // namespace numera::fast

#endif // NUMERA_NUMERICS_ELEMENTARY_FASTANGLES_H
