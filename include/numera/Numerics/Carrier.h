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
  /// decode() is valid: every value of `f` is a normal number of the carrier,
  /// or `f` is a truncation of it.
  static constexpr bool embeds(const FloatFormat &f) {
    return isTruncation(f) ||
           (f.exponentBits > 0 && f.width() < width && f.hasSubnormals &&
            f.isSigned &&
            holds(f.precision(), f.leastExponent(), f.maxExponent()));
  }
  /// encode() is valid: below the format's normal numbers the carrier still
  /// has the magic constant's exponent, and its own subnormals lie below half
  /// the format's least value.
  static constexpr bool encodes(const FloatFormat &f) {
    return isTruncation(f) ||
           (f.exponentBits > 0 && f.width() < width && f.hasSubnormals &&
            f.isSigned && f.mantissaBits > 0 && f.mantissaBits < mantissa &&
            f.leastExponent() - 1 >= format.minExponent() &&
            f.leastExponent() + mantissa <= format.maxExponent() &&
            f.maxExponent() <= format.maxExponent());
  }

  static constexpr T decode(const FloatFormat &f, uint64_t code) {
    Word magnitude = static_cast<Word>(code & f.magnitudeMask());
    Word trailing =
        magnitude & static_cast<Word>((uint64_t{1} << f.mantissaBits) - 1);
    // The rebias cannot wrap: embeds() bounds both ends.
    Word normal = (magnitude << (mantissa - f.mantissaBits)) +
                  (static_cast<Word>(bias - f.bias) << mantissa);
    // T * 2^least: the conversion is exact, and so is the scaling.
    Word subnormal = bits(static_cast<T>(static_cast<SignedWord>(trailing)) *
                          value(powerBits(f.leastExponent())));
    Word result = magnitude >> f.mantissaBits ? normal : subnormal;
    if (isTruncation(f))
      result = normal;
    else if (f.hasInfinity())
      result = magnitude == f.infinityCode() ? infinity : result;
    Word negative = static_cast<Word>(f.isNegative(code));
    result |= negative << (width - 1);
    return value(f.hasNaN() && f.isNaN(code) ? nan : result);
  }

  /// Nearest-even, from any value of the carrier.
  static constexpr uint64_t encode(const FloatFormat &f, T x) {
    Word word = bits(x);
    Word magnitude = word & ~sign;
    // Normal: add just under half a unit, or half where the last kept bit is
    // odd; the carry runs into the exponent as it should.
    int cut = mantissa - f.mantissaBits;
    Word odd = magnitude >> cut & 1;
    Word rounded = magnitude + ((Word{1} << (cut - 1)) - 1 + odd);
    Word normal =
        (rounded >> cut) - (static_cast<Word>(bias - f.bias) << f.mantissaBits);
    // Subnormal: the sum with 2^(least + mantissa), whose unit is the
    // format's least value, is rounded to nearest-even by the carrier.
    Word magic = powerBits(f.leastExponent() + mantissa);
    Word subnormal = bits(value(magnitude) + value(magic)) - magic;
    bool isNormal = isTruncation(f) || magnitude >= powerBits(f.minExponent());
    Word result = isNormal ? normal : subnormal;
    // With one exponent bit the subnormals may overflow too.
    bool overflow = result > f.maxCode() || magnitude >= infinity;
    Word overflowed = static_cast<Word>(
        magnitude >= infinity ? f.codeOfInfinite() : f.codeOfOverflow());
    result = overflow ? overflowed : result;
    Word negative = word >> (width - 1);
    bool unsignedResult = (!f.hasNegativeZero() && result == 0) ||
                          (f.hasNaN() && result == f.nanCode());
    result |= unsignedResult ? 0 : negative << f.magnitudeBits();
    return magnitude > infinity ? f.nanCode() : result;
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
    bool isNegative = f.isNegative(code);
    Word magnitude =
        static_cast<Word>(isNegative ? (~code + 1) & f.mask() : code);
    Word string = magnitude << (width - f.bits + 1); // the regime to the top
    // All ones if the regime is a run of ones.
    Word run =
        static_cast<Word>(static_cast<SignedWord>(string) >> (width - 1));
    int length = leadingZeros((string ^ run) | 1);
    auto regime = static_cast<SignedWord>(static_cast<Word>(length - 1) ^ ~run);
    Word rest = string << length << 1;
    // The exponent's es bits add onto the regime's multiple of 2^es.
    Word result = (static_cast<Word>(bias + regime * (1 << f.es)) << mantissa) +
                  (rest >> (width - mantissa - f.es));
    result |= isNegative ? sign : 0;
    result = code == 0 ? 0 : result;
    return value(f.isNaN(code) ? nan : result);
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
    auto exponent = static_cast<SignedWord>(clamped >> mantissa) - bias;
    SignedWord regime = exponent >> f.es;
    // Exponent and fraction at the top. The bias is -1 modulo 2^es.
    Word body = (clamped + (Word{1} << mantissa)) << (width - mantissa - f.es);
    // What can never be kept becomes one sticky bit, high enough to survive
    // the shift by the regime below.
    int spare = width - f.bits;
    Word low = (Word{1} << (spare + 1)) - 1;
    Word sticky = static_cast<Word>((body & low) != 0) << (spare - 1);
    Word string = ((body & ~low) >> 2) | sticky;
    // 10… shifted arithmetically is a run of ones and its zero, 01… a run of
    // zeros and its one.
    string |= Word{regime >= 0 ? 2u : 1u} << (width - 2);
    SignedWord shift = regime ^ (regime >> (width - 1));
    Word code =
        static_cast<Word>(static_cast<SignedWord>(string) >> shift) >> 1;
    code += (Word{1} << (spare - 1)) - 1 + (code >> spare & 1);
    code >>= spare;
    code = word & sign ? ~code + 1 : code;
    code = magnitude == 0 ? 0 : code & static_cast<Word>(f.mask());
    return magnitude >= infinity ? f.nanCode() : code;
  }

private:
  static constexpr int leadingZeros(Word word) {
    if constexpr (sizeof(Word) == 4)
      return __builtin_clz(word);
    else
      return __builtin_clzll(word);
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_H
