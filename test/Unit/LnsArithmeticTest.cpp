// SPDX-License-Identifier: MIT
//
// The arithmetic of logarithmic formats, held against MPFR.

#include "LnsSamples.h"
#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

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

/// x y + z in every mode.
class FusedCheck {
public:
  FusedCheck(Tally &tally, const LnsFormat &f)
      : tally(tally), f(f), truth(oracleOf(f)), a(precisionOf(f)),
        b(precisionOf(f)), c(precisionOf(f)), result(precisionOf(f)) {}

  uint64_t count() const { return truth.count(); }

  void operator()(uint64_t x, uint64_t y, uint64_t z) {
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

private:
  Tally &tally;
  const LnsFormat f;
  LnsOracle truth;
  Real a, b, c, result;
};

// Clauses: L8.
TEST(Lns, FusedMultiplyAddOfAllTriplesOfSixBits) {
  Tally tally;
  const uint64_t step = isLong() ? 1 : 3; // a third of them in the quick suite
  for (const LnsFormat &f :
       {LnsFormat{1, 3}, LnsFormat{2, 2}, LnsFormat{4, 0}}) {
    FusedCheck check(tally, f);
    for (uint64_t x = 0; x < check.count(); ++x)
      for (uint64_t y = 0; y < check.count(); ++y)
        for (uint64_t z = (x + y) % step; z < check.count(); z += step)
          check(x, y, z);
  }
}

TEST(Lns, FusedMultiplyAddOfLongFormats) {
  Tally tally;
  std::mt19937_64 random(5);
  for (const LnsFormat &f : wide) {
    FusedCheck check(tally, f);
    for (uint64_t i = 0; i < samples(f.integer > 8 ? 40 : 600); ++i) {
      uint64_t x = random() & f.mask(), y = random() & f.mask(),
               z = random() & f.mask();
      if (i % 2 == 0) // z near the product, beyond the range or not
        z = f.mul(x, y, Rounding::NearestEven) ^ (random() & 255);
      check(x, y, z);
    }
  }
}

// The proof behind lns::isAlwaysDecided: f64 decides every sum.
TEST(Lns, FastSumsDecideAllDistancesUpToSixteenFractionBits) {
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

} // namespace
