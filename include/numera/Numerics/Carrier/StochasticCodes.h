// SPDX-License-Identifier: MIT
//
// Stochastic rounding of machine numbers to codes of tapered and fixed-point
// formats, in one word of the machine. Where neighbours are evenly spaced, a
// number's place between them is what is cut off of its word. Straight-line
// there, so that loops over it vectorise. The few other numbers, those next to
// zero or next to the largest where a code does not hold the whole exponent,
// take the exact path.

#ifndef NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H
#define NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H

#include "numera/Numerics/Carrier/Carrier.h"
#include "numera/Numerics/Formats/Fixed.h"
#include "numera/Numerics/Formats/Takum.h"

namespace numera {

template <typename T> struct StochasticCodes : Carrier<T> {
  using Base = Carrier<T>;
  using Base::bias;
  using Base::bits;
  using Base::infinity;
  using Base::mantissa;
  using Base::powerBits;
  using Base::sign;
  using Base::value;
  using Base::width;
  using typename Base::SignedWord;
  using typename Base::Word;

  /// True if encode() decides for some numbers of the carrier.
  template <typename F> static constexpr bool encodes(const F &) {
    return false;
  }
  /// Codes that a word of the carrier holds.
  static constexpr bool encodes(const PositFormat &f) {
    return f.bits >= f.es + 3 && f.bits <= width;
  }
  static constexpr bool encodes(const TakumFormat &f) {
    return f.bits >= 6 && f.bits <= width;
  }
  /// Numbers of units that an i32 holds.
  static constexpr bool encodes(const FixedFormat &f) {
    return f.overflow != Overflow::Wrap && f.magnitudeBits() <= 31 &&
           f.fraction >= 0 && f.fraction <= 64;
  }

  /// The code of x rounded by `mode`, which is stochastic; false where the
  /// exact path has to say.
  template <typename F>
  static constexpr bool encode(const F &, T, RoundingMode, uint64_t &) {
    return false;
  }
  static constexpr bool encode(const PositFormat &f, T x, RoundingMode mode,
                               uint64_t &code) {
    Word word = bits(x), magnitude = word & ~sign;
    // Exponent and fraction, and the regime above them.
    auto offset = static_cast<SignedWord>(magnitude - Base::one);
    SignedWord regime = offset >> (mantissa + f.es);
    SignedWord below = offset >> (width - 1); // all ones below one
    // 10 or 01 and the string behind it, of which the first bit is repeated:
    // 1…10, 0…01. What the word loses of the string is zeros.
    SignedWord repeated = regime ^ below;
    SignedWord room = f.bits - 3 - repeated;                  // for the string
    repeated = repeated < f.bits - 3 ? repeated : f.bits - 3; // a shift
    Word string = static_cast<Word>(offset) << (width - mantissa - f.es);
    Word start = below != 0 ? sign >> 1 : sign;
    auto run = static_cast<Word>(static_cast<SignedWord>(start | string >> 2) >>
                                 repeated);
    code = finish(f, word, run >> (width + 1 - f.bits),
                  string << (f.bits - 3 - repeated), mode);
    return magnitude == 0 || (room >= f.es && isNormal(magnitude));
  }
  static constexpr bool encode(const TakumFormat &f, T x, RoundingMode mode,
                               uint64_t &code) {
    Word word = bits(x), magnitude = word & ~sign;
    auto offset = static_cast<SignedWord>(magnitude - Base::one);
    SignedWord c = offset >> mantissa;
    SignedWord below = offset >> (width - 1);
    // R is the length of c + 1, or of -c, less one: 0 to 7 in a takum.
    auto size = static_cast<int32_t>((c ^ below) + 1);
    auto length = static_cast<SignedWord>(
        (__builtin_bit_cast(uint32_t, static_cast<float>(size)) >> 23) - 127);
    // C is the rest of c + 1, of c - 1 below one; the mantissa follows it.
    Word unit = Word{1} << mantissa;
    Word moved = static_cast<Word>(offset) +
                 (((unit << 1) & ~static_cast<Word>(below)) - unit);
    Word string = moved << (width - mantissa - length);
    auto start = static_cast<Word>((length ^ below) + 8); // D and R
    int32_t room = f.bits - 5;                            // for the string
    code = finish(f, word, start << room | string >> (width - room),
                  string << room, mode);
    // What is beyond, and what is rounded at the largest and next to zero.
    return magnitude == 0 ||
           (c > -255 && c < 254 && length <= room && isNormal(magnitude));
  }
  /// Times 2^fraction a number is exact, or beyond any limit.
  static constexpr bool encode(const FixedFormat &f, T x, RoundingMode mode,
                               uint64_t &code) {
    T scaled = value(bits(x) & ~sign) * value(powerBits(f.fraction));
    bool isInside = scaled < value(powerBits(f.magnitudeBits())); // not NaN
    T inside = isInside ? scaled : T{0};
    auto units = static_cast<int32_t>(inside);
    T rest = inside - static_cast<T>(units);
    auto kept = static_cast<uint32_t>(units);
    if (mode.randomBits < 32) { // vector units convert to signed integers
      auto share =
          static_cast<int32_t>(rest * value(powerBits(mode.randomBits)));
      kept += static_cast<int32_t>(drawOf(mode)) < share ? 1 : 0;
    } else {
      kept += drawOf(mode) < static_cast<uint32_t>(rest * value(powerBits(32)));
    }
    uint32_t lowest = f.isSigned ? uint32_t{1} << f.magnitudeBits() : 0;
    auto most = static_cast<uint32_t>(f.maxCode());
    bool isNegative = (bits(x) & sign) != 0;
    uint32_t limit = isNegative ? lowest : most;
    kept = isInside && kept < limit ? kept : limit;
    kept = x == x ? kept : 0;
    code = (isNegative ? 0 - kept : kept) & static_cast<uint32_t>(f.mask());
    return true;
  }

private:
  static constexpr bool isNormal(Word magnitude) {
    return magnitude >= Word{1} << mantissa && magnitude < infinity;
  }
  static constexpr uint32_t drawOf(RoundingMode mode) {
    return mode.random & ~uint32_t{0} >> (32 - mode.randomBits);
  }

  /// A magnitude's code `kept`, one more where the draw is below the first bits
  /// of `rest`, what was cut off; with the sign of a word. Zero's code is 0.
  template <typename F>
  static constexpr uint64_t finish(const F &f, Word word, Word kept, Word rest,
                                   RoundingMode mode) {
    auto first = static_cast<uint32_t>(rest >> (width - 32));
    uint32_t share = first >> (32 - mode.randomBits);
    Word rounded = kept + (drawOf(mode) < share ? 1 : 0);
    rounded = word & sign ? 0 - rounded : rounded;
    rounded = (word & ~sign) == 0 ? 0 : rounded;
    return rounded & static_cast<Word>(f.mask());
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H
