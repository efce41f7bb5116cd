/* SPDX-License-Identifier: MIT
 *
 * The number format @NAME@: what its codes mean, and how a number becomes one.
 * It starts as a binary float; change the numbers, or replace the functions.
 *
 * Every function is called by its line in formats.yaml. It takes and returns
 * codes as unsigned integers, depends on nothing but its arguments, and has a
 * result for every code. Without calls of the C library it serves GPUs as well;
 * without loops it is vectorised.
 */
#include <stdint.h>

typedef uint16_t Code; /* uint8_t for up to 8 bits, uint32_t above 16 */

/* Sign, exponent, mantissa. `bits` in formats.yaml is 1 + EXPONENT + MANTISSA,
 * and `equivalent` there float<EXPONENT,MANTISSA>. */
enum { EXPONENT = 8, MANTISSA = 7 }; /* at most 8 and 22 */

enum {
  BIAS = (1 << (EXPONENT - 1)) - 1,
  INFINITY_CODE = ((1 << EXPONENT) - 1) << MANTISSA,
  NAN_CODE = INFINITY_CODE | 1 << (MANTISSA - 1),
  SIGN = 1 << (EXPONENT + MANTISSA)
};

typedef union {
  float value;
  uint32_t bits;
} Float;

/* Every number of the format is a float: this loses nothing. */
float @NAME@_to_f32(Code code) {
  uint32_t magnitude = code & (SIGN - 1);
  uint32_t exponent = magnitude >> MANTISSA;
  uint32_t rebias = (127u - BIAS) << 23;
  Float normal = {.bits = (magnitude << (23 - MANTISSA)) + rebias};
  Float special = {.bits = 0x7f800000};
  /* Below the smallest normal number: 1.m of its binade, less 1. A product with
   * a subnormal number takes CPUs a hundred times as long. */
  Float above = {.bits = normal.bits + (1u << 23)};
  Float one = {.bits = rebias + (1u << 23)};
  float tiny = above.value - one.value;
  Float result = {.value = exponent == 0 ? tiny : normal.value};
  result = exponent == (1 << EXPONENT) - 1 ? special : result;
  result.bits |= code & SIGN ? 0x80000000 : 0;
  /* One NaN: positive, quiet. */
  result.bits = magnitude > INFINITY_CODE ? 0x7fc00000 : result.bits;
  return result.value;
}

/* Rounds to nearest, ties to the even code. */
Code @NAME@_from_f32(float value) {
  Float f = {.value = value};
  uint32_t magnitude = f.bits & 0x7fffffff;
  uint32_t field = magnitude >> 23;
  uint32_t significand = (magnitude & 0x7fffff) | (field ? 0x800000 : 0);
  /* The exponent as the format has it; below 1, the significand moves right. */
  int32_t exponent = (int32_t)(field ? field : 1) - 127 + BIAS;
  int32_t shift = 23 - MANTISSA + (exponent < 1 ? 1 - exponent : 0);
  shift = shift > 25 ? 25 : shift;
  uint32_t kept = significand >> shift;
  uint32_t rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  /* A carry out of the mantissa is one more in the exponent, as it should. */
  uint32_t binade = exponent < 1 ? 0 : (uint32_t)exponent - 1;
  uint32_t code = kept + (binade << MANTISSA);
  code = code > INFINITY_CODE || field == 255 ? INFINITY_CODE : code;
  code |= f.bits >> 31 ? SIGN : 0;
  return (Code)(magnitude > 0x7f800000 ? NAN_CODE : code);
}

/* The two casts are all that Numera needs: what has no line in formats.yaml is
 * computed between them, in f32. An operation of the format's own, a truncated
 * product, say, is one such function and its line. */
Code @NAME@_mul(Code x, Code y) {
  return @NAME@_from_f32(@NAME@_to_f32(x) * @NAME@_to_f32(y));
}
