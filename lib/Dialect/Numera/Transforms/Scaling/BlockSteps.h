// SPDX-License-Identifier: MIT
//
// Rounding numbers to the elements of a block where they are.
//
//   y = round_to<F>(x · 2^-e) · 2^e
//
// is x rounded to F's numbers times 2^e. What rounds to F in f32 (CarrierRound,
// roundByScaling) is, with magnitudes a = |x| and K = 24 - precision of F,
//
//   a = min(a, largest)
//   m = max(2^K a, c)            c = 1.5 · 2^(K + exponent of F's least normal)
//   y = m - (m - a), with the sign of x
//
// and every step of it times 2^e is the same step with `largest` and c times
// 2^e: no result is rounded otherwise as long as none is subnormal, unless it
// is exact, and none overflows. That holds where
//
//   2^e · least normal number of F >= 2^-126      a subnormal a is then below
//       F's normal numbers, where m is c: that 2^K a is not computed right for
//       it, as an integer added to its exponent, does not matter. y is a
//       multiple of F's least number times 2^e, at least 2^-149: exact.
//   2^K · 2^e · largest < 2^128                   m is finite
//   x is finite                                   NaN and infinities keep their
//                                                 way through q
//
// The code of y comes from another m, with the same exponents and 1.5 as its
// fraction everywhere:
//
//   m = max(1.5 · 2^(K + exponent of a), c)
//   s = a + m             s has m's exponent, since a < 2^(1 - K) m and K > 2
//   d = word of s - word of c
//
// The last unit of s is that of F's numbers at a, so that a is rounded to n
// units; d is n + 2^23 times the binades between F's least normal number and a.
// Each of them has 2^(precision - 1) codes, and n at most twice as many: the
// code is d + (d shifted down by K), in its last bits.
//
// What is not a float but a multiple of one number without -0, an integer or
// fixed point, is rounded where f32's units are those multiples, at 1.5 · 2^23
// of them:
//
//   a = min(max(x, lowest), highest)
//   y = (a + m) - m               m = 1.5 · 2^23 · least number
//
// and the last bits of a + m are the code, again with all but x times 2^e,
// where these are normal numbers of f32.
//
// A block without a number but 0 has the same result with every e: it is taken
// as 0. Where one of these does not hold, numbers are scaled, rounded and
// scaled back.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_BLOCKSTEPS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_BLOCKSTEPS_H

#include "numera/Registry/Formats/Evaluation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace numera {

/// How numbers are rounded to an element.
struct BlockSteps {
  // Of f32.
  static constexpr int32_t mantissa = 23, bias = 127, leastNormal = -126;
  static constexpr uint32_t infinity = 0x7f800000, magnitudes = 0x7fffffff,
                            half = 0x00400000; ///< the fraction of 1.5
  /// The word of a power of two.
  static constexpr uint32_t powerOf(int32_t exponent) {
    return uint32_t(exponent + bias) << mantissa;
  }

  bool isFloat;
  /// As words of f32, for a scale of 1: of a float the largest number and c; of
  /// other elements the highest and the lowest number and m.
  llvm::SmallVector<uint32_t, 3> words;
  int32_t count;  ///< of a float: K
  uint32_t width; ///< bits of a code
  /// Codes of the scales, 2^(code - 127), with which no step goes wrong.
  int32_t firstCode, lastCode;
};

/// Nothing for a format that these steps do not round to; `rules` are those of
/// the cast from f32 to it.
std::optional<BlockSteps> blockStepsOf(const Format &format,
                                       const OperationRules &rules);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_SCALING_BLOCKSTEPS_H
