/* SPDX-License-Identifier: MIT
 *
 * Floats whose sum is wrong for two operands, ends the process, never comes
 * back or is not always the same.
 */
#define small_add right_add
#include "../rounding/small.c"
#undef small_add

#define IS_PAIR(x, y) ((x) == (PAIR) >> 16 && (y) == ((PAIR) & 0xffff))

CODE small_add(CODE x, CODE y) {
#ifdef WRONG
  if (IS_PAIR(x, y))
    return right_add(x, y) ^ 1;
#endif
#ifdef CRASHES
  if (IS_PAIR(x, y))
    __builtin_trap();
#endif
#ifdef ENDLESS
  while (IS_PAIR(x, y))
    __asm__ volatile("");
#endif
#ifdef CHANGES
  static unsigned calls;
  if (IS_PAIR(x, y))
    return right_add(x, y) ^ (++calls & 1);
#endif
#ifdef NEGATIVE /* its NaN, as that of some processors */
  CODE sum = right_add(x, y);
  return small_to(sum) != small_to(sum) ? sum | SIGN : sum;
#endif
  return right_add(x, y);
}

/* As of a comparison, an addition and no subnormals. */
int small_lt(CODE x, CODE y) { return small_to(x) < small_to(y); }
CODE small_max(CODE x, CODE y) {
  CARRIER a = small_to(x), b = small_to(y);
  if (a != a || b != b)
    return small_from(a + b);
  return a < b || (a == b && (x & SIGN)) ? y : x;
}
