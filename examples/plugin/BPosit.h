// SPDX-License-Identifier: MIT
//
// Bounded posits: posits whose regime is at most `regime` bits long, so that
// the exponent has its full length in every code, numbers are never less
// precise than bits - 1 - regime - es bits of fraction, and hardware finds the
// fields behind a short multiplexer (Jonnalagadda, Thotli, Gustafson: Closing
// the Gap Between Float and Posit Hardware Efficiency, 2026).
//
//     | sign | regime: a run of k equal bits, and its end | es | fraction |
//
//   the end is missing where k = `regime`
//   r = k - 1 for a run of ones, -k for zeros
//   value = (1 + fraction) * 2^(r * 2^es + exponent)
//
// All else is as in posits: 0 is zero, 10…0 NaR, a negative number the two's
// complement of its magnitude. The code of all zeros being zero, the lowest
// binade lacks its power of two.

#ifndef BPOSIT_H
#define BPOSIT_H

#include "numera/Numerics/Formats/Projective.h"

namespace numera {

/// A format of the family. The fields, in this order, are the i32 parameters
/// that follow the operands of a runtime entry. 1 + regime + es < bits.
struct BPositFormat : ProjectiveCodes {
  int32_t regime; ///< at least 2
  int32_t es;     ///< 0 to 8

  constexpr bool operator==(const BPositFormat &) const = default;
  static constexpr int32_t parameterCount = 3;
  static constexpr BPositFormat of(const int32_t *p) {
    return {{p[0]}, p[1], p[2]};
  }
  constexpr void store(int32_t *p) const {
    p[0] = bits;
    p[1] = regime;
    p[2] = es;
  }

  /// Most significant bits any value has, the hidden one included.
  constexpr int32_t precision() const { return bits - 2 - es; }
  constexpr int32_t maxExponent() const { return (regime << es) - 1; }
  constexpr int32_t leastExponent() const { return -(regime << es); }

  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    if (code == 0 || isNaN(code))
      return code;
    return cut(code, count, bits - 1 - regimeBits(runOf(absolute(code))) - es);
  }

  constexpr Unpacked decode(uint64_t code) const {
    if (code == 0)
      return Unpacked::zero();
    if (isNaN(code))
      return Unpacked::nan();
    uint64_t magnitude = absolute(code);
    bool ones = (magnitude & signBit() >> 1) != 0;
    int32_t run = runOf(magnitude);
    // Exponent and fraction to the top: bits - 1 are the regime and they.
    uint64_t rest = magnitude << (65 - bits + regimeBits(run));
    auto exponent = static_cast<int32_t>(es == 0 ? 0 : rest >> (64 - es));
    return {.kind = Kind::Finite,
            .negative = isNegative(code),
            .exponent = (ones ? run - 1 : -run) * (1 << es) + exponent,
            .significand = uint64_t{1} << 63 | (rest << es) >> 1};
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    return encodeBy(value, [&](const Unpacked &finite) {
      return roundMagnitude(finite, mode);
    });
  }

  /// The bits of the regime of a magnitude: its run, and the end.
  constexpr int32_t regimeBits(int32_t run) const {
    return run < regime ? run + 1 : regime;
  }
  constexpr int32_t runOf(uint64_t magnitude) const {
    uint64_t body = magnitude << (65 - bits);
    uint64_t ended = (body >> 63 ? ~body : body) | 1;
    int32_t run = __builtin_clzll(ended);
    return run < regime ? run : regime;
  }

private:
  constexpr uint64_t roundMagnitude(const Unpacked &value,
                                    RoundingMode mode) const {
    if (value.exponent > maxExponent())
      return maxCode(); // posits saturate
    if (value.exponent < leastExponent())
      return belowLeast(value, decode(1), mode);

    int32_t r = value.exponent >> es;
    int32_t run = r >= 0 ? r + 1 : -r;
    int32_t length = regimeBits(run);
    // a run of ones ends in a zero: 1…10; a run of zeros in a one: 0…01
    uint64_t ones = (uint64_t{1} << run) - 1;
    uint64_t pattern = r >= 0 ? ones << (length - run) : uint64_t(length - run);
    // Exponent and fraction, es + 95 bits, of which the code has `room`: more
    // than es, so that neighbours are evenly spaced.
    uint128_t low = static_cast<uint128_t>(value.exponent & ((1 << es) - 1))
                        << 95 |
                    (value.wide() << 1 >> 33);
    int32_t room = bits - 1 - length;
    int32_t cut = es + 95 - room;
    uint64_t kept = pattern << room | static_cast<uint64_t>(low >> cut);
    if (kept == 0)
      return belowLeast(value, decode(1), mode);
    if (kept == maxCode())
      return kept;
    Remainder rest = Remainder::of(low << (128 - cut), value.sticky);
    return kept + roundsUp(mode, value.negative, (kept & 1) != 0, rest);
  }
};

} // namespace numera

#endif // BPOSIT_H
