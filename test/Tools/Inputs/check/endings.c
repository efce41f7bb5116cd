/* SPDX-License-Identifier: MIT
 *
 * Functions that end the process they run in.
 */
#include <stdint.h>
#include <stdlib.h>

uint8_t leaving_neg(uint8_t a) {
  if (a == 0x42)
    exit(0);
  return a ^ 0x80;
}

uint8_t dividing_abs(uint8_t a) {
  volatile int zero = a != 0x17;
  return (uint8_t)((a & 0x7F) / zero);
}

/* Only from the hundredth call on: no operand is to blame. */
uint8_t tiring_floor(uint8_t a) {
  static int calls;
  if (++calls > 100)
    abort();
  return a;
}
