/* SPDX-License-Identifier: MIT
 *
 * bfloat16 in 32 bits, as libraries that simulate formats keep numbers.
 */
#include <stdint.h>
#include <string.h>

uint32_t w_from(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return x != x ? 0x7fc00000 : (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
}
float w_to(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
uint32_t w_add(uint32_t x, uint32_t y) {
  return w_from(w_to(x) + w_to(y));
}
