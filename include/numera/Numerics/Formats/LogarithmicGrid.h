// SPDX-License-Identifier: MIT
//
// Places on the grid of a base-2 logarithm with f fraction bits: how a number
// lies between 2^(k/2^f) and 2^((k+1)/2^f). A logarithmic format rounds from a
// Place; the numbers on the way there are Wide.
//
// The logarithm of a binary fraction is irrational unless it is a power of two,
// and 2^(k/2^f) is irrational unless 2^f divides k. What is not exact therefore
// lies strictly between two halves of a grid, and an approximation decides
// unless it is closer to one than its error: 2^-117 and less here.

#ifndef NUMERA_NUMERICS_FORMATS_LOGARITHMICGRID_H
#define NUMERA_NUMERICS_FORMATS_LOGARITHMICGRID_H

#include "numera/Numerics/Elementary/Logarithm.h"

namespace numera::exact {

using int128_t = __int128;

/// floor + fraction * 2^-128 steps of the grid; `inexact` if a bit of something
/// nonzero follows, less than 2^-128.
struct Place {
  int128_t floor = 0;
  uint128_t fraction = 0;
  bool inexact = false;

  constexpr Remainder rest() const { return Remainder::of(fraction, inexact); }

  /// Strictly between step k and the next one, closer than anything can tell.
  static constexpr Place above(int128_t k) { return {k, 0, true}; }
  static constexpr Place below(int128_t k) {
    return {k - 1, ~uint128_t{0}, true};
  }
  /// k / 2.
  static constexpr Place half(int128_t k) {
    return {k >> 1, static_cast<uint128_t>(k & 1) << 127, false};
  }

  /// base + steps. An irrational number of steps is not zero, but may be cut to
  /// it: it then lies above.
  static constexpr Place of(int128_t base, const Wide &steps, bool irrational) {
    if (steps.isZero())
      return {base, 0, irrational};
    // Beyond 2^100 steps every format ends.
    int128_t whole = int128_t{1} << 100;
    uint128_t fraction = 0;
    if (steps.exponent < 0) {
      whole = 0;
      fraction = steps.toFraction();
    } else if (steps.exponent < 100) {
      whole =
          static_cast<int128_t>(steps.significand >> (127 - steps.exponent));
      fraction = steps.significand << (steps.exponent + 1);
    }
    bool inexact = irrational || steps.exponent < -128;
    if (!steps.negative)
      return {base + whole, fraction, inexact};
    if (inexact) // 1 - fraction, less what follows it
      return {base - whole - 1, ~fraction, true};
    return {base - whole - (fraction != 0), -fraction, false};
  }
};

namespace detail {

/// The number k / 2^f.
constexpr Wide quotient(uint128_t k, int32_t f) {
  return Wide::fromFraction(k, 128 - f);
}

/// 2^(k/2^f), relative error below 2^-125; exact for a power of two.
[[gnu::noinline]] constexpr Wide powerOfGrid(int64_t k, int32_t f) {
  int64_t whole = k >> f;
  Wide fraction = quotient(static_cast<uint128_t>(k - (whole << f)), f);
  Wide power = fraction.isZero() ? one : powerOfTwo(fraction);
  return power.scaled(static_cast<int32_t>(whole));
}

/// Where the magnitude of a number lies that is not exactly the Wide, but less
/// than a unit of its last place above it, or off by the error of its
/// computation.
[[gnu::noinline]] constexpr Place placeOf(const Wide &value, int32_t f) {
  auto [power, fraction] = splitAroundOne(value.magnitude());
  Wide rest{};
  if (fraction.exponent != 0 || fraction.significand != one.significand)
    rest = logReduced(fraction) * inverseLn2;
  return Place::of(static_cast<int128_t>(power) << f, rest.scaled(f), true);
}

/// Where a finite Unpacked lies, its sign aside. Of an irrational value it has
/// 96 bits and a sticky one: those of a point halfway or on the grid are taken
/// for that point, so that a cast from one logarithmic format to another is
/// exact or a tie where it should be. Any other value would have to share its
/// first 94 bits with such a point to be taken for it.
[[gnu::noinline]] constexpr Place placeOf(const Unpacked &value, int32_t f) {
  if (value.significand << 1 == 0 && value.tail == 0)
    return {static_cast<int128_t>(value.exponent) << f, 0, value.sticky};
  Place place = placeOf(Wide{false, value.exponent, value.wide()}, f);
  if (!value.sticky)
    return place;
  auto halves = static_cast<uint32_t>(((place.fraction >> 126) + 1) >> 1);
  uint128_t distance = place.fraction - (static_cast<uint128_t>(halves) << 127);
  distance = distance >> 127 ? -distance : distance;
  int128_t point = 2 * place.floor + halves;
  bool isRational = (point & ((int128_t{2} << f) - 1)) == 0;
  return isRational || distance >> (34 + f) != 0 ? place : Place::half(point);
}

/// log2(1 + 2^-x) or log2(1 - 2^-x) for x = distance / 2^f > 0, in steps of the
/// grid; absolute error below 2^-117 before the scaling.
[[gnu::noinline]] constexpr Wide logarithmOfSum(uint128_t distance, int32_t f,
                                                bool isDifference) {
  Wide x = -quotient(distance, f);
  if (!isDifference) {
    Wide small = powerOfTwo(x);
    return (logarithmOfOnePlus(small) * inverseLn2).scaled(f);
  }
  // 1 - 2^-x next to 0 from e^y - 1, which keeps its relative accuracy.
  Wide rest = x.exponent < -1 ? -expm1Reduced(x * ln2) : one - powerOfTwo(x);
  auto [power, fraction] = splitAroundOne(rest);
  Wide sum = Wide::fromInteger(power);
  if (fraction.exponent != 0 || fraction.significand != one.significand)
    sum = sum + logReduced(fraction) * inverseLn2;
  return sum.scaled(f);
}

} // namespace detail

/// Where |2^(a/2^f) ± 2^(b/2^f)| lies for a > b.
///
/// The numbers 2^(k/n), 0 <= k < n, are linearly independent over the rationals
/// (X^n - 2 is irreducible, by Eisenstein). So a sum or difference of two
/// powers is a third with an exponent of the grid, or halfway, only if all
/// three differ by integers: 2^a - 2^(a-1).
constexpr Place placeOfSum(int128_t a, int128_t b, int32_t f,
                           bool isDifference) {
  int128_t distance = a - b;
  int128_t step = int128_t{1} << f;
  if (isDifference && distance == step)
    return {b, 0, false};
  // From 2^(1 - 200) on a sum differs from its larger term by less than any
  // number of steps tells.
  if (distance > 200 * step)
    return isDifference ? Place::below(a) : Place::above(a);
  return Place::of(
      a,
      detail::logarithmOfSum(static_cast<uint128_t>(distance), f, isDifference),
      true);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_FORMATS_LOGARITHMICGRID_H
