// SPDX-License-Identifier: MIT
//
// The float family: sign, exponent field E, significand field T.
//
//     | sign | E: exponentBits | T: mantissaBits |
//
//   E = 0:  T * 2^(1 - bias - mantissaBits)           (subnormal, or zero)
//   E > 0:  (1 + T / 2^mantissaBits) * 2^(E - bias)
//
// Magnitudes are ordered as their codes, which is what encode relies on: a
// carry out of T runs into E, and out of the subnormals into the normals.

#ifndef NUMERA_NUMERICS_FLOAT_H
#define NUMERA_NUMERICS_FLOAT_H

#include "numera/Numerics/Rounding.h"
#include "numera/Numerics/Unpacked.h"

namespace numera {

/// Which codes are not finite numbers. The numbers are part of the runtime ABI.
enum class Specials : int32_t {
  Ieee = 0,   ///< E all ones: infinity (T = 0) or NaN
  Fn = 1,     ///< only the all-ones magnitude is NaN; no infinities
  Fnuz = 2,   ///< one NaN at the code of -0; no -0, no infinities
  Finite = 3, ///< every code is a number
};

/// A format of the float family. The fields, in this order, are the i32
/// parameters that follow the operands of a runtime entry.
struct FloatFormat {
  int32_t exponentBits;
  int32_t mantissaBits;
  int32_t bias;
  Specials specials = Specials::Ieee;
  bool hasSubnormals = true;
  bool isSigned = true;
  Overflow overflow = Overflow::Infinity;

  constexpr bool operator==(const FloatFormat &) const = default;

  constexpr int32_t width() const {
    return exponentBits + mantissaBits + (isSigned ? 1 : 0);
  }
  constexpr int32_t magnitudeBits() const {
    return exponentBits + mantissaBits;
  }
  constexpr uint64_t mask() const { return ~uint64_t{0} >> (64 - width()); }
  constexpr uint64_t magnitudeMask() const {
    return ~uint64_t{0} >> (64 - magnitudeBits());
  }
  constexpr uint64_t signBit() const {
    return isSigned ? uint64_t{1} << magnitudeBits() : 0;
  }

  /// Significant bits of a normal number, the hidden one included.
  constexpr int32_t precision() const { return mantissaBits + 1; }
  /// Exponent of the smallest normal number.
  constexpr int32_t minExponent() const { return 1 - bias; }
  /// Exponent of the smallest nonzero number.
  constexpr int32_t leastExponent() const {
    return hasSubnormals ? minExponent() - mantissaBits : minExponent();
  }
  constexpr int32_t maxExponent() const {
    if (exponentBits == 0)
      return minExponent() - 1;
    return static_cast<int32_t>(maxCode() >> mantissaBits) - bias;
  }

  constexpr bool hasInfinity() const { return specials == Specials::Ieee; }
  constexpr bool hasNaN() const { return specials != Specials::Finite; }
  constexpr bool hasNegativeZero() const {
    return isSigned && specials != Specials::Fnuz;
  }

  /// Magnitude code of infinity; meaningful if hasInfinity().
  constexpr uint64_t infinityCode() const {
    return ((uint64_t{1} << exponentBits) - 1) << mantissaBits;
  }
  /// Magnitude code of the largest finite number.
  constexpr uint64_t maxCode() const {
    switch (specials) {
    case Specials::Ieee:
      return infinityCode() - 1;
    case Specials::Fn:
      return magnitudeMask() - 1;
    case Specials::Fnuz:
    case Specials::Finite:
      return magnitudeMask();
    }
    return 0;
  }
  /// The canonical NaN: positive, quiet, zero payload. 0 where there is none:
  /// an invalid operation gives zero there.
  constexpr uint64_t nanCode() const {
    switch (specials) {
    case Specials::Ieee:
      return infinityCode() | uint64_t{1} << (mantissaBits - 1);
    case Specials::Fn:
      return magnitudeMask();
    case Specials::Fnuz:
      return signBit();
    case Specials::Finite:
      return 0;
    }
    return 0;
  }

  constexpr bool isNaN(uint64_t code) const {
    uint64_t magnitude = code & magnitudeMask();
    switch (specials) {
    case Specials::Ieee:
      return magnitude > infinityCode();
    case Specials::Fn:
      return magnitude == magnitudeMask();
    case Specials::Fnuz:
      return code == signBit();
    case Specials::Finite:
      return false;
    }
    return false;
  }

  constexpr bool isNegative(uint64_t code) const {
    return (code & signBit()) != 0;
  }

  /// The magnitude of a code that is not NaN; a subnormal one is zero in a
  /// format without subnormals.
  constexpr uint64_t magnitudeOf(uint64_t code) const {
    uint64_t magnitude = code & magnitudeMask();
    bool flushed = !hasSubnormals && magnitude >> mantissaBits == 0;
    return flushed ? 0 : magnitude;
  }
  /// The one code that encode gives to the value of `code`.
  constexpr uint64_t canonical(uint64_t code) const {
    return isNaN(code) ? nanCode() : (code & signBit()) | magnitudeOf(code);
  }

  /// Codes that are not NaN as integers in the order of their values, -0
  /// directly below +0.
  constexpr int64_t order(uint64_t code) const {
    if (!isSigned) // as many as 64 magnitude bits
      return static_cast<int64_t>(magnitudeOf(code) ^ uint64_t{1} << 63);
    auto magnitude = static_cast<int64_t>(magnitudeOf(code));
    return isNegative(code) ? ~magnitude : magnitude;
  }
  /// The same with -0 and +0 at one place.
  constexpr int64_t orderOfValue(uint64_t code) const {
    if (!isSigned)
      return order(code);
    auto magnitude = static_cast<int64_t>(magnitudeOf(code));
    return isNegative(code) ? -magnitude : magnitude;
  }

  constexpr uint64_t negate(uint64_t code) const {
    if (isNaN(code))
      return nanCode();
    uint64_t magnitude = magnitudeOf(code);
    if (!isSigned)
      return magnitude == 0 ? 0 : negativeIntoUnsigned();
    if (magnitude == 0 && !hasNegativeZero())
      return 0;
    return magnitude | ((code & signBit()) ^ signBit());
  }
  constexpr uint64_t absolute(uint64_t code) const {
    return isNaN(code) ? nanCode() : magnitudeOf(code);
  }

  constexpr Unpacked decode(uint64_t code) const {
    bool negative = isNegative(code);
    uint64_t magnitude = code & magnitudeMask();
    if (isNaN(code))
      return Unpacked::nan();
    if (hasInfinity() && magnitude == infinityCode())
      return Unpacked::infinity(negative);
    auto field = static_cast<int32_t>(magnitude >> mantissaBits);
    uint64_t trailing = magnitude & ((uint64_t{1} << mantissaBits) - 1);
    if (field != 0)
      return Unpacked::fromInteger(negative,
                                   trailing | uint64_t{1} << mantissaBits,
                                   field - bias - mantissaBits);
    if (!hasSubnormals)
      trailing = 0;
    return Unpacked::fromInteger(negative, trailing,
                                 minExponent() - mantissaBits);
  }

  constexpr uint64_t encode(const Unpacked &value, Rounding mode) const {
    switch (value.kind) {
    case Kind::NaN:
      return nanCode();
    case Kind::Zero:
      return value.negative && hasNegativeZero() ? signBit() : 0;
    case Kind::Infinite:
      if (value.negative && !isSigned)
        return negativeIntoUnsigned();
      return withSign(codeOfInfinite(), value.negative);
    case Kind::Finite:
      if (value.negative && !isSigned)
        return negativeIntoUnsigned();
      return withSign(roundMagnitude(value, mode), value.negative);
    }
    return 0;
  }

  /// The magnitude an infinite result takes: infinity where the format has
  /// one, else NaN, else the largest value; the last under `saturate`.
  constexpr uint64_t codeOfInfinite() const {
    if (overflow == Overflow::Saturate)
      return maxCode();
    if (hasInfinity())
      return infinityCode();
    return hasNaN() ? nanCode() : maxCode();
  }
  /// The magnitude a finite result above the largest takes, rounded to nearest.
  constexpr uint64_t codeOfOverflow() const {
    return overflow == Overflow::Infinity ? codeOfInfinite() : maxCode();
  }

private:
  constexpr uint64_t negativeIntoUnsigned() const {
    return overflow == Overflow::Infinity ? nanCode() : 0;
  }
  /// Adds the sign to a magnitude, except to NaN and to a zero without sign.
  constexpr uint64_t withSign(uint64_t magnitude, bool negative) const {
    if (!negative || (hasNaN() && magnitude == nanCode()) ||
        (magnitude == 0 && !hasNegativeZero()))
      return magnitude;
    return magnitude | signBit();
  }

  /// Rounds a finite magnitude to this format's grid, the exponent unbounded
  /// above, then applies overflow.
  constexpr uint64_t roundMagnitude(const Unpacked &value,
                                    Rounding mode) const {
    if (value.exponent > maxExponent())
      return overflowed(value.negative, mode);
    bool subnormal = value.exponent < minExponent();
    if (subnormal && !hasSubnormals) // the grid is {0, smallest normal}
      return roundAt(value, minExponent(), mode) << mantissaBits;
    int32_t lowest =
        (subnormal ? minExponent() : value.exponent) - mantissaBits;
    int32_t field = subnormal ? 1 : value.exponent + bias;
    // kept holds the hidden bit, which counts as one in E. Ties go by the
    // code's last bit, which is E's where there is no significand field.
    uint64_t base = static_cast<uint64_t>(field - 1) << mantissaBits;
    uint64_t kept = roundAt(value, lowest, mode, (base & 1) != 0);
    uint64_t magnitude = base + kept;
    // 64 magnitude bits (unsigned): the carry may leave the word.
    bool wraps = magnitudeBits() == 64 && magnitude < kept;
    return magnitude > maxCode() || wraps ? overflowed(value.negative, mode)
                                          : magnitude;
  }

  constexpr uint64_t overflowed(bool negative, Rounding mode) const {
    return roundsInward(mode, negative) ? maxCode() : codeOfOverflow();
  }

  /// `value` as a multiple of 2^lowest, rounded; `oddBase` if the code it is
  /// added to is odd.
  static constexpr uint64_t roundAt(const Unpacked &value, int32_t lowest,
                                    Rounding mode, bool oddBase = false) {
    int32_t cut = 63 - (value.exponent - lowest); // bits to drop, at least 1
    uint64_t kept = 0;
    Remainder rest{false, true};
    if (cut <= 64) {
      kept = cut < 64 ? value.significand >> cut : 0;
      uint64_t tail = value.significand << (64 - cut);
      rest = {tail >> 63 != 0, (tail << 1) != 0 || value.sticky};
    }
    bool odd = ((kept & 1) != 0) != oddBase;
    return kept + roundsUp(mode, value.negative, odd, rest);
  }
};

inline constexpr FloatFormat binary32{8, 23, 127};
inline constexpr FloatFormat binary64{11, 52, 1023};

} // namespace numera

#endif // NUMERA_NUMERICS_FLOAT_H
