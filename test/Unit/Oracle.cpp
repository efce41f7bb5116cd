// SPDX-License-Identifier: MIT
//
// Formats and rounding of the oracle, from the definitions: a float by the
// formula of its fields, a posit by walking its bits.

#include "Oracle.h"

#include <algorithm>
#include <cstdlib>

namespace oracle {

/// Sets `value` to significand * 2^exponent and insists that it is exact.
static void setExactly(mpfr_ptr value, uint64_t significand, long exponent) {
  if (mpfr_set_ui_2exp(value, significand, exponent, MPFR_RNDN) != 0)
    std::abort();
}

void positMagnitude(Magnitude magnitude, int bits, int es, mpfr_ptr value) {
  if (magnitude == 0)
    return mpfr_set_zero(value, 1);
  // Walk down from the bit behind the sign; bits that are missing are zero.
  int position = bits - 2;
  auto take = [&]() -> int {
    int bit = position >= 0 ? static_cast<int>(magnitude >> position & 1) : 0;
    --position;
    return bit;
  };
  int first = take(), run = 1;
  while (position >= 0 &&
         static_cast<int>(magnitude >> position & 1) == first) {
    ++run;
    --position;
  }
  take(); // the bit that ends the regime
  long scale = (first ? run - 1 : -run) * (1L << es);
  for (int i = es - 1; i >= 0; --i)
    scale += static_cast<long>(take()) << i;
  int fractionBits = std::max(position + 1, 0);
  uint64_t fraction = 0;
  for (int i = 0; i < fractionBits; ++i)
    fraction = fraction << 1 | static_cast<uint64_t>(take());
  setExactly(value, (uint64_t{1} << fractionBits) + fraction,
             scale - fractionBits);
}

int Oracle::width() const {
  return description.isPosit
             ? description.bits
             : description.exponentBits + description.mantissaBits +
                   (description.isSigned ? 1 : 0);
}

void Oracle::magnitudeValue(Magnitude magnitude, mpfr_ptr value) const {
  const Format &f = description;
  if (f.isPosit)
    return positMagnitude(magnitude, f.bits, f.es, value);
  uint64_t unit = uint64_t{1} << f.mantissaBits;
  auto e = static_cast<long>(magnitude >> f.mantissaBits);
  uint64_t t = static_cast<uint64_t>(magnitude) & (unit - 1);
  if (e == 0)
    setExactly(value, f.hasSubnormals ? t : 0, 1L - f.bias - f.mantissaBits);
  else
    setExactly(value, unit + t, e - f.bias - f.mantissaBits);
}

uint64_t Oracle::largest() const {
  const Format &f = description;
  if (f.isPosit)
    return (uint64_t{1} << (f.bits - 1)) - 1;
  uint64_t all = ~uint64_t{0} >> (64 - f.exponentBits - f.mantissaBits);
  switch (f.specials) {
  case Specials::Ieee: // below the first code with E all ones
    return (all >> f.mantissaBits << f.mantissaBits) - 1;
  case Specials::Fn:
    return all - 1;
  case Specials::Fnuz:
  case Specials::Finite:
    return all;
  }
  std::abort();
}

uint64_t Oracle::canonicalNaN() const {
  const Format &f = description;
  uint64_t top = uint64_t{1} << (width() - 1);
  if (f.isPosit)
    return top;
  switch (f.specials) {
  case Specials::Ieee:
    return largest() + 1 + (uint64_t{1} << (f.mantissaBits - 1));
  case Specials::Fn:
    return largest() + 1;
  case Specials::Fnuz:
    return top;
  case Specials::Finite:
    return 0;
  }
  std::abort();
}

bool Oracle::hasNegativeZero() const {
  return !description.isPosit && description.isSigned &&
         description.specials != Specials::Fnuz;
}

void Oracle::decode(uint64_t code, mpfr_ptr value) const {
  const Format &f = description;
  uint64_t top = uint64_t{1} << (width() - 1);
  if (f.isPosit) {
    if (code == top)
      return mpfr_set_nan(value);
    bool negative = (code & top) != 0;
    magnitudeValue(negative ? (top << 1) - code : code, value);
    mpfr_setsign(value, value, negative, MPFR_RNDN);
    return;
  }
  bool negative = f.isSigned && (code & top) != 0;
  uint64_t magnitude = f.isSigned ? code & ~top : code;
  if (f.specials == Specials::Fnuz && code == top)
    return mpfr_set_nan(value);
  if (magnitude > largest()) {
    bool infinite = f.specials == Specials::Ieee && magnitude == largest() + 1;
    return infinite ? mpfr_set_inf(value, negative ? -1 : 1)
                    : mpfr_set_nan(value);
  }
  magnitudeValue(magnitude, value);
  mpfr_setsign(value, value, negative, MPFR_RNDN);
}

Magnitude Oracle::next(Magnitude magnitude) const {
  bool flushes = !description.isPosit && !description.hasSubnormals;
  return magnitude == 0 && flushes ? Magnitude{1} << description.mantissaBits
                                   : magnitude + 1;
}

void Oracle::boundary(uint64_t lower, mpfr_ptr value) const {
  const Format &f = description;
  if (f.isPosit)
    return positMagnitude(Magnitude{lower} * 2 + 1, f.bits + 1, f.es, value);
  Real above;
  magnitudeValue(lower, value);
  magnitudeValue(next(lower), above); // beyond the top: the grid goes on
  if (mpfr_add(value, value, above, MPFR_RNDN) != 0)
    std::abort();
  mpfr_div_2ui(value, value, 1, MPFR_RNDN);
}

Oracle::Oracle(const Format &format) : description(format) {
  // The tables hold doubles: no format with a wider range may have them.
  if (width() > 16 || format.exponentBits > 8)
    return;
  uint64_t codes = uint64_t{1} << width();
  values.reserve(codes);
  for (uint64_t code = 0; code < codes; ++code)
    decode(code, values.emplace_back(53));
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

Place Oracle::locate(const Result &result) const {
  mpfr_srcptr value = result.value;
  Place place;
  place.negative = mpfr_signbit(value) != 0;
  place.cancelled = result.cancelled;
  if (mpfr_nan_p(value))
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
  if (description.isPosit)
    return (0 - magnitude) & mask();
  if (magnitude == 0 && !hasNegativeZero())
    return 0;
  return magnitude | uint64_t{1} << (width() - 1);
}

uint64_t Oracle::overflowed(const Place &place, bool infinite) const {
  bool keepsInfinity =
      description.overflow == Overflow::Infinity ||
      (description.overflow == Overflow::Propagate && infinite);
  if (!keepsInfinity || description.specials == Specials::Finite)
    return withSign(largest(), place.negative);
  if (description.specials == Specials::Ieee)
    return withSign(largest() + 1, place.negative);
  return canonicalNaN();
}

uint64_t Oracle::round(const Place &place, Mode mode) const {
  using Part = Place::Part;
  const Format &f = description;
  if (place.kind == Place::Kind::NaN)
    return canonicalNaN();
  if (place.kind == Place::Kind::Zero)
    return withSign(0, place.cancelled ? mode == Mode::Down : place.negative);
  if (!f.isPosit && !f.isSigned && place.negative)
    return f.overflow == Overflow::Infinity ? canonicalNaN() : 0;
  if (place.kind == Place::Kind::Infinite)
    return f.isPosit ? canonicalNaN() : overflowed(place, true);

  bool inexact = place.part != Part::Exactly;
  bool odd = (place.lower & 1) != 0;
  bool away = false;
  switch (mode) {
  case Mode::NearestEven:
    away = place.part == Part::High || (place.part == Part::Tie && odd);
    break;
  case Mode::NearestAway:
    away = place.part == Part::High || place.part == Part::Tie;
    break;
  case Mode::NearestZero:
    away = place.part == Part::High;
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
  if (f.isPosit) {
    bool nearest = mode == Mode::NearestEven || mode == Mode::NearestAway ||
                   mode == Mode::NearestZero;
    if (place.lower == 0 && nearest)
      away = true;
    if (place.beyond)
      away = false;
  }
  if (!away)
    return withSign(place.lower, place.negative);
  return place.beyond ? overflowed(place, false)
                      : withSign(place.upper, place.negative);
}

} // namespace oracle
