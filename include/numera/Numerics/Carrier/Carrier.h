// SPDX-License-Identifier: MIT
//
// A carrier is f32 or f64 when it holds every value of a format exactly. This
// file converts between codes and carriers. All code is straight-line integer
// and IEEE 754 arithmetic on one word, so that loops over it vectorise.
//
// A conversion is valid only if its predicate, `embeds` or `encodes`, holds;
// otherwise the Unpacked path is used. CarrierTest compares the two over all
// codes and every boundary.

#ifndef NUMERA_NUMERICS_CARRIER_CARRIER_H
#define NUMERA_NUMERICS_CARRIER_CARRIER_H

#include "numera/Numerics/Carrier/TakumCarrier.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Formats/Posit.h"

namespace numera {

// In bitcode these remain functions, which lib/Target (HalfConversions.h,
// BfloatConversions.h) replaces by the machine's instruction if there is one.
#ifdef NUMERA_BITCODE
#define NUMERA_REPLACEABLE __attribute__((noinline))
#else
#define NUMERA_REPLACEABLE
#endif
/// A binary16 as f32. The payload of a NaN is unspecified.
NUMERA_REPLACEABLE constexpr float
fromHalf(uint16_t half) __asm__("numera.from_half");
/// An f32 as binary16, to nearest-even. The payload of a NaN is unspecified.
NUMERA_REPLACEABLE constexpr uint16_t
toHalf(float value) __asm__("numera.to_half");
/// An f32 as bf16, to nearest-even. NaN is canonical.
NUMERA_REPLACEABLE constexpr uint16_t
toBfloat(float value) __asm__("numera.to_bfloat");
#undef NUMERA_REPLACEABLE

template <typename T> struct Carrier : TakumCarrier<T> {
  using Base = TakumCarrier<T>;
  using Base::bias;
  using Base::bits;
  using Base::format;
  using Base::holds;
  using Base::infinity;
  using Base::mantissa;
  using Base::nan;
  using Base::powerBits;
  using Base::sign;
  using Base::value;
  using Base::width;
  using typename Base::SignedWord;
  using typename Base::Word;

  // ---- takum: TakumCarrier.h -----------------------------------------------

  using Base::approximates;
  using Base::decode;
  using Base::decodeAny;
  using Base::decodeNearest;
  using Base::embeds;
  using Base::encode;
  using Base::encodes;
  using Base::roundNearest;

  // ---- any family: no codec of its own --------------------------------------

  template <typename F> static constexpr bool embeds(const F &) {
    return false;
  }
  template <typename F> static constexpr bool encodes(const F &) {
    return false;
  }
  /// decodeNearest() is valid: the value of a code, which may be no number of
  /// the carrier, rounded to nearest-even.
  template <typename F> static constexpr bool approximates(const F &) {
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
  template <typename F>
  static constexpr T decodeNearest(const F &f, uint64_t code) {
    return decode(f, code);
  }
  /// What decodeNearest() makes of the code of x.
  template <typename F> static constexpr T roundNearest(const F &f, T x) {
    return decodeNearest(f, encode(f, x));
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
  /// True if `f` is binary16, perhaps with a shorter significand: its codes,
  /// shifted, are binary16's. Only for f32.
  static constexpr bool isHalf(const FloatFormat &f) {
    return sizeof(T) == sizeof(float) && f.exponentBits == 5 && f.bias == 15 &&
           f.specials == Specials::Ieee && f.hasSubnormals && f.isSigned &&
           f.mantissaBits > 0 && f.mantissaBits <= 10;
  }
  /// True if `f` is bf16. Only for f32.
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

  /// The same, but a NaN may have any sign and payload, which is enough for
  /// arithmetic that ends in a rounding.
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
      // Then it is a binary16, or overflows as one does. CarrierRound.h has the
      // proof: D is 13 and more.
      int count = mantissa - f.mantissaBits;
      Word magnitude = bits(x) & ~sign, bound = powerBits(16);
      magnitude = magnitude < bound ? magnitude : bound;
      auto scaled = static_cast<SignedWord>(
          magnitude + (static_cast<Word>(count) << mantissa));
      auto least = static_cast<SignedWord>(powerBits(f.minExponent() + count) |
                                           Word{1} << (mantissa - 1));
      T m = value(static_cast<Word>(scaled > least ? scaled : least));
      rounded = m - (m - value(magnitude));
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

  // Below 1 a posit's code c, as an integer, has its regime in the number of
  // its leading zeros: the conversion of c to a float finds it. The float's
  // exponent counts regimes, and its fraction is the posit's exponent and
  // fraction, so that the word of the value is
  //
  //     w(c) = (bits(float(c)) << es) + a constant.
  //
  // From 1 on codes and words are the same, mirrored at 1: w(2^(bits-1) - c) =
  // 2 w(1) - w(c). Words and codes ascend together, in pieces that are
  // straight, so that rounding the float to an integer rounds the posit.

  static constexpr T decodeAny(const PositFormat &f, uint64_t code) {
    auto top =
        static_cast<int32_t>(static_cast<uint32_t>(code) << (32 - f.bits));
    // 0, and NaR as all ones, which is a NaN.
    auto sides = static_cast<Word>(static_cast<SignedWord>(top >> 31));
    return value(folded(top) == 0 ? sides : wordOf(f, top, /*hasZero=*/false));
  }
  /// The same; NaR may be any number.
  static constexpr T decodeNumber(const PositFormat &f, uint64_t code) {
    auto top =
        static_cast<int32_t>(static_cast<uint32_t>(code) << (32 - f.bits));
    return value(wordOf(f, top, /*hasZero=*/true));
  }

  /// Nearest-even, from any value of the carrier.
  static constexpr uint64_t encode(const PositFormat &f, T x) {
    bool isReal = (bits(x) & ~sign) < infinity;
    return isReal ? encodeNumber(f, x) : f.nanCode();
  }
  /// The same from any number.
  static constexpr uint64_t encodeNumber(const PositFormat &f, T x) {
    Word word = bits(x);
    Word magnitude = word & ~sign;
    auto offset = static_cast<SignedWord>(magnitude - one);
    // Codes of negative numbers and of those from 1 on descend with the float.
    Word codes =
        codesOf(f, offset) | ((word ^ static_cast<Word>(offset)) & sign);
    // The last bits of the difference are the code, of numbers below 1; half of
    // all codes further for the others.
    Word code = bits(value(wholeCodes(f)) - value(codes));
    code = magnitude == 0 ? 0 : code;
    code ^= ~(static_cast<Word>(offset) >> (width - f.bits)) &
            Word{1} << (f.bits - 1);
    return code & static_cast<Word>(f.mask());
  }

protected:
  using Base::one;

  /// Twice the magnitude of a code, which `top` begins with: 2^31 for 1, and
  /// what is above 1 is negative, and mirrored.
  static constexpr int32_t folded(int32_t top) {
    auto magnitude = static_cast<uint32_t>(top);
    magnitude = top < 0 ? 0 - magnitude : magnitude;
    return static_cast<int32_t>(magnitude << 1);
  }
  /// Of a code that is not NaR; nor 0, unless `hasZero`.
  static constexpr Word wordOf(const PositFormat &f, int32_t top,
                               bool hasZero) {
    int32_t code = folded(top);
    Word distance = (bits(static_cast<T>(code)) & ~sign) << f.es;
    Word ofOne = static_cast<Word>(bias + 31) << (mantissa + f.es);
    Word below = hasZero && code == 0 ? 0 : distance + (one - ofOne);
    Word result = code < 0 ? one + ofOne - distance : below;
    return result | (static_cast<Word>(static_cast<SignedWord>(top)) & sign);
  }

  /// The float that codesOf() has for 1, whose integers are codes: 2^(bits-2)
  /// times a power of two that is the same for all.
  static constexpr SignedWord codesOfOne = SignedWord{1} << (width - 2);
  static constexpr int32_t exponentOfOne(const PositFormat &f) {
    return static_cast<int32_t>(codesOfOne >> (mantissa + f.es));
  }
  /// The code of a magnitude, before it is rounded, as a float; of the mirrored
  /// one, if it is above 1. `offset` is its word less that of 1. Never less
  /// than the code 1, which is the least posit, or the largest. What is shifted
  /// out only tells ties from what is beyond them.
  static constexpr Word codesOf(const PositFormat &f, SignedWord offset) {
    SignedWord least = static_cast<SignedWord>(exponentOfOne(f) - (f.bits - 2))
                       << (mantissa + f.es);
    SignedWord codes = codesOfOne - (offset < 0 ? -offset : offset);
    codes = codes < least ? least : codes;
    Word low = (Word{1} << f.es) - 1;
    return (static_cast<Word>(codes) >> f.es) |
           (static_cast<Word>(codes) & low);
  }
  /// A number whose last bit is a code's, and which has room for all codes.
  static constexpr Word wholeCodes(const PositFormat &f) {
    int32_t exponent = exponentOfOne(f) - (f.bits - 2) + mantissa;
    return (static_cast<Word>(exponent) << mantissa) | Word{1}
                                                           << (mantissa - 1);
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

#endif // NUMERA_NUMERICS_CARRIER_CARRIER_H
