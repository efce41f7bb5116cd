/* SPDX-License-Identifier: MIT
 *
 * Functions that have the names of others, in C's library and in libdevice.
 */
#include <stdint.h>
float sqrtf(float x) { return x + 1; }
float fabsf(float x) { return x * 3; }
float fmaxf(float x, float y) { return x - y; }
float expf(float x) { return x * x; }
float __nv_tanhf(float x) { return x + 2; }
float __nv_logf(float x) { return x - 4; }
uint16_t abs(uint16_t x, uint16_t y) { return x + y; }
uint16_t memcmp(uint16_t x, uint16_t y) { return x ^ y; }
uint16_t __nv_fabsf(float x) { return (uint16_t)(int)(x * 2); }
float strlen(uint16_t x) { return (float)x / 4; }
