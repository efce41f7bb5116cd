// SPDX-License-Identifier: MIT
//
// Irrational results: MPFR's numbers as the Unpacked they should be, and as
// what the oracle rounds.

#ifndef NUMERA_TEST_UNIT_MPFRORACLE_H
#define NUMERA_TEST_UNIT_MPFRORACLE_H

#include "Oracle.h"
#include "numera/Numerics/Core/Wide.h"

#include <mpfr.h>

#include <ostream>
#include <random>

namespace numera {

inline bool operator==(const Unpacked &a, const Unpacked &b) {
  return a.pack() == b.pack();
}
inline std::ostream &operator<<(std::ostream &out, const Unpacked &value) {
  const char *kinds[] = {"zero", "finite", "infinite", "NaN"};
  out << (value.negative ? "-" : "+") << kinds[static_cast<int>(value.kind)];
  if (value.isFinite())
    out << " 0x" << std::hex << value.significand << std::dec << " * 2^("
        << value.exponent << " - 63)" << (value.sticky ? " and more" : "");
  return out;
}

/// An MPFR number of 96 bits, unless said otherwise.
class MpfrReal {
public:
  explicit MpfrReal(mpfr_prec_t precision = 96) {
    mpfr_init2(value, precision);
  }
  explicit MpfrReal(const Unpacked &from) : MpfrReal() {
    int sign = from.negative ? -1 : 1;
    switch (from.kind) {
    case Kind::NaN:
      return;
    case Kind::Zero:
      mpfr_set_zero(value, sign);
      return;
    case Kind::Infinite:
      mpfr_set_inf(value, sign);
      return;
    case Kind::Finite:
      mpfr_set_ui_2exp(value, from.significand, from.exponent - 63, MPFR_RNDZ);
      mpfr_setsign(value, value, from.negative, MPFR_RNDZ);
    }
  }
  MpfrReal(const MpfrReal &) = delete;
  MpfrReal &operator=(const MpfrReal &) = delete;
  ~MpfrReal() { mpfr_clear(value); }
  operator mpfr_ptr() { return value; }

private:
  mpfr_t value;
};

/// MPFR's result, of 96 bits, as the Unpacked it should be.
inline Unpacked expectedFrom(mpfr_srcptr result, bool inexact) {
  bool negative = mpfr_signbit(result) != 0;
  if (mpfr_nan_p(result))
    return Unpacked::nan();
  if (mpfr_inf_p(result) && !inexact)
    return Unpacked::infinity(negative);
  if (mpfr_zero_p(result) && !inexact)
    return Unpacked::zero(negative);
  // Toward zero, an overflow gives the largest number, an underflow zero.
  long exponent = mpfr_zero_p(result) ? -(1L << 30) : mpfr_get_exp(result) - 1;
  if (exponent > exact::exponentLimit || exponent < -exact::exponentLimit)
    return exact::outOfRange(negative, exponent > 0);
  MpfrReal scaled, high; // the significand as an integer, and its tail
  mpfr_abs(scaled, result, MPFR_RNDZ);
  mpfr_set_exp(scaled, 64);
  mpfr_trunc(high, scaled);
  mpfr_sub(scaled, scaled, high, MPFR_RNDZ);
  mpfr_mul_2ui(scaled, scaled, 32, MPFR_RNDZ);
  return {.kind = Kind::Finite,
          .negative = negative,
          .sticky = inexact,
          .exponent = static_cast<int32_t>(exponent),
          .significand = mpfr_get_ui(high, MPFR_RNDZ),
          .tail = static_cast<uint32_t>(mpfr_get_ui(scaled, MPFR_RNDZ))};
}

/// True if `ours` has the sign, the first 64 bits and the inexactness of the
/// expected result: all that rounding to 62 bits or less may look at, unless it
/// is stochastic. The tail may be off: where results crowd around a short
/// number (exp of a tiny x, say) it is all zeros or all ones.
inline bool agrees(const Unpacked &ours, const Unpacked &expected) {
  auto rest = [](const Unpacked &x) { return x.sticky || x.tail != 0; };
  return ours.kind == expected.kind && ours.negative == expected.negative &&
         ours.exponent == expected.exponent &&
         ours.significand == expected.significand &&
         rest(ours) == rest(expected);
}

/// The oracle's form of a result of MPFR's, cut toward zero.
inline void setResult(oracle::Result &result, mpfr_srcptr value, bool inexact) {
  mpfr_set(result.value, value, MPFR_RNDZ);
  result.tail = inexact;
  result.cancelled = result.pole = false;
  if (inexact && mpfr_zero_p(result.value)) // below MPFR's own range
    mpfr_set_si_2exp(result.value, mpfr_signbit(value) ? -1 : 1, -1'000'000,
                     MPFR_RNDZ);
}

inline Unpacked randomUnpacked(std::mt19937_64 &random, int bits, int low,
                               int high) {
  std::uniform_int_distribution<int32_t> exponent(low, high);
  uint64_t significand = random() | uint64_t{1} << 63;
  return {.kind = Kind::Finite,
          .negative = (random() & 1) != 0,
          .exponent = exponent(random),
          .significand = significand & (~uint64_t{0} << (64 - bits))};
}

} // namespace numera

#endif // NUMERA_TEST_UNIT_MPFRORACLE_H
