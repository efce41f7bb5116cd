// SPDX-License-Identifier: MIT
//
// The rounding decision, in one place: does a magnitude move up by one unit,
// given its last kept bit and the bits that were cut off? The numbers of the
// enumerations are part of the runtime ABI (docs/RuntimeABI.md): they never
// change meaning.

#ifndef NUMERA_NUMERICS_CORE_ROUNDING_H
#define NUMERA_NUMERICS_CORE_ROUNDING_H

#include <stdint.h>

namespace numera {

using uint128_t = unsigned __int128;

/// The rounding mode: which neighbour replaces a result that the format does
/// not hold.
enum class Rounding : int32_t {
  NearestEven = 0, ///< nearest, ties to the even code
  NearestAway = 1, ///< nearest, ties away from zero
  NearestZero = 2, ///< nearest, ties toward zero
  TowardZero = 3,
  Up = 4,         ///< toward +infinity
  Down = 5,       ///< toward -infinity
  ToOdd = 6,      ///< an inexact result takes the odd neighbour
  Stochastic = 7, ///< one of the two neighbours, drawn by random bits
};

/// A rounding mode and, for the stochastic one, its random bits: the low
/// `randomBits` (1 to 32) of `random`. With N bits the value rounds away from
/// zero with probability floor(nu * 2^N) / 2^N, where nu is its position in
/// value between its neighbours, 0 at the lower magnitude and 1 at the upper.
struct RoundingMode {
  Rounding rounding = Rounding::NearestEven;
  int32_t randomBits = 0;
  uint32_t random = 0;

  constexpr RoundingMode(Rounding rounding, int32_t randomBits = 0,
                         uint32_t random = 0)
      : rounding(rounding), randomBits(randomBits), random(random) {}
  constexpr operator Rounding() const { return rounding; }

  /// The form in the runtime ABI: an i32 with the rounding in bits 0-7 and the
  /// number of random bits in bits 8-15.
  constexpr int32_t pack() const {
    return static_cast<int32_t>(rounding) | randomBits << 8;
  }
  static constexpr RoundingMode unpack(int32_t packed, uint32_t random) {
    return {static_cast<Rounding>(packed & 255), packed >> 8 & 255, random};
  }
};

/// The overflow rule: what replaces a rounded magnitude above the largest
/// finite one.
enum class Overflow : int32_t {
  Infinity = 0,  ///< infinity, or NaN in a format that has none
  Saturate = 1,  ///< the largest finite value, for infinities too
  Propagate = 2, ///< finite overflow saturates, an infinity stays
  Wrap = 3,      ///< modulo 2^width (fixed)
};

/// The bits that were cut off after the last kept bit: the first 32, and
/// whether any later bit is set.
struct Remainder {
  uint32_t bits;
  bool sticky;

  /// The bits that were cut off, the first one at the top of `fraction`.
  static constexpr Remainder of(uint128_t fraction, bool sticky) {
    return {static_cast<uint32_t>(fraction >> 96),
            sticky || static_cast<uint128_t>(fraction << 32) != 0};
  }
  constexpr bool guard() const { return bits >> 31 != 0; }
  constexpr bool beyondGuard() const { return bits << 1 != 0 || sticky; }
  constexpr bool isZero() const { return bits == 0 && !sticky; }
};

/// True if a magnitude whose last kept bit is `odd` moves up by one unit.
constexpr bool roundsUp(RoundingMode mode, bool negative, bool odd,
                        Remainder rest) {
  switch (mode.rounding) {
  case Rounding::NearestEven:
    return rest.guard() && (rest.beyondGuard() || odd);
  case Rounding::NearestAway:
    return rest.guard();
  case Rounding::NearestZero:
    return rest.guard() && rest.beyondGuard();
  case Rounding::TowardZero:
    return false;
  case Rounding::Up:
    return !negative && !rest.isZero();
  case Rounding::Down:
    return negative && !rest.isZero();
  case Rounding::ToOdd:
    return !odd && !rest.isZero();
  case Rounding::Stochastic: {
    int32_t unused = 32 - mode.randomBits;
    uint32_t draw = mode.random & ~uint32_t{0} >> unused;
    return draw < rest.bits >> unused;
  }
  }
  return false;
}

/// True if `mode` rounds a value between two neighbours to the one nearer zero,
/// whatever the distance. This includes to-odd, which truncates beyond the
/// largest finite value.
constexpr bool roundsInward(Rounding mode, bool negative) {
  return mode == Rounding::TowardZero || mode == Rounding::ToOdd ||
         mode == (negative ? Rounding::Up : Rounding::Down);
}

constexpr bool isNearest(Rounding mode) {
  return mode == Rounding::NearestEven || mode == Rounding::NearestAway ||
         mode == Rounding::NearestZero;
}

} // namespace numera

#endif // NUMERA_NUMERICS_CORE_ROUNDING_H
