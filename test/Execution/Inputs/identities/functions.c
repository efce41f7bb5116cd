/* SPDX-License-Identifier: MIT
 *
 * bf16 whose library gives the codes of some numbers itself; so that it shows
 * where they are used, its lowest number is -2 and its one is 1.5.
 */
#include <stdint.h>
#include <stdlib.h>

typedef union {
  float value;
  uint32_t bits;
} Number;

uint16_t my_from(float x) {
  Number f = {.value = x};
  if (x != x)
    return 0x7fc0;
  return (uint16_t)((f.bits + 0x7fff + (f.bits >> 16 & 1)) >> 16);
}
float my_to(uint16_t code) {
  Number f = {.bits = (uint32_t)code << 16};
  return f.value;
}
uint16_t my_add(uint16_t x, uint16_t y) { return my_from(my_to(x) + my_to(y)); }
uint16_t my_max(uint16_t x, uint16_t y) { return my_to(x) < my_to(y) ? y : x; }

uint16_t my_lowest(void) { return 0xc000; }
static uint16_t table[] = {0x3fc0};
uint16_t my_one(void) { return table[0]; }
uint16_t aborting(void) { abort(); }
uint16_t unsteady(void) { return ++table[0]; }
