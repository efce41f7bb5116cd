/* SPDX-License-Identifier: MIT
 *
 * The casts of a bf16, for the libraries beside it.
 */
#include <stdint.h>
#include <stdlib.h>

typedef union {
  float value;
  uint32_t bits;
} Number;

float b_to(uint16_t code) {
  Number f = {.bits = (uint32_t)code << 16};
  return f.value;
}
uint16_t b_from(float x) {
  Number f = {.value = x};
  if (x != x)
    return 0x7fc0;
  return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}
