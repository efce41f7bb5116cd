/* SPDX-License-Identifier: MIT
 *
 * A binary float of EXPONENT (at most 8) and MANTISSA (at most 24) bits with
 * subnormals, infinities and one NaN, between codes and double. Define both and
 * CODE, the unsigned integer that stores it, before including this.
 *
 * Sums, products and quotients of such numbers may be computed in double and
 * rounded again: double has more than 2 (MANTISSA + 1) + 2 bits, so that the
 * first rounding does not change the second (Figueroa, When is double rounding
 * innocuous?, 1995).
 */
#include <stdint.h>

enum {
  BIAS = (1 << (EXPONENT - 1)) - 1,
  INFINITY_CODE = ((1 << EXPONENT) - 1) << MANTISSA,
  NAN_CODE = INFINITY_CODE | 1 << (MANTISSA - 1),
  SIGN = 1 << (EXPONENT + MANTISSA)
};

typedef union {
  double value;
  uint64_t bits;
} Double;

static inline int is_nan(CODE code) {
  return (code & (SIGN - 1)) > INFINITY_CODE;
}

static inline CODE canonical(CODE code) {
  return is_nan(code) ? NAN_CODE : code;
}

/* Exact. */
static inline double decode(CODE code) {
  uint64_t magnitude = code & (SIGN - 1);
  uint64_t exponent = magnitude >> MANTISSA;
  Double result = {.bits = (magnitude << (52 - MANTISSA)) +
                           ((uint64_t)(1023 - BIAS) << 52)};
  double tiny = (double)magnitude * __builtin_ldexp(1, 1 - BIAS - MANTISSA);
  result.value = exponent == 0 ? tiny : result.value;
  result.bits = magnitude == INFINITY_CODE ? (uint64_t)2047 << 52 : result.bits;
  result.bits |= code & SIGN ? (uint64_t)1 << 63 : 0;
  result.bits = is_nan(code) ? (uint64_t)0x7ff8 << 48 : result.bits;
  return result.value;
}

/* To nearest, ties to the even code. */
static inline CODE encode(double value) {
  Double d = {.value = value};
  uint64_t magnitude = d.bits << 1 >> 1;
  uint64_t significand = (magnitude & (((uint64_t)1 << 52) - 1)) | (uint64_t)1
                                                                       << 52;
  /* The exponent as the format has it; below 1, the significand moves right.
   * What is subnormal as a double is far below all of the format's numbers. */
  int32_t exponent = (int32_t)(magnitude >> 52) - 1023 + BIAS;
  int32_t shift = 52 - MANTISSA + (exponent < 1 ? 1 - exponent : 0);
  shift = shift > 54 ? 54 : shift;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  /* A carry out of the mantissa is one more in the exponent, as it should. */
  kept += exponent < 1 ? 0 : (uint64_t)(exponent - 1) << MANTISSA;
  kept = kept > INFINITY_CODE ? INFINITY_CODE : kept;
  kept |= d.bits >> 63 ? SIGN : 0;
  return (CODE)(magnitude > (uint64_t)2047 << 52 ? NAN_CODE : kept);
}

/* Codes in the order of their values, -0 just below +0. */
static inline int32_t order(CODE code) {
  int32_t magnitude = code & (SIGN - 1);
  return code & SIGN ? ~magnitude : magnitude;
}

static inline CODE larger(CODE x, CODE y) {
  CODE result = order(x) < order(y) ? y : x;
  return is_nan(x) | is_nan(y) ? NAN_CODE : result;
}
