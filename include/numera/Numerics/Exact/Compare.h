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

/// True if codes of `f` are the machine's numbers of type T, and T's
/// comparisons may decide: they take fewer instructions than those of codes.
template <typename T, typename F> constexpr bool isCompared(const F &f) {
  if constexpr (requires { f.isBinary(32); })
    return !__builtin_is_constant_evaluated() && f.isBinary(8 * sizeof(T));
  return false;
}

/// How two of the machine's numbers stand.
template <typename T, typename Word>
constexpr Relation relationOf(uint64_t x, uint64_t y) {
  auto a = __builtin_bit_cast(T, static_cast<Word>(x));
  auto b = __builtin_bit_cast(T, static_cast<Word>(y));
  Relation ordered = a == b ? Equal : a > b ? Greater : Less;
  return __builtin_isunordered(a, b) ? Unordered : ordered;
}

/// a < b, for the places of two codes in their order. Those of formats of up to
/// 31 bits fit 32 bits, and are compared as such: a vector has twice as many.
template <typename F> constexpr bool isBelow(const F &f, int64_t a, int64_t b) {
  return f.width() < 32 ? static_cast<int32_t>(a) < static_cast<int32_t>(b)
                        : a < b;
}

/// NaN is unordered, except in a format that orders all of its codes
/// (F::isTotallyOrdered): there it equals itself and is below everything else.
/// -0 equals +0.
template <typename F>
constexpr Relation relation(const F &f, uint64_t x, uint64_t y) {
  if (isCompared<float>(f))
    return relationOf<float, uint32_t>(x, y);
  if (isCompared<double>(f))
    return relationOf<double, uint64_t>(x, y);
  int64_t a = f.orderOfValue(x), b = f.orderOfValue(y);
  Relation ordered = isBelow(f, b, a)   ? Greater
                     : isBelow(f, a, b) ? Less
                                        : Equal;
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

/// The smaller or the larger of two of the machine's numbers. Equal ones have
/// one code, but for zeros: x is the larger where y has a sign, else the
/// smaller. Of a constant y that is known.
template <typename T, typename Word>
constexpr uint64_t choose(uint64_t x, uint64_t y, bool isLarger, Word nan) {
  auto a = __builtin_bit_cast(T, static_cast<Word>(x));
  auto b = __builtin_bit_cast(T, static_cast<Word>(y));
  bool isNegative = y >> (8 * sizeof(Word) - 1) & 1;
  bool takesX = isLarger ? a > b : a < b;
  takesX |= (a == b) & (isNegative == isLarger);
  return __builtin_isunordered(a, b) ? nan : takesX ? x : y;
}

/// The smaller operand; NaN if either is; -0 is below +0.
template <typename F>
constexpr uint64_t min(const F &f, uint64_t x, uint64_t y) {
  if (isCompared<float>(f))
    return choose<float>(x, y, false, static_cast<uint32_t>(f.nanCode()));
  if (isCompared<double>(f))
    return choose<double>(x, y, false, f.nanCode());
  uint64_t smaller = isBelow(f, f.order(x), f.order(y)) ? x : y;
  return f.isNaN(x) || f.isNaN(y) ? f.nanCode() : f.canonical(smaller);
}
template <typename F>
constexpr uint64_t max(const F &f, uint64_t x, uint64_t y) {
  if (isCompared<float>(f))
    return choose<float>(x, y, true, static_cast<uint32_t>(f.nanCode()));
  if (isCompared<double>(f))
    return choose<double>(x, y, true, f.nanCode());
  uint64_t larger = isBelow(f, f.order(y), f.order(x)) ? x : y;
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
