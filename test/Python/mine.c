/* SPDX-License-Identifier: MIT
 *
 * The upper half of a float, rounded toward zero.
 */
#include <stdint.h>
#include <string.h>

uint16_t mine_from_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return value != value ? 0x7fc0 : (uint16_t)(bits >> 16);
}

float mine_to_f32(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

uint16_t mine_add(uint16_t x, uint16_t y) {
  return mine_from_f32(mine_to_f32(x) + mine_to_f32(y));
}

uint16_t other_mul(uint16_t x, uint16_t y) {
  return mine_from_f32(mine_to_f32(x) * mine_to_f32(y));
}
