// SPDX-License-Identifier: MIT
//
// Stochastic rounding of machine numbers to codes of tapered formats, in one
// word of the machine. Where the whole exponent is in the code, neighbours are
// evenly spaced, and a number's place between them is what is cut off of its
// word. Straight-line there, so that loops over it vectorise; the few numbers
// farther out, next to zero or next to the largest, take the exact path.

#ifndef NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H
#define NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H

#include "numera/Numerics/Carrier/Carrier.h"
#include "numera/Numerics/Formats/Takum.h"

namespace numera {

template <typename T> struct StochasticCodes : Carrier<T> {
  using Base = Carrier<T>;
  using Base::bias;
  using Base::bits;
  using Base::infinity;
  using Base::mantissa;
  using Base::sign;
  using Base::width;
  using typename Base::SignedWord;
  using typename Base::Word;

  /// True if encode() decides for some numbers of the carrier.
  template <typename F> static constexpr bool encodes(const F &) {
    return false;
  }
  /// The bits of a string that a word does not keep are at most 32.
  static constexpr bool encodes(const PositFormat &f) {
    return f.bits >= f.es + 3 && f.bits <= 32 && f.bits < mantissa + f.es + 3;
  }
  static constexpr bool encodes(const TakumFormat &f) {
    return f.bits > 12 && f.bits <= 32 && f.bits < mantissa + 5;
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
    // A run of ones ends in a zero: 1…10; a run of zeros in a one: 0…01.
    SignedWord run = regime < 0 ? -regime : regime + 1;
    SignedWord room = f.bits - 2 - run;
    SignedWord kept = room < f.es ? f.es : room; // a shift for any x
    Word pattern = regime < 0 ? 1 : (Word{2} << (f.bits - 2 - kept)) - 2;
    auto string =
        static_cast<Word>(offset) & ((Word{1} << (mantissa + f.es)) - 1);
    code = finish(f, word, pattern << kept | string >> (mantissa + f.es - kept),
                  string, mantissa + f.es - kept, mode);
    code = magnitude == 0 ? 0 : code;
    return magnitude == 0 || (room >= f.es && isNormal(magnitude));
  }
  static constexpr bool encode(const TakumFormat &f, T x, RoundingMode mode,
                               uint64_t &code) {
    Word word = bits(x), magnitude = word & ~sign;
    auto c = static_cast<SignedWord>(magnitude >> mantissa) - bias;
    // R is the length of c + 1, or of -c, less one: 0 to 7 in a takum.
    SignedWord size = c < 0 ? -c : c + 1;
    SignedWord length = (size > 1) + (size > 3) + (size > 7) + (size > 15) +
                        (size > 31) + (size > 63) + (size > 127);
    SignedWord field = c < 0 ? c - 1 + (SignedWord{2} << length)
                             : c + 1 - (SignedWord{1} << length);
    SignedWord regime = c < 0 ? 7 - length : 8 + length;
    auto prefix = static_cast<Word>((regime << length) + field);
    SignedWord room = f.bits - 5 - length; // of the mantissa, at least 1
    auto string = magnitude & ((Word{1} << mantissa) - 1);
    code = finish(f, word, prefix << room | string >> (mantissa - room), string,
                  mantissa - room, mode);
    code = magnitude == 0 ? 0 : code;
    // What is beyond, and what is rounded at the largest and next to zero.
    return magnitude == 0 || (c > -255 && c < 254 && isNormal(magnitude));
  }

private:
  static constexpr bool isNormal(Word magnitude) {
    return magnitude >= Word{1} << mantissa && magnitude < infinity;
  }

  /// A magnitude's code `kept`, one more where the draw is below the last `cut`
  /// bits of `string`; with the sign of a word.
  template <typename F>
  static constexpr uint64_t finish(const F &f, Word word, Word kept,
                                   Word string, SignedWord cut,
                                   RoundingMode mode) {
    auto rest =
        static_cast<uint32_t>((string << (width - cut)) >> (width - 32));
    int32_t unused = 32 - mode.randomBits;
    uint32_t draw = mode.random & ~uint32_t{0} >> unused;
    Word rounded = kept + (draw < rest >> unused ? 1 : 0);
    rounded = word & sign ? 0 - rounded : rounded;
    return rounded & static_cast<Word>(f.mask());
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_STOCHASTICCODES_H
