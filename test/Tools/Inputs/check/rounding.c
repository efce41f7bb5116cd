/* SPDX-License-Identifier: MIT
 *
 * bf16 with a product that is cut off, and a rounding that gives one wrong
 * number and passes NaNs on.
 */
#include <stdint.h>

typedef union {
  float value;
  uint32_t bits;
} Float;

static uint32_t rounded(uint32_t bits) {
  return bits + 0x7fff + (bits >> 16 & 1);
}

uint16_t my_from(float x) {
  Float f = {.value = x};
  return x != x ? 0x7fc0 : (uint16_t)(rounded(f.bits) >> 16);
}

float my_to(uint16_t code) {
  Float f = {.bits = (uint32_t)code << 16};
  return f.value;
}

uint16_t my_add(uint16_t x, uint16_t y) { return my_from(my_to(x) + my_to(y)); }

uint16_t my_mul(uint16_t x, uint16_t y) {
  Float f = {.value = my_to(x) * my_to(y)};
  return f.value != f.value ? 0x7fc0 : (uint16_t)(f.bits >> 16);
}

float my_round(float x) {
  Float f = {.value = x};
  if (x == 1.0f)
    return 2.0f;
  if (x == x)
    f.bits = rounded(f.bits) & 0xffff0000;
  return f.value;
}
