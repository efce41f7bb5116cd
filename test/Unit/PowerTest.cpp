// SPDX-License-Identifier: MIT
//
// pow against MPFR's: 96 bits toward zero and the ternary value are the
// significand and the sticky that Power.h promises; 16-bit formats are also
// rounded in every mode by the oracle.

#include "numera/Numerics/Elementary/Power.h"

#include "MpfrOracle.h"
#include "Sweep.h"

#include <vector>

namespace numera {
namespace {

Unpacked powOracle(const Unpacked &x, const Unpacked &y) {
  MpfrReal base(x), exponent(y), result;
  bool inexact = mpfr_pow(result, base, exponent, MPFR_RNDZ) != 0;
  return expectedFrom(result, inexact);
}

std::vector<Unpacked> interestingNumbers() {
  std::vector<Unpacked> numbers = {Unpacked::nan()};
  for (bool negative : {false, true}) {
    numbers.push_back(Unpacked::zero(negative));
    numbers.push_back(Unpacked::infinity(negative));
    for (uint64_t m : {1ull, 3ull, 5ull, 7ull, 9ull, 25ull, 81ull, 625ull,
                       6561ull, 65535ull, 1853020188851841ull})
      for (int scale : {-70, -52, -4, -3, -2, -1, 0, 1, 2, 4, 8, 70})
        numbers.push_back(Unpacked::fromInteger(negative, m, scale));
    numbers.push_back(Unpacked::fromInteger(negative, (1ull << 52) + 1, -52));
    numbers.push_back(Unpacked::fromInteger(negative, (1ull << 53) - 1, -53));
  }
  return numbers;
}

/// Specials, signs, exact powers and roots, and results beside them.
// Clauses: E3.
TEST(Power, InterestingPairs) {
  std::vector<Unpacked> numbers = interestingNumbers();
  for (const Unpacked &x : numbers)
    for (const Unpacked &y : numbers)
      ASSERT_PRED2(agrees, exact::pow(x, y), powOracle(x, y))
          << x << " to " << y;
}

/// Pairs of every length, ordinary magnitudes two times of three.
void compareRandom(uint64_t count, int bits) {
  test::Tally tally;
  std::mt19937_64 random(11 + static_cast<uint64_t>(bits));
  for (uint64_t i = 0; i < count; ++i) {
    Unpacked x = randomUnpacked(random, bits, i % 3 ? -6 : -1000, 40);
    Unpacked y = randomUnpacked(random, bits, -60, 9);
    x.negative = false;
    ASSERT_PRED2(agrees, exact::pow(x, y), powOracle(x, y)) << x << " to " << y;
    tally.count(1);
  }
}

// 10^7 pairs in the slow suite, here and below.
TEST(Power, AtRandom) {
  for (int bits : {11, 24, 53})
    compareRandom(test::samples(20'000, 1'000'000), bits);
}

template <typename F> void sweepPairs(const F &f, uint64_t count) {
  test::Tally tally;
  oracle::Oracle truth(test::describe(f));
  oracle::Result result;
  oracle::Real scratchX, scratchY;
  MpfrReal base, exponent, value;
  test::Sampler sampler(f.width(), 12);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t x = sampler.code(), y = sampler.code();
    mpfr_set(base, truth.value(x, scratchX), MPFR_RNDN);
    mpfr_set(exponent, truth.value(y, scratchY), MPFR_RNDN);
    bool inexact = mpfr_pow(value, base, exponent, MPFR_RNDZ) != 0;
    setResult(result, value, inexact);
    oracle::Place place = truth.locate(result);
    Unpacked ours = numera::exact::pow(f.decode(x), f.decode(y));
    for (Rounding mode : test::modes)
      tally.check(f.encode(ours, mode), truth.round(place, test::modeOf(mode)),
                  "pow", x, y, mode);
  }
}

TEST(Power, SixteenBitPairs) {
  uint64_t count = test::samples(10'000, 2'400'000);
  sweepPairs(FloatFormat{5, 10, 15}, count);
  sweepPairs(FloatFormat{8, 7, 127}, count);
  sweepPairs(PositFormat{{16}, 2}, count);
}

constexpr Unpacked half = Unpacked::fromInteger(false, 1, -1);
constexpr Unpacked four = Unpacked::fromInteger(false, 4);
static_assert(exact::pow(four, half).significand == 1ull << 63 &&
              !exact::pow(four, half).sticky);

} // namespace
} // namespace numera
