// SPDX-License-Identifier: MIT
//
// The float family: sign, exponent field E, significand field T.
//
//     | sign | E: exponentBits | T: mantissaBits |
//
//   E = 0:  T * 2^(1 - bias - mantissaBits)           (subnormal, or zero;
//           with `fnu` as E > 0)
//   E > 0:  (1 + T / 2^mantissaBits) * 2^(E - bias)
//
// Magnitudes are ordered as their codes. encode relies on this: a carry out of
// T increments E, and turns the largest subnormal number into a normal one.

#ifndef NUMERA_NUMERICS_FORMATS_FLOAT_H
#define NUMERA_NUMERICS_FORMATS_FLOAT_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"

namespace numera {

/// The specials: which codes are not finite numbers. The numbers are part of
/// the runtime ABI.
enum class Specials : int32_t {
  Ieee = 0,   ///< E all ones: infinity (T = 0) or NaN
  Fn = 1,     ///< only the all-ones magnitude is NaN; no infinities
  Fnuz = 2,   ///< one NaN at the code of -0; no -0, no infinities
  Finite = 3, ///< every code is a number
  Fnu = 4,   ///< unsigned, no zero: E = 0 is a binade like the others; only the
             ///< all-ones code is NaN
  P3109 = 5, ///< IEEE P3109 with infinities, the largest magnitudes; one zero.
             ///< Signed: NaN at the code of -0. Unsigned: NaN at all ones.
  P3109Finite = 6, ///< the same without infinities
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
  /// IEEE 754's binary32 or binary64.
  constexpr bool isBinary(int32_t bits) const {
    return bits == 32   ? *this == FloatFormat{8, 23, 127}
           : bits == 64 ? *this == FloatFormat{11, 52, 1023}
                        : false;
  }
  static constexpr int32_t parameterCount = 7;
  static constexpr FloatFormat of(const int32_t *p) {
    return {p[0],
            p[1],
            p[2],
            static_cast<Specials>(p[3]),
            p[4] != 0,
            p[5] != 0,
            static_cast<Overflow>(p[6])};
  }
  constexpr void store(int32_t *p) const {
    p[0] = exponentBits;
    p[1] = mantissaBits;
    p[2] = bias;
    p[3] = static_cast<int32_t>(specials);
    p[4] = hasSubnormals;
    p[5] = isSigned;
    p[6] = static_cast<int32_t>(overflow);
  }

  /// NaN is unordered.
  static constexpr bool isTotallyOrdered = false;

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
  constexpr bool isP3109() const {
    return specials == Specials::P3109 || specials == Specials::P3109Finite;
  }
  constexpr bool hasZero() const { return specials != Specials::Fnu; }
  /// Exponent of the smallest normal number.
  constexpr int32_t minExponent() const { return hasZero() ? 1 - bias : -bias; }
  /// Exponent of the smallest nonzero number.
  constexpr int32_t leastExponent() const {
    return hasSubnormals && hasZero() ? minExponent() - mantissaBits
                                      : minExponent();
  }
  /// Exponent of the last bit of the smallest numbers.
  constexpr int32_t leastWeight() const { return minExponent() - mantissaBits; }
  constexpr int32_t maxExponent() const {
    if (exponentBits == 0 && hasZero()) // subnormal numbers alone
      return minExponent() - 1;
    return static_cast<int32_t>(maxCode() >> mantissaBits) - bias;
  }

  constexpr bool hasInfinity() const {
    return specials == Specials::Ieee || specials == Specials::P3109;
  }
  constexpr bool hasNaN() const { return specials != Specials::Finite; }
  constexpr bool hasNegativeZero() const {
    return isSigned && specials != Specials::Fnuz && !isP3109();
  }

  /// Magnitude code of infinity; meaningful if hasInfinity().
  constexpr uint64_t infinityCode() const {
    if (isP3109())
      return isSigned ? magnitudeMask() : magnitudeMask() - 1;
    return ((uint64_t{1} << exponentBits) - 1) << mantissaBits;
  }
  /// Magnitude code of the largest finite number.
  constexpr uint64_t maxCode() const {
    switch (specials) {
    case Specials::Ieee:
    case Specials::P3109:
      return infinityCode() - 1;
    case Specials::Fn:
    case Specials::Fnu:
      return magnitudeMask() - 1;
    case Specials::Fnuz:
    case Specials::Finite:
      return magnitudeMask();
    case Specials::P3109Finite:
      return isSigned ? magnitudeMask() : magnitudeMask() - 1;
    }
    return 0;
  }
  /// The canonical NaN: positive, quiet, zero payload. 0 if the format has no
  /// NaN, so that an invalid operation gives zero.
  constexpr uint64_t nanCode() const {
    switch (specials) {
    case Specials::Ieee:
      return infinityCode() | uint64_t{1} << (mantissaBits - 1);
    case Specials::Fn:
    case Specials::Fnu:
      return magnitudeMask();
    case Specials::Fnuz:
      return signBit();
    case Specials::Finite:
      return 0;
    case Specials::P3109:
    case Specials::P3109Finite:
      return isSigned ? signBit() : magnitudeMask();
    }
    return 0;
  }

  constexpr bool isNaN(uint64_t code) const {
    uint64_t magnitude = code & magnitudeMask();
    switch (specials) {
    case Specials::Ieee:
      return magnitude > infinityCode();
    case Specials::Fn:
    case Specials::Fnu:
      return magnitude == magnitudeMask();
    case Specials::Fnuz:
      return code == signBit();
    case Specials::Finite:
      return false;
    case Specials::P3109:
    case Specials::P3109Finite:
      return code == nanCode();
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
  /// The code that encode gives to the value of `code`.
  constexpr uint64_t canonical(uint64_t code) const {
    if (isNaN(code))
      return nanCode();
    uint64_t magnitude = magnitudeOf(code);
    return magnitude == 0 && !hasNegativeZero()
               ? 0
               : (code & signBit()) | magnitude;
  }

  /// Codes that are not NaN as integers in the order of their values, -0
  /// directly below +0.
  constexpr int64_t order(uint64_t code) const {
    if (!isSigned && width() == 64) // no room for a sign
      return static_cast<int64_t>(magnitudeOf(code) ^ uint64_t{1} << 63);
    auto magnitude = static_cast<int64_t>(magnitudeOf(code));
    return isNegative(code) ? ~magnitude : magnitude;
  }
  /// The same, with -0 and +0 equal.
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
      return magnitude == 0 && hasZero() ? 0 : negativeIntoUnsigned();
    if (magnitude == 0 && !hasNegativeZero())
      return 0;
    return magnitude | ((code & signBit()) ^ signBit());
  }
  constexpr uint64_t absolute(uint64_t code) const {
    return isNaN(code) ? nanCode() : magnitudeOf(code);
  }

  /// True if a division by zero gives NaN instead of an infinity (P3109).
  constexpr bool polesAreNaN() const { return isP3109(); }
  constexpr bool isZero(uint64_t code) const {
    return hasZero() && magnitudeOf(code) == 0;
  }

  /// Clears the last `count` bits of the significand field of a finite number.
  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    if (isNaN(code) || (code & magnitudeMask()) > maxCode())
      return code;
    count = count < mantissaBits ? count : mantissaBits;
    uint64_t cleared = code >> count << count;
    return magnitudeOf(cleared) == 0 && !hasNegativeZero() ? 0 : cleared;
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
    if (field != 0 || !hasZero())
      return Unpacked::fromInteger(negative,
                                   trailing | uint64_t{1} << mantissaBits,
                                   field - bias - mantissaBits);
    if (!hasSubnormals)
      trailing = 0;
    return Unpacked::fromInteger(negative, trailing,
                                 minExponent() - mantissaBits);
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    switch (value.kind) {
    case Kind::NaN:
      return nanCode();
    case Kind::Zero:
      return value.negative && hasNegativeZero() ? signBit() : 0;
    case Kind::Infinite:
      if (value.isPole() && polesAreNaN())
        return nanCode();
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

  /// True for f8E8M0FNU, whose codes are exponents of f32.
  constexpr bool isExponents() const {
    return specials == Specials::Fnu && exponentBits == 8 &&
           mantissaBits == 0 && bias == 127;
  }
  /// Its codes as f32, straight-line: code 0 is a subnormal number there.
  constexpr bool decodeFast(uint64_t code, float &value) const {
    if (!isExponents())
      return false;
    auto word = static_cast<uint32_t>(code) << 23;
    word = code == 0 ? 0x400000 : word;
    word = code == nanCode() ? 0x7fc00000 : word;
    value = __builtin_bit_cast(float, word);
    return true;
  }

  /// From f32 or f64 to f8E8M0FNU, straight-line: downward and upward, towards
  /// the neighbouring power of two.
  constexpr bool encodeFast(float value, RoundingMode mode,
                            uint64_t &code) const {
    return encodeWord<23>(__builtin_bit_cast(uint32_t, value), mode, code);
  }
  constexpr bool encodeFast(double value, RoundingMode mode,
                            uint64_t &code) const {
    return encodeWord<52>(__builtin_bit_cast(uint64_t, value), mode, code);
  }

  /// The magnitude that replaces an infinite result: infinity if the format has
  /// it, else NaN, else the largest value. Under `saturate` it is the largest
  /// value.
  constexpr uint64_t codeOfInfinite() const {
    if (overflow == Overflow::Saturate)
      return maxCode();
    if (hasInfinity())
      return infinityCode();
    return hasNaN() ? nanCode() : maxCode();
  }
  /// The magnitude that replaces a finite result above the largest, rounded to
  /// nearest.
  constexpr uint64_t codeOfOverflow() const {
    return overflow == Overflow::Infinity ? codeOfInfinite() : maxCode();
  }

private:
  template <int32_t fraction, typename Word>
  constexpr bool encodeWord(Word word, RoundingMode mode,
                            uint64_t &code) const {
    if (!isExponents() || (mode != Rounding::Down && mode != Rounding::Up))
      return false;
    constexpr bool isDouble = sizeof(Word) == sizeof(double);
    constexpr Word sign = Word{1} << (8 * sizeof(Word) - 1),
                   unit = Word{1} << fraction, infinite = sign - unit;
    bool isUp = mode == Rounding::Up;
    Word magnitude = word & ~sign;
    auto exponent =
        static_cast<int32_t>((magnitude + (isUp ? unit - 1 : 0)) >> fraction);
    if constexpr (isDouble) {
      exponent -= 1023 - bias;
      exponent = exponent < 0 ? 0 : exponent;
      exponent = !isUp && exponent > 254 ? 254 : exponent;
    } else if (isUp) {
      // Of subnormal numbers, those up to 2^-127 go to the least, 2^-127.
      exponent = magnitude <= unit / 2 ? 0 : exponent;
    }
    if (isUp)
      exponent =
          exponent > 254 ? static_cast<int32_t>(codeOfOverflow()) : exponent;
    exponent = magnitude == infinite ? static_cast<int32_t>(codeOfInfinite())
                                     : exponent;
    if (word != magnitude && magnitude != 0)
      exponent = static_cast<int32_t>(negativeIntoUnsigned());
    code = magnitude > infinite ? nanCode() : static_cast<uint64_t>(exponent);
    return true;
  }

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
                                    RoundingMode mode) const {
    if (value.exponent > maxExponent())
      return overflowed(value.negative, mode);
    bool subnormal = value.exponent < minExponent();
    if (subnormal && !hasZero()) // nothing lies below the least number
      return 0;
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
    // 64 magnitude bits (unsigned): the carry may leave the word. In field 0,
    // a binade with `fnu` alone, base is negative.
    bool wraps = magnitudeBits() == 64 && field > 0 && magnitude < kept;
    return magnitude > maxCode() || wraps ? overflowed(value.negative, mode)
                                          : magnitude;
  }

  constexpr uint64_t overflowed(bool negative, RoundingMode mode) const {
    return roundsInward(mode, negative) ? maxCode() : codeOfOverflow();
  }

  /// `value` as a multiple of 2^lowest, rounded; `oddBase` if the code it is
  /// added to is odd.
  static constexpr uint64_t roundAt(const Unpacked &value, int32_t lowest,
                                    RoundingMode mode, bool oddBase = false) {
    int32_t cut = 63 - (value.exponent - lowest); // bits to drop, 0 or more
    bool sticky = value.sticky;
    uint64_t kept = 0;
    uint128_t fraction = value.wide();
    if (cut <= 64) {
      kept = cut < 64 ? value.significand >> cut : 0;
      fraction <<= 64 - cut;
    } else {
      fraction = shiftRight(fraction, cut - 64, sticky);
    }
    Remainder rest = Remainder::of(fraction, sticky);
    bool odd = ((kept & 1) != 0) != oddBase;
    return kept + roundsUp(mode, value.negative, odd, rest);
  }
};

inline constexpr FloatFormat binary32{8, 23, 127};
inline constexpr FloatFormat binary64{11, 52, 1023};

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_FLOAT_H
