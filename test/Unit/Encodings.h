// SPDX-License-Identifier: MIT
//
// Decoding and rounding by themselves: every code, and values on and beside
// every point where a rounding changes its answer.

#ifndef NUMERA_TEST_UNIT_ENCODINGS_H
#define NUMERA_TEST_UNIT_ENCODINGS_H

#include "Sweep.h"

namespace numera::test {

using int128_t = __int128;

/// The number an Unpacked stands for, by its own definition.
inline void valueOf(const Unpacked &x, oracle::Result &result) {
  result.tail = x.isFinite() && x.sticky;
  int sign = x.negative ? -1 : 1;
  switch (x.kind) {
  case Kind::NaN:
    return mpfr_set_nan(result.value);
  case Kind::Infinite:
    return mpfr_set_inf(result.value, sign);
  case Kind::Zero:
    return mpfr_set_zero(result.value, sign);
  case Kind::Finite:
    mpfr_set_ui_2exp(result.value, x.significand, 32, MPFR_RNDN);
    mpfr_add_ui(result.value, result.value, x.tail, MPFR_RNDN);
    mpfr_mul_2si(result.value, result.value, x.exponent - 95, MPFR_RNDN);
    mpfr_setsign(result.value, result.value, x.negative, MPFR_RNDN);
  }
}

/// A positive number of at most 96 significant bits as an Unpacked.
inline Unpacked unpackedOf(mpfr_srcptr value) {
  oracle::Real scaled, high;
  mpfr_exp_t exponent = mpfr_get_exp(value); // value = 0.1fff * 2^exponent
  mpfr_mul_2si(scaled, value, 64 - exponent, MPFR_RNDN);
  mpfr_trunc(high, scaled);
  mpfr_sub(scaled, scaled, high, MPFR_RNDN);
  mpfr_mul_2ui(scaled, scaled, 32, MPFR_RNDN);
  return {.kind = Kind::Finite,
          .exponent = static_cast<int32_t>(exponent - 1),
          .significand = mpfr_get_ui(high, MPFR_RNDN),
          .tail = static_cast<uint32_t>(mpfr_get_ui(scaled, MPFR_RNDN))};
}

/// The next number of 96 bits above a finite x, or below it.
inline Unpacked beside(const Unpacked &x, int step) {
  auto magnitude = static_cast<uint128_t>(x.significand) << 32 | x.tail;
  magnitude += static_cast<uint128_t>(static_cast<int128_t>(step));
  if (magnitude >> 95 == 0) // below the binade: all ones
    return {.kind = Kind::Finite,
            .exponent = x.exponent - 1,
            .significand = ~uint64_t{0},
            .tail = ~uint32_t{0}};
  return {.kind = Kind::Finite,
          .exponent = x.exponent,
          .significand = static_cast<uint64_t>(magnitude >> 32),
          .tail = static_cast<uint32_t>(magnitude)};
}

inline bool same(mpfr_srcptr a, mpfr_srcptr b) {
  if (mpfr_nan_p(a) || mpfr_nan_p(b))
    return mpfr_nan_p(a) && mpfr_nan_p(b);
  return mpfr_equal_p(a, b) && mpfr_signbit(a) == mpfr_signbit(b);
}

/// Decodes `code` and encodes the result in every mode.
template <typename F>
void checkCode(Tally &tally, const char *name, const F &f,
               const oracle::Oracle &truth, uint64_t code) {
  oracle::Real scratch;
  oracle::Result decoded;
  mpfr_srcptr value = truth.value(code, scratch);
  Unpacked ours = f.decode(code);
  valueOf(ours, decoded);
  tally.check(same(value, decoded.value), 1, name, " decode", code);
  oracle::Place place = truth.locate(value);
  for (Rounding mode : modes)
    tally.check(f.encode(ours, mode), truth.round(place, modeOf(mode)), name,
                " encode(decode)", code, mode);
}

/// Rounds the boundary above a magnitude, that magnitude and the least and most
/// that lies beside them, with and without a tail, in both signs.
template <typename F>
void checkBoundary(Tally &tally, const char *name, const F &f,
                   const oracle::Oracle &truth, uint64_t magnitude) {
  oracle::Real point;
  oracle::Result result;
  auto check = [&](Unpacked x) {
    for (int variant = 0; variant < 4; ++variant) {
      x.negative = variant & 1;
      x.sticky = variant & 2;
      valueOf(x, result);
      oracle::Place place = truth.locate(result);
      for (Rounding mode : modes)
        tally.check(f.encode(x, mode), truth.round(place, modeOf(mode)), name,
                    " boundary above", magnitude, variant, mode);
    }
  };
  auto around = [&] {
    if (mpfr_zero_p(point))
      return;
    Unpacked x = unpackedOf(point);
    check(x);
    check(beside(x, 1));
    check(beside(x, -1));
  };
  truth.boundary(magnitude, point);
  around();
  if (magnitude == 0)
    return;
  truth.decode(magnitude, point);
  around();
}

template <typename F>
void checkEncodings(Tally &tally, const char *name, const F &f,
                    uint64_t count) {
  oracle::Oracle truth(describe(f));
  EXPECT_EQ(truth.largest(), f.maxCode()) << name;
  EXPECT_EQ(truth.canonicalNaN(), f.nanCode()) << name;
  EXPECT_EQ(truth.mask(), f.mask()) << name;
  if (f.width() <= 16) {
    for (uint64_t code = 0; code <= f.mask(); ++code)
      checkCode(tally, name, f, truth, code);
    uint64_t step = f.width() > 8 ? 3 : 1; // odd: both parities
    for (uint64_t code = 0; code <= f.maxCode(); code += step)
      checkBoundary(tally, name, f, truth, code);
    checkBoundary(tally, name, f, truth, f.maxCode());
    return;
  }
  Sampler sampler(f.width(), count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t code = sampler.code();
    checkCode(tally, name, f, truth, code);
    uint64_t magnitude = f.absolute(code);
    if (magnitude <= f.maxCode())
      checkBoundary(tally, name, f, truth, magnitude);
  }
  checkBoundary(tally, name, f, truth, f.maxCode());
}

/// The formats of family F among `cases`.
template <typename F>
void sweepEncodings(Tally &tally, std::span<const Case> cases,
                    uint64_t count = 0) {
  for (const Case &c : cases)
    if (const F *f = std::get_if<F>(&c.format))
      checkEncodings(tally, c.name, *f, count);
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_ENCODINGS_H
