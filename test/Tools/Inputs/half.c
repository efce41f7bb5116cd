/* SPDX-License-Identifier: MIT */
#include <stdint.h>

uint16_t half_from_f32(float x) { return (uint16_t)x; }
float half_to_f32(uint16_t x) { return x; }
uint16_t half_plus(uint16_t a, uint16_t b) { return (uint16_t)(a + b); }
