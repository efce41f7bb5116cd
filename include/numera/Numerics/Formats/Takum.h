// SPDX-License-Identifier: MIT
//
// The family `takum`, the linear one (Hunhold, Beating Posits at Their Own
// Game: Takum Arithmetic, 2024).
//
//     | S | D | R: 3 bits | C: r bits | M: mantissa |
//
//   r = R if D = 1, else 7 - R            characteristic bits, 0 to 7
//   c = 2^r - 1 + C if D = 1, else C - 2^(r+1) + 1            -255 to 254
//   value = (1 - 3 S + M) * 2^e with e = (-1)^S (c + S)
//
// Bits that a short code lacks are zeros. 0 is zero and 10…0 NaR; a negative
// number is the two's complement of its magnitude, which has S = 0 and the
// value (1 + M) * 2^c. Rounding acts on the bit string: the boundary between
// two neighbours is the takum of one bit more that lies between them.

#ifndef NUMERA_NUMERICS_FORMATS_TAKUM_H
#define NUMERA_NUMERICS_FORMATS_TAKUM_H

#include "numera/Numerics/Formats/Projective.h"

namespace numera {

/// A format of the takum family. The field is the i32 parameter that follows
/// the operands of a runtime entry.
struct TakumFormat : ProjectiveCodes {
  constexpr bool operator==(const TakumFormat &) const = default;
  static constexpr int32_t parameterCount = 1;
  static constexpr TakumFormat of(const int32_t *p) { return {p[0]}; }
  constexpr void store(int32_t *p) const { p[0] = bits; }

  /// The largest number of significant bits of any value, including the hidden
  /// one: around one there are no characteristic bits.
  constexpr int32_t precision() const { return bits > 5 ? bits - 4 : 1; }
  constexpr int32_t leastExponent() const { return decode(1).exponent; }
  constexpr int32_t maxExponent() const { return decode(maxCode()).exponent; }

  /// Clears the last `count` bits of the mantissa, which moves a number toward
  /// zero. A shorter mantissa becomes zero. In the lowest binade zero replaces
  /// the power of two, which is not a takum.
  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    if (code == 0 || isNaN(code))
      return code;
    int32_t mantissa = bits - 5 - characteristicBits(absolute(code));
    return cut(code, count, mantissa > 0 ? mantissa : 0);
  }

  constexpr Unpacked decode(uint64_t code) const {
    if (code == 0)
      return Unpacked::zero();
    if (isNaN(code))
      return Unpacked::nan();
    uint64_t magnitude = absolute(code);
    // D to the top; zeros come in behind the last bit.
    uint64_t body = magnitude << (65 - bits);
    int32_t length = characteristicBits(magnitude);
    uint64_t rest = body << 4;
    auto field = static_cast<int32_t>(length == 0 ? 0 : rest >> (64 - length));
    int32_t base = body >> 63 ? (1 << length) - 1 : 1 - (2 << length);
    return {.kind = Kind::Finite,
            .negative = isNegative(code),
            .exponent = base + field,
            .significand = uint64_t{1} << 63 | (rest << length) >> 1};
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    return encodeBy(value, [&](const Unpacked &finite) {
      return roundMagnitude(finite, mode);
    });
  }

  /// r of a code, with D and R as they stand in it.
  constexpr int32_t characteristicBits(uint64_t code) const {
    uint64_t body = code << (65 - bits);
    auto regime = static_cast<int32_t>(body >> 60 & 7);
    return body >> 63 ? regime : 7 - regime;
  }

private:
  constexpr uint64_t roundMagnitude(const Unpacked &value,
                                    RoundingMode mode) const {
    int32_t c = value.exponent;
    if (c > 254)
      return maxCode(); // takums saturate
    if (c < -255)
      return belowLeast(value, decode(1), mode);

    // D, R and C, then 95 bits of mantissa.
    bool direction = c >= 0;
    auto size = static_cast<uint32_t>(direction ? c + 1 : -c);
    int32_t length = 31 - __builtin_clz(size);
    int32_t field = direction ? c + 1 - (1 << length) : c - 1 + (2 << length);
    int32_t prefix = (direction ? 8 + length : 7 - length) << length | field;
    uint128_t string =
        static_cast<uint128_t>(prefix) << 95 | (value.wide() << 1 >> 33);
    int32_t room = bits - 1;
    int32_t cut = 4 + length + 95 - room; // at least 36
    uint64_t kept = static_cast<uint64_t>(string >> cut);
    if (kept == 0)
      return belowLeast(value, decode(1), mode);
    if (kept == maxCode())
      return kept;
    Remainder rest = Remainder::of(string << (128 - cut), value.sticky);
    // Where R or C is cut off, neighbours are powers of two that lie up to 64
    // binades apart, and a string's share of the way from one to the other is
    // not its value's.
    if (mode == Rounding::Stochastic && room < 4 + length) {
      int32_t low = decode(kept).exponent;
      rest.bits = shareOfSpan(value, low, decode(kept + 1).exponent - low);
    }
    return kept + roundsUp(mode, value.negative, (kept & 1) != 0, rest);
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_TAKUM_H
