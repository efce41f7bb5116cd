// SPDX-License-Identifier: MIT

#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto product = [](const auto &f, uint64_t x, uint64_t y,
                            Rounding mode) { return mul(f, x, y, mode); };
constexpr auto referenceProduct = [](const auto &f, uint64_t x, uint64_t y,
                                     Rounding mode) {
  return hasExactPath(f) ? reference::mul(f, x, y, mode) : mul(f, x, y, mode);
};
constexpr auto fused = [](const auto &f, uint64_t x, uint64_t y, uint64_t z,
                          Rounding mode) { return fma(f, x, y, z, mode); };
constexpr auto referenceFused = [](const auto &f, uint64_t x, uint64_t y,
                                   uint64_t z, Rounding mode) {
  return hasExactPath(f) ? reference::fma(f, x, y, z, mode)
                         : fma(f, x, y, z, mode);
};

TEST(Mul, IsRoundedOnceForAllPairsOfSmallFormatsInEveryMode) {
  Tally tally;
  sweepAllPairs(tally, smallFormats(), oracle::mul, product, referenceProduct);
}

TEST(Mul, IsRoundedOnceForSixteenBits) {
  Tally tally;
  sweepSampledPairs(tally, builtinSixteenBitFormats(),
                    samples(300'000, 10'000'000), oracle::mul, product,
                    referenceProduct);
  sweepSampledPairs(tally, otherSixteenBitFormats(), samples(60'000),
                    oracle::mul, product, referenceProduct);
}

TEST(Mul, IsRoundedOnceForWideFormats) {
  Tally tally;
  sweepSampledPairs(tally, wideFormats(), samples(20'000), oracle::mul, product,
                    referenceProduct);
}

// Clauses: A1 A3.
// All triples of 4 and 5 bits; of 6 bits in the slow suite.
TEST(Fma, IsRoundedOnceForAllTriplesToSixBitsInEveryMode) {
  Tally tally;
  sweepTriples(tally, tinyFormats(), isSlow() ? 64 : 32, 30'000, fused,
               referenceFused);
}

TEST(Fma, IsRoundedOnceForSmallFormatsInEveryMode) {
  Tally tally;
  sweepTriples(tally, smallFormats().subspan(tinyFormats().size()), 64,
               samples(60'000, 3'000'000), fused, referenceFused);
}

// 10^8 triples in the slow suite.
TEST(Fma, IsRoundedOnceForSixteenBits) {
  Tally tally;
  sweepTriples(tally, builtinSixteenBitFormats(), 64,
               samples(200'000, 33'400'000), fused, referenceFused);
  sweepTriples(tally, otherSixteenBitFormats(), 64, samples(50'000), fused,
               referenceFused);
}

TEST(Fma, IsRoundedOnceForWideFormats) {
  Tally tally;
  sweepTriples(tally, wideFormats(), 64, samples(10'000), fused,
               referenceFused);
}

TEST(Fma, DoesNotRoundTheProduct) {
  constexpr PositFormat f{{16}, 2};
  constexpr auto even = Rounding::NearestEven;
  constexpr uint64_t one = 0b0'10'00'00000000000, next = one + 1;
  // (1 + u)^2 - (1 + 2u) is u^2, which two roundings would lose.
  constexpr uint64_t twice = add(f, next, sub(f, next, one, even), even);
  static_assert(mul(f, next, next, even) == twice);
  static_assert(fma(f, next, next, f.negate(twice), even) != 0);
  static_assert(f.decode(fma(f, next, next, f.negate(twice), even)).exponent ==
                -22);
}

// Clauses: A3 A5.
TEST(Fma, InfinityTimesZeroPlusNaNIsNaN) {
  constexpr FloatFormat f{5, 2, 15};
  constexpr uint64_t infinity = f.infinityCode();
  static_assert(fma(f, infinity, 0, 0, Rounding::NearestEven) == f.nanCode());
  EXPECT_EQ(fma(f, infinity, 0, f.nanCode() | 1, Rounding::NearestEven),
            f.nanCode());
}

} // namespace
