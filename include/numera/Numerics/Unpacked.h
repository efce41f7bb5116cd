// SPDX-License-Identifier: MIT
//
// A value between decode and encode: what every format decodes to, every
// operation computes on, and every format rounds from.
//
//   finite:  (-1)^negative * 1.fff… * 2^exponent
//            significand = 1fff…  (64 bits, the leading one at bit 63)
//            sticky: something nonzero follows behind bit 0
//
// 64 bits and `sticky` leave at least a guard and a sticky bit behind the 62
// significant bits that the widest built-in format has (posit<64,0>), so that
// one rounding of an Unpacked is one rounding of the exact result.

#ifndef NUMERA_NUMERICS_UNPACKED_H
#define NUMERA_NUMERICS_UNPACKED_H

#include <stdint.h>

namespace numera {

using uint128_t = unsigned __int128;

enum class Kind : uint8_t { Zero = 0, Finite = 1, Infinite = 2, NaN = 3 };

struct Unpacked {
  Kind kind = Kind::Zero;
  bool negative = false;
  bool sticky = false;
  int32_t exponent = 0;
  uint64_t significand = 0;

  constexpr bool isZero() const { return kind == Kind::Zero; }
  constexpr bool isFinite() const { return kind == Kind::Finite; }
  constexpr bool isInfinite() const { return kind == Kind::Infinite; }
  constexpr bool isNaN() const { return kind == Kind::NaN; }

  static constexpr Unpacked nan() { return {.kind = Kind::NaN}; }
  static constexpr Unpacked zero(bool negative = false) {
    return {.kind = Kind::Zero, .negative = negative};
  }
  static constexpr Unpacked infinity(bool negative = false) {
    return {.kind = Kind::Infinite, .negative = negative};
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

  /// (-1)^negative * (magnitude + tail) * 2^scale, where 0 <= tail < 1 and
  /// tail is nonzero exactly if `sticky`. What falls below 64 bits joins the
  /// tail. A zero magnitude with a tail is not representable: the caller keeps
  /// enough bits.
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
            .sticky = sticky || static_cast<uint64_t>(magnitude) != 0,
            .exponent = 127 - shift + scale,
            .significand = static_cast<uint64_t>(magnitude >> 64)};
  }

  /// The same value in one 128-bit integer, the form in which it crosses the
  /// runtime seam (`numera_<family>_unpack_<bits>`, `…_pack_…`):
  /// bits 0-63 significand, 64-95 exponent, 96-97 kind, 98 sign, 99 sticky.
  constexpr uint128_t pack() const {
    uint64_t high = static_cast<uint32_t>(exponent);
    high |= static_cast<uint64_t>(kind) << 32;
    high |= static_cast<uint64_t>(negative) << 34;
    high |= static_cast<uint64_t>(sticky) << 35;
    return static_cast<uint128_t>(high) << 64 | significand;
  }
  static constexpr Unpacked unpack(uint128_t packed) {
    uint64_t high = static_cast<uint64_t>(packed >> 64);
    return {.kind = static_cast<Kind>(high >> 32 & 3),
            .negative = (high >> 34 & 1) != 0,
            .sticky = (high >> 35 & 1) != 0,
            .exponent = static_cast<int32_t>(static_cast<uint32_t>(high)),
            .significand = static_cast<uint64_t>(packed)};
  }
};

/// `magnitude >> shift` for any shift >= 0, and whether a one was cut off.
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

} // namespace numera

#endif // NUMERA_NUMERICS_UNPACKED_H
