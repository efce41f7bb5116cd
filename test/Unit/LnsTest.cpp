// SPDX-License-Identifier: MIT
//
// Logarithmic formats: codes, order and rounding, held against LnsOracle.h.

#include "numera/Numerics/Formats/Lns.h"
#include "LnsSamples.h"
#include "Sweep.h"
#include "numera/Numerics/Exact/Compare.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

using Nature = LnsOracle::Nature;

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

} // namespace
