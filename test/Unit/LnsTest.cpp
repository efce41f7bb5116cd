// SPDX-License-Identifier: MIT
//
// Logarithmic formats: codes, rounding, arithmetic and casts, held against
// LnsOracle.h.

#include "numera/Numerics/Lns.h"
#include "LnsOracle.h"
#include "Sweep.h"
#include "numera/Numerics/Compare.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

constexpr LnsFormat eightBits[] = {{1, 5}, {3, 3}, {6, 0}, {2, 4}, {4, 2}};
constexpr LnsFormat tinyLns[] = {{1, 0}, {1, 1}, {2, 2}, {1, 3}};
constexpr LnsFormat sixteenBits[] = {{5, 9}, {3, 11}, {1, 13}, {8, 6}, {11, 3}};
constexpr LnsFormat wide[] = {{8, 23}, {5, 26}, {11, 51}, {1, 61}, {8, 40}};

using Nature = LnsOracle::Nature;

LnsOracle oracleOf(const LnsFormat &f) {
  return {f.integer, f.fraction, f.width() <= 16};
}

/// The first 96 bits of a positive number, truncated.
Unpacked firstBits(mpfr_srcptr value, bool sticky) {
  Real digits(96);
  mpfr_set(digits, value, MPFR_RNDZ);
  auto exponent = static_cast<int32_t>(mpfr_get_exp(digits));
  mpfr_set_exp(digits, 64);
  uint64_t high = mpfr_get_ui(digits, MPFR_RNDZ);
  mpfr_frac(digits, digits, MPFR_RNDZ);
  mpfr_mul_2ui(digits, digits, 32, MPFR_RNDZ);
  return {.kind = Kind::Finite,
          .sticky = sticky,
          .exponent = exponent - 1,
          .significand = high,
          .tail = static_cast<uint32_t>(mpfr_get_ui(digits, MPFR_RNDZ))};
}

// Clauses: L1 L2.
TEST(Lns, CodesAreAsDocumented) {
  constexpr LnsFormat f{4, 3};
  static_assert(f.width() == 9 && f.logarithmBits() == 8);
  static_assert(f.zeroCode() == 0b0'10000'000);
  static_assert(f.nanCode() == 0b1'10000'000);
  static_assert(f.decode(0b0'00000'000).exponent == 0);
  static_assert(f.decode(0b1'00001'000).negative);
  static_assert(f.decode(0b1'00001'000).exponent == 1);
  static_assert(f.decode(0b0'11111'000).exponent == -1);
  static_assert(f.decode(f.zeroCode()).isZero() &&
                f.decode(f.nanCode()).isNaN());
  static_assert(f.maxCode() == 0b0'01111'111);
  static_assert(f.leastExponent() == -16 && f.maxExponent() == 15);
  static_assert(LnsFormat{4, 0}.leastExponent() == -15);
  // sqrt(2) and 2^(1/8), to the nearest f64.
  EXPECT_EQ(decodeTo<double>(f, 0b0'00000'100), 0x1.6a09e667f3bcdp+0);
  EXPECT_EQ(decodeTo<double>(f, 0b1'00000'001), -0x1.172b83c7d517bp+0);
}

TEST(Lns, DecodesEveryCode) {
  Tally tally;
  auto check = [&](const LnsFormat &f, const LnsOracle &truth, uint64_t code) {
    Real value(LnsOracle::precision);
    truth.value(value, code);
    Unpacked want;
    if (mpfr_nan_p(value)) {
      want = Unpacked::nan();
    } else if (!mpfr_zero_p(value)) {
      mpfr_abs(value, value, MPFR_RNDN);
      bool rational =
          (truth.logarithm(code) & ((int64_t{1} << f.fraction) - 1)) == 0;
      want = firstBits(value, !rational);
      want.negative = f.isNegative(code);
    }
    Unpacked got = f.decode(code);
    tally.check(got.significand, want.significand, "significand", code);
    tally.check(static_cast<uint64_t>(got.pack() >> 64),
                static_cast<uint64_t>(want.pack() >> 64), "rest", code);
  };
  for (auto formats : {std::span<const LnsFormat>(eightBits),
                       std::span<const LnsFormat>(sixteenBits)})
    for (const LnsFormat &f : formats) {
      LnsOracle truth = oracleOf(f);
      for (uint64_t code = 0; code < truth.count(); ++code)
        check(f, truth, code);
    }
  std::mt19937_64 random(1);
  for (const LnsFormat &f : wide) {
    LnsOracle truth = oracleOf(f);
    for (uint64_t i = 0; i < samples(1000); ++i)
      check(f, truth, random() & f.mask());
  }
}

/// Encodes a value in every mode and both signs.
void checkEncode(Tally &tally, const LnsFormat &f, const LnsOracle &truth,
                 Unpacked value, const LnsOracle::Place &place) {
  for (bool negative : {false, true}) {
    LnsOracle::Place at = place;
    at.negative = value.negative = negative;
    for (Rounding mode : modes)
      tally.check(f.encode(value, mode), truth.round(at, mode), "encode",
                  value.significand, mode);
  }
}

/// On every point of the grid and halfway: the 96 bits that stand for it, and
/// the binary fractions of 53 bits on both sides.
void checkPoint(Tally &tally, const LnsFormat &f, const LnsOracle &truth,
                int64_t half) {
  Real point(LnsOracle::precision), beside(LnsOracle::precision);
  LnsOracle::power(point, half, f.fraction + 1);
  bool rational = (half & ((int64_t{2} << f.fraction) - 1)) == 0;
  LnsOracle::Place place{.half = half, .exactly = true};
  checkEncode(tally, f, truth, firstBits(point, !rational), place);
  if (rational) { // and next to it
    place.exactly = false;
    checkEncode(tally, f, truth, firstBits(point, true), place);
  }
  for (mpfr_rnd_t towards : {MPFR_RNDD, MPFR_RNDU}) {
    Real narrow(53);
    mpfr_set(narrow, point, towards);
    if (rational && towards == MPFR_RNDU)
      mpfr_nextabove(narrow);
    if (rational && towards == MPFR_RNDD)
      mpfr_nextbelow(narrow);
    mpfr_set(beside, narrow, MPFR_RNDN); // exact
    place = truth.locate(beside, Nature::Fraction);
    checkEncode(tally, f, truth, firstBits(beside, false), place);
    checkEncode(tally, f, truth, firstBits(beside, true), place);
  }
}

// Clauses: L3 L4 L5.
TEST(Lns, RoundsBesideEveryBoundary) {
  Tally tally;
  for (auto formats : {std::span<const LnsFormat>(tinyLns),
                       std::span<const LnsFormat>(eightBits),
                       std::span<const LnsFormat>(sixteenBits)})
    for (const LnsFormat &f : formats) {
      LnsOracle truth = oracleOf(f);
      int64_t end = 2 * truth.largestLogarithm() + 5;
      int64_t step = f.width() > 8 ? 61 : 1;
      for (int64_t half = -end; half <= end; half += step)
        checkPoint(tally, f, truth, half);
    }
  std::mt19937_64 random(2);
  for (const LnsFormat &f : wide) {
    LnsOracle truth = oracleOf(f);
    for (uint64_t i = 0; i < samples(300); ++i)
      if (f.fraction <= 40) // 53 bits tell the points apart
        checkPoint(tally, f, truth, 2 * f.logarithm(random()) + (i & 1));
  }
}

TEST(Lns, RoundsDoublesAndFloats) {
  Tally tally;
  std::mt19937_64 random(3);
  auto check = [&](const LnsFormat &f, const LnsOracle &truth, double value) {
    Real exact(LnsOracle::precision);
    mpfr_set_d(exact, value, MPFR_RNDN);
    auto place = truth.locate(exact, Nature::Fraction);
    for (Rounding mode : modes)
      tally.check(encodeFrom<double>(f, value, mode), truth.round(place, mode),
                  "from f64", __builtin_bit_cast(uint64_t, value), mode);
    auto narrow = static_cast<float>(value);
    mpfr_set_flt(exact, narrow, MPFR_RNDN);
    for (Rounding mode : modes)
      tally.check(encodeFrom<float>(f, narrow, mode),
                  truth.round(exact, mode, Nature::Fraction), "from f32",
                  __builtin_bit_cast(uint32_t, narrow), mode);
  };
  for (auto formats : {std::span<const LnsFormat>(eightBits),
                       std::span<const LnsFormat>(sixteenBits),
                       std::span<const LnsFormat>(wide)})
    for (const LnsFormat &f : formats) {
      LnsOracle truth = oracleOf(f);
      for (double value :
           {0.0, 1.0, -2.0, 0x1p-1074, 0x1p-1022, HUGE_VAL, std::nan(""),
            0x1.fffffffffffffp1023, 0x1.0000000000001p0})
        check(f, truth, value);
      for (uint64_t i = 0; i < samples(1000); ++i) {
        uint64_t bits = random();
        if (i % 2 == 0) // exponents of every format's range
          bits = (bits & ~(uint64_t{0x7ff} << 52)) | (1023 - 20 + random() % 40)
                                                         << 52;
        check(f, truth, __builtin_bit_cast(double, bits));
      }
    }
}

// ---- arithmetic
// --------------------------------------------------------------

using MpfrBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// Zero where a difference or remainder of irrational numbers comes out as
/// their error.
void settle(mpfr_ptr result, mpfr_srcptr scale) {
  if (!mpfr_zero_p(result) && mpfr_number_p(result) && mpfr_regular_p(scale) &&
      mpfr_get_exp(result) < mpfr_get_exp(scale) - 200)
    mpfr_set_zero(result, 1);
}
int remainder(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t mode) {
  mpfr_fmod(result, x, y, mode);
  if (!mpfr_regular_p(result) || mpfr_cmpabs(x, y) < 0)
    return 0;
  // Just below y is zero too.
  Real left(mpfr_get_prec(result));
  mpfr_abs(left, result, mode);
  mpfr_sub(left, left, y, mode);
  if (mpfr_signbit(y) != 0) {
    mpfr_abs(left, result, mode);
    mpfr_add(left, left, y, mode);
  }
  settle(left, y);
  settle(result, y);
  if (mpfr_zero_p(left))
    mpfr_set_zero(result, 1);
  return 0;
}
int sum(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t mode) {
  mpfr_add(result, x, y, mode);
  settle(result, x);
  return 0;
}
int difference(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t mode) {
  mpfr_sub(result, x, y, mode);
  settle(result, x);
  return 0;
}

/// Enough for the sum of the largest product and the least number.
mpfr_prec_t precisionOf(const LnsFormat &f) {
  return LnsOracle::precision + (f.integer > 5 ? 4 << f.integer : 0);
}

struct BinaryCase {
  const char *name;
  uint64_t (*ours)(const LnsFormat &, uint64_t, uint64_t, RoundingMode);
  MpfrBinary truth;
};
constexpr BinaryCase binaryCases[] = {
    {"add", numera::add<LnsFormat>, sum},
    {"sub", numera::sub<LnsFormat>, difference},
    {"mul", numera::mul<LnsFormat>, mpfr_mul},
    {"div", numera::div<LnsFormat>, mpfr_div},
    {"rem", numera::rem<LnsFormat>, remainder},
};

void checkPair(Tally &tally, const BinaryCase &c, const LnsFormat &f,
               const LnsOracle &truth, uint64_t x, uint64_t y) {
  auto precision = precisionOf(f);
  Real a(precision), b(precision), result(precision);
  truth.value(a, x);
  truth.value(b, y);
  c.truth(result, a, b, MPFR_RNDN);
  auto place = truth.locate(result);
  for (Rounding mode : modes)
    tally.check(c.ours(f, x, y, mode), truth.round(place, mode), c.name, x, y,
                mode);
}

// Slow tests try every format of eight bits.
// Clauses: L6 L7 L8.
TEST(Lns, ArithmeticOfAllPairsOfEightBits) {
  Tally tally;
  auto quick = std::span<const LnsFormat>(eightBits).first(samples(2, 2) + 1);
  for (auto formats : {std::span<const LnsFormat>(tinyLns), quick})
    for (const LnsFormat &f : formats) {
      LnsOracle truth = oracleOf(f);
      for (const BinaryCase &c : binaryCases)
        for (uint64_t x = 0; x < truth.count(); ++x)
          for (uint64_t y = 0; y < truth.count(); ++y)
            checkPair(tally, c, f, truth, x, y);
    }
}

TEST(Lns, ArithmeticOfPairsOfLongFormats) {
  Tally tally;
  std::mt19937_64 random(4);
  for (auto formats : {std::span<const LnsFormat>(sixteenBits),
                       std::span<const LnsFormat>(wide)})
    for (const LnsFormat &f : formats) {
      LnsOracle truth = oracleOf(f);
      for (const BinaryCase &c : binaryCases)
        for (uint64_t i = 0; i < samples(f.integer > 8 ? 40 : 600); ++i) {
          uint64_t x = random() & f.mask(), y = random() & f.mask();
          if (i % 2 == 0) { // logarithms close to each other
            int64_t distance = static_cast<int64_t>(random()) >>
                               (64 - 1 - random() % unsigned(f.fraction + 3));
            y = truth.codeOf(random() & 1, f.logarithm(x) + distance);
          }
          checkPair(tally, c, f, truth, x, y);
        }
    }
}

TEST(Lns, SumsThatAreExact) {
  for (const LnsFormat &f :
       {LnsFormat{3, 3}, LnsFormat{8, 23}, LnsFormat{4, 50}})
    for (Rounding mode : modes) {
      auto one = static_cast<int64_t>(uint64_t{1} << f.fraction);
      for (int64_t k : {int64_t{1}, int64_t{0}, -one / 2, 2 * one + 1}) {
        uint64_t x = f.codeOf(false, k), twice = f.codeOf(false, k + one);
        EXPECT_EQ(f.add(x, x, mode), twice);
        EXPECT_EQ(f.sub(twice, x, mode), x);
        EXPECT_EQ(f.sub(x, twice, mode), f.negate(x));
        EXPECT_EQ(f.sub(x, x, mode), f.zeroCode());
        EXPECT_EQ(f.fma(x, f.codeOf(true, 0), twice, mode), x);
      }
    }
}

// Clauses: L8.
TEST(Lns, FusedMultiplyAddOfAllTriplesOfSixBits) {
  Tally tally;
  for (const LnsFormat &f :
       {LnsFormat{1, 3}, LnsFormat{2, 2}, LnsFormat{4, 0}}) {
    LnsOracle truth = oracleOf(f);
    Real a(LnsOracle::precision), b(LnsOracle::precision),
        c(LnsOracle::precision), result(LnsOracle::precision);
    for (uint64_t x = 0; x < truth.count(); ++x)
      for (uint64_t y = 0; y < truth.count(); ++y)
        for (uint64_t z = 0; z < truth.count(); ++z) {
          truth.value(a, x);
          truth.value(b, y);
          truth.value(c, z);
          mpfr_fma(result, a, b, c, MPFR_RNDN);
          settle(result, c);
          auto place = truth.locate(result);
          for (Rounding mode : modes)
            tally.check(f.fma(x, y, z, mode), truth.round(place, mode), "fma",
                        x, y, z, mode);
        }
  }
}

TEST(Lns, FusedMultiplyAddOfLongFormats) {
  Tally tally;
  std::mt19937_64 random(5);
  for (const LnsFormat &f : wide) {
    LnsOracle truth = oracleOf(f);
    Real a(precisionOf(f)), b(precisionOf(f)), c(precisionOf(f)),
        result(precisionOf(f));
    for (uint64_t i = 0; i < samples(f.integer > 8 ? 40 : 600); ++i) {
      uint64_t x = random() & f.mask(), y = random() & f.mask(),
               z = random() & f.mask();
      if (i % 2 == 0) // z near the product, beyond the range or not
        z = f.mul(x, y, Rounding::NearestEven) ^ (random() & 255);
      truth.value(a, x);
      truth.value(b, y);
      truth.value(c, z);
      mpfr_fma(result, a, b, c, MPFR_RNDN);
      settle(result, c);
      auto place = truth.locate(result);
      for (Rounding mode : modes)
        tally.check(f.fma(x, y, z, mode), truth.round(place, mode), "fma", x, y,
                    z, mode);
    }
  }
}

// The proof behind lns::isAlwaysDecided: f64 decides every sum.
TEST(Lns, QuickSumsDecideAllDistancesUpToSixteenFractionBits) {
  uint64_t undecided = 0, tried = 0;
  for (int32_t fraction = 0; fraction <= 16; ++fraction) {
    ASSERT_TRUE(lns::isAlwaysDecided({1, fraction}));
    // Beyond 60 binades a sum is its larger term.
    int64_t end = int64_t{60} << fraction;
    for (int64_t distance = 1; distance <= end; ++distance)
      for (bool isDifference : {false, true}) {
        ++tried;
        undecided +=
            !lns::logarithmOfSum(distance, fraction, isDifference).decided;
      }
    for (int64_t distance = end; distance > 0 && distance < int64_t{1} << 42;
         distance *= 3)
      for (bool isDifference : {false, true})
        EXPECT_EQ(lns::logarithmOfSum(distance, fraction, isDifference).step,
                  0);
  }
  EXPECT_EQ(undecided, 0u) << "of " << tried;
  EXPECT_FALSE(lns::isAlwaysDecided({1, 17}));
}

// ---- what is exact
// -----------------------------------------------------------

TEST(Lns, ComparesOrdersAndNegates) {
  Tally tally;
  for (const LnsFormat &f : {LnsFormat{3, 3}, LnsFormat{1, 0}}) {
    LnsOracle truth = oracleOf(f);
    Real a(LnsOracle::precision), b(LnsOracle::precision);
    for (uint64_t x = 0; x < truth.count(); ++x) {
      truth.value(a, x);
      mpfr_neg(b, a, MPFR_RNDN);
      tally.check(neg(f, x), truth.round(b, Rounding::NearestEven), "neg", x);
      mpfr_abs(b, a, MPFR_RNDN);
      tally.check(numera::abs(f, x), truth.round(b, Rounding::NearestEven),
                  "abs", x);
      for (uint64_t y = 0; y < truth.count(); ++y) {
        truth.value(b, y);
        bool unordered = mpfr_nan_p(a) || mpfr_nan_p(b);
        int order = unordered ? 0 : mpfr_cmp(a, b);
        tally.check(relation(f, x, y),
                    unordered    ? 8
                    : order == 0 ? 1
                    : order > 0  ? 2
                                 : 4,
                    "cmp", x, y);
        uint64_t nan = truth.nan();
        tally.check(numera::min(f, x, y),
                    unordered   ? nan
                    : order < 0 ? x
                                : y,
                    "min", x, y);
        tally.check(numera::max(f, x, y),
                    unordered   ? nan
                    : order > 0 ? x
                                : y,
                    "max", x, y);
        uint64_t number = mpfr_nan_p(a) ? y : x;
        tally.check(minnum(f, x, y),
                    unordered   ? number
                    : order < 0 ? x
                                : y,
                    "minnum", x, y);
        tally.check(maxnum(f, x, y),
                    unordered   ? number
                    : order > 0 ? x
                                : y,
                    "maxnum", x, y);
      }
    }
  }
}

// Clauses: L13.
TEST(Lns, TruncatesTheLogarithmTowardZero) {
  constexpr LnsFormat f{3, 2};
  static_assert(f.truncate(f.codeOf(true, 7), 2) == f.codeOf(true, 4));
  static_assert(f.truncate(f.codeOf(false, -7), 2) == f.codeOf(false, -8));
  static_assert(f.truncate(f.codeOf(false, -31), 3) == f.zeroCode());
  static_assert(f.truncate(f.codeOf(true, -31), 5) == f.zeroCode());
  static_assert(f.truncate(f.codeOf(false, 31), 60) == f.codeOfOne());
  static_assert(f.truncate(f.zeroCode(), 3) == f.zeroCode());
  EXPECT_EQ(f.truncate(f.nanCode(), 63), f.nanCode());
}

// ---- casts
// -------------------------------------------------------------------

// Clauses: L9.
TEST(Lns, CastsAmongLogarithmicFormats) {
  Tally tally;
  for (const LnsFormat &from :
       {LnsFormat{3, 3}, LnsFormat{4, 6}, LnsFormat{2, 9}})
    for (const LnsFormat &to :
         {LnsFormat{3, 2}, LnsFormat{3, 3}, LnsFormat{2, 8}, LnsFormat{5, 26},
          LnsFormat{6, 55}}) {
      LnsOracle source = oracleOf(from), truth = oracleOf(to);
      Real value(LnsOracle::precision);
      for (uint64_t x = 0; x < source.count(); ++x) {
        source.value(value, x);
        auto place = truth.locate(value);
        for (Rounding mode : modes)
          tally.check(cast(to, from, x, mode), truth.round(place, mode), "cast",
                      x, mode);
      }
    }
}

TEST(Lns, CastsToFloatsPositsAndIntegers) {
  Tally tally;
  const Case results[] = {{"f32", binary32},
                          {"bf16", FloatFormat{8, 7, 127}},
                          {"posit8", PositFormat{8, 2}}};
  for (const LnsFormat &f :
       {LnsFormat{3, 3}, LnsFormat{8, 6}, LnsFormat{4, 10}}) {
    LnsOracle source = oracleOf(f);
    Real value(LnsOracle::precision);
    for (const Case &result : results)
      std::visit(
          [&](auto to) {
            oracle::Oracle truth(describe(to));
            oracle::Result exact(truth.precision());
            for (uint64_t x = 0; x < source.count(); ++x) {
              source.value(value, x);
              exact.tail = mpfr_set(exact.value, value, MPFR_RNDZ) != 0;
              auto place = truth.locate(exact);
              for (Rounding mode : modes)
                tally.check(cast(to, f, x, mode),
                            truth.round(place, modeOf(mode)), result.name, x,
                            mode);
              if (std::string(result.name) == "f32")
                tally.check(__builtin_bit_cast(uint32_t, decodeTo<float>(f, x)),
                            truth.round(place, oracle::Mode::NearestEven),
                            "decode", x);
            }
          },
          result.format);
    for (uint64_t x = 0; x < source.count(); ++x) {
      source.value(value, x);
      for (int width : {8, 32, 64})
        for (bool isSigned : {false, true})
          tally.check(toInteger(f, x, width, isSigned),
                      oracle::toInteger(value, width, isSigned), "to integer",
                      x);
    }
  }
}

// ---- stochastic rounding
// -----------------------------------------------------

/// How many of the 2^bits draws round away from zero.
template <typename Round>
uint64_t countAway(uint64_t inward, int32_t bits, Round round) {
  uint64_t away = 0;
  for (uint32_t draw = 0; draw >> bits == 0; ++draw)
    away += round(RoundingMode(Rounding::Stochastic, bits, draw)) != inward;
  return away;
}

// Clauses: L3 L5.
TEST(Lns, StochasticRoundingTakesTheShareOfTheLogarithm) {
  Tally tally;
  std::mt19937_64 random(6);
  Real exact(LnsOracle::precision), share(LnsOracle::precision);
  for (const LnsFormat &f :
       {LnsFormat{3, 3}, LnsFormat{5, 9}, LnsFormat{8, 23}, LnsFormat{3, 50}}) {
    LnsOracle truth = oracleOf(f);
    for (uint64_t i = 0; i < samples(100); ++i) {
      double value = std::ldexp(1 + static_cast<double>(random()) * 0x1p-64,
                                static_cast<int>(random() % 24) - 12);
      mpfr_set_d(exact, i % 2 ? value : -value, MPFR_RNDN);
      uint64_t inward =
          truth.round(exact, Rounding::TowardZero, Nature::Fraction);
      mpfr_abs(share, exact, MPFR_RNDN);
      mpfr_log2(share, share, MPFR_RNDN);
      mpfr_mul_2si(share, share, f.fraction, MPFR_RNDN);
      bool below = mpfr_cmp_si(share, -truth.largestLogarithm()) < 0;
      if (mpfr_cmp_si(share, truth.largestLogarithm()) > 0)
        continue;  // saturates
      if (below) { // the share of the least power, in value
        LnsOracle::power(share, -truth.largestLogarithm(), f.fraction);
        mpfr_div(share, exact, share, MPFR_RNDN);
        mpfr_abs(share, share, MPFR_RNDN);
      } else {
        Real floor(LnsOracle::precision);
        mpfr_floor(floor, share);
        mpfr_sub(share, share, floor, MPFR_RNDN);
      }
      for (int32_t bits = 1; bits <= 8; ++bits) {
        Real scaled(LnsOracle::precision);
        mpfr_mul_2si(scaled, share, bits, MPFR_RNDN);
        uint64_t away = countAway(inward, bits, [&](RoundingMode mode) {
          return encodeFrom<double>(f, mpfr_get_d(exact, MPFR_RNDN), mode);
        });
        tally.check(away, mpfr_get_ui(scaled, MPFR_RNDD), "away", i, below);
      }
    }
  }
}

TEST(Lns, StochasticRoundingOfOwnOperations) {
  constexpr LnsFormat f{3, 3};
  for (int32_t bits = 1; bits <= 8; ++bits) {
    uint64_t all = uint64_t{1} << bits;
    // A root of an odd logarithm is a tie.
    uint64_t low = f.codeOf(false, 2);
    EXPECT_EQ(countAway(low, bits,
                        [&](RoundingMode mode) {
                          return f.sqrt(f.codeOf(false, 5), mode);
                        }),
              all / 2);
    // The least power over 4, and over 2^9.
    uint64_t least = f.codeOf(false, -63);
    for (int64_t down : {2, 7}) {
      uint64_t divisor = f.codeOf(false, 8 * down);
      EXPECT_EQ(countAway(f.zeroCode(), bits,
                          [&](RoundingMode mode) {
                            return f.div(least, divisor, mode);
                          }),
                all >> down);
    }
    // Exact results never move.
    for (uint64_t x = 0; x < 64; ++x)
      EXPECT_EQ(countAway(x, bits,
                          [&](RoundingMode mode) {
                            return f.mul(x, f.codeOfOne(), mode);
                          }),
                0u);
  }
}

} // namespace
