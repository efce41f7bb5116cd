// SPDX-License-Identifier: MIT

#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto quotient = [](const auto &f, uint64_t x, uint64_t y,
                             Rounding mode) { return div(f, x, y, mode); };
constexpr auto referenceQuotient = [](const auto &f, uint64_t x, uint64_t y,
                                      Rounding mode) {
  return hasExactPath(f) ? reference::div(f, x, y, mode) : div(f, x, y, mode);
};
constexpr auto remainder = [](const auto &f, uint64_t x, uint64_t y,
                              Rounding mode) { return rem(f, x, y, mode); };

TEST(Div, IsRoundedOnceForAllPairsOfSmallFormatsInEveryMode) {
  Tally tally;
  sweepAllPairs(tally, smallFormats(), oracle::div, quotient,
                referenceQuotient);
}

TEST(Div, IsRoundedOnceForSixteenBits) {
  Tally tally;
  sweepSampledPairs(tally, builtinSixteenBitFormats(),
                    samples(300'000, 10'000'000), oracle::div, quotient,
                    referenceQuotient);
  sweepSampledPairs(tally, otherSixteenBitFormats(), samples(60'000),
                    oracle::div, quotient, referenceQuotient);
}

TEST(Div, IsRoundedOnceForWideFormats) {
  Tally tally;
  sweepSampledPairs(tally, wideFormats(), samples(20'000), oracle::div,
                    quotient, referenceQuotient);
}

// Clauses: A4.
TEST(Rem, IsFmodForAllPairsOfSmallFormatsInEveryMode) {
  Tally tally;
  sweepAllPairs(tally, smallFormats(), oracle::rem, remainder);
}

TEST(Rem, IsFmodForSixteenBits) {
  Tally tally;
  sweepSampledPairs(tally, builtinSixteenBitFormats(),
                    samples(100'000, 10'000'000), oracle::rem, remainder);
  sweepSampledPairs(tally, otherSixteenBitFormats(), samples(40'000),
                    oracle::rem, remainder);
}

TEST(Rem, IsFmodForWideFormats) {
  Tally tally;
  sweepSampledPairs(tally, wideFormats(), samples(4'000), oracle::rem,
                    remainder);
}

// Clauses: A6 F5 P5.
TEST(Div, ByZeroIsInfinityNaNOrTheLargestValue) {
  constexpr FloatFormat ieee{5, 2, 15};
  constexpr FloatFormat fn{4, 3, 7, Specials::Fn};
  constexpr FloatFormat finite{2, 1, 1, Specials::Finite};
  constexpr PositFormat posit{{8}, 2};
  constexpr auto even = Rounding::NearestEven;
  static_assert(div(ieee, 1, ieee.signBit(), even) ==
                (ieee.infinityCode() | ieee.signBit()));
  static_assert(div(fn, 1, 0, even) == fn.nanCode());
  static_assert(div(finite, 1, 0, even) == finite.maxCode());
  static_assert(div(finite, 0, 0, even) == 0);
  static_assert(div(posit, 1, 0, even) == posit.nanCode());
  EXPECT_EQ(div(finite, 1 | finite.signBit(), 0, even),
            finite.maxCode() | finite.signBit());
}

} // namespace
