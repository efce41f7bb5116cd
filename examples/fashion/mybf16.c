/* SPDX-License-Identifier: MIT
 *
 * Plain C11 with neither branches nor calls into libc, so that the compiler
 * can inline and vectorize it, and can compile it for a GPU as well.
 */
#include "mybf16.h"

typedef union {
  float value;
  uint32_t bits;
} Float;

static inline int isNaN(uint16_t a) { return (a & 0x7FFF) > 0x7F80; }

static inline uint16_t canonical(uint16_t a) {
  return isNaN(a) ? MYBF16_NAN : a;
}

uint16_t mybf16_from_f32(float value) {
  Float f = {.value = value};
  /* Just under half of the last place kept, or exactly half of it where that
   * place is odd: the carry then rounds to nearest, ties to even. It runs over
   * into the exponent, and from the largest finite into infinity, as it should.
   */
  uint32_t rounded = f.bits + 0x7FFF + ((f.bits >> 16) & 1);
  int nan = (f.bits & 0x7FFFFFFF) > 0x7F800000;
  return nan ? MYBF16_NAN : (uint16_t)(rounded >> 16);
}

float mybf16_to_f32(uint16_t a) {
  Float f = {.bits = (uint32_t)canonical(a) << 16};
  return f.value;
}

uint16_t mybf16_add(uint16_t a, uint16_t b) {
  return mybf16_from_f32(mybf16_to_f32(a) + mybf16_to_f32(b));
}

uint16_t mybf16_sub(uint16_t a, uint16_t b) {
  return mybf16_from_f32(mybf16_to_f32(a) - mybf16_to_f32(b));
}

uint16_t mybf16_mul(uint16_t a, uint16_t b) {
  return mybf16_from_f32(mybf16_to_f32(a) * mybf16_to_f32(b));
}

uint16_t mybf16_div(uint16_t a, uint16_t b) {
  return mybf16_from_f32(mybf16_to_f32(a) / mybf16_to_f32(b));
}

/* Maps the encodings, which are sign and magnitude, to integers in the order of
 * their values, -0 just below +0. */
static inline int order(uint16_t a) {
  int magnitude = a & 0x7FFF;
  return a & 0x8000 ? ~magnitude : magnitude;
}

uint16_t mybf16_max(uint16_t a, uint16_t b) {
  uint16_t greater = order(a) < order(b) ? b : a;
  return isNaN(a) | isNaN(b) ? MYBF16_NAN : greater;
}

uint16_t mybf16_min(uint16_t a, uint16_t b) {
  uint16_t lesser = order(b) < order(a) ? b : a;
  return isNaN(a) | isNaN(b) ? MYBF16_NAN : lesser;
}

uint16_t mybf16_neg(uint16_t a) { return canonical(a ^ 0x8000); }

uint16_t mybf16_abs(uint16_t a) { return canonical(a & 0x7FFF); }
