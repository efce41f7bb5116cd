// SPDX-License-Identifier: MIT

#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto sum = [](const auto &f, uint64_t x, uint64_t y, Rounding mode) {
  return add(f, x, y, mode);
};
constexpr auto referenceSum = [](const auto &f, uint64_t x, uint64_t y,
                                 Rounding mode) {
  return hasExactPath(f) ? reference::add(f, x, y, mode) : add(f, x, y, mode);
};
constexpr auto difference = [](const auto &f, uint64_t x, uint64_t y,
                               Rounding mode) { return sub(f, x, y, mode); };
constexpr auto referenceDifference = [](const auto &f, uint64_t x, uint64_t y,
                                        Rounding mode) {
  return hasExactPath(f) ? reference::sub(f, x, y, mode) : sub(f, x, y, mode);
};

// Clauses: A1 R1 R2.
TEST(Add, IsRoundedOnceForAllPairsOfSmallFormatsInEveryMode) {
  Tally tally;
  sweepAllPairs(tally, smallFormats(), oracle::add, sum, referenceSum);
}

TEST(Sub, IsRoundedOnceForAllPairsOfSmallFormatsInEveryMode) {
  Tally tally;
  sweepAllPairs(tally, smallFormats(), oracle::sub, difference,
                referenceDifference);
}

TEST(Add, IsRoundedOnceForSixteenBits) {
  Tally tally;
  sweepSampledPairs(tally, builtinSixteenBitFormats(),
                    samples(300'000, 10'000'000), oracle::add, sum,
                    referenceSum);
  sweepSampledPairs(tally, otherSixteenBitFormats(), samples(60'000),
                    oracle::add, sum, referenceSum);
}

TEST(Add, IsRoundedOnceForWideFormats) {
  Tally tally;
  sweepSampledPairs(tally, wideFormats(), samples(30'000), oracle::add, sum,
                    referenceSum);
}

TEST(Sub, IsRoundedOnceForSixteenBits) {
  Tally tally;
  sweepSampledPairs(tally, builtinSixteenBitFormats(),
                    samples(100'000, 10'000'000), oracle::sub, difference,
                    referenceDifference);
  sweepSampledPairs(tally, otherSixteenBitFormats(), samples(20'000),
                    oracle::sub, difference, referenceDifference);
}

TEST(Sub, IsRoundedOnceForWideFormats) {
  Tally tally;
  sweepSampledPairs(tally, wideFormats(), samples(10'000), oracle::sub,
                    difference, referenceDifference);
}

// Clauses: A7 F8.
TEST(Add, OfOppositesIsPlusZeroExceptRoundingDown) {
  constexpr FloatFormat f{5, 10, 15};
  constexpr uint64_t one = 0b0'01111'0000000000, minusOne = one | f.signBit();
  static_assert(add(f, one, minusOne, Rounding::NearestEven) == 0);
  static_assert(add(f, one, minusOne, Rounding::Up) == 0);
  static_assert(add(f, one, minusOne, Rounding::Down) == f.signBit());
  EXPECT_EQ(add(f, f.signBit(), f.signBit(), Rounding::NearestEven),
            f.signBit());
}

// A sum whose smaller operand lies far outside the window must still be told
// from an exact one.
TEST(Add, SeesAnOperandFarBelowTheLastBit) {
  constexpr FloatFormat f{15, 40, 16383};
  constexpr uint64_t one = uint64_t{16383} << 40, least = 1;
  static_assert(add(f, one, least, Rounding::Up) == one + 1);
  static_assert(add(f, one, least, Rounding::NearestEven) == one);
  static_assert(sub(f, one, least, Rounding::TowardZero) == one - 1);
  static_assert(sub(f, one, least, Rounding::ToOdd) == one - 1);
  EXPECT_EQ(sub(f, one, least, Rounding::Up), one);
}

} // namespace
