/* SPDX-License-Identifier: MIT
 *
 * bf16 by integers, as such libraries have it. ONCE is a number that is rounded
 * wrongly, if it is defined.
 */
#include <stdint.h>
#include <stdlib.h>

typedef union {
  float value;
  uint32_t bits;
} Number;

float my_round(float x) {
  Number f = {.value = x};
  if (x != x)
    return __builtin_nanf("");
#ifdef ONCE
  if (f.bits == ONCE)
    return 0;
#endif
#ifdef CRASHES
  if (f.bits == CRASHES)
    abort();
#endif
  f.bits = (f.bits + 0x7fff + (f.bits >> 16 & 1)) & 0xffff0000;
  return f.value;
}
uint16_t my_from(float x) {
  Number f = {.value = x};
  if (x != x)
    return 0x7fc0;
  return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}
float my_to(uint16_t code) {
  Number f = {.bits = (uint32_t)code << 16};
  return f.value;
}
uint16_t my_add(uint16_t x, uint16_t y) { return my_from(my_to(x) + my_to(y)); }
uint16_t my_mul(uint16_t x, uint16_t y) { return my_from(my_to(x) * my_to(y)); }
