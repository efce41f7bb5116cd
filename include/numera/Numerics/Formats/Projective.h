// SPDX-License-Identifier: MIT
//
// Codes of the projective real line, which posits and takums use. A number's
// negative is the two's complement of its code, 0 is zero, and 10…0 is NaR.
// Codes, as signed integers, are in the order of their values. There is one
// zero, no infinity, and every value has one code.

#ifndef NUMERA_NUMERICS_FORMATS_PROJECTIVE_H
#define NUMERA_NUMERICS_FORMATS_PROJECTIVE_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"

namespace numera {

struct ProjectiveCodes {
  int32_t bits; ///< 2 to 64

  constexpr bool operator==(const ProjectiveCodes &) const = default;

  /// NaR equals NaR and is below every number.
  static constexpr bool isTotallyOrdered = true;

  constexpr int32_t width() const { return bits; }
  constexpr uint64_t mask() const { return ~uint64_t{0} >> (64 - bits); }
  constexpr uint64_t signBit() const { return uint64_t{1} << (bits - 1); }
  constexpr uint64_t maxCode() const { return signBit() - 1; }
  constexpr uint64_t nanCode() const { return signBit(); }
  constexpr bool hasInfinity() const { return false; }
  constexpr bool hasNaN() const { return true; }
  constexpr bool hasNegativeZero() const { return false; }

  constexpr bool isNaN(uint64_t code) const { return code == signBit(); }
  constexpr bool isNegative(uint64_t code) const {
    return (code & signBit()) != 0;
  }

  /// Codes in the order of their values: as signed integers, NaR below all.
  constexpr int64_t order(uint64_t code) const {
    return static_cast<int64_t>(code << (64 - bits)) >> (64 - bits);
  }
  constexpr int64_t orderOfValue(uint64_t code) const { return order(code); }

  /// Every value has one code.
  constexpr uint64_t canonical(uint64_t code) const { return code; }

  constexpr uint64_t negate(uint64_t code) const {
    return (~code + 1) & mask(); // NaR and zero are their own negatives
  }
  constexpr uint64_t absolute(uint64_t code) const {
    return isNegative(code) ? negate(code) : code;
  }

protected:
  /// Clears the last `count` bits of a number's fraction, which has `fraction`
  /// bits.
  constexpr uint64_t cut(uint64_t code, int32_t count, int32_t fraction) const {
    count = count < fraction ? count : fraction;
    uint64_t magnitude = absolute(code) >> count << count;
    return isNegative(code) ? negate(magnitude) : magnitude;
  }

  /// The code of a magnitude in (0, least), where `least` is the value of code
  /// 1: no nearest mode gives zero; the directed ones keep their inequality;
  /// the least number is odd; a stochastic one chooses.
  static constexpr uint64_t
  belowLeast(const Unpacked &value, const Unpacked &least, RoundingMode mode) {
    bool negative = value.negative;
    if (mode == Rounding::Stochastic) {
      // value / least = wide / significand * 2^(exponents - 64), where the
      // quotient has 64 or 65 bits.
      bool sticky = value.sticky || value.wide() % least.significand != 0;
      uint128_t quotient = value.wide() / least.significand;
      uint128_t share =
          shiftRight(quotient, 32 + least.exponent - value.exponent, sticky);
      return roundsUp(mode, negative, false,
                      {static_cast<uint32_t>(share), sticky});
    }
    bool toZero = mode == Rounding::TowardZero ||
                  mode == (negative ? Rounding::Up : Rounding::Down);
    return toZero ? 0 : 1;
  }

  /// The code of a value. `roundMagnitude` returns the code of a finite
  /// magnitude. Infinities become NaR.
  template <typename Round>
  constexpr uint64_t encodeBy(const Unpacked &value,
                              Round roundMagnitude) const {
    if (value.isZero())
      return 0;
    if (!value.isFinite())
      return nanCode();
    uint64_t magnitude = roundMagnitude(value);
    return value.negative ? negate(magnitude) : magnitude;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_PROJECTIVE_H
