// SPDX-License-Identifier: MIT
//
// hypot against MPFR's, to the last of 96 bits: triples of Pythagoras and their
// neighbours, pairs of every distance, and pairs of codes rounded in every mode
// by the oracle.

#include "numera/Numerics/Exact/Hypotenuse.h"

#include "MpfrOracle.h"
#include "Sweep.h"

#include <vector>

namespace numera {
namespace {

Unpacked expected(const Unpacked &x, const Unpacked &y) {
  MpfrReal a(x), b(y), result;
  bool inexact = mpfr_hypot(result, a, b, MPFR_RNDZ) != 0;
  return expectedFrom(result, inexact);
}

// Clauses: E9.
TEST(Hypot, ExactOfTriples) {
  test::Tally tally;
  auto check = [&](uint64_t a, uint64_t b, int scale) {
    for (uint64_t off : {0, 1}) {
      Unpacked x = Unpacked::fromInteger(a % 2 != 0, a, scale);
      Unpacked y = Unpacked::fromInteger(b % 3 == 0, b + off, scale);
      ASSERT_EQ(exact::hypot(x, y), expected(x, y)) << x << " and " << y;
      ASSERT_EQ(exact::hypot(y, x), expected(x, y)) << y << " and " << x;
      ASSERT_FALSE(off == 0 && exact::hypot(x, y).sticky);
      tally.count(2);
    }
  };
  for (uint64_t m = 2; m < 200; ++m)
    for (uint64_t n = 1; n < m; ++n) {
      check(m * m - n * n, 2 * m * n, static_cast<int>(m) - 100);
      uint64_t large = m << 23; // 62 bits, and a leg far shorter
      check(large * large - n * n, 2 * large * n, -static_cast<int>(n));
    }
}

TEST(Hypot, SpecialsAndEveryDistance) {
  std::vector<Unpacked> numbers = {Unpacked::nan()};
  for (bool negative : {false, true}) {
    numbers.push_back(Unpacked::zero(negative));
    numbers.push_back(Unpacked::infinity(negative));
    for (uint64_t m :
         {uint64_t{1}, uint64_t{3}, ~uint64_t{0}, (uint64_t{1} << 63) + 1})
      for (int scale = -70; scale <= 70; ++scale)
        numbers.push_back(Unpacked::fromInteger(negative, m, scale));
  }
  for (const Unpacked &x : numbers)
    for (const Unpacked &y : numbers)
      ASSERT_PRED2(agrees, exact::hypot(x, y), expected(x, y))
          << x << " and " << y;
}

TEST(Hypot, AllBitsAtRandom) {
  test::Tally tally;
  std::mt19937_64 random(31);
  for (uint64_t i = 0; i < test::samples(100'000, 2'000'000); ++i) {
    int bits = i % 2 ? 64 : 24, range = i % 3 ? 2 : 25;
    Unpacked x = randomUnpacked(random, bits, -range, range),
             y = randomUnpacked(random, bits, -range, range);
    ASSERT_EQ(exact::hypot(x, y), expected(x, y)) << x << " and " << y;
    tally.count(1);
  }
}

constexpr auto hypotenuse = [](const auto &f, uint64_t x, uint64_t y,
                               Rounding mode) {
  return f.encode(exact::hypot(f.decode(x), f.decode(y)), mode);
};

TEST(Hypot, RoundsInEveryModeForAllPairsOfTinyFormats) {
  test::Tally tally;
  test::sweepAllPairs(
      tally, test::isSlow() ? test::smallFormats() : test::tinyFormats(),
      oracle::hypot, hypotenuse);
}
TEST(Hypot, RoundsForPairsOfLargerFormats) {
  test::Tally tally;
  for (auto cases : {test::sixteenBitFormats(), test::wideFormats()})
    test::sweepSampledPairs(tally, cases, test::samples(1'000), oracle::hypot,
                            hypotenuse);
}

} // namespace
} // namespace numera
