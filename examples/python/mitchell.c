/* SPDX-License-Identifier: MIT
 * bf16 with Mitchell's product: codes are added, as if they were logarithms. */
#include <stdint.h>
#include <string.h>

float mitchell_to_f32(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint16_t mitchell_from_f32(float value) { /* to nearest, ties to even */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

uint16_t mitchell_mul(uint16_t x, uint16_t y) {
  int32_t sum = (x & 0x7fff) + (y & 0x7fff) - 0x3f80; /* less the code of 1 */
  if ((x & 0x7fff) < 0x80 || (y & 0x7fff) < 0x80 || sum < 0)
    sum = 0; /* zeros, and what is too small */
  return (x ^ y) & 0x8000 | (sum > 0x7f7f ? 0x7f7f : sum);
}
