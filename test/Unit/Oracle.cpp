// SPDX-License-Identifier: MIT
//
// Rounding of the oracle: where a result lies among the codes of a format, and
// which of its two neighbours it takes.

#include "Oracle.h"

#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace oracle {

Oracle::Oracle(const Format &format) : description(format) {
  // The tables hold doubles: no format with a wider range may have them.
  if (width() > 16 || format.exponentBits > 8)
    return;
  uint64_t codes = uint64_t{1} << width();
  values.reserve(codes);
  for (uint64_t code = 0; code < codes; ++code)
    decode(code, values.emplace_back(53));
  if (format.family == Family::Fixed) // its codes are their own table
    return;
  Real value(53);
  for (uint64_t magnitude = 0; magnitude <= largest(); ++magnitude) {
    magnitudeValue(magnitude, value);
    magnitudes.push_back(mpfr_get_d(value, MPFR_RNDZ));
    boundary(magnitude, value);
    boundaries.push_back(mpfr_get_d(value, MPFR_RNDZ));
  }
  // Bisecting relies on it: magnitudes are ordered as their codes.
  if (!std::is_sorted(magnitudes.begin(), magnitudes.end()))
    std::abort();
}

mpfr_srcptr Oracle::value(uint64_t code, Real &scratch) const {
  if (!values.empty())
    return values[code];
  decode(code, scratch);
  return scratch;
}

static Place::Part partOf(int order, bool tail) {
  if (order == 0)
    return tail ? Place::Part::High : Place::Part::Tie;
  return order < 0 ? Place::Part::Low : Place::Part::High;
}

// A truncated value below a boundary that the truncation can hold stays below
// it whatever its tail; on the boundary the tail decides. The same with the
// truncation to a double.
void Oracle::locateInTable(mpfr_srcptr value, Place &place, bool tail) const {
  double magnitude = mpfr_get_d(value, MPFR_RNDZ);
  tail = tail || mpfr_cmp_d(value, magnitude) != 0;
  magnitude = magnitude < 0 ? -magnitude : magnitude;
  auto first = static_cast<uint64_t>(next(0)) - 1; // flushed codes are zero too
  auto above = std::upper_bound(magnitudes.begin() + static_cast<long>(first),
                                magnitudes.end(), magnitude);
  auto lower = static_cast<uint64_t>(above - magnitudes.begin()) - 1;
  place.lower = first != 0 && lower == first ? 0 : lower;
  if (magnitudes[place.lower] == magnitude && !tail)
    place.part = Place::Part::Exactly;
  else
    place.part = partOf(magnitude < boundaries[place.lower]   ? -1
                        : magnitude > boundaries[place.lower] ? 1
                                                              : 0,
                        tail);
}

void Oracle::bisect(mpfr_srcptr value, Place &place, bool tail) const {
  Real probe;
  Magnitude low = 0, high = Magnitude{largest()} +
                            1; // value(low) <= |value| < value(high)
  if (next(0) != 1) {          // no codes between 0 and next(0)
    magnitudeValue(next(0), probe);
    if (mpfr_cmpabs(value, probe) >= 0)
      low = next(0);
    else
      high = 1;
  }
  while (high - low > 1) {
    Magnitude middle = low + (high - low) / 2;
    magnitudeValue(middle, probe);
    (mpfr_cmpabs(value, probe) >= 0 ? low : high) = middle;
  }
  place.lower = static_cast<uint64_t>(low);
  magnitudeValue(low, probe);
  if (mpfr_cmpabs(value, probe) == 0 && !tail) {
    place.part = Place::Part::Exactly;
    return;
  }
  boundary(place.lower, probe);
  place.part = partOf(mpfr_cmpabs(value, probe), tail);
}

// The integer behind the code, and what is left of it.
void Oracle::locateFixed(mpfr_srcptr value, Place &place, bool tail) const {
  Real scaled(mpfr_get_prec(value)), whole(mpfr_get_prec(value));
  mpfr_abs(scaled, value, MPFR_RNDN);
  mpfr_mul_2si(scaled, scaled, description.fractionBits, MPFR_RNDN);
  mpfr_trunc(whole, scaled);
  mpfr_sub(scaled, scaled, whole, MPFR_RNDN);
  if (mpfr_get_exp(whole) <= 64 || mpfr_zero_p(whole)) {
    place.lower = mpfr_get_ui(whole, MPFR_RNDZ);
  } else {
    mpz_t integer;
    mpz_init(integer);
    mpfr_get_z(integer, whole, MPFR_RNDZ);
    place.lower = mpz_get_ui(integer); // its last 64 bits
    place.huge = true;
    mpz_clear(integer);
  }
  place.part = mpfr_zero_p(scaled) && !tail
                   ? Place::Part::Exactly
                   : partOf(mpfr_cmp_d(scaled, 0.5), tail);
}

Place Oracle::locate(const Result &result) const {
  mpfr_srcptr value = result.value;
  Place place;
  place.negative = mpfr_signbit(value) != 0;
  place.cancelled = result.cancelled;
  if (mpfr_nan_p(value) || (result.pole && description.isP3109()))
    return place;
  if (mpfr_inf_p(value)) {
    place.kind = Place::Kind::Infinite;
    return place;
  }
  if (mpfr_zero_p(value)) {
    place.kind = Place::Kind::Zero;
    return place;
  }
  place.kind = Place::Kind::Number;
  if (description.family == Family::Fixed) {
    locateFixed(value, place, result.tail);
    return place;
  }
  if (description.specials == Specials::Fnu) { // nothing lies below the least
    Real least;
    magnitudeValue(0, least);
    if (mpfr_cmpabs(value, least) < 0)
      return place;
  }
  if (magnitudes.empty())
    bisect(value, place, result.tail);
  else
    locateInTable(value, place, result.tail);
  place.upper = static_cast<uint64_t>(next(place.lower));
  place.beyond = place.lower == largest();
  return place;
}

Place Oracle::locate(mpfr_srcptr exact) const {
  Result result(mpfr_get_prec(exact));
  mpfr_set(result.value, exact, MPFR_RNDN);
  return locate(result);
}

uint64_t Oracle::withSign(uint64_t magnitude, bool negative) const {
  if (!negative)
    return magnitude;
  if (description.family != Family::Float)
    return (0 - magnitude) & mask();
  if (magnitude == 0 && !hasNegativeZero())
    return 0;
  return magnitude | uint64_t{1} << (width() - 1);
}

uint64_t Oracle::overflowed(const Place &place, bool infinite) const {
  const Format &f = description;
  bool keepsInfinity = f.overflow == Overflow::Infinity ||
                       (f.keepsInfinities && infinite) ||
                       (f.overflow == Overflow::Propagate && infinite);
  if (!keepsInfinity || f.specials == Specials::Finite ||
      f.family == Family::Fixed)
    return withSign(largest(place.negative), place.negative);
  return hasInfinity() ? withSign(largest() + 1, place.negative)
                       : canonicalNaN();
}

uint64_t Oracle::finishFixed(const Place &place, bool away) const {
  uint64_t magnitude = place.lower + (away ? 1 : 0);
  bool carried = away && magnitude == 0;
  bool fits = !place.huge && !carried && magnitude <= largest(place.negative);
  return fits || description.overflow == Overflow::Wrap
             ? withSign(magnitude, place.negative) & mask()
             : overflowed(place, false);
}

uint64_t Oracle::finish(const Place &place, bool away) const {
  const Format &f = description;
  if (place.kind == Place::Kind::NaN)
    return canonicalNaN();
  if (place.kind == Place::Kind::Zero)
    return withSign(0, place.negative);
  if (f.family == Family::Float && !f.isSigned && place.negative)
    return f.overflow == Overflow::Infinity ? canonicalNaN() : 0;
  if (place.kind == Place::Kind::Infinite)
    return f.isTapered() ? canonicalNaN() : overflowed(place, true);
  if (f.family == Family::Fixed)
    return finishFixed(place, away);
  if (!away || (f.isTapered() && place.beyond))
    return withSign(place.lower, place.negative);
  return place.beyond ? overflowed(place, false)
                      : withSign(place.upper, place.negative);
}

uint64_t Oracle::round(const Place &place, Mode mode) const {
  using Part = Place::Part;
  if (place.kind == Place::Kind::Zero && place.cancelled)
    return withSign(0, mode == Mode::Down);
  bool inexact = place.part != Part::Exactly;
  bool odd = (place.lower & 1) != 0;
  // No nearest mode of a posit or takum gives zero.
  bool leaveZero = description.isTapered() && inexact && place.lower == 0;
  bool away = false;
  switch (mode) {
  case Mode::NearestEven:
    away = place.part == Part::High || (place.part == Part::Tie && odd) ||
           leaveZero;
    break;
  case Mode::NearestAway:
    away = place.part == Part::High || place.part == Part::Tie || leaveZero;
    break;
  case Mode::NearestZero:
    away = place.part == Part::High || leaveZero;
    break;
  case Mode::TowardZero:
    break;
  case Mode::Up:
    away = inexact && !place.negative;
    break;
  case Mode::Down:
    away = inexact && place.negative;
    break;
  case Mode::ToOdd: // there is nothing odd beyond the largest
    away = inexact && !odd && !place.beyond;
    break;
  }
  return finish(place, away);
}

uint64_t Oracle::threshold(const Result &result, const Place &place,
                           int bits) const {
  if (place.kind != Place::Kind::Number || place.part == Place::Part::Exactly)
    return 0;
  // The bits that decide are all there: the distance of two neighbours has at
  // most 65 significant bits, that of a float's and its share 32 more.
  mpfr_srcptr value = result.value;
  if (mpfr_get_prec(value) < widePrecision)
    std::abort();
  Real share, low, span;
  mpfr_abs(share, value, MPFR_RNDN);
  if (description.family == Family::Fixed) {
    mpfr_mul_2si(share, share, description.fractionBits, MPFR_RNDN);
    mpfr_frac(share, share, MPFR_RNDN);
  } else {
    magnitudeValue(place.lower, low);
    magnitudeValue(next(place.lower), span); // beyond the top: the grid goes on
    if (mpfr_cmp(share, span) >= 0)
      return uint64_t{1} << bits;
    if (mpfr_sub(share, share, low, MPFR_RNDZ) != 0 ||
        mpfr_sub(span, span, low, MPFR_RNDZ) != 0)
      std::abort();
    mpfr_div(share, share, span, MPFR_RNDZ); // no integer lies in between
  }
  mpfr_mul_2ui(share, share, static_cast<unsigned>(bits), MPFR_RNDZ);
  return mpfr_get_ui(share, MPFR_RNDZ);
}

} // namespace oracle
