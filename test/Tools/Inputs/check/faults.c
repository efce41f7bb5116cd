/* SPDX-License-Identifier: MIT
 *
 * bfloat16 with a fault in each function, for `numera check` to name.
 */
#include <stdint.h>
#include <string.h>

static float value(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

static uint16_t rounded(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FC0;
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Cuts off where it should round. */
uint16_t truncating_add(uint16_t a, uint16_t b) {
  float sum = value(a) + value(b);
  uint32_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return sum != sum ? 0x7FC0 : (uint16_t)(bits >> 16);
}

/* Knows no subnormal results. */
uint16_t flushing_mul(uint16_t a, uint16_t b) {
  uint16_t product = rounded(value(a) * value(b));
  return (product & 0x7F80) == 0 ? product & 0x8000 : product;
}

/* Forgets that there is a -0. */
uint16_t unsigned_zero_neg(uint16_t a) {
  return (a & 0x7FFF) == 0                  ? 0
         : (a & 0x7FFF) > 0x7F80 ? 0x7FC0 : a ^ 0x8000;
}

uint16_t swapped_sub(uint16_t a, uint16_t b) {
  return rounded(value(b) - value(a));
}

/* Takes NaN for a number, and 0 / 0 for an infinity. */
uint16_t infinite_div(uint16_t a, uint16_t b) {
  uint16_t quotient = rounded(value(a) / value(b));
  return quotient == 0x7FC0 ? 0x7F80 : quotient;
}

uint16_t endless_sqrt(uint16_t a) {
  volatile int turns = 1;
  while (a == 0x4049 && turns)
    turns = 1;
  return rounded(__builtin_sqrtf(value(a)));
}

uint16_t crashing_abs(uint16_t a) {
  if (a == 0xBF80)
    *(volatile int *)0 = 1;
  return (a & 0x7FFF) > 0x7F80 ? 0x7FC0 : a & 0x7FFF;
}

/* Another operand wins now and then. */
uint16_t unsteady_max(uint16_t a, uint16_t b) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  if ((a & 0x7FFF) > 0x7F80 || (b & 0x7FFF) > 0x7F80)
    return 0x7FC0;
  return (value(a) > value(b)) != (state >> 31 != 0) ? a : b;
}

/* Right, but for the NaN it gives. */
uint16_t payload_floor(uint16_t a) {
  return (a & 0x7FFF) > 0x7F80 ? a : rounded(__builtin_floorf(value(a)));
}

/* Takes its operand where Windows has it. */
__attribute__((ms_abi)) uint16_t foreign_ceil(uint16_t a) {
  return rounded(__builtin_ceilf(value(a)));
}

/* Ends the program where it does not like its operand. */
uint16_t aborting_ceil(uint16_t a) {
  if ((a & 0x7FFF) > 0x7F80)
    __builtin_abort();
  return rounded(__builtin_ceilf(value(a)));
}

uint8_t greater(uint16_t a, uint16_t b) { return value(a) >= value(b); }
