/* SPDX-License-Identifier: MIT
 * Arithmetic of the stand-ins: a code of 16 bits is the upper half of an f32. */
#ifndef CODES_H
#define CODES_H
#include <stdint.h>
#include <string.h>
static inline float number(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static inline uint16_t code(double value) {
  float x = (float)value;
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return (uint16_t)(bits >> 16);
}
#endif
