// SPDX-License-Identifier: MIT
//
// The operations of the oracle: MPFR's, cut toward zero, with the ternary value
// as the tail. MPFR follows IEEE 754 for infinities, NaN and signed zeros;
// where it does not, a line below says so.

#include "Oracle.h"

namespace oracle {

void add(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  result.pole = false;
  result.tail = mpfr_add(result.value, x, y, MPFR_RNDZ) != 0;
  result.cancelled =
      mpfr_zero_p(result.value) && mpfr_signbit(x) != mpfr_signbit(y);
}

void sub(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  result.pole = false;
  result.tail = mpfr_sub(result.value, x, y, MPFR_RNDZ) != 0;
  result.cancelled =
      mpfr_zero_p(result.value) && mpfr_signbit(x) == mpfr_signbit(y);
}

void fma(Result &result, mpfr_srcptr x, mpfr_srcptr y, mpfr_srcptr z) {
  result.pole = false;
  result.tail = mpfr_fma(result.value, x, y, z, MPFR_RNDZ) != 0;
  bool negativeProduct = (mpfr_signbit(x) != 0) != (mpfr_signbit(y) != 0);
  result.cancelled =
      mpfr_zero_p(result.value) && negativeProduct != (mpfr_signbit(z) != 0);
}

static void finish(Result &result, int ternary) {
  result.tail = ternary != 0;
  result.cancelled = false;
  result.pole = false;
}

void mul(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_mul(result.value, x, y, MPFR_RNDZ));
}
void div(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_div(result.value, x, y, MPFR_RNDZ));
  result.pole = mpfr_zero_p(y) != 0;
}
void rem(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_fmod(result.value, x, y, MPFR_RNDZ));
}
void atan2(Result &result, mpfr_srcptr y, mpfr_srcptr x) {
  finish(result, mpfr_atan2(result.value, y, x, MPFR_RNDZ));
}
void hypot(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_hypot(result.value, x, y, MPFR_RNDZ));
}
void copysign(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  bool negative = mpfr_signbit(y) != 0 && !mpfr_nan_p(y);
  finish(result, mpfr_setsign(result.value, x, negative, MPFR_RNDZ));
}
void sqrt(Result &result, mpfr_srcptr x) {
  finish(result, mpfr_sqrt(result.value, x, MPFR_RNDZ));
}
void rsqrt(Result &result, mpfr_srcptr x) {
  finish(result, mpfr_rec_sqrt(result.value, x, MPFR_RNDZ));
  result.pole = mpfr_zero_p(x) != 0;
  if (result.pole) // IEEE 754-2019, 9.2: the sign of zero; MPFR's is +
    mpfr_set_inf(result.value, mpfr_signbit(x) ? -1 : 1);
}
void neg(Result &result, mpfr_srcptr x) {
  finish(result, mpfr_neg(result.value, x, MPFR_RNDZ));
}
void abs(Result &result, mpfr_srcptr x) {
  finish(result, mpfr_abs(result.value, x, MPFR_RNDZ));
}

// The ternary value of these says that x is no integer: the integral value
// itself is the exact result.
void floor(Result &result, mpfr_srcptr x) {
  mpfr_floor(result.value, x);
  finish(result, 0);
}
void ceil(Result &result, mpfr_srcptr x) {
  mpfr_ceil(result.value, x);
  finish(result, 0);
}
void trunc(Result &result, mpfr_srcptr x) {
  mpfr_trunc(result.value, x);
  finish(result, 0);
}
void round(Result &result, mpfr_srcptr x) {
  mpfr_round(result.value, x);
  finish(result, 0);
}
void roundeven(Result &result, mpfr_srcptr x) {
  mpfr_roundeven(result.value, x);
  finish(result, 0);
}

// MPFR's min and max return the number, and order -0 below +0.
void minnum(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_min(result.value, x, y, MPFR_RNDZ));
}
void maxnum(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  finish(result, mpfr_max(result.value, x, y, MPFR_RNDZ));
}
void min(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  minnum(result, x, y);
  if (mpfr_nan_p(x) || mpfr_nan_p(y))
    mpfr_set_nan(result.value);
}
void max(Result &result, mpfr_srcptr x, mpfr_srcptr y) {
  maxnum(result, x, y);
  if (mpfr_nan_p(x) || mpfr_nan_p(y))
    mpfr_set_nan(result.value);
}

int relation(const Format &format, mpfr_srcptr x, mpfr_srcptr y) {
  if (mpfr_nan_p(x) || mpfr_nan_p(y)) {
    if (!format.isTapered())
      return 8;
    if (mpfr_nan_p(x) && mpfr_nan_p(y))
      return 1;
    return mpfr_nan_p(x) ? 4 : 2;
  }
  int order = mpfr_cmp(x, y);
  return order == 0 ? 1 : order > 0 ? 2 : 4;
}

uint64_t toInteger(mpfr_srcptr x, int width, bool isSigned) {
  if (mpfr_nan_p(x))
    return 0;
  Real least, most, whole;
  if (isSigned)
    mpfr_set_si_2exp(least, -1, width - 1, MPFR_RNDN);
  mpfr_set_ui_2exp(most, 1, isSigned ? width - 1 : width, MPFR_RNDN);
  mpfr_sub_ui(most, most, 1, MPFR_RNDN);
  mpfr_trunc(whole, x);
  mpfr_max(whole, whole, least, MPFR_RNDN);
  mpfr_min(whole, whole, most, MPFR_RNDN);
  uint64_t mask = ~uint64_t{0} >> (64 - width);
  uint64_t bits = mpfr_signbit(whole)
                      ? static_cast<uint64_t>(mpfr_get_si(whole, MPFR_RNDN))
                      : mpfr_get_ui(whole, MPFR_RNDN);
  return bits & mask;
}

} // namespace oracle
