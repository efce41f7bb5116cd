// SPDX-License-Identifier: MIT

#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto root = [](const auto &f, uint64_t x, Rounding mode) {
  return sqrt(f, x, mode);
};
constexpr auto referenceRoot = [](const auto &f, uint64_t x, Rounding mode) {
  return hasExactPath(f) ? reference::sqrt(f, x, mode) : sqrt(f, x, mode);
};
constexpr auto reciprocalRoot = [](const auto &f, uint64_t x, Rounding mode) {
  return rsqrt(f, x, mode);
};

void sweep(std::span<const Case> cases) {
  Tally tally;
  sweepCodes(tally, cases, samples(20'000), oracle::sqrt, root, referenceRoot);
  sweepCodes(tally, cases, samples(20'000), oracle::rsqrt, reciprocalRoot);
}

TEST(SquareRoot, IsRoundedOnceForAllCodesOfSmallFormats) {
  sweep(smallFormats());
}
TEST(SquareRoot, IsRoundedOnceForAllCodesOfSixteenBits) {
  sweep(sixteenBitFormats());
}
TEST(SquareRoot, IsRoundedOnceForWideFormats) { sweep(wideFormats()); }

// Clauses: A7.
TEST(SquareRoot, KeepsTheSignOfZero) {
  constexpr FloatFormat f{5, 10, 15};
  constexpr uint64_t minusZero = f.signBit();
  static_assert(sqrt(f, minusZero, Rounding::NearestEven) == minusZero);
  static_assert(rsqrt(f, minusZero, Rounding::NearestEven) ==
                (f.infinityCode() | minusZero));
  EXPECT_EQ(sqrt(f, minusZero, Rounding::NearestEven), minusZero);
}

TEST(SquareRoot, OfASquareIsExact) {
  for (uint64_t k = 1; k < 2000; ++k) {
    EXPECT_EQ(exact::integerSquareRoot(k * k), k);
    EXPECT_EQ(exact::integerSquareRoot(k * k - 1), k - 1);
  }
  constexpr uint64_t most = ~uint64_t{0};
  static_assert(exact::integerSquareRoot(uint128_t{most} * most) == most);
  static_assert(exact::integerSquareRoot(~uint128_t{0}) == most);
}

} // namespace
