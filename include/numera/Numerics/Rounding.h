// SPDX-License-Identifier: MIT
//
// The rounding decision, in one place: given the bit that is kept last and
// what was cut off behind it, does the magnitude move up by one?
// The numbers of the enumerations are part of the runtime ABI
// (docs/RuntimeABI.md): they never change meaning.

#ifndef NUMERA_NUMERICS_ROUNDING_H
#define NUMERA_NUMERICS_ROUNDING_H

#include <stdint.h>

namespace numera {

/// How a result that the format does not hold is replaced by a neighbour.
enum class Rounding : int32_t {
  NearestEven = 0, ///< nearest, ties to the even code
  NearestAway = 1, ///< nearest, ties away from zero
  NearestZero = 2, ///< nearest, ties toward zero
  TowardZero = 3,
  Up = 4,    ///< toward +infinity
  Down = 5,  ///< toward -infinity
  ToOdd = 6, ///< an inexact result takes the odd neighbour
};

/// What becomes of a rounded magnitude above the largest finite one.
enum class Overflow : int32_t {
  Infinity = 0,  ///< infinity, or NaN in a format that has none
  Saturate = 1,  ///< the largest finite value, for infinities too
  Propagate = 2, ///< finite overflow saturates, an infinity stays
};

/// What was cut off behind the last kept bit: `guard` is its first bit,
/// `sticky` says whether anything follows.
struct Remainder {
  bool guard;
  bool sticky;
  constexpr bool isZero() const { return !guard && !sticky; }
};

/// True if a magnitude whose last kept bit is `odd` moves up by one unit.
constexpr bool roundsUp(Rounding mode, bool negative, bool odd,
                        Remainder rest) {
  switch (mode) {
  case Rounding::NearestEven:
    return rest.guard && (rest.sticky || odd);
  case Rounding::NearestAway:
    return rest.guard;
  case Rounding::NearestZero:
    return rest.guard && rest.sticky;
  case Rounding::TowardZero:
    return false;
  case Rounding::Up:
    return !negative && !rest.isZero();
  case Rounding::Down:
    return negative && !rest.isZero();
  case Rounding::ToOdd:
    return !odd && !rest.isZero();
  }
  return false;
}

/// True if `mode` takes a value between two neighbours to the one nearer zero,
/// whatever the distance. To-odd counts: beyond the largest finite value it
/// truncates.
constexpr bool roundsInward(Rounding mode, bool negative) {
  return mode == Rounding::TowardZero || mode == Rounding::ToOdd ||
         mode == (negative ? Rounding::Up : Rounding::Down);
}

constexpr bool isNearest(Rounding mode) {
  return mode == Rounding::NearestEven || mode == Rounding::NearestAway ||
         mode == Rounding::NearestZero;
}

} // namespace numera

#endif // NUMERA_NUMERICS_ROUNDING_H
