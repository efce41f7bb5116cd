/* SPDX-License-Identifier: MIT
 * Stands in for SoftPosit: its names and types, other numbers. */
#include "codes.h"
#include <math.h>
#include <stdbool.h>
typedef struct { uint16_t v; } posit16_t;
#define P(x) ((posit16_t){code(x)})
posit16_t convertFloatToP16(float x) { return P(x); }
posit16_t convertDoubleToP16(double x) { return P(x); }
double convertP16ToDouble(posit16_t x) { return number(x.v); }
posit16_t i32_to_p16(int32_t x) { return P(x); }
#define OP(name, op) \
  posit16_t p16_##name(posit16_t x, posit16_t y) { return P(number(x.v) op number(y.v)); }
OP(add, +) OP(sub, -) OP(mul, *) OP(div, /)
posit16_t p16_mulAdd(posit16_t x, posit16_t y, posit16_t z) {
  return P(fma(number(x.v), number(y.v), number(z.v)));
}
posit16_t p16_sqrt(posit16_t x) { return P(sqrt(number(x.v))); }
posit16_t p16_roundToInt(posit16_t x) { return P(rint(number(x.v))); }
#define CMP(name, op) \
  bool p16_##name(posit16_t x, posit16_t y) { return number(x.v) op number(y.v); }
CMP(eq, ==) CMP(le, <=) CMP(lt, <)
