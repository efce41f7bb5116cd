// SPDX-License-Identifier: MIT
//
// The functions of logarithmic formats, held against MPFR.

#include "LnsOracle.h"
#include "Sweep.h"
#include "numera/Numerics/Formats/Lns.h"

using namespace numera;
using namespace numera::test;

namespace {

using MpfrUnary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Unary = uint64_t (LnsFormat::*)(uint64_t, RoundingMode) const;

/// A result that rounds to ±1 at MPFR's precision, and lies below it.
int belowOne(mpfr_ptr result, int inexact) {
  if (inexact != 0 && mpfr_cmpabs_ui(result, 1) == 0)
    mpfr_sgn(result) > 0 ? mpfr_nextbelow(result) : mpfr_nextabove(result);
  return inexact;
}
int tanh(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  return belowOne(result, mpfr_tanh(result, x, mode));
}
int erf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  return belowOne(result, mpfr_erf(result, x, mode));
}
int expm1(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  return belowOne(result, mpfr_expm1(result, x, mode));
}
int sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_neg(result, x, mode);
  mpfr_exp(result, result, mode);
  mpfr_add_ui(result, result, 1, mode);
  mpfr_ui_div(result, 1, result, mode);
  return mpfr_nan_p(x) ? 0 : belowOne(result, !mpfr_zero_p(x));
}
/// The same of 2, and of 1 from above.
int erfc(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  int inexact = mpfr_erfc(result, x, mode);
  if (inexact != 0 && mpfr_cmp_ui(result, 2) == 0)
    mpfr_nextbelow(result);
  return inexact;
}
int cosh(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  int inexact = mpfr_cosh(result, x, mode);
  if (inexact != 0 && mpfr_cmp_ui(result, 1) == 0)
    mpfr_nextabove(result);
  return inexact;
}
template <int (*toInteger)(mpfr_ptr, mpfr_srcptr)>
int integral(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t) {
  return toInteger(result, x);
}
int ceil(mpfr_ptr result, mpfr_srcptr x) { return mpfr_ceil(result, x); }
int floor(mpfr_ptr result, mpfr_srcptr x) { return mpfr_floor(result, x); }
int trunc(mpfr_ptr result, mpfr_srcptr x) { return mpfr_trunc(result, x); }
int round(mpfr_ptr result, mpfr_srcptr x) { return mpfr_round(result, x); }
int roundeven(mpfr_ptr result, mpfr_srcptr x) {
  return mpfr_roundeven(result, x);
}

using Nature = LnsOracle::Nature;

struct UnaryCase {
  const char *name;
  Unary ours;
  MpfrUnary truth;
  Nature nature;
};
constexpr Nature algebraic = Nature::Algebraic, fraction = Nature::Fraction,
                 transcendental = Nature::Transcendental;
constexpr UnaryCase unaryCases[] = {
    {"sqrt", &LnsFormat::sqrt, mpfr_sqrt, algebraic},
    {"rsqrt", &LnsFormat::rsqrt, mpfr_rec_sqrt, algebraic},
    {"cbrt", &LnsFormat::cbrt, mpfr_cbrt, algebraic},
    {"exp", &LnsFormat::exp, mpfr_exp, transcendental},
    {"exp2", &LnsFormat::exp2, mpfr_exp2, algebraic},
    {"expm1", &LnsFormat::expm1, expm1, transcendental},
    {"log", &LnsFormat::log, mpfr_log, transcendental},
    {"log2", &LnsFormat::log2, mpfr_log2, algebraic},
    {"log10", &LnsFormat::log10, mpfr_log10, transcendental},
    {"log1p", &LnsFormat::log1p, mpfr_log1p, transcendental},
    {"sin", &LnsFormat::sin, mpfr_sin, transcendental},
    {"cos", &LnsFormat::cos, mpfr_cos, transcendental},
    {"tan", &LnsFormat::tan, mpfr_tan, transcendental},
    {"asin", &LnsFormat::asin, mpfr_asin, transcendental},
    {"acos", &LnsFormat::acos, mpfr_acos, transcendental},
    {"atan", &LnsFormat::atan, mpfr_atan, transcendental},
    {"sinh", &LnsFormat::sinh, mpfr_sinh, transcendental},
    {"cosh", &LnsFormat::cosh, cosh, transcendental},
    {"tanh", &LnsFormat::tanh, tanh, transcendental},
    {"asinh", &LnsFormat::asinh, mpfr_asinh, transcendental},
    {"acosh", &LnsFormat::acosh, mpfr_acosh, transcendental},
    {"atanh", &LnsFormat::atanh, mpfr_atanh, transcendental},
    {"erf", &LnsFormat::erf, erf, transcendental},
    {"erfc", &LnsFormat::erfc, erfc, transcendental},
    {"sigmoid", &LnsFormat::sigmoid, sigmoid, transcendental},
    {"floor", &LnsFormat::floor, integral<floor>, fraction},
    {"ceil", &LnsFormat::ceil, integral<ceil>, fraction},
    {"trunc", &LnsFormat::trunc, integral<trunc>, fraction},
    {"round", &LnsFormat::round, integral<round>, fraction},
    {"roundeven", &LnsFormat::roundeven, integral<roundeven>, fraction},
};

/// Where f(x) lies. MPFR works with as many digits as tell x from sin x, and
/// what stands behind the point of x.
LnsOracle::Place placeOf(const UnaryCase &c, const LnsFormat &f,
                         const LnsOracle &truth, uint64_t x) {
  int64_t exponent = f.isSpecial(x) ? 0 : truth.logarithm(x) >> f.fraction;
  mpfr_prec_t precision =
      LnsOracle::precision + 3 * (exponent < 0 ? -exponent : exponent);
  Real value(precision), result(precision);
  truth.value(value, x);
  int inexact = c.truth(result, value, MPFR_RNDN);
  // 2^x is no power of the grid, nor halfway, unless x is an integer there.
  bool isStep = f.isPowerOfTwo(x) && exponent >= -(f.fraction + 1);
  Nature nature = c.truth == mpfr_exp2 && !isStep ? transcendental : c.nature;
  if (mpfr_zero_p(value) || (c.truth == mpfr_log && x == f.codeOfOne()))
    nature = fraction;
  // Beyond MPFR's range, not infinite.
  bool isPole = mpfr_inf_p(result) && (mpfr_zero_p(value) || inexact == 0);
  if (mpfr_inf_p(result) && !isPole)
    return {.half = 2 * truth.largestLogarithm() + 1,
            .negative = mpfr_signbit(result) != 0};
  if (mpfr_zero_p(result) && inexact != 0 && c.nature != fraction)
    return {.half = -2 * truth.largestLogarithm() - 1};
  return truth.locate(result, nature);
}

void checkUnary(Tally &tally, const UnaryCase &c, const LnsFormat &f,
                const LnsOracle &truth, uint64_t x) {
  LnsOracle::Place place = placeOf(c, f, truth, x);
  for (Rounding mode : modes)
    tally.check((f.*c.ours)(x, mode), truth.round(place, mode), c.name, x,
                mode);
}

// Clauses: L7 L10 L11 L12.
TEST(LnsFunctions, AllCodesOfShortFormats) {
  Tally tally;
  for (const LnsFormat &f :
       {LnsFormat{1, 0}, LnsFormat{1, 5}, LnsFormat{3, 3}, LnsFormat{4, 6},
        LnsFormat{6, 2}, LnsFormat{9, 1}, LnsFormat{10, 0}}) {
    LnsOracle truth(f.integer, f.fraction, true);
    // In the quick suite a fifth of those of more than nine bits.
    uint64_t step = truth.count() > 512 && !isLong() ? 5 : 1;
    for (const UnaryCase &c : unaryCases)
      for (uint64_t x = 0; x < truth.count(); x += step)
        checkUnary(tally, c, f, truth, x);
  }
}

// Slow tests try every code, the quick suite a quarter of the others.
TEST(LnsFunctions, CodesOfSixteenBits) {
  Tally tally;
  for (const LnsFormat &f :
       {LnsFormat{5, 9}, LnsFormat{1, 13}, LnsFormat{3, 11}, LnsFormat{8, 6},
        LnsFormat{11, 3}}) {
    LnsOracle truth(f.integer, f.fraction, true);
    uint64_t step = f.integer > 8 ? 367 : 61;
    step = isSlow() ? 1 : isLong() ? step : 4 * step + 1;
    for (const UnaryCase &c : unaryCases)
      for (uint64_t x = 0; x < truth.count(); x += step)
        checkUnary(tally, c, f, truth, x);
  }
}

TEST(LnsFunctions, CodesOfLongFormats) {
  Tally tally;
  std::mt19937_64 random(7);
  for (const LnsFormat &f : {LnsFormat{8, 23}, LnsFormat{11, 51},
                             LnsFormat{1, 61}, LnsFormat{4, 40}}) {
    LnsOracle truth(f.integer, f.fraction, false);
    for (const UnaryCase &c : unaryCases)
      for (uint64_t i = 0; i < samples(60); ++i) {
        uint64_t x = random() & f.mask();
        // Half of them near 1, where results are in range.
        if (i % 2 == 0)
          x = truth.codeOf(x & 1, truth.logarithm(x) >> (f.integer / 2 + 1));
        checkUnary(tally, c, f, truth, x);
      }
  }
}

// ---- pow
// ---------------------------------------------------------------------

TEST(LnsFunctions, PowerOfAllPairsOfEightBits) {
  Tally tally;
  for (const LnsFormat &f :
       {LnsFormat{1, 3}, LnsFormat{2, 4}, LnsFormat{3, 3}, LnsFormat{6, 0}}) {
    LnsOracle truth(f.integer, f.fraction, true);
    Real a(LnsOracle::precision), b(LnsOracle::precision),
        result(LnsOracle::precision);
    for (uint64_t x = 0; x < truth.count(); ++x)
      for (uint64_t y = 0; y < truth.count(); ++y) {
        truth.value(a, x);
        truth.value(b, y);
        int inexact = mpfr_pow(result, a, b, MPFR_RNDN);
        LnsOracle::Place place = truth.locate(result);
        bool isPole = mpfr_zero_p(a) != 0;
        if (!isPole &&
            (mpfr_inf_p(result) || (mpfr_zero_p(result) && inexact != 0))) {
          place = {.half = (2 * truth.largestLogarithm() + 1) *
                           (mpfr_inf_p(result) ? 1 : -1)};
          place.negative = mpfr_signbit(result) != 0;
        }
        for (Rounding mode : modes)
          tally.check(f.pow(x, y, mode), truth.round(place, mode), "pow", x, y,
                      mode);
      }
  }
}

// ---- two operands
// -------------------------------------------------------------

using MpfrBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
using Binary = uint64_t (LnsFormat::*)(uint64_t, uint64_t, RoundingMode) const;

/// Pairs of codes, with as many digits as tell y/x from its arc tangent, and
/// the root of a sum from the larger operand.
void checkPairs(Tally &tally, const char *name, const LnsFormat &f,
                const LnsOracle &truth, Binary ours, MpfrBinary exact,
                Nature nature, uint64_t x, uint64_t y) {
  int64_t distance = 0;
  if (!f.isSpecial(x) && !f.isSpecial(y))
    distance = (truth.logarithm(x) - truth.logarithm(y)) >> f.fraction;
  mpfr_prec_t precision =
      LnsOracle::precision + 3 * (distance < 0 ? -distance : distance);
  Real a(precision), b(precision), result(precision);
  truth.value(a, x);
  truth.value(b, y);
  exact(result, a, b, MPFR_RNDN);
  LnsOracle::Place place = truth.locate(result, nature);
  for (Rounding mode : modes)
    tally.check((f.*ours)(x, y, mode), truth.round(place, mode), name, x, y,
                mode);
}

TEST(LnsFunctions, AnglesAndHypotenusesOfPairs) {
  Tally tally;
  auto check = [&](const LnsFormat &f, const LnsOracle &truth, uint64_t x,
                   uint64_t y) {
    checkPairs(tally, "atan2", f, truth, &LnsFormat::atan2, mpfr_atan2,
               transcendental, x, y);
    checkPairs(tally, "hypot", f, truth, &LnsFormat::hypot, mpfr_hypot,
               algebraic, x, y);
  };
  for (const LnsFormat &f :
       {LnsFormat{1, 3}, LnsFormat{2, 3}, LnsFormat{5, 0}}) {
    LnsOracle truth(f.integer, f.fraction, true);
    for (uint64_t x = 0; x < truth.count(); ++x)
      for (uint64_t y = 0; y < truth.count(); ++y)
        check(f, truth, x, y);
  }
  std::mt19937_64 random(9);
  for (const LnsFormat &f : {LnsFormat{5, 9}, LnsFormat{8, 23},
                             LnsFormat{1, 61}, LnsFormat{11, 51}}) {
    LnsOracle truth(f.integer, f.fraction, false);
    for (uint64_t i = 0; i < samples(300); ++i) {
      uint64_t x = random() & f.mask(), y = random() & f.mask();
      if (i % 2 == 0) // beside one another, or far apart
        y = truth.codeOf(y & 1, truth.logarithm(x) / (i % 4 ? 2 : 1));
      check(f, truth, x, y);
    }
  }
}

// fmod of numbers far apart: 2^d - floor(2^d) for d up to 2^12.
TEST(LnsFunctions, RemainderOfNumbersFarApart) {
  Tally tally;
  std::mt19937_64 random(8);
  for (const LnsFormat &f :
       {LnsFormat{11, 3}, LnsFormat{9, 20}, LnsFormat{11, 51}}) {
    LnsOracle truth(f.integer, f.fraction, false);
    for (uint64_t i = 0; i < samples(60); ++i) {
      uint64_t x = random() & f.mask(), y = random() & f.mask();
      if (f.isSpecial(x) || f.isSpecial(y))
        continue;
      Real a(LnsOracle::precision + 8400), b(LnsOracle::precision + 8400),
          result(LnsOracle::precision + 8400);
      truth.value(a, x);
      truth.value(b, y);
      int64_t distance = truth.logarithm(x) - truth.logarithm(y);
      if (distance >= 0 && distance % (int64_t{1} << f.fraction) == 0)
        continue; // exactly zero, which MPFR's error hides
      mpfr_fmod(result, a, b, MPFR_RNDN);
      auto place = truth.locate(result);
      for (Rounding mode : modes)
        tally.check(f.rem(x, y, mode), truth.round(place, mode), "rem", x, y,
                    mode);
    }
  }
}

} // namespace
