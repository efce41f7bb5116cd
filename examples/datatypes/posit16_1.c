/* SPDX-License-Identifier: MIT
 *
 * posit<16, 1>, from the bits up (Gustafson, Yonemoto: Beating Floating Point
 * at Its Own Game, 2017):
 *
 *     | sign | regime: a run of k equal bits, and its end | exponent | fraction
 * |
 *
 * Every posit of it is a double. Sums, products and quotients are computed in
 * double and rounded again: of two posits, of 13 significant bits each, none is
 * nearer to a boundary between posits, which has 14, than double tells apart,
 * unless it lies on it.
 */
#include <stdint.h>

enum { NAR = 0x8000, MAXPOS = 0x7fff };

typedef union {
  double value;
  uint64_t bits;
} Double;

static inline double decode(uint16_t code) {
  uint32_t negative = code >> 15;
  uint32_t magnitude = (negative ? 0u - code : code) & 0xffff;
  /* The regime to the top; below it come zeros. */
  uint32_t body = magnitude << 17;
  uint32_t ones = body >> 31;
  int32_t run = __builtin_clz((ones ? ~body : body) | 1);
  int32_t regime = ones ? run - 1 : -run;
  uint32_t rest = body << run << 1;
  int32_t exponent = 2 * regime + (int32_t)(rest >> 31);
  Double d = {.bits = (uint64_t)(exponent + 1023) << 52 |
                      (uint64_t)(rest << 1) << 20 | (uint64_t)negative << 63};
  d.bits = magnitude == 0 ? 0 : d.bits;
  d.bits = code == NAR ? (uint64_t)0x7ff8 << 48 : d.bits;
  return d.value;
}

static inline uint16_t encode(double value) {
  Double d = {.value = value};
  uint64_t magnitude = d.bits << 1 >> 1;
  int32_t exponent = (int32_t)(magnitude >> 52) - 1023;
  int32_t clamped = exponent < -28 ? -28 : exponent > 27 ? 27 : exponent;
  int32_t regime = clamped >> 1;
  /* A run of ones ends in a zero, 1…10; a run of zeros in a one, 0…01. */
  int32_t length = regime >= 0 ? regime + 2 : 1 - regime;
  uint64_t pattern = regime >= 0 ? ((uint64_t)1 << length) - 2 : 1;
  int32_t room = 15 - length;
  /* Exponent and fraction, 53 bits, of which the code has `room`. Rounding acts
   * on the bits of the code. */
  uint64_t low = (uint64_t)(clamped & 1) << 52 | (magnitude << 12 >> 12);
  uint64_t kept = pattern << room | low >> (53 - room);
  uint64_t rest = low << (11 + room);
  uint64_t half = (uint64_t)1 << 63;
  kept += kept < MAXPOS && (rest > half || (rest == half && (kept & 1)));
  /* Posits neither overflow nor underflow. */
  kept = exponent > 27 ? MAXPOS : kept;
  kept = exponent < -28 ? 1 : kept;
  kept = d.bits >> 63 ? 0 - kept : kept;
  kept = magnitude == 0 ? 0 : kept;
  return (uint16_t)(magnitude >= (uint64_t)2047 << 52 ? NAR : kept);
}

float posit16_1_to_f32(uint16_t x) { return (float)decode(x); }
uint16_t posit16_1_from_f32(float x) { return encode(x); }
uint16_t posit16_1_add(uint16_t x, uint16_t y) {
  return encode(decode(x) + decode(y));
}
uint16_t posit16_1_sub(uint16_t x, uint16_t y) {
  return encode(decode(x) - decode(y));
}
uint16_t posit16_1_mul(uint16_t x, uint16_t y) {
  return encode(decode(x) * decode(y));
}
uint16_t posit16_1_div(uint16_t x, uint16_t y) {
  return encode(decode(x) / decode(y));
}
/* Posits are ordered as signed integers; NaR is below all, and wins. */
uint16_t posit16_1_max(uint16_t x, uint16_t y) {
  uint16_t larger = (int16_t)x < (int16_t)y ? y : x;
  return x == NAR || y == NAR ? NAR : larger;
}
uint16_t posit16_1_neg(uint16_t x) { return (uint16_t)(0u - x); }
