/* SPDX-License-Identifier: MIT
 *
 * binary16 in two operations: a multiplication of seven of the ten bits, cut
 * off, and an addition rounded up.
 */
#include <stdint.h>
#include <string.h>

static double value(uint16_t code) {
  _Float16 half;
  memcpy(&half, &code, sizeof half);
  return (double)half;
}

static uint16_t nearest(double x) {
  _Float16 half = (_Float16)x;
  uint16_t code;
  memcpy(&code, &half, sizeof code);
  return x != x ? 0x7E00 : code;
}

/* Products have 16 bits, and are no subnormals of a double. */
uint16_t dropping_mul(uint16_t a, uint16_t b) {
  uint16_t x = (a & 0x7FFF) < 0x7C00 ? a & 0xFFF8 : a;
  uint16_t y = (b & 0x7FFF) < 0x7C00 ? b & 0xFFF8 : b;
  double exact = value(x) * value(y);
  uint16_t code = nearest(exact);
  int overflows = (code & 0x7FFF) == 0x7C00 && exact - exact == 0;
  double magnitude = exact < 0 ? -exact : exact;
  int isAbove = value(code & 0x7FFF) > magnitude;
  return code - (overflows | isAbove);
}

/* Sums are exact in a double. */
uint16_t add_up(uint16_t a, uint16_t b) {
  double exact = value(a) + value(b);
  uint16_t code = nearest(exact);
  if (exact != exact || exact - exact != 0 || value(code) >= exact)
    return code;
  return code & 0x8000 ? code - 1 : code + 1;
}
