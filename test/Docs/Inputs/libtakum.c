/* SPDX-License-Identifier: MIT
 * Stands in for libtakum: its names and types, other numbers. */
#include "codes.h"
#include <math.h>
typedef int16_t takum_linear16;
#define IN(x) number((uint16_t)(x))
#define OUT(x) ((takum_linear16)code(x))
takum_linear16 takum_linear16_from_float64(double x) { return OUT(x); }
double takum_linear16_to_float64(takum_linear16 x) { return IN(x); }
#define OP(name, op) \
  takum_linear16 takum_linear16_##name(takum_linear16 x, takum_linear16 y) { return OUT(IN(x) op IN(y)); }
OP(addition, +) OP(subtraction, -) OP(multiplication, *) OP(division, /)
takum_linear16 takum_linear16_square_root(takum_linear16 x) { return OUT(sqrt(IN(x))); }
takum_linear16 takum_linear16_absolute(takum_linear16 x) { return OUT(fabs(IN(x))); }
