/* SPDX-License-Identifier: MIT
 *
 * bfloat16 in plain C: the upper half of an IEEE binary32. The names are those
 * of the example in TVM's RFC on custom datatypes. A value travels as its bits.
 */
#include <stdint.h>
#include <string.h>

/* Rounds to nearest, ties to even. The carry may run into the exponent, and
 * from the largest finite value into infinity. */
uint16_t FloatToBFloat16_wrapper(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FC0; /* NaN: its payload may lie in the half that is cut off */
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float BFloat16ToFloat_wrapper(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* 24 bits are at least 2 * 8 + 2, so that rounding the sum to float first does
 * not change the result (Figueroa 1995). */
uint16_t BFloat16Add_wrapper(uint16_t a, uint16_t b) {
  return FloatToBFloat16_wrapper(BFloat16ToFloat_wrapper(a) +
                                 BFloat16ToFloat_wrapper(b));
}
