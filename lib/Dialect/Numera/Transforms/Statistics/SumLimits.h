// SPDX-License-Identifier: MIT
//
// A step acc <- round(acc + x y), in a format whose numbers are multiples of
// its least one, u (a float with subnormals, a posit), raises no flag if
//
//   no factor is infinite, and none is NaN that the sum could not be,
//   every sum, with its rounding errors, is below the largest number,
//   every x y is a multiple of u: then so is every sum, and a tiny one is a
//   number (docs/Semantics/StatusFlags.md, N3).
//
// In a float of precision p, a sum of n terms below t is less than
// n t (1 + 2^(1 - p))^n, and that is less than n t 2^(n 2^(1 - p) / ln 2).
//
// In any such format, a sum that is rounded to nearest, ties to even, and
// starts with zero stays at most 2^m, if neighbours from 2^m on are 2^(m+1-p)
// apart, p > 1, and terms are at most 2^(m-p), half of that: a larger sum than
// 2^m would have to come from one of at most 2^m + 2^(m-p), and that is rounded
// to at most 2^m, which is even. Products below 2^(m-p) are such terms, rounded
// or not, if that is a number.
//
// A product that is rounded by itself need not be a multiple of u: it is tiny
// below the least normal number, or, in a family without normal ones, below u.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SUMLIMITS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SUMLIMITS_H

#include "numera/Dialect/Numera/IR/Numera.h"

namespace numera {

/// What a contraction's products x y must keep to.
struct SumLimits {
  int limit;                ///< below 2^limit
  int unit;                 ///< multiples of 2^unit
  std::optional<int> least; ///< or zero, or at least 2^least
  bool keepsNaN;            ///< a factor may be NaN
};

/// Of sums of `count` products, from zero; null if nothing is known of them.
std::optional<SumLimits> limitsOf(MacOp step, int64_t count);

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_STATISTICS_SUMLIMITS_H
