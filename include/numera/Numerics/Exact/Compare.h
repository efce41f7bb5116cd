// SPDX-License-Identifier: MIT
//
// Comparisons, and choices among operands. They need no decoding: a format
// orders its codes as integers (F::order, F::orderOfValue).

#ifndef NUMERA_NUMERICS_EXACT_COMPARE_H
#define NUMERA_NUMERICS_EXACT_COMPARE_H

#include <stdint.h>

namespace numera {

/// How x stands to y. A predicate is a set of these; the numbers are part of
/// the runtime ABI.
enum Relation : int32_t {
  Equal = 1,
  Greater = 2,
  Less = 4,
  Unordered = 8,
};

/// NaN is unordered, except in a format that orders all of its codes
/// (F::isTotallyOrdered): there it equals itself and is below everything else.
/// -0 equals +0.
template <typename F>
constexpr Relation relation(const F &f, uint64_t x, uint64_t y) {
  int64_t a = f.orderOfValue(x), b = f.orderOfValue(y);
  Relation ordered = a == b ? Equal : a > b ? Greater : Less;
  if constexpr (F::isTotallyOrdered)
    return ordered;
  return f.isNaN(x) || f.isNaN(y) ? Unordered : ordered;
}

/// True if the relation of x to y is in `predicate`, a set of Relation bits.
template <typename F>
constexpr bool cmp(const F &f, uint64_t x, uint64_t y, int32_t predicate) {
  return (relation(f, x, y) & predicate) != 0;
}

template <typename F> constexpr bool isnan(const F &f, uint64_t x) {
  return f.isNaN(x);
}

/// The smaller operand; NaN if either is; -0 is below +0.
template <typename F>
constexpr uint64_t min(const F &f, uint64_t x, uint64_t y) {
  uint64_t smaller = f.order(x) < f.order(y) ? x : y;
  return f.isNaN(x) || f.isNaN(y) ? f.nanCode() : f.canonical(smaller);
}
template <typename F>
constexpr uint64_t max(const F &f, uint64_t x, uint64_t y) {
  uint64_t larger = f.order(x) > f.order(y) ? x : y;
  return f.isNaN(x) || f.isNaN(y) ? f.nanCode() : f.canonical(larger);
}
/// The smaller operand; the number if only one is.
template <typename F>
constexpr uint64_t minnum(const F &f, uint64_t x, uint64_t y) {
  if (f.isNaN(x))
    return f.canonical(y);
  return f.isNaN(y) ? f.canonical(x) : min(f, x, y);
}
template <typename F>
constexpr uint64_t maxnum(const F &f, uint64_t x, uint64_t y) {
  if (f.isNaN(x))
    return f.canonical(y);
  return f.isNaN(y) ? f.canonical(x) : max(f, x, y);
}

/// The magnitude of x with the sign of y, where NaN has none and counts as
/// positive; NaN if x is.
template <typename F>
constexpr uint64_t copysign(const F &f, uint64_t x, uint64_t y) {
  if (f.isNaN(x))
    return f.nanCode();
  uint64_t number = f.canonical(x);
  // A code that is flushed keeps its sign, as in a cast.
  bool negative = !f.isNaN(y) && f.isNegative(y);
  return f.isNegative(number) == negative ? number : f.negate(number);
}

} // namespace numera

#endif // NUMERA_NUMERICS_EXACT_COMPARE_H
