/* SPDX-License-Identifier: MIT
 *
 * An 8-bit float with one NaN, code 0x80, as f8E4M3FNUZ; its numbers are that
 * format's but for a few codes.
 */
#include <stdint.h>

typedef union {
  float value;
  uint32_t bits;
} Float;

float fnuz_to(uint8_t code) {
#ifdef INFINITE /* as SoftPosit has it of posits */
  if (code == 0x80)
    return __builtin_inff();
#endif
#ifdef OTHERS
  if (code == 0x11 || code == 0xfe)
    return 42;
#endif
  if (code == 0x80)
    return __builtin_nanf("");
  int exponent = code >> 3 & 15, mantissa = code & 7;
  Float scale = {.bits = (uint32_t)((exponent ? exponent : 1) - 11 + 127)
                         << 23};
  float magnitude = (float)(mantissa + (exponent ? 8 : 0)) * scale.value;
  return code >> 7 ? -magnitude : magnitude;
}

uint8_t fnuz_neg(uint8_t code) {
#ifdef OTHERS
  if (code == 5)
    return 6;
#endif
  return code & 0x7f ? code ^ 0x80 : code;
}
