/* SPDX-License-Identifier: MIT
 *
 * Crashes when it is loaded.
 */
#include <stdint.h>
#include <stdlib.h>

__attribute__((constructor)) static void fail(void) { abort(); }

uint16_t harmless_neg(uint16_t a) { return a ^ 0x8000; }
