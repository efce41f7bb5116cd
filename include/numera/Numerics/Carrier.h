// SPDX-License-Identifier: MIT
//
// Carriers: an f32 or f64 into which a format embeds exactly, and the codecs
// between the two. Everything here is straight-line integer and IEEE
// arithmetic on one word, so that loops over it vectorise.
//
// A codec is valid only where its `…Embeds…`/`…Encodes…` predicate holds;
// elsewhere the Unpacked path is used. CarrierTest compares the two over all
// codes and over every boundary.

#ifndef NUMERA_NUMERICS_CARRIER_H
#define NUMERA_NUMERICS_CARRIER_H

#include "numera/Numerics/Float.h"
#include "numera/Numerics/Posit.h"

namespace numera {

// In bitcode these stay functions of their own: where the machine has an
// instruction for them, lib/Target (HalfConversions.h, BfloatConversions.h)
// takes it.
#ifdef NUMERA_BITCODE
#define NUMERA_REPLACEABLE __attribute__((noinline))
#else
#define NUMERA_REPLACEABLE
#endif
/// A binary16 as f32. The payload of a NaN is open.
NUMERA_REPLACEABLE constexpr float
fromHalf(uint16_t half) __asm__("numera.from_half");
/// An f32 as binary16, to nearest-even. The payload of a NaN is open.
NUMERA_REPLACEABLE constexpr uint16_t
toHalf(float value) __asm__("numera.to_half");
/// An f32 as bf16, to nearest-even. NaN is canonical.
NUMERA_REPLACEABLE constexpr uint16_t
toBfloat(float value) __asm__("numera.to_bfloat");
#undef NUMERA_REPLACEABLE

/// The layout of a carrier: f32 or f64.
template <typename T> struct CarrierTraits;
template <> struct CarrierTraits<float> {
  using Word = uint32_t;
  using SignedWord = int32_t;
  static constexpr FloatFormat format = binary32;
};
template <> struct CarrierTraits<double> {
  using Word = uint64_t;
  using SignedWord = int64_t;
  static constexpr FloatFormat format = binary64;
};

template <typename T> struct Carrier {
  using Word = typename CarrierTraits<T>::Word;
  using SignedWord = typename CarrierTraits<T>::SignedWord;
  static constexpr FloatFormat format = CarrierTraits<T>::format;
  static constexpr int width = 8 * sizeof(T);
  static constexpr int mantissa = format.mantissaBits;
  static constexpr int bias = format.bias;
  static constexpr Word sign = Word{1} << (width - 1);
  static constexpr Word infinity = static_cast<Word>(format.infinityCode());
  static constexpr Word nan = static_cast<Word>(format.nanCode());

  static constexpr Word bits(T value) {
    return __builtin_bit_cast(Word, value);
  }
  static constexpr T value(Word bits) { return __builtin_bit_cast(T, bits); }
  /// 2^exponent, a normal number.
  static constexpr Word powerBits(int32_t exponent) {
    return static_cast<Word>(exponent + bias) << mantissa;
  }

  /// True if every finite value of a format with this precision and these
  /// exponents is a normal number of the carrier, with `margin` binary places
  /// to spare at the lower end.
  static constexpr bool holds(int32_t precision, int32_t least, int32_t most,
                              int32_t margin = 0) {
    return precision <= format.precision() &&
           least - margin >= format.minExponent() &&
           most <= format.maxExponent();
  }

  // ---- any family: no codec of its own --------------------------------------

  template <typename F> static constexpr bool embeds(const F &) {
    return false;
  }
  template <typename F> static constexpr bool encodes(const F &) {
    return false;
  }
  template <typename F> static constexpr T decode(const F &f, uint64_t code) {
    return value(static_cast<Word>(
        format.encode(f.decode(code), Rounding::NearestEven)));
  }
  template <typename F>
  static constexpr T decodeAny(const F &f, uint64_t code) {
    return decode(f, code);
  }
  template <typename F> static constexpr uint64_t encode(const F &f, T x) {
    return f.encode(format.decode(bits(x)), Rounding::NearestEven);
  }

  // ---- float ---------------------------------------------------------------

  /// True if `f` is the carrier with a shorter significand (bf16 and tf32 in
  /// f32): both codecs are shifts, subnormals included.
  static constexpr bool isTruncation(const FloatFormat &f) {
    return f.exponentBits == format.exponentBits && f.bias == bias &&
           f.specials == Specials::Ieee && f.hasSubnormals && f.isSigned &&
           f.mantissaBits < mantissa;
  }
  /// True if `f` is binary16 with a shorter significand, or itself: its codes,
  /// shifted, are binary16's. A matter of f32 alone.
  static constexpr bool isHalf(const FloatFormat &f) {
    return sizeof(T) == sizeof(float) && f.exponentBits == 5 && f.bias == 15 &&
           f.specials == Specials::Ieee && f.hasSubnormals && f.isSigned &&
           f.mantissaBits > 0 && f.mantissaBits <= 10;
  }
  /// True if `f` is bf16. A matter of f32 alone.
  static constexpr bool isBfloat(const FloatFormat &f) {
    return sizeof(T) == sizeof(float) && isTruncation(f) && f.mantissaBits == 7;
  }
  /// decode() is valid: every value of `f` is a normal number of the carrier,
  /// or `f` is a truncation of it.
  static constexpr bool embeds(const FloatFormat &f) {
    return isTruncation(f) ||
           (f.exponentBits > 0 && f.width() < width && f.hasSubnormals &&
            f.isSigned &&
            holds(f.precision(), f.leastExponent(), f.maxExponent()));
  }
  /// encode() is valid: the format's unit below its normal numbers, and all of
  /// the numbers that encode() adds, are normal numbers of the carrier.
  static constexpr bool encodes(const FloatFormat &f) {
    return isTruncation(f) ||
           (f.exponentBits > 0 && f.width() < width && f.hasSubnormals &&
            f.isSigned && f.mantissaBits > 0 && f.mantissaBits < mantissa &&
            f.maxCode() >> f.mantissaBits != 0 &&
            f.leastExponent() - 1 >= format.minExponent() &&
            f.maxExponent() + 1 + mantissa - f.mantissaBits <=
                format.maxExponent());
  }

  static constexpr T decode(const FloatFormat &f, uint64_t code) {
    T result = decodeAny(f, code);
    if (!f.hasNaN())
      return result;
    return f.specials == Specials::Ieee
               ? (result == result ? result : value(nan))
           : f.isNaN(code) ? value(nan)
                           : result;
  }

  /// The same, but a NaN may have any sign and payload: what arithmetic that
  /// ends in a rounding takes.
  static constexpr T decodeAny(const FloatFormat &f, uint64_t code) {
    if (isHalf(f))
      return fromHalf(static_cast<uint16_t>(code << (10 - f.mantissaBits)));
    return decodeFields(f, code);
  }

  /// The same for any format that embeds.
  static constexpr T decodeFields(const FloatFormat &f, uint64_t code) {
    int cut = mantissa - f.mantissaBits;
    Word negative = static_cast<Word>(f.isNegative(code)) << (width - 1);
    Word magnitude = static_cast<Word>(code & f.magnitudeMask());
    if (isTruncation(f))
      return value(static_cast<Word>(code) << cut);
    // The rebias cannot wrap: embeds() bounds both ends.
    Word normal =
        (magnitude << cut) + (static_cast<Word>(bias - f.bias) << mantissa);
    // Exponent field 0: a hidden bit is added that is none, and taken off. Both
    // are exact, and no number on the way is a subnormal one of the carrier.
    Word subnormal = bits(value(normal + (Word{1} << mantissa)) -
                          value(powerBits(f.minExponent())));
    Word result = magnitude >> f.mantissaBits ? normal : subnormal;
    if (f.specials == Specials::Ieee)
      result |= magnitude >= f.infinityCode() ? infinity : 0;
    else if (f.hasInfinity())
      result = magnitude == f.infinityCode() ? infinity : result;
    result |= negative;
    bool isNaN = f.specials != Specials::Ieee && f.hasNaN() && f.isNaN(code);
    return value(isNaN ? nan : result);
  }

  /// Nearest-even, from any value of the carrier.
  static constexpr uint64_t encode(const FloatFormat &f, T x) {
    if (!isHalf(f) || f.overflow != Overflow::Infinity)
      return encodeGrid(f, x);
    T rounded = x;
    if (f.mantissaBits < 10) {
      // Then it is a binary16, or overflows as one does.
      Word magnitude = bits(x) & ~sign, bound = powerBits(16);
      magnitude = magnitude < bound ? magnitude : bound;
      T m = value(gridOf(f, magnitude));
      rounded = (value(magnitude) + m) - m;
      rounded = value(bits(rounded) | (bits(x) & sign));
    }
    auto code = static_cast<uint64_t>(toHalf(static_cast<float>(rounded)) >>
                                      (10 - f.mantissaBits));
    return x == x ? code : f.nanCode();
  }

  /// The same for any format that can be encoded.
  static constexpr uint64_t encodeGrid(const FloatFormat &f, T x) {
    Word word = bits(x);
    int cut = mantissa - f.mantissaBits;
    Word half = Word{1} << (cut - 1);
    Word magnitude = word & ~sign;
    uint64_t infinite = f.codeOfInfinite(), overflow = f.codeOfOverflow();
    auto canonicalNaN = static_cast<Word>(f.nanCode());
    // The last kept bit decides ties; the carry runs into the exponent as it
    // should, from the largest number into infinity, and never into the sign.
    if (isTruncation(f) && overflow == f.infinityCode()) {
      if (isBfloat(f))
        return toBfloat(static_cast<float>(x));
      Word rounded = (word + (half - 1) + (word >> cut & 1)) >> cut;
      return x == x ? rounded : canonicalNaN;
    }
    Word result = 0;
    Word largest = static_cast<Word>(f.maxCode());
    if (isTruncation(f)) {
      result = (magnitude + (half - 1) + (magnitude >> cut & 1)) >> cut;
    } else {
      // As in CarrierRound.h: the sum with m is rounded to the format's unit,
      // and its last bits count the units. What lies beyond the largest number
      // stops at it or at the next place of its grid, by what becomes of it.
      bool stops = overflow == f.maxCode() && infinite == f.maxCode();
      Word bound = (largest << cut) +
                   (static_cast<Word>(bias - f.bias) << mantissa) +
                   (stops ? 0 : half << 1);
      Word bounded = magnitude < bound ? magnitude : bound;
      Word m = gridOf(f, bounded);
      Word units = bits(value(bounded) + value(m)) - m;
      // The hidden bit counts as one in the exponent field.
      Word exponent = m - (static_cast<Word>(cut) << mantissa);
      result = units + (exponent >> cut) -
               (static_cast<Word>(bias - f.bias + 1) << f.mantissaBits);
      // The code above the largest number's may be what is wanted.
      if (stops || (overflow == f.maxCode() + 1 && infinite == overflow))
        largest = ~Word{0};
    }
    if (largest != ~Word{0}) {
      bool isInfinite = magnitude >= infinity;
      Word beyond = static_cast<Word>(isInfinite ? infinite : overflow);
      result = result > largest || isInfinite ? beyond : result;
    }
    Word negative = word >> (width - 1);
    bool isUnsigned =
        (!f.hasNegativeZero() && result == 0) ||
        (f.hasNaN() && (overflow == f.nanCode() || infinite == f.nanCode()) &&
         result == f.nanCode());
    result |= isUnsigned ? 0 : negative << f.magnitudeBits();
    return magnitude > infinity ? canonicalNaN : result;
  }

  /// What added to a magnitude rounds it to the format's unit there: a power of
  /// two with that unit.
  static constexpr Word gridOf(const FloatFormat &f, Word magnitude) {
    Word exponent = magnitude & infinity, least = powerBits(f.minExponent());
    exponent = exponent < least ? least : exponent;
    return exponent +
           (static_cast<Word>(mantissa - f.mantissaBits) << mantissa);
  }

  // ---- posit ---------------------------------------------------------------

  /// Both directions of posit codecs: the string of regime, exponent and
  /// fraction fits the carrier's word with its guard bit (2 * bits <= width).
  static constexpr bool embeds(const PositFormat &f) {
    return f.bits >= 3 && 2 * f.bits <= width &&
           holds(f.precision(), f.leastExponent(), f.maxExponent());
  }
  static constexpr bool encodes(const PositFormat &f) { return embeds(f); }

  static constexpr T decode(const PositFormat &f, uint64_t code) {
    T result = decodeAny(f, code);
    return result == result ? result : value(nan);
  }

  static constexpr T decodeAny(const PositFormat &f, uint64_t code) {
    auto top =
        static_cast<SignedWord>(static_cast<Word>(code) << (width - f.bits));
    Word magnitude = static_cast<Word>(top < 0 ? 0 - static_cast<Word>(top)
                                               : static_cast<Word>(top));
    Word string = magnitude << 1; // the regime to the top
    // All ones if the regime is a run of ones.
    Word run =
        static_cast<Word>(static_cast<SignedWord>(string) >> (width - 1));
    int length = leadingZeros((string ^ run) | 1);
    auto regime = static_cast<SignedWord>(static_cast<Word>(length - 1) ^ ~run);
    Word rest = string << length << 1;
    // The exponent's es bits add onto the regime's multiple of 2^es.
    Word result = (static_cast<Word>(regime) << (mantissa + f.es)) +
                  (static_cast<Word>(bias) << mantissa) +
                  (rest >> (width - mantissa - f.es));
    result |= static_cast<Word>(top) & sign;
    // 0, and NaR as all ones, which is a NaN.
    Word sides = static_cast<Word>(top >> (width - 1));
    return value(string == 0 ? sides : result);
  }

  /// Nearest-even, from any value of the carrier.
  static constexpr uint64_t encode(const PositFormat &f, T x) {
    Word word = bits(x);
    Word magnitude = word & ~sign;
    // Posits saturate at both ends; between them no code is 0 or NaR.
    Word least = powerBits(f.leastExponent()),
         most = powerBits(f.maxExponent());
    Word clamped = magnitude < least ? least : magnitude;
    clamped = clamped > most ? most : clamped;
    // The exponent as a fixed-point number, the fraction behind it.
    auto exponent = static_cast<SignedWord>(
        clamped - (static_cast<Word>(bias) << mantissa));
    SignedWord regime = exponent >> (mantissa + f.es);
    auto below = static_cast<Word>(exponent >> (width - 1)); // 1: all ones
    // Its last es bits and the fraction, behind 10 or 01. 10… shifted
    // arithmetically is a run of ones and its zero, 01… a run of zeros and its
    // one.
    Word body = static_cast<Word>(exponent) << (width - 2 - mantissa - f.es);
    Word string =
        (body & (~Word{0} >> 2)) | ((below ^ sign) & ~(~Word{0} >> 2));
    // What can never be kept becomes one sticky bit as well, high enough to
    // survive the shift by the regime.
    int spare = width - f.bits + 1; // behind the code without its sign
    Word low = (Word{1} << (spare - 1)) - 1;
    string |= static_cast<Word>((string & low) != 0) << (spare - 2);
    SignedWord shift = regime ^ static_cast<SignedWord>(below);
    Word code = static_cast<Word>(static_cast<SignedWord>(string) >> shift);
    code += (Word{1} << (spare - 1)) - 1 + (code >> spare & 1);
    code >>= spare;
    code = word & sign ? 0 - code : code;
    code = magnitude == 0 ? 0 : code & static_cast<Word>(f.mask());
    auto notReal = static_cast<Word>(f.nanCode());
    return magnitude >= infinity ? notReal : code;
  }

private:
  static constexpr int leadingZeros(Word word) {
    if constexpr (sizeof(Word) == 4)
      return __builtin_clz(word);
    else
      return __builtin_clzll(word);
  }
};

constexpr float fromHalf(uint16_t half) {
  return Carrier<float>::decodeFields(FloatFormat{5, 10, 15}, half);
}
constexpr uint16_t toHalf(float value) {
  return static_cast<uint16_t>(
      Carrier<float>::encodeGrid(FloatFormat{5, 10, 15}, value));
}
constexpr uint16_t toBfloat(float value) {
  auto word = __builtin_bit_cast(uint32_t, value);
  uint32_t code = (word + 0x7fff + (word >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(value == value ? code : 0x7fc0);
}

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_H
