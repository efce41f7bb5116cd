/* SPDX-License-Identifier: MIT
 *
 * Numbers of 12 bits, the upper ones of a binary16: no right arithmetic, but
 * what laws can tell of it.
 */
#include <stdint.h>

typedef _Float16 Half;
typedef union {
  uint16_t bits;
  Half value;
} Bits;

static Half value(uint16_t code) {
  return ((Bits){.bits = (uint16_t)(code << 4)}).value;
}
static uint16_t cut(Half x) { return ((Bits){.value = x}).bits >> 4; }

float nibbles_to_f32(uint16_t a) { return (float)value(a); }
/* Toward zero, and with the four bits that are none of the format's. */
uint16_t nibbles_from_f32(float x) {
  uint16_t code = cut((Half)x);
  return x != x ? 0xF7E0 : code | 0xF000;
}
/* Not commutative: the second operand loses a bit. */
uint16_t nibbles_add(uint16_t a, uint16_t b) {
  return cut(value(a) + value(b & 0xFFE));
}
uint16_t nibbles_mul(uint16_t a, uint16_t b) { return cut(value(a) * value(b)); }
uint16_t nibbles_neg(uint16_t a) { return a ^ 0x800; }
uint8_t nibbles_less(uint16_t a, uint16_t b) { return value(a) < value(b); }
uint8_t nibbles_equal(uint16_t a, uint16_t b) { return a == b; }
uint8_t nibbles_greater(uint16_t a, uint16_t b) { return value(a) > value(b); }
