/* SPDX-License-Identifier: MIT
 *
 * An IEEE float of EXPONENT and MANTISSA bits, by the definition: the value is
 * scaled by a power of two so that a unit of the last place is 1, and rounded
 * to an integer there. Computed in CARRIER.
 */
#include <stdint.h>

#define WIDTH (1 + EXPONENT + MANTISSA)
#define BIAS ((1 << (EXPONENT - 1)) - 1)
#define INFINITE ((CODE)((1u << (EXPONENT + MANTISSA)) - (1u << MANTISSA)))
#define SIGN ((CODE)1 << (WIDTH - 1))

typedef union {
  double value;
  uint64_t bits;
} Double;

static double power(int exponent) {
  Double d = {.bits = (uint64_t)(1023 + exponent) << 52};
  return d.value;
}

/* The magnitude as an integer of last places, and the exponent of those. */
static double rounded(double x, int *unit) {
  Double d = {.value = x};
  int exponent = (int)(d.bits >> 52 & 0x7ff) - 1023;
  if (exponent < 1 - BIAS)
    exponent = 1 - BIAS;
  *unit = exponent - MANTISSA;
  double places = __builtin_fabs(x) * power(-*unit);
  return (places + 0x1p52) - 0x1p52; /* ties to even */
}

CODE small_from(CARRIER number) {
  double x = number;
  if (x != x)
    return INFINITE | (CODE)1 << (MANTISSA - 1);
  CODE sign = __builtin_signbit(x) ? SIGN : 0;
  if (__builtin_fabs(x) >= power(BIAS + 1))
    return sign | INFINITE;
  int unit;
  uint64_t places = (uint64_t)rounded(x, &unit);
  /* A carry out of the significand is one of the exponent. */
  uint64_t exponent = (uint64_t)(unit + MANTISSA + BIAS - 1);
  return sign | (CODE)((exponent << MANTISSA) + places);
}

CARRIER small_to(CODE code) {
  int exponent = code >> MANTISSA & ((1 << EXPONENT) - 1);
  double places = code & (((CODE)1 << MANTISSA) - 1);
  double x;
  if (exponent == (1 << EXPONENT) - 1)
    x = places != 0 ? __builtin_nan("") : __builtin_inf();
  else if (exponent == 0)
    x = places * power(1 - BIAS - MANTISSA);
  else
    x = (places + power(MANTISSA)) * power(exponent - BIAS - MANTISSA);
  return (CARRIER)(code & SIGN && x == x ? -x : x);
}

CARRIER small_round(CARRIER number) {
  double x = number;
  if (x != x)
    return (CARRIER)__builtin_nan("");
  int unit;
  double magnitude = rounded(x, &unit) * power(unit);
  if (magnitude >= power(BIAS + 1))
    magnitude = __builtin_inf();
  return (CARRIER)__builtin_copysign(magnitude, x);
}

CODE small_add(CODE x, CODE y) { return small_from(small_to(x) + small_to(y)); }
CODE small_sub(CODE x, CODE y) { return small_from(small_to(x) - small_to(y)); }
CODE small_mul(CODE x, CODE y) { return small_from(small_to(x) * small_to(y)); }
CODE small_div(CODE x, CODE y) { return small_from(small_to(x) / small_to(y)); }
CODE small_neg(CODE x) {
  CARRIER number = small_to(x);
  return number != number ? small_from(number) : x ^ SIGN;
}
