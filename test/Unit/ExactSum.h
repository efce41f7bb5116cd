// SPDX-License-Identifier: MIT
//
// Sums of products by GMP's integers: codes are decoded by the oracle, summed
// as integers over one power of two, and rounded by the oracle.

#ifndef NUMERA_TEST_UNIT_EXACTSUM_H
#define NUMERA_TEST_UNIT_EXACTSUM_H

#include "Sweep.h"

#include <gmpxx.h>

namespace numera::test {

/// What a quire should hold, by other means.
class ExactSum {
public:
  explicit ExactSum(const oracle::Oracle &truth) : truth(truth) {}

  void mac(uint64_t x, uint64_t y) {
    mpfr_srcptr a = truth.value(x, scratchX), b = truth.value(y, scratchY);
    bool negative = mpfr_signbit(a) != mpfr_signbit(b);
    if (mpfr_regular_p(a) && mpfr_regular_p(b)) {
      mpz_class product;
      long scale = take(a) + takeOther(b);
      product = left * right;
      accumulate(product, scale);
    } else if (mpfr_nan_p(a) || mpfr_nan_p(b) ||
               (mpfr_inf_p(a) && mpfr_zero_p(b)) ||
               (mpfr_zero_p(a) && mpfr_inf_p(b))) {
      nan = true;
    } else if (mpfr_inf_p(a) || mpfr_inf_p(b)) {
      (negative ? minus : plus) = true;
    }
  }
  void add(uint64_t x, bool negated = false) {
    mpfr_srcptr a = truth.value(x, scratchX);
    if (mpfr_nan_p(a)) {
      nan = true;
    } else if (mpfr_inf_p(a)) {
      (bool(mpfr_signbit(a)) != negated ? minus : plus) = true;
    } else if (mpfr_regular_p(a)) {
      long scale = take(a);
      if (negated)
        left = -left;
      accumulate(left, scale);
    }
  }
  void negate() {
    sum = -sum;
    std::swap(plus, minus);
  }
  void merge(const ExactSum &other) {
    sum += other.sum;
    nan |= other.nan;
    plus |= other.plus;
    minus |= other.minus;
  }
  bool isZero() const { return !nan && !plus && !minus && sum == 0; }

  uint64_t round(Rounding mode) const {
    oracle::Result result;
    if (nan || (plus && minus))
      mpfr_set_nan(result.value);
    else if (plus || minus)
      mpfr_set_inf(result.value, plus ? 1 : -1);
    else
      result.tail =
          mpfr_set_z_2exp(result.value, sum.get_mpz_t(), base, MPFR_RNDZ) != 0;
    return truth.round(truth.locate(result), modeOf(mode));
  }

private:
  static constexpr long base = -4400; // below every product of the formats here

  long take(mpfr_srcptr x) { return mpfr_get_z_2exp(left.get_mpz_t(), x); }
  long takeOther(mpfr_srcptr x) {
    return mpfr_get_z_2exp(right.get_mpz_t(), x);
  }
  void accumulate(mpz_class &term, long scale) {
    term <<= static_cast<mp_bitcnt_t>(scale - base);
    sum += term;
  }

  const oracle::Oracle &truth;
  oracle::Real scratchX, scratchY;
  mpz_class sum, left, right;
  bool nan = false, plus = false, minus = false;
};

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_EXACTSUM_H
