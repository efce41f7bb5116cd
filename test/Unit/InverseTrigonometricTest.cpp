// SPDX-License-Identifier: MIT
//
// atan2 against MPFR's: 96 bits toward zero and the ternary value are the
// significand and the sticky that InverseTrigonometric.h promises, in every
// quadrant, with every pair of specials, and where y/x is next to a number.
// Pairs of codes are also rounded in every mode by the oracle. Functions of one
// operand are in ElementaryTest.cpp.

#include "numera/Numerics/Elementary/InverseTrigonometric.h"

#include "MpfrOracle.h"
#include "Sweep.h"

#include <vector>

namespace numera {
namespace {

Unpacked expected(const Unpacked &y, const Unpacked &x) {
  MpfrReal a(y), b(x), result;
  bool inexact = mpfr_atan2(result, a, b, MPFR_RNDZ) != 0;
  return expectedFrom(result, inexact);
}

/// Quotients are short, or have a remainder that shows after 128 bits, and
/// distances go from those that cancel to those beyond all exponents.
// Clauses: E8.
TEST(Atan2, InterestingPairs) {
  std::vector<Unpacked> numbers = {Unpacked::nan()};
  for (bool negative : {false, true}) {
    numbers.push_back(Unpacked::zero(negative));
    numbers.push_back(Unpacked::infinity(negative));
    for (uint64_t m :
         {uint64_t{1}, uint64_t{3}, uint64_t{4}, uint64_t{5}, uint64_t{65535},
          ~uint64_t{0}, (uint64_t{1} << 63) + 1, uint64_t{0xaaaaaaaaaaaaaaab}})
      for (int scale :
           {-500'000, -1000, -129, -100, -81, -80, -70,  -64,    -63,
            -62,      -52,   -40,  -32,  -4,  -3,  -2,   -1,     0,
            1,        2,     3,    8,    70,  129, 1000, 500'000})
        numbers.push_back(Unpacked::fromInteger(negative, m, scale));
  }
  for (const Unpacked &y : numbers)
    for (const Unpacked &x : numbers)
      ASSERT_PRED2(agrees, exact::atan2(y, x), expected(y, x))
          << y << " and " << x;
}

TEST(Atan2, AtRandom) {
  test::Tally tally;
  std::mt19937_64 random(29);
  for (int bits : {11, 24, 53, 64})
    for (uint64_t i = 0; i < test::samples(20'000, 1'000'000); ++i) {
      int range = i % 3 ? 2 : 70;
      Unpacked y = randomUnpacked(random, bits, -range, range),
               x = randomUnpacked(random, bits, -range, range);
      ASSERT_PRED2(agrees, exact::atan2(y, x), expected(y, x))
          << y << " and " << x;
      tally.count(1);
    }
}

constexpr auto angle = [](const auto &f, uint64_t y, uint64_t x,
                          Rounding mode) {
  return f.encode(exact::atan2(f.decode(y), f.decode(x)), mode);
};

TEST(Atan2, RoundsInEveryModeForAllPairsOfTinyFormats) {
  test::Tally tally;
  test::sweepAllPairs(
      tally, test::isSlow() ? test::smallFormats() : test::tinyFormats(),
      oracle::atan2, angle);
}
TEST(Atan2, RoundsForPairsOfLargerFormats) {
  test::Tally tally;
  for (auto cases : {test::sixteenBitFormats(), test::wideFormats()})
    test::sweepSampledPairs(tally, cases, test::samples(1'000), oracle::atan2,
                            angle);
}

} // namespace
} // namespace numera
