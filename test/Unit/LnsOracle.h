// SPDX-License-Identifier: MIT
//
// A second implementation of logarithmic formats for tests: MPFR computes the
// values and the results, to 300 bits and more, and a result is placed by
// bisecting the list of the values and of the points halfway between them, or
// for long formats by MPFR's logarithm. What agrees with such a point to all
// digits but the last 50 is it.
// Of the library only rounding modes are used here.

#ifndef NUMERA_TEST_UNIT_LNSORACLE_H
#define NUMERA_TEST_UNIT_LNSORACLE_H

#include "Oracle.h"
#include "numera/Numerics/Core/Rounding.h"

#include <algorithm>
#include <deque>

namespace numera::test {

using oracle::Real;

class LnsOracle {
public:
  static constexpr mpfr_prec_t precision = 300;

  LnsOracle(int integer, int fraction, bool usesTable)
      : bits(1 + integer + fraction), fraction(fraction),
        largest((int64_t{1} << (integer + fraction)) - 1) {
    if (usesTable)
      for (int64_t h = -2 * largest; h <= 2 * largest; ++h)
        power(halves.emplace_back(precision), h, fraction + 1);
  }

  uint64_t zero() const { return uint64_t{1} << (bits - 1); }
  uint64_t nan() const { return zero() | uint64_t{1} << bits; }
  uint64_t count() const { return uint64_t{1} << (bits + 1); }
  int64_t largestLogarithm() const { return largest; }
  uint64_t codeOf(bool negative, int64_t k) const {
    uint64_t low = (uint64_t{1} << bits) - 1;
    return (static_cast<uint64_t>(k) & low) | uint64_t{negative} << bits;
  }
  int64_t logarithm(uint64_t code) const {
    // Of 63 bits too, of which 2^63 could not be taken off.
    return static_cast<int64_t>(code << (64 - bits)) >> (64 - bits);
  }

  /// 2^(k / 2^places), to the precision of `value`, which holds k.
  static void power(mpfr_ptr value, int64_t k, int places) {
    mpfr_set_si_2exp(value, k, -places, MPFR_RNDN); // exact
    mpfr_exp2(value, value, MPFR_RNDN);
  }
  /// To the value's own precision.
  void value(mpfr_ptr result, uint64_t code) const {
    if (code == nan())
      return mpfr_set_nan(result);
    if (code == zero())
      return mpfr_set_zero(result, 1);
    if (!halves.empty() && mpfr_get_prec(result) == precision)
      mpfr_set(result, halves[2 * (logarithm(code) + largest)], MPFR_RNDN);
    else
      power(result, logarithm(code), fraction);
    mpfr_setsign(result, result, code >> bits != 0, MPFR_RNDN);
  }

  /// Where a number lies: between half-step `half` and the next, or on it.
  struct Place {
    int64_t half = 0;
    bool exactly = false;
    bool negative = false, isZero = false, isNaN = false;
  };
  /// What a result may be equal to.
  enum class Nature {
    Algebraic,     ///< a point of any kind, but for an error of computation
    Fraction,      ///< a rational point, and known exactly
    Transcendental ///< none: it is known well enough to tell from all
  };
  Place locate(mpfr_srcptr result, Nature nature = Nature::Algebraic) const {
    Place place;
    place.negative = mpfr_signbit(result) != 0;
    place.isNaN = mpfr_nan_p(result) || mpfr_inf_p(result);
    place.isZero = mpfr_zero_p(result);
    if (place.isNaN || place.isZero)
      return place;
    Real magnitude(mpfr_get_prec(result)), point(mpfr_get_prec(result));
    mpfr_abs(magnitude, result, MPFR_RNDN);
    place.half = halves.empty() ? byLogarithm(magnitude) : byTable(magnitude);
    for (int64_t half : {place.half, place.half + 1}) {
      power(point, half, fraction + 1);
      if (!agree(point, magnitude, 250))
        continue;
      bool rational = (half & ((int64_t{2} << fraction) - 1)) == 0;
      place.exactly = (nature == Nature::Algebraic &&
                       agree(point, magnitude, mpfr_get_prec(result) - 50)) ||
                      (nature == Nature::Fraction && rational &&
                       mpfr_equal_p(point, magnitude));
      bool below = !place.exactly && mpfr_less_p(magnitude, point);
      place.half = half - below;
      break;
    }
    return place;
  }
  static bool agree(mpfr_srcptr a, mpfr_srcptr b, mpfr_exp_t digits) {
    Real difference(precision);
    mpfr_sub(difference, a, b, MPFR_RNDN);
    return mpfr_zero_p(difference) ||
           mpfr_get_exp(difference) < mpfr_get_exp(b) - digits;
  }

  uint64_t round(const Place &place, Rounding mode) const {
    if (place.isNaN)
      return nan();
    if (place.isZero)
      return zero();
    bool outward = mode == (place.negative ? Rounding::Down : Rounding::Up);
    bool inward = mode == Rounding::TowardZero ||
                  mode == (place.negative ? Rounding::Up : Rounding::Down);
    if (place.half < -2 * largest)
      return inward ? zero() : codeOf(place.negative, -largest);
    if (place.half >= 2 * largest)
      return codeOf(place.negative, largest);
    int64_t k = place.half >> 1;
    bool upper = place.half & 1;
    if (!upper && place.exactly)
      return codeOf(place.negative, k);
    bool tie = upper && place.exactly, up = false;
    if (mode == Rounding::NearestEven)
      up = tie ? k % 2 != 0 : upper;
    else if (mode == Rounding::NearestAway)
      up = upper;
    else if (mode == Rounding::NearestZero)
      up = upper && !tie;
    else if (mode == Rounding::ToOdd)
      up = k % 2 == 0;
    else
      up = outward;
    return codeOf(place.negative, k + up);
  }
  uint64_t round(mpfr_srcptr result, Rounding mode,
                 Nature nature = Nature::Algebraic) const {
    return round(locate(result, nature), mode);
  }

private:
  int64_t byTable(mpfr_srcptr magnitude) const {
    auto above = std::upper_bound(
        halves.begin(), halves.end(), magnitude,
        [](mpfr_srcptr a, const Real &b) { return mpfr_less_p(a, b) != 0; });
    return above - halves.begin() - 1 - 2 * largest;
  }
  int64_t byLogarithm(mpfr_srcptr magnitude) const {
    Real logarithm(precision + 100);
    mpfr_log2(logarithm, magnitude, MPFR_RNDN);
    mpfr_mul_2si(logarithm, logarithm, fraction + 1, MPFR_RNDN);
    mpfr_floor(logarithm, logarithm);
    int64_t limit = 2 * largest + 1; // below 2^63
    return std::clamp(mpfr_get_si(logarithm, MPFR_RNDN), -limit, limit);
  }

  int bits, fraction;
  int64_t largest;
  std::deque<Real> halves;
};

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_LNSORACLE_H
