// SPDX-License-Identifier: MIT
//
// The proofs of Lane.h by trial: carrier arithmetic against the exact road.
// Both are the library's; Add-, Multiply- and DivideTest hold both against the
// oracle. Without it there is time for many more pairs.

#include "Sweep.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto even = Rounding::NearestEven;

/// Formats at the ends of what the predicates admit, inside, and just outside.
constexpr Case lanes[] = {
    {"bf16", FloatFormat{8, 7, 127}},
    {"f16", FloatFormat{5, 10, 15}},
    {"tf32", FloatFormat{8, 10, 127}},
    {"float<5,7>", FloatFormat{5, 7, 15}},
    {"float<6,9>", FloatFormat{6, 9, 31, Specials::Finite}},
    {"float<6,11>", FloatFormat{6, 11, 31}},
    {"float<5,21>", FloatFormat{5, 21, 15}},
    {"float<5,22>", FloatFormat{5, 22, 15}},
    {"float<4,10,fn>", FloatFormat{4, 10, 7, Specials::Fn}},
    {"float<8,20>", FloatFormat{8, 20, 127}},
    {"f32 without infinities", FloatFormat{8, 23, 127, Specials::Fn}},
    {"float<9,24>", FloatFormat{9, 24, 255}},
    {"float<8,25>", FloatFormat{8, 25, 127}},
    {"float<8,26>", FloatFormat{8, 26, 127}},
    {"float<9,50>", FloatFormat{9, 50, 255}},
    {"float<9,51>", FloatFormat{9, 51, 255}},
    {"posit<16,2>", PositFormat{16, 2}},
    {"posit<16,1>", PositFormat{16, 1}},
    {"posit<16,0>", PositFormat{16, 0}},
    {"posit<12,1>", PositFormat{12, 1}},
    {"posit<24,2>", PositFormat{24, 2}},
    {"posit<32,2>", PositFormat{32, 2}},
    {"posit<32,0>", PositFormat{32, 0}},
    {"posit<32,4>", PositFormat{32, 4}},
};

/// Every operation that has a lane, at one triple of operands.
template <typename F>
void checkAll(Tally &tally, const char *name, const F &f, uint64_t x,
              uint64_t y, uint64_t z) {
  tally.check(add(f, x, y, even), reference::add(f, x, y, even), name, " add",
              x, y);
  tally.check(sub(f, x, y, even), reference::sub(f, x, y, even), name, " sub",
              x, y);
  tally.check(mul(f, x, y, even), reference::mul(f, x, y, even), name, " mul",
              x, y);
  tally.check(div(f, x, y, even), reference::div(f, x, y, even), name, " div",
              x, y);
  tally.check(sqrt(f, x, even), reference::sqrt(f, x, even), name, " sqrt", x);
  tally.check(fma(f, x, y, z, even), reference::fma(f, x, y, z, even), name,
              " fma", x, y, z);
}

// Clauses: A10.
TEST(Lane, AgreesWithTheExactRoadForAllPairsOfSmallFormats) {
  Tally tally;
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          for (uint64_t x = 0; x <= f.mask(); ++x)
            for (uint64_t y = 0; y <= f.mask(); ++y)
              checkAll(tally, c.name, f, x, y, (x * 41 + y * 7) & f.mask());
        },
        c.format);
}

TEST(Lane, AgreesWithTheExactRoadForSampledTriples) {
  Tally tally;
  for (const Case &c : lanes)
    std::visit(
        [&](const auto &f) {
          Sampler sampler(f.width(), 23);
          for (uint64_t i = 0; i < samples(150'000, 15'000'000); ++i) {
            uint64_t x = sampler.code();
            uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
            // Addends near the product, so that it cancels.
            uint64_t product = reference::mul(f, x, y, Rounding::TowardZero);
            uint64_t z =
                i & 2 ? sampler.codeNear(f.negate(product)) : sampler.code();
            checkAll(tally, c.name, f, x, y, z);
          }
        },
        c.format);
}

TEST(Lane, AgreesWithTheExactRoadForBoundaryPairs) {
  Tally tally;
  for (const Case &c : lanes)
    std::visit(
        [&](const auto &f) {
          if (f.width() > 19)
            return;
          for (uint64_t x : runsOfOnes(f.width()))
            for (uint64_t y : runsOfOnes(f.width()))
              checkAll(tally, c.name, f, x, y, x ^ y);
        },
        c.format);
}

/// sumToOdd against the oracle's to-odd sum in the carrier's own format.
template <typename T> void checkSumToOdd(Tally &tally) {
  oracle::Oracle truth(describe(Carrier<T>::format));
  oracle::Result result;
  oracle::Real scratchX, scratchY;
  Sampler sampler(Carrier<T>::width, 29);
  for (uint64_t i = 0; i < samples(100'000); ++i) {
    uint64_t x = sampler.code();
    uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
    oracle::add(result, truth.value(x, scratchX), truth.value(y, scratchY));
    // Near its range's end the carrier's TwoSum overflows: spans() forbids it.
    if (!mpfr_number_p(result.value) ||
        mpfr_get_exp(scratchX) >= Carrier<T>::bias - 1 ||
        mpfr_get_exp(scratchY) >= Carrier<T>::bias - 1)
      continue;
    uint64_t want = truth.round(truth.locate(result), oracle::Mode::ToOdd);
    T sum = Lane<T>::sumToOdd(machine<T>(x), machine<T>(y));
    tally.check(Carrier<T>::bits(sum), want, "sumToOdd", x, y);
  }
}

TEST(Lane, RoundsSumsToOdd) {
  Tally tally;
  checkSumToOdd<float>(tally);
  checkSumToOdd<double>(tally);
}

// A lane that no predicate admits would pass all of the above.
TEST(Lane, IsTakenWhereTheProofsAllow) {
  constexpr FloatFormat f16{5, 10, 15}, bf16{8, 7, 127}, f8E5M2{5, 2, 15};
  constexpr PositFormat posit8{8, 2}, posit16{16, 2}, posit32{32, 2};
  static_assert(Lane<float>::divides(f8E5M2) && Lane<float>::fuses(f8E5M2));
  static_assert(Lane<float>::divides(f16) && Lane<float>::fuses(f16));
  static_assert(Lane<float>::divides(posit8) && Lane<float>::fuses(posit8));
  static_assert(Lane<float>::fuses(posit16) && !Lane<float>::divides(posit16));
  static_assert(Lane<double>::divides(posit16) && Lane<double>::fuses(posit16));
  static_assert(Lane<double>::adds(posit32) && !Lane<double>::divides(posit32));
  // The ends of the range of f32: 2 * 62 + 1 < 127 exponents.
  static_assert(Lane<float>::spans(FloatFormat{6, 3, 1}) &&
                !Lane<float>::spans(FloatFormat{6, 3, 0}));
  static_assert(!Lane<float>::spans(bf16) && Lane<double>::divides(bf16));
  EXPECT_FALSE(usesLanes(Rounding::TowardZero));
  EXPECT_TRUE(usesLanes(even));
}

} // namespace
