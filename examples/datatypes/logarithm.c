/* SPDX-License-Identifier: MIT
 *
 * Logarithmic numbers of 16 bits, lns<6, 8>: a sign and the logarithm to base 2
 * in fixed point, with 8 bits of fraction. To multiply is to add; to add goes
 * through double.
 *
 *     | sign | logarithm k: two's complement, 15 bits |      2^(k / 256)
 *
 * The most negative logarithm is zero, and with the sign NaN. Results beyond
 * the largest or below the least number are that number.
 */
#include <stdint.h>

enum { SIGN = 0x8000, ZERO = 0x4000, NAN_CODE = 0xc000, LARGEST = 0x3fff };

typedef union {
  double value;
  uint64_t bits;
} Double;

static inline int32_t logarithm(uint16_t code) {
  return (int16_t)(uint16_t)(code << 1) >> 1;
}

static inline uint16_t from_logarithm(int32_t k, uint32_t negative) {
  k = k > LARGEST ? LARGEST : k < -LARGEST ? -LARGEST : k;
  return (uint16_t)((uint32_t)(k & 0x7fff) | negative << 15);
}

/* 2^x for |x| <= 1/2: the series of e^(x log 2), whose next term is below
 * 2^-57. */
static inline double exp2_fraction(double x) {
  double y = x * 0x1.62e42fefa39efp-1, sum = 1;
#pragma clang loop unroll(full)
  for (int i = 13; i > 0; --i)
    sum = 1 + sum * y / i;
  return sum;
}

/* log2 m for m from sqrt(1/2) to sqrt(2), by that of (1 + s) / (1 - s). */
static inline double log2_fraction(double m) {
  double s = (m - 1) / (m + 1), square = s * s, sum = 0;
#pragma clang loop unroll(full)
  for (int i = 21; i > 0; i -= 2)
    sum = sum * square + 1.0 / i;
  return sum * s * 0x1.71547652b82fep+1; /* 2 / log 2 */
}

static inline double decode(uint16_t code) {
  int32_t k = logarithm(code);
  int32_t exponent = (k + 128) >> 8;
  Double scale = {.bits = (uint64_t)(exponent + 1023) << 52 |
                          (uint64_t)(code >> 15) << 63};
  double value = scale.value * exp2_fraction((k - 256 * exponent) * 0x1p-8);
  value = code == ZERO ? 0 : value;
  return code == NAN_CODE ? __builtin_nan("") : value;
}

static inline uint16_t encode(double value) {
  Double d = {.value = value};
  uint64_t magnitude = d.bits << 1 >> 1;
  uint32_t negative = (uint32_t)(d.bits >> 63);
  int32_t exponent = (int32_t)(magnitude >> 52) - 1023;
  Double m = {.bits = (magnitude << 12 >> 12) | (uint64_t)1023 << 52};
  int large = m.value > 1.4142135623730951;
  m.value = large ? m.value / 2 : m.value;
  exponent += large;
  double k = 256 * (exponent + log2_fraction(m.value));
  k = k > 2 * LARGEST ? 2 * LARGEST : k < -2 * LARGEST ? -2 * LARGEST : k;
  /* Only powers of two lie halfway between codes, or on one; floor of what is
   * positive. */
  int32_t rounded = (int32_t)(k + 65536.5) - 65536;
  uint16_t code = from_logarithm(rounded, negative);
  code = magnitude == 0 ? ZERO : code;
  return magnitude >= (uint64_t)2047 << 52 ? NAN_CODE : code;
}

static inline int is_nan(uint16_t code) { return code == NAN_CODE; }

float logarithm_to_f32(uint16_t x) { return (float)decode(x); }
uint16_t logarithm_from_f32(float x) { return encode(x); }

uint16_t logarithm_mul(uint16_t x, uint16_t y) {
  uint16_t code =
      from_logarithm(logarithm(x) + logarithm(y), (uint32_t)(x ^ y) >> 15);
  code = x == ZERO || y == ZERO ? ZERO : code;
  return is_nan(x) || is_nan(y) ? NAN_CODE : code;
}
uint16_t logarithm_div(uint16_t x, uint16_t y) {
  uint16_t code =
      from_logarithm(logarithm(x) - logarithm(y), (uint32_t)(x ^ y) >> 15);
  code = x == ZERO ? ZERO : code;
  return is_nan(x) || is_nan(y) || y == ZERO ? NAN_CODE : code;
}
uint16_t logarithm_neg(uint16_t x) {
  return (uint16_t)(x == ZERO || x == NAN_CODE ? x : x ^ SIGN);
}
uint16_t logarithm_add(uint16_t x, uint16_t y) {
  return encode(decode(x) + decode(y));
}
uint16_t logarithm_sub(uint16_t x, uint16_t y) {
  return logarithm_add(x, logarithm_neg(y));
}
uint16_t logarithm_max(uint16_t x, uint16_t y) {
  uint16_t larger = decode(x) < decode(y) ? y : x;
  return is_nan(x) || is_nan(y) ? NAN_CODE : larger;
}
