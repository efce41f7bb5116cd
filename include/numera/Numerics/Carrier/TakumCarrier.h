// SPDX-License-Identifier: MIT
//
// Takums in a carrier: straight-line code on one word, as in Carrier.h.
//
// The word of a number 2^c (1 + f) less the word of 1 is L = c + f, with a
// unit of 2^-mantissa. With s = 1 + |L|, and s = 2^r (1 + t), the code is
//
//     2^(bits-2) ± 2^(bits-5) (r + t),
//
// plus from 1 on, minus below: r is the number of characteristic bits, and t
// has these bits and the mantissa. r + t is the word of s, as a float, less
// that of 1. So the conversion of a fixed-point s to a float makes a code of
// a number. Words and codes are straight between the same points, so that
// rounding the word of s rounds the takum; that is the same on both sides of
// 1, whose code is even.

#ifndef NUMERA_NUMERICS_CARRIER_TAKUMCARRIER_H
#define NUMERA_NUMERICS_CARRIER_TAKUMCARRIER_H

#include "numera/Numerics/Carrier/CarrierLayout.h"
#include "numera/Numerics/Formats/Takum.h"

namespace numera {

template <typename T> struct TakumCarrier : CarrierLayout<T> {
  using Base = CarrierLayout<T>;
  using Base::bias;
  using Base::bits;
  using Base::infinity;
  using Base::mantissa;
  using Base::nan;
  using Base::one;
  using Base::powerBits;
  using Base::sign;
  using Base::value;
  using Base::width;
  using typename Base::SignedWord;
  using typename Base::Word;

  /// A takum's exponents do not fit f32, but every f32 has a code. Of s, the
  /// code's bits, one more and a sticky one have to fit.
  static constexpr bool encodes(const TakumFormat &f) {
    return f.bits >= 6 && f.bits - 5 + 2 <= takumFraction;
  }
  static constexpr bool embeds(const TakumFormat &f) {
    return sizeof(T) == sizeof(double) && encodes(f);
  }

  /// Nearest-even, from any value of the carrier.
  static constexpr uint64_t encode(const TakumFormat &f, T x) {
    Word word = bits(x), magnitude = word & ~sign;
    Fixed fixed = fixedOf(f, magnitude);
    auto steps = static_cast<SignedWord>(
        (fixed.s >> cutOf(f)) -
        (static_cast<Word>(bias + takumFraction) << (f.bits - 5)));
    auto code = static_cast<Word>((steps ^ fixed.below) - fixed.below) +
                (Word{1} << (f.bits - 2));
    code = word & sign ? 0 - code : code;
    code = magnitude == 0 ? 0 : code;
    code = magnitude < infinity ? code : static_cast<Word>(f.nanCode());
    return code & static_cast<Word>(f.mask());
  }

  /// The number of that code; in f32 the nearest one, to even.
  static constexpr T roundNearest(const TakumFormat &f, T x) {
    Word word = bits(x), magnitude = word & ~sign;
    Fixed fixed = fixedOf(f, magnitude);
    Word low = (Word{1} << cutOf(f)) - 1;
    Word s = (fixed.s & ~low) - (static_cast<Word>(takumFraction) << mantissa);
    SignedWord distance = wholeOf(f, value(s));
    SignedWord offset = (distance ^ fixed.below) - fixed.below;
    Word result = one + static_cast<Word>(offset);
    if constexpr (sizeof(T) == sizeof(float)) {
      // What rounds to 2^128 is the infinity's word. What is subnormal is
      // rounded by a product, which is exact for other numbers.
      auto isBelow = static_cast<Word>(fixed.below);
      T scale = value(powerBits(0) - (isBelow & (Word{64} << mantissa)));
      result = bits(value(result + (isBelow & (Word{64} << mantissa))) * scale);
    }
    result = magnitude == 0 ? 0 : result | (word & sign);
    return value(magnitude < infinity ? result : nan);
  }

  static constexpr T decode(const TakumFormat &f, uint64_t code) {
    Word signBit = 0;
    SignedWord offset = takumOffset(f, code, signBit);
    Word word = one + static_cast<Word>(offset);
    word = code == 0 ? 0 : word | signBit;
    return value(code == f.nanCode() ? nan : word);
  }
  static constexpr T decodeAny(const TakumFormat &f, uint64_t code) {
    return decode(f, code);
  }

  static constexpr bool approximates(const TakumFormat &f) {
    return sizeof(T) == sizeof(float) && encodes(f);
  }
  static constexpr T decodeNearest(const TakumFormat &f, uint64_t code) {
    Word signBit = 0;
    SignedWord offset = takumOffset(f, code, signBit);
    // 2^2h times a number from 1 to 4. Twice 2^h, of which the first product is
    // exact or beyond all numbers; what is below 2^-200 is zero in any case.
    SignedWord h = offset >> (mantissa + 1);
    Word rest = static_cast<Word>(offset) & ((Word{2} << mantissa) - 1);
    h = h < -100 ? -100 : h;
    T scale = value(powerBits(static_cast<int32_t>(h)));
    T result = value(one + rest) * scale * scale;
    Word word = code == 0 ? 0 : bits(result) | signBit;
    return value(code == f.nanCode() ? nan : word);
  }

private:
  /// Bits of the fraction of an s below 2^9 that the carrier holds, and that
  /// its word holds beside an exponent.
  static constexpr int takumFraction =
      mantissa + (sizeof(T) == sizeof(float) ? 1 : 0) - 9;

  /// What a rounding cuts off of the word of s.
  static constexpr int cutOf(const TakumFormat &f) {
    return mantissa - (f.bits - 5);
  }

  struct Fixed {
    /// The word of 2^takumFraction s, with what is added to round it at its
    /// last bit that counts.
    Word s;
    SignedWord below; ///< all ones for a number below 1, else zero
  };
  static constexpr Fixed fixedOf(const TakumFormat &f, Word magnitude) {
    auto offset = static_cast<SignedWord>(magnitude - one);
    if constexpr (sizeof(T) == sizeof(float)) {
      // A subnormal number counts 2^-149.
      Word small = bits(static_cast<T>(static_cast<SignedWord>(magnitude))) -
                   one - (Word{149} << mantissa);
      offset = magnitude < Word{1} << mantissa ? static_cast<SignedWord>(small)
                                               : offset;
    }
    SignedWord below = offset >> (width - 1);
    auto distance = static_cast<Word>((offset ^ below) - below);
    if constexpr (sizeof(T) == sizeof(double)) {
      // The least takum, which nearest modes round to, and the largest.
      Word most =
          (Word{255} << mantissa) - (Word{1} << (mantissa + 12 - f.bits));
      distance = distance < most ? distance : most;
    }
    constexpr int drop = mantissa - takumFraction;
    Word fixed = distance + (Word{1} << mantissa);
    fixed = fixed >> drop | ((fixed & ((Word{1} << drop) - 1)) != 0 ? 1 : 0);
    Word s;
    if constexpr (sizeof(T) == sizeof(float)) {
      s = bits(static_cast<T>(static_cast<SignedWord>(fixed)));
    } else {
      // Vector units of many machines convert 32 bits alone.
      Word whole = powerBits(mantissa);
      s = bits(value(whole | fixed) - value(whole));
    }
    int cut = cutOf(f);
    return {s + ((Word{1} << (cut - 1)) - 1) + (s >> cut & 1), below};
  }

  /// |L| of an s, as a word: a multiple of the last bit of this sum.
  static constexpr SignedWord wholeOf(const TakumFormat &f, T s) {
    Word whole = powerBits(cutOf(f));
    return static_cast<SignedWord>((bits((s - 1) + value(whole)) - whole)
                                   << cutOf(f));
  }

  /// L of a code that is neither 0 nor NaR, and its sign bit.
  static constexpr SignedWord takumOffset(const TakumFormat &f, uint64_t code,
                                          Word &signBit) {
    auto top =
        static_cast<SignedWord>(static_cast<Word>(code) << (width - f.bits));
    SignedWord negative = top >> (width - 1);
    signBit = static_cast<Word>(negative) & sign;
    // Without a sign, since NaR has no number that is its negative.
    auto magnitude = static_cast<SignedWord>(
        (static_cast<Word>(top ^ negative) - static_cast<Word>(negative)) >>
        (width - f.bits));
    SignedWord steps = magnitude - (SignedWord{1} << (f.bits - 2));
    SignedWord below = steps >> (width - 1);
    auto word = static_cast<Word>((steps ^ below) - below) << cutOf(f);
    SignedWord distance = wholeOf(f, value(word + one));
    return (distance ^ below) - below;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_TAKUMCARRIER_H
