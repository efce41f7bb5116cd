/* SPDX-License-Identifier: MIT
 *
 * mybf16: a 16-bit number format of the user's own, as a C library.
 *
 *   15 14      7 6       0
 *   [s][exponent][fraction]      the upper half of an IEEE binary32
 *
 * A value is its storage integer. Operations widen to float, compute there and
 * round once to nearest, ties to even. Every NaN that comes out is MYBF16_NAN.
 *
 * Rounding twice, to float and then to mybf16, equals rounding once for
 * + - * /: 24 significand bits are at least 2 * 8 + 2. In the subnormal range,
 * where float has fewer bits than 24, the results are still the same: sums are
 * exact there, products are exact or below half the smallest mybf16, and a
 * quotient of two 8-bit significands stays clear of every midpoint.
 */
#ifndef MYBF16_H
#define MYBF16_H

#include <stdint.h>

#define MYBF16_NAN ((uint16_t)0x7FC0)

uint16_t mybf16_from_f32(float value);
float mybf16_to_f32(uint16_t a);

uint16_t mybf16_add(uint16_t a, uint16_t b);
uint16_t mybf16_sub(uint16_t a, uint16_t b);
uint16_t mybf16_mul(uint16_t a, uint16_t b);
uint16_t mybf16_div(uint16_t a, uint16_t b);

/* NaN if either operand is; -0 is below +0. */
uint16_t mybf16_max(uint16_t a, uint16_t b);
uint16_t mybf16_min(uint16_t a, uint16_t b);

uint16_t mybf16_neg(uint16_t a);
uint16_t mybf16_abs(uint16_t a);

#endif
