// SPDX-License-Identifier: MIT
//
// An unpacked value: every format decodes to it, every operation computes on
// it, and every format rounds from it.
//
//   finite:  (-1)^negative * 1.fff… * 2^exponent
//            significand = 1fff…  (64 bits, the leading one at bit 63)
//            tail:   the next 32 bits
//            sticky: something nonzero follows behind them
//
// A decoded value has at most 64 significant bits, and operations accept only
// these. An operand with a tail, a value that its format cannot represent
// exactly, is first rounded by operand(). The 96 bits of a result are the 64
// that the widest format keeps (a fixed-point one) and the 32 that stochastic
// rounding may use. So one rounding of an Unpacked is one rounding of the exact
// result.

#ifndef NUMERA_NUMERICS_CORE_UNPACKED_H
#define NUMERA_NUMERICS_CORE_UNPACKED_H

#include "numera/Numerics/Core/Rounding.h"
#include <stdint.h>

namespace numera {

enum class Kind : uint8_t { Zero = 0, Finite = 1, Infinite = 2, NaN = 3 };

struct Unpacked {
  Kind kind = Kind::Zero;
  bool negative = false;
  bool sticky = false;
  int32_t exponent = 0;
  uint64_t significand = 0;
  uint32_t tail = 0;

  constexpr bool isZero() const { return kind == Kind::Zero; }
  constexpr bool isFinite() const { return kind == Kind::Finite; }
  constexpr bool isInfinite() const { return kind == Kind::Infinite; }
  constexpr bool isNaN() const { return kind == Kind::NaN; }
  /// True for the infinity of a division by zero, which some formats replace by
  /// NaN.
  constexpr bool isPole() const { return kind == Kind::Infinite && sticky; }

  static constexpr Unpacked nan() { return {.kind = Kind::NaN}; }
  static constexpr Unpacked zero(bool negative = false) {
    return {.kind = Kind::Zero, .negative = negative};
  }
  static constexpr Unpacked infinity(bool negative = false) {
    return {.kind = Kind::Infinite, .negative = negative};
  }

  static constexpr Unpacked pole(bool negative) {
    return {.kind = Kind::Infinite, .negative = negative, .sticky = true};
  }

  /// (-1)^negative * magnitude * 2^scale, exact; zero for magnitude 0.
  static constexpr Unpacked fromInteger(bool negative, uint64_t magnitude,
                                        int32_t scale = 0) {
    if (magnitude == 0)
      return zero(negative);
    int shift = __builtin_clzll(magnitude);
    return {.kind = Kind::Finite,
            .negative = negative,
            .exponent = 63 - shift + scale,
            .significand = magnitude << shift};
  }

  /// (-1)^negative * (magnitude + rest) * 2^scale, where 0 <= rest < 1 and rest
  /// is nonzero exactly if `sticky`. Bits beyond the first 96 become part of
  /// the rest. A zero magnitude with a rest is not representable: the caller
  /// keeps enough bits.
  static constexpr Unpacked fromWide(bool negative, uint128_t magnitude,
                                     int32_t scale, bool sticky) {
    if (magnitude == 0)
      return zero(negative);
    uint64_t high = static_cast<uint64_t>(magnitude >> 64);
    int shift = high ? __builtin_clzll(high)
                     : 64 + __builtin_clzll(static_cast<uint64_t>(magnitude));
    magnitude <<= shift;
    return {.kind = Kind::Finite,
            .negative = negative,
            .sticky = sticky || static_cast<uint32_t>(magnitude) != 0,
            .exponent = 127 - shift + scale,
            .significand = static_cast<uint64_t>(magnitude >> 64),
            .tail = static_cast<uint32_t>(magnitude >> 32)};
  }

  /// Significand and tail, the leading one at bit 127.
  constexpr uint128_t wide() const {
    return static_cast<uint128_t>(significand) << 64 |
           static_cast<uint128_t>(tail) << 32;
  }

  /// The value as an operand of operations: rounded to odd at 64 bits.
  constexpr Unpacked operand() const {
    Unpacked value = *this;
    value.significand |= isFinite() && (tail != 0 || sticky);
    value.tail = 0;
    value.sticky = false;
    return value;
  }

  /// The value as one 128-bit integer, the form in the runtime ABI
  /// (`numera_<family>_unpack_<bits>`, `…_pack_…`): bits 0-63 significand,
  /// 64-95 tail, 96-123 exponent, 124-125 kind, 126 sign, 127 sticky. 28 bits
  /// are enough for an exponent: a format's lies within 2^17, an operation's
  /// within twice that, or is saturated (Wide.h).
  constexpr uint128_t pack() const {
    uint32_t high = static_cast<uint32_t>(exponent) & 0xfffffff;
    high |= static_cast<uint32_t>(kind) << 28;
    high |= static_cast<uint32_t>(negative) << 30;
    high |= static_cast<uint32_t>(sticky) << 31;
    return static_cast<uint128_t>(static_cast<uint64_t>(high) << 32 | tail)
               << 64 |
           significand;
  }
  static constexpr Unpacked unpack(uint128_t packed) {
    auto high = static_cast<uint32_t>(packed >> 96);
    return {.kind = static_cast<Kind>(high >> 28 & 3),
            .negative = (high >> 30 & 1) != 0,
            .sticky = high >> 31 != 0,
            .exponent = static_cast<int32_t>(high << 4) >> 4,
            .significand = static_cast<uint64_t>(packed),
            .tail = static_cast<uint32_t>(packed >> 64)};
  }
};

/// `magnitude >> shift` for any shift >= 0, and whether a set bit was shifted
/// out.
constexpr uint128_t shiftRight(uint128_t magnitude, int32_t shift,
                               bool &sticky) {
  if (shift >= 128) {
    sticky = sticky || magnitude != 0;
    return 0;
  }
  uint128_t result = magnitude >> shift;
  sticky = sticky || (result << shift) != magnitude;
  return result;
}

/// floor(2^32 * nu), where nu is the place in value of a positive finite
/// `value` between 2^low (0) and 2^(low + span) (1); 1 <= span <= 64. For
/// formats whose neighbours may lie more than a binade apart.
constexpr uint32_t shareOfSpan(const Unpacked &value, int32_t low,
                               int32_t span) {
  // floor(2^32 * (value / 2^low - 1)), below 2^96.
  uint128_t place =
      (value.wide() >> (95 - (value.exponent - low))) - (uint128_t{1} << 32);
  // Over 2^span - 1: with place = q * 2^span + r, that is q, and q + r is left.
  uint128_t divisor = (uint128_t{1} << span) - 1;
  uint128_t share = 0;
  while (place > divisor) {
    share += place >> span;
    place = (place >> span) + (place & divisor);
  }
  share += place == divisor;
  return static_cast<uint32_t>(share);
}

} // namespace numera

#endif // NUMERA_NUMERICS_CORE_UNPACKED_H
