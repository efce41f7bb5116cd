// SPDX-License-Identifier: MIT
//
// The posit family (Standard for Posit Arithmetic, 2022; es free here):
//
//     | sign | regime: a run of k equal bits, and its end | exponent | fraction
//     |
//
//   r = k - 1 for a run of ones, -k for zeros
//   value = (1 + fraction) * 2^(r * 2^es + exponent)
//
// A negative posit is the two's complement of its magnitude; 0 is zero and
// 10…0 NaR. Rounding acts on the bit string: the boundary between two
// neighbours is the posit of one bit more that lies between them.

#ifndef NUMERA_NUMERICS_FORMATS_POSIT_H
#define NUMERA_NUMERICS_FORMATS_POSIT_H

#include "numera/Numerics/Formats/Projective.h"

namespace numera {

/// A format of the posit family. The fields, in this order, are the i32
/// parameters that follow the operands of a runtime entry.
struct PositFormat : ProjectiveCodes {
  int32_t es; ///< 0 to 4

  constexpr bool operator==(const PositFormat &) const = default;
  static constexpr int32_t parameterCount = 2;
  static constexpr PositFormat of(const int32_t *p) { return {{p[0]}, p[1]}; }
  constexpr void store(int32_t *p) const {
    p[0] = bits;
    p[1] = es;
  }

  /// The largest number of significant bits of any value, including the hidden
  /// one.
  constexpr int32_t precision() const {
    int32_t fraction = bits - 3 - es;
    return fraction > 0 ? fraction + 1 : 1;
  }
  constexpr int32_t maxExponent() const { return (bits - 2) << es; }
  constexpr int32_t leastExponent() const { return -maxExponent(); }
  /// Every value is a multiple of minpos.
  constexpr int32_t leastWeight() const { return leastExponent(); }
  /// The standard's quire; 16 n for es = 2.
  constexpr int32_t quireBits() const { return 32 + 4 * maxExponent(); }

  /// Clears the last `count` bits of the fraction, which moves a number toward
  /// zero. A shorter fraction becomes zero.
  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    if (code == 0 || isNaN(code))
      return code;
    return cut(code, count, fractionBits(absolute(code)));
  }

  constexpr Unpacked decode(uint64_t code) const {
    if (code == 0)
      return Unpacked::zero();
    if (isNaN(code))
      return Unpacked::nan();
    bool negative = isNegative(code);
    // The regime to the top; zeros come in behind the last bit.
    uint64_t body = absolute(code) << (65 - bits);
    bool ones = body >> 63 != 0;
    int run = __builtin_clzll((ones ? ~body : body) | 1);
    int32_t regime = ones ? run - 1 : -run;
    uint64_t rest = run >= 63 ? 0 : body << run << 1;
    auto exponent = static_cast<int32_t>(es == 0 ? 0 : rest >> (64 - es));
    return {.kind = Kind::Finite,
            .negative = negative,
            .exponent = regime * (1 << es) + exponent,
            .significand = uint64_t{1} << 63 | (rest << es) >> 1};
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    return encodeBy(value, [&](const Unpacked &finite) {
      return roundMagnitude(finite, mode);
    });
  }

  /// The number of bits of the regime of a positive number: the run, and the
  /// bit that ends it if there is room for it.
  constexpr int32_t regimeBits(uint64_t magnitude) const {
    uint64_t body = magnitude << (65 - bits);
    int32_t length = __builtin_clzll((body >> 63 ? ~body : body) | 1) + 1;
    return length < bits - 1 ? length : bits - 1;
  }
  /// The number of bits of its fraction.
  constexpr int32_t fractionBits(uint64_t magnitude) const {
    int32_t fraction = bits - 1 - regimeBits(magnitude) - es;
    return fraction > 0 ? fraction : 0;
  }

private:
  constexpr uint64_t roundMagnitude(const Unpacked &value,
                                    RoundingMode mode) const {
    int32_t regime = value.exponent >> es;
    if (regime >= bits - 2)
      return maxCode(); // maxpos, or beyond it: posits saturate
    if (regime < -(bits - 2))
      return belowMinpos(value, mode);

    // exponent and fraction: es + 95 bits
    uint128_t low = static_cast<uint128_t>(value.exponent & ((1 << es) - 1))
                        << 95 |
                    (value.wide() << 1 >> 33);
    // a run of ones ends in a zero: 1…10; a run of zeros in a one: 0…01
    int32_t length = regime >= 0 ? regime + 2 : 1 - regime;
    uint64_t pattern = regime >= 0 ? (uint64_t{1} << length) - 2 : 1;
    int32_t room = bits - 1 - length; // at least 0 by the tests above
    int32_t cut = es + 95 - room;     // at least 34
    uint64_t kept = (room == 0 ? pattern : pattern << room) |
                    static_cast<uint64_t>(low >> cut);
    Remainder rest = Remainder::of(low << (128 - cut), value.sticky);
    // Where bits of the exponent are cut off, neighbours are powers of two that
    // lie more than a binade apart, and a string's share of the way from one to
    // the other is not its value's.
    if (mode == Rounding::Stochastic && room < es) {
      int32_t span = 1 << (es - room);
      rest.bits = shareOfSpan(value, value.exponent & ~(span - 1), span);
    }
    bool up = roundsUp(mode, value.negative, (kept & 1) != 0, rest);
    return kept + (up && kept != maxCode());
  }

  /// (0, minpos): no nearest mode gives zero; the directed ones keep their
  /// inequality; minpos is odd; a stochastic one chooses.
  constexpr uint64_t belowMinpos(const Unpacked &value,
                                 RoundingMode mode) const {
    bool negative = value.negative;
    if (mode == Rounding::Stochastic) {
      bool sticky = value.sticky;
      uint128_t share = shiftRight(
          value.wide(), leastExponent() - 1 - value.exponent, sticky);
      return roundsUp(mode, negative, false, Remainder::of(share, sticky));
    }
    bool toZero = mode == Rounding::TowardZero ||
                  mode == (negative ? Rounding::Up : Rounding::Down);
    return toZero ? 0 : 1;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_POSIT_H
