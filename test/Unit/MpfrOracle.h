// SPDX-License-Identifier: MIT
//
// Oracles for irrational results: MPFR's numbers as the Unpacked they should
// be, and rounding to a 16-bit format from the list of its values alone.

#ifndef NUMERA_TEST_UNIT_MPFRORACLE_H
#define NUMERA_TEST_UNIT_MPFRORACLE_H

#include "numera/Numerics/Float.h"
#include "numera/Numerics/Posit.h"
#include "numera/Numerics/Wide.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <type_traits>
#include <vector>

namespace numera {

inline bool operator==(const Unpacked &a, const Unpacked &b) {
  return a.pack() == b.pack();
}
inline std::ostream &operator<<(std::ostream &out, const Unpacked &value) {
  const char *kinds[] = {"zero", "finite", "infinite", "NaN"};
  out << (value.negative ? "-" : "+") << kinds[static_cast<int>(value.kind)];
  if (value.isFinite())
    out << " 0x" << std::hex << value.significand << std::dec << " * 2^("
        << value.exponent << " - 63)" << (value.sticky ? " and more" : "");
  return out;
}

/// An MPFR number of 64 bits, unless said otherwise.
class MpfrReal {
public:
  explicit MpfrReal(mpfr_prec_t precision = 64) {
    mpfr_init2(value, precision);
  }
  explicit MpfrReal(const Unpacked &from) : MpfrReal() {
    int sign = from.negative ? -1 : 1;
    switch (from.kind) {
    case Kind::NaN:
      return;
    case Kind::Zero:
      mpfr_set_zero(value, sign);
      return;
    case Kind::Infinite:
      mpfr_set_inf(value, sign);
      return;
    case Kind::Finite:
      mpfr_set_ui_2exp(value, from.significand, from.exponent - 63, MPFR_RNDZ);
      mpfr_setsign(value, value, from.negative, MPFR_RNDZ);
    }
  }
  MpfrReal(const MpfrReal &) = delete;
  MpfrReal &operator=(const MpfrReal &) = delete;
  ~MpfrReal() { mpfr_clear(value); }
  operator mpfr_ptr() { return value; }

private:
  mpfr_t value;
};

/// MPFR's result as the Unpacked it should be.
inline Unpacked expectedFrom(MpfrReal &result, bool inexact) {
  bool negative = mpfr_signbit(result) != 0;
  if (mpfr_nan_p(result))
    return Unpacked::nan();
  if (mpfr_inf_p(result) && !inexact)
    return Unpacked::infinity(negative);
  if (mpfr_zero_p(result) && !inexact)
    return Unpacked::zero(negative);
  // Toward zero, an overflow gives the largest number, an underflow zero.
  long exponent = mpfr_zero_p(result) ? -(1L << 30) : mpfr_get_exp(result) - 1;
  if (exponent > exact::exponentLimit || exponent < -exact::exponentLimit)
    return exact::outOfRange(negative, exponent > 0);
  mpfr_set_exp(result, 64); // the significand as an integer
  mpfr_abs(result, result, MPFR_RNDZ);
  uint64_t significand = mpfr_get_ui(result, MPFR_RNDZ);
  return {.kind = Kind::Finite,
          .negative = negative,
          .sticky = inexact,
          .exponent = static_cast<int32_t>(exponent),
          .significand = significand};
}

/// What the value of an Unpacked rounds to in a 16-bit format, from the list of
/// the format's values alone.
template <typename Format> class RoundingOracle {
public:
  explicit RoundingOracle(Format format) : format(format) {
    for (uint64_t code = 0; code <= format.maxCode(); ++code)
      values.push_back(valueOf(format.decode(code)));
  }

  uint64_t round(const Unpacked &value, Rounding mode) const {
    if (value.isNaN())
      return format.nanCode();
    if (value.isInfinite())
      return isPosit ? format.nanCode() : withSign(overflow(), value.negative);
    if (value.isZero())
      return withSign(0, value.negative);
    return withSign(magnitude(value, mode), value.negative);
  }

private:
  static constexpr bool isPosit = std::is_same_v<Format, PositFormat>;
  Format format;
  std::vector<long double> values; // 64 bits of precision: all exact

  static long double valueOf(const Unpacked &value) {
    int exponent = std::clamp(value.exponent, -16000, 16000);
    return value.isZero() ? 0
                          : std::ldexp(1.0L * value.significand, exponent - 63);
  }
  uint64_t overflow() const { return values.size(); }
  uint64_t withSign(uint64_t code, bool negative) const {
    if (!negative)
      return code;
    return isPosit ? -code & 0xffff : code | 0x8000;
  }
  long double boundaryAbove(uint64_t code) const {
    if constexpr (isPosit)
      return valueOf(PositFormat{17, 2}.decode(2 * code + 1));
    long double next = code + 1 < values.size()
                           ? values[code + 1]
                           : std::ldexp(1.0L, format.maxExponent() + 1);
    return (values[code] + next) / 2;
  }

  uint64_t magnitude(const Unpacked &value, Rounding mode) const {
    long double v = valueOf(value);
    uint64_t low =
        std::upper_bound(values.begin(), values.end(), v) - values.begin() - 1;
    if (values[low] == v && !value.sticky)
      return low;
    if (isPosit && low == format.maxCode())
      return low;
    if (isPosit && low == 0 && isNearest(mode))
      return 1;
    long double middle = boundaryAbove(low);
    bool above = v > middle || (v == middle && value.sticky);
    bool tie = v == middle && !value.sticky;
    bool odd = low % 2 != 0;
    switch (mode) {
    case Rounding::NearestEven:
      return low + (above || (tie && odd));
    case Rounding::NearestAway:
      return low + (above || tie);
    case Rounding::NearestZero:
      return low + above;
    case Rounding::TowardZero:
      return low;
    case Rounding::Up:
      return low + !value.negative;
    case Rounding::Down:
      return low + value.negative;
    case Rounding::ToOdd:
      return low + !odd;
    }
    return 0;
  }
};

inline constexpr Rounding roundingModes[] = {
    Rounding::NearestEven, Rounding::NearestAway, Rounding::NearestZero,
    Rounding::TowardZero,  Rounding::Up,          Rounding::Down,
    Rounding::ToOdd};

} // namespace numera

#endif // NUMERA_TEST_UNIT_MPFRORACLE_H
