// SPDX-License-Identifier: MIT
//
// What the codes of a format mean, from the definitions: a float by the
// formula of its fields, posits and takums by walking their bits, a
// fixed-point number by its integer.

#include "Oracle.h"

#include <algorithm>
#include <cstdlib>

namespace oracle {

/// Sets `value` to significand * 2^exponent and insists that it is exact.
static void setExactly(mpfr_ptr value, uint64_t significand, long exponent) {
  if (mpfr_set_ui_2exp(value, significand, exponent, MPFR_RNDN) != 0)
    std::abort();
}

namespace {
/// The bits of a code from the top; those that are missing are zero.
class Bits {
public:
  Bits(Magnitude code, int count) : code(code), left(count) {}
  int next() {
    --left;
    return left >= 0 ? static_cast<int>(code >> left & 1) : 0;
  }
  int peek() const {
    return left > 0 ? static_cast<int>(code >> (left - 1) & 1) : -1;
  }
  uint64_t take(int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value = value << 1 | static_cast<uint64_t>(next());
    return value;
  }
  int remaining() const { return std::max(left, 0); }

private:
  Magnitude code;
  int left;
};
} // namespace

void positMagnitude(Magnitude magnitude, int bits, int es, mpfr_ptr value) {
  if (magnitude == 0)
    return mpfr_set_zero(value, 1);
  Bits string(magnitude, bits - 1);
  int first = string.next(), run = 1;
  for (; string.peek() == first; ++run)
    string.next();
  string.next(); // the bit that ends the regime
  long scale = (first ? run - 1 : -run) * (1L << es);
  scale += static_cast<long>(string.take(es));
  int fractionBits = string.remaining();
  uint64_t fraction = string.take(fractionBits);
  setExactly(value, (uint64_t{1} << fractionBits) + fraction,
             scale - fractionBits);
}

void takumValue(Magnitude code, int bits, mpfr_ptr value) {
  if (code == 0)
    return mpfr_set_zero(value, 1);
  if (code == Magnitude{1} << (bits - 1))
    return mpfr_set_nan(value);
  Bits string(code, bits);
  int sign = string.next(), direction = string.next();
  auto regime = static_cast<int>(string.take(3));
  int length = direction ? regime : 7 - regime;
  auto offset = static_cast<long>(string.take(length));
  long characteristic =
      direction ? (1L << length) - 1 + offset : -(2L << length) + 1 + offset;
  long exponent = sign ? -(characteristic + 1) : characteristic;
  int fractionBits = string.remaining();
  auto fraction = static_cast<int64_t>(string.take(fractionBits));
  // 1 + f, or -2 + f.
  int64_t whole = (sign ? -2 : 1) * (int64_t{1} << fractionBits);
  if (mpfr_set_si_2exp(value, whole + fraction, exponent - fractionBits,
                       MPFR_RNDN) != 0)
    std::abort();
}

int Oracle::width() const {
  const Format &f = description;
  switch (f.family) {
  case Family::Posit:
  case Family::Takum:
    return f.bits;
  case Family::Fixed:
    return f.integerBits + f.fractionBits + (f.isSigned ? 1 : 0);
  case Family::Float:
    return f.exponentBits + f.mantissaBits + (f.isSigned ? 1 : 0);
  }
  std::abort();
}

void Oracle::magnitudeValue(Magnitude magnitude, mpfr_ptr value) const {
  const Format &f = description;
  switch (f.family) {
  case Family::Posit:
    return positMagnitude(magnitude, f.bits, f.es, value);
  case Family::Takum:
    return takumValue(magnitude, f.bits, value);
  case Family::Fixed:
    return setExactly(value, static_cast<uint64_t>(magnitude), -f.fractionBits);
  case Family::Float:
    break;
  }
  uint64_t unit = uint64_t{1} << f.mantissaBits;
  auto e = static_cast<long>(magnitude >> f.mantissaBits);
  uint64_t t = static_cast<uint64_t>(magnitude) & (unit - 1);
  if (e > 0 || f.specials == Specials::Fnu)
    setExactly(value, unit + t, e - f.bias - f.mantissaBits);
  else
    setExactly(value, f.hasSubnormals ? t : 0, 1L - f.bias - f.mantissaBits);
}

uint64_t Oracle::largest(bool negative) const {
  const Format &f = description;
  if (f.isTapered())
    return (uint64_t{1} << (f.bits - 1)) - 1;
  if (f.family == Family::Fixed) {
    if (!f.isSigned)
      return negative ? 0 : mask();
    return (mask() >> 1) + (negative ? 1 : 0);
  }
  uint64_t all = ~uint64_t{0} >> (64 - f.exponentBits - f.mantissaBits);
  switch (f.specials) {
  case Specials::Ieee: // below the first code with E all ones
    return (all >> f.mantissaBits << f.mantissaBits) - 1;
  case Specials::Fn:
  case Specials::Fnu:
    return all - 1;
  case Specials::Fnuz:
  case Specials::Finite:
    return all;
  case Specials::P3109: // below infinity, which is below an unsigned NaN
    return f.isSigned ? all - 1 : all - 2;
  case Specials::P3109Finite:
    return f.isSigned ? all : all - 1;
  }
  std::abort();
}

uint64_t Oracle::canonicalNaN() const {
  const Format &f = description;
  uint64_t top = uint64_t{1} << (width() - 1);
  if (f.isTapered())
    return top;
  if (f.family == Family::Fixed)
    return 0;
  switch (f.specials) {
  case Specials::Ieee:
    return largest() + 1 + (uint64_t{1} << (f.mantissaBits - 1));
  case Specials::Fn:
  case Specials::Fnu:
    return largest() + 1;
  case Specials::Fnuz:
    return top;
  case Specials::Finite:
    return 0;
  case Specials::P3109:
  case Specials::P3109Finite:
    return f.isSigned ? top : mask();
  }
  std::abort();
}

bool Oracle::hasInfinity() const {
  return description.family == Family::Float &&
         (description.specials == Specials::Ieee ||
          description.specials == Specials::P3109);
}

bool Oracle::hasNegativeZero() const {
  const Format &f = description;
  return f.family == Family::Float && f.isSigned &&
         f.specials != Specials::Fnuz && !f.isP3109();
}

void Oracle::decode(uint64_t code, mpfr_ptr value) const {
  const Format &f = description;
  uint64_t top = uint64_t{1} << (width() - 1);
  if (f.family == Family::Takum)
    return takumValue(code, f.bits, value);
  if (f.family == Family::Posit && code == top)
    return mpfr_set_nan(value);
  bool negative = f.isSigned && (code & top) != 0;
  uint64_t magnitude = code;
  if (f.family != Family::Float) { // two's complement
    magnitude = negative ? (0 - code) & mask() : code;
  } else {
    if (f.isSigned)
      magnitude &= ~top;
    if ((f.specials == Specials::Fnuz || (f.isP3109() && f.isSigned)) &&
        code == top)
      return mpfr_set_nan(value);
    if (magnitude > largest())
      return hasInfinity() && magnitude == largest() + 1
                 ? mpfr_set_inf(value, negative ? -1 : 1)
                 : mpfr_set_nan(value);
  }
  magnitudeValue(magnitude, value);
  mpfr_setsign(value, value, negative, MPFR_RNDN);
}

Magnitude Oracle::next(Magnitude magnitude) const {
  const Format &f = description;
  bool flushes = f.family == Family::Float && !f.hasSubnormals &&
                 f.specials != Specials::Fnu;
  return magnitude == 0 && flushes ? Magnitude{1} << f.mantissaBits
                                   : magnitude + 1;
}

void Oracle::boundary(uint64_t lower, mpfr_ptr value) const {
  const Format &f = description;
  if (f.family == Family::Posit)
    return positMagnitude(Magnitude{lower} * 2 + 1, f.bits + 1, f.es, value);
  if (f.family == Family::Takum)
    return takumValue(Magnitude{lower} * 2 + 1, f.bits + 1, value);
  if (f.family == Family::Fixed) {
    mpfr_set_ui_2exp(value, lower, 1, MPFR_RNDN);
    mpfr_add_ui(value, value, 1, MPFR_RNDN);
    mpfr_mul_2si(value, value, -1 - f.fractionBits, MPFR_RNDN);
    return;
  }
  Real above;
  magnitudeValue(lower, value);
  magnitudeValue(next(lower), above); // beyond the top: the grid goes on
  if (mpfr_add(value, value, above, MPFR_RNDN) != 0)
    std::abort();
  mpfr_div_2ui(value, value, 1, MPFR_RNDN);
}

} // namespace oracle
