// SPDX-License-Identifier: MIT

#include "numera/Numerics/Exact/Compare.h"
#include "Sweep.h"
#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Operations/Convert.h"
#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto smaller = [](const auto &f, uint64_t x, uint64_t y, Rounding) {
  return min(f, x, y);
};
constexpr auto larger = [](const auto &f, uint64_t x, uint64_t y, Rounding) {
  return max(f, x, y);
};
constexpr auto smallerNumber = [](const auto &f, uint64_t x, uint64_t y,
                                  Rounding) { return minnum(f, x, y); };
constexpr auto largerNumber = [](const auto &f, uint64_t x, uint64_t y,
                                 Rounding) { return maxnum(f, x, y); };

// Clauses: K4.
TEST(MinMax, TakeTheRightOperandForAllPairsOfSmallFormats) {
  Tally tally;
  sweepAllPairs<true>(tally, smallFormats(), oracle::min, smaller);
  sweepAllPairs<true>(tally, smallFormats(), oracle::max, larger);
}
// Clauses: K5.
TEST(MinnumMaxnum, ReturnTheNumberForAllPairsOfSmallFormats) {
  Tally tally;
  sweepAllPairs<true>(tally, smallFormats(), oracle::minnum, smallerNumber);
  sweepAllPairs<true>(tally, smallFormats(), oracle::maxnum, largerNumber);
}
TEST(MinMax, TakeTheRightOperandForLargerFormats) {
  Tally tally;
  for (auto cases : {sixteenBitFormats(), wideFormats()}) {
    uint64_t count = samples(10'000);
    sweepSampledPairs(tally, cases, count, oracle::min, smaller);
    sweepSampledPairs(tally, cases, count, oracle::max, larger);
    sweepSampledPairs(tally, cases, count, oracle::minnum, smallerNumber);
    sweepSampledPairs(tally, cases, count, oracle::maxnum, largerNumber);
  }
}

constexpr auto withSign = [](const auto &f, uint64_t x, uint64_t y, Rounding) {
  return copysign(f, x, y);
};
// Clauses: A8.
TEST(Copysign, TakesTheSignForAllPairsOfSmallFormats) {
  Tally tally;
  sweepAllPairs<true>(tally, smallFormats(), oracle::copysign, withSign);
}
TEST(Copysign, TakesTheSignInLargerFormats) {
  Tally tally;
  for (auto cases : {sixteenBitFormats(), wideFormats()})
    sweepSampledPairs(tally, cases, samples(10'000), oracle::copysign,
                      withSign);
}

template <typename F>
void checkRelation(Tally &tally, const char *name, const F &f,
                   const oracle::Oracle &truth, uint64_t x, uint64_t y) {
  oracle::Real scratchX, scratchY;
  mpfr_srcptr a = truth.value(x, scratchX), b = truth.value(y, scratchY);
  int want = oracle::relation(truth.format(), a, b);
  tally.check(relation(f, x, y), static_cast<uint64_t>(want), name, x, y);
  for (int32_t predicate = 0; predicate < 16; ++predicate)
    tally.check(cmp(f, x, y, predicate), (predicate & want) != 0, name,
                " predicate", predicate, x, y);
}

// Clauses: K1.
TEST(Cmp, HoldsForAllPairsOfSmallFormatsAndEveryPredicate) {
  Tally tally;
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(describe(f));
          oracle::Real scratch;
          for (uint64_t x = 0; x <= f.mask(); ++x) {
            bool isNumber = !mpfr_nan_p(truth.value(x, scratch));
            tally.check(isnan(f, x), !isNumber, c.name, " isnan", x);
            for (uint64_t y = 0; y <= f.mask(); ++y)
              checkRelation(tally, c.name, f, truth, x, y);
          }
        },
        c.format);
}

TEST(Cmp, HoldsForSampledPairsOfLargerFormats) {
  Tally tally;
  for (auto cases : {sixteenBitFormats(), wideFormats()})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) {
            oracle::Oracle truth(describe(f));
            Sampler sampler(f.width(), 5);
            for (uint64_t i = 0; i < samples(20'000); ++i) {
              uint64_t x = sampler.code();
              uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
              checkRelation(tally, c.name, f, truth, x, y);
              checkRelation(tally, c.name, f, truth, x, x);
            }
          },
          c.format);
}

// Clauses: K2 P6.
TEST(Cmp, HasTheFloatAndPositRulesForNaN) {
  constexpr FloatFormat f{5, 2, 15};
  constexpr PositFormat p{{8}, 2};
  static_assert(relation(f, f.nanCode(), f.nanCode()) == Unordered);
  static_assert(relation(f, f.signBit(), 0) == Equal);
  static_assert(relation(p, p.nanCode(), p.nanCode()) == Equal);
  static_assert(relation(p, p.nanCode(), p.nanCode() + 1) == Less);
  static_assert(min(f, f.signBit(), 0) == f.signBit());
  static_assert(max(f, f.signBit(), 0) == 0);
  static_assert(min(f, f.nanCode() | f.signBit(), 0) == f.nanCode());
  EXPECT_EQ(minnum(f, f.nanCode(), 1), 1u);
}

/// The choices on unpacked values, which operands of two formats go through.
TEST(MinMax, OfUnpackedValuesAreThoseOfDoubles) {
  constexpr FloatFormat f{4, 3, 7};
  auto bits = [](double x) {
    return x == x ? __builtin_bit_cast(uint64_t, x) : uint64_t{1};
  };
  // The lower one; -0 is below +0.
  auto lower = [](double x, double y) {
    return x < y || (x == y && std::signbit(x)) ? x : y;
  };
  Tally tally;
  for (uint64_t a = 0; a <= f.mask(); ++a)
    for (uint64_t b = 0; b <= f.mask(); ++b) {
      Unpacked x = f.decode(a), y = f.decode(b);
      auto first = decodeTo<double>(f, a), second = decodeTo<double>(f, b);
      double least = lower(first, second), most = -lower(-first, -second);
      bool isNaN = std::isnan(first) || std::isnan(second);
      double number = std::isnan(first) ? second : first;
      auto check = [&](const Unpacked &got, double expected, const char *name) {
        double value = decodeTo<double>(f, f.encode(got, Rounding::TowardZero));
        tally.check(bits(value), bits(expected), name, a, b);
      };
      constexpr Rounding mode = Rounding::NearestEven;
      check(value::minnum(x, y, mode), isNaN ? number : least, "minnum");
      check(value::maxnum(x, y, mode), isNaN ? number : most, "maxnum");
      check(value::min(x, y, mode), isNaN ? NAN : least, "min");
      check(value::max(x, y, mode), isNaN ? NAN : most, "max");
    }
}

} // namespace
