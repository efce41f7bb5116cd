// SPDX-License-Identifier: MIT
//
// The proofs of DoubleRounding.h by trial: carrier arithmetic against the exact
// path. Both are the library's; Add-, Multiply- and DivideTest hold both
// against the oracle. Without it there is time for many more pairs.

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
    {"posit<16,2>", PositFormat{{16}, 2}},
    {"posit<16,1>", PositFormat{{16}, 1}},
    {"posit<16,0>", PositFormat{{16}, 0}},
    {"posit<12,1>", PositFormat{{12}, 1}},
    {"posit<24,2>", PositFormat{{24}, 2}},
    {"posit<32,2>", PositFormat{{32}, 2}},
    {"posit<32,0>", PositFormat{{32}, 0}},
    {"posit<32,4>", PositFormat{{32}, 4}},
};

/// Every operation that has a lane, at one triple of operands.
template <typename F>
void checkAll(Tally &tally, const char *name, const F &f, uint64_t x,
              uint64_t y, uint64_t z, RoundingMode mode = even) {
  auto check = [&](const char *operation, uint64_t got, uint64_t want) {
    tally.check(got, want, name, operation, x, y, z, mode.rounding, " draw",
                mode.random);
  };
  check(" add", add(f, x, y, mode), reference::add(f, x, y, mode));
  check(" sub", sub(f, x, y, mode), reference::sub(f, x, y, mode));
  check(" mul", mul(f, x, y, mode), reference::mul(f, x, y, mode));
  check(" div", div(f, x, y, mode), reference::div(f, x, y, mode));
  check(" sqrt", sqrt(f, x, mode), reference::sqrt(f, x, mode));
  check(" fma", fma(f, x, y, z, mode), reference::fma(f, x, y, z, mode));
}

/// The modes in turn, with 1 to 32 random bits of the stochastic one.
RoundingMode modeInTurn(uint64_t turn, uint64_t random) {
  if (turn % 3 == 0)
    return {Rounding::Stochastic, static_cast<int32_t>(1 + turn * 7 % 32),
            static_cast<uint32_t>(random)};
  return modes[turn % std::size(modes)];
}

// Clauses: A10.
TEST(Lane, AgreesWithTheExactPathForAllPairsOfSmallFormats) {
  Tally tally;
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          for (uint64_t x = 0; x <= f.mask(); ++x)
            for (uint64_t y = 0; y <= f.mask(); ++y)
              checkAll(tally, c.name, f, x, y, (x * 41 + y * 7) & f.mask());
          Sampler sampler(f.width(), 41);
          for (uint64_t turn = 0; turn < samples(4'000); ++turn)
            checkAll(tally, c.name, f, sampler.code(), sampler.code(),
                     sampler.code(), modeInTurn(turn, sampler.random()()));
        },
        c.format);
}

TEST(Lane, AgreesWithTheExactPathForSampledTriples) {
  Tally tally;
  for (const Case &c : lanes)
    std::visit(
        [&](const auto &f) {
          Sampler sampler(f.width(), 23);
          for (uint64_t i = 0; i < samples(25'000, 8'000'000); ++i) {
            uint64_t x = sampler.code();
            uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
            // Addends near the product, so that it cancels.
            uint64_t product = reference::mul(f, x, y, Rounding::TowardZero);
            uint64_t z =
                i & 2 ? sampler.codeNear(f.negate(product)) : sampler.code();
            checkAll(tally, c.name, f, x, y, z);
            checkAll(tally, c.name, f, x, y, z,
                     modeInTurn(i, sampler.random()()));
          }
        },
        c.format);
}

TEST(Lane, AgreesWithTheExactPathForBoundaryPairs) {
  Tally tally;
  size_t turn = 0;
  for (const Case &c : lanes)
    std::visit(
        [&](const auto &f) {
          if (f.width() > 19)
            return;
          for (uint64_t x : runsOfOnes(f.width()))
            for (uint64_t y : runsOfOnes(f.width())) {
              checkAll(tally, c.name, f, x, y, x ^ y);
              if (isLong())
                for (Rounding mode : modes)
                  checkAll(tally, c.name, f, x, y, x ^ y, mode);
              else // one after the other
                checkAll(tally, c.name, f, x, y, x ^ y,
                         modes[turn++ % std::size(modes)]);
            }
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
    T sum = DoubleRounding<T>::sumToOdd(machine<T>(x), machine<T>(y));
    tally.check(Carrier<T>::bits(sum), want, "sumToOdd", x, y);
  }
}

TEST(Lane, RoundsSumsToOdd) {
  Tally tally;
  checkSumToOdd<float>(tally);
  checkSumToOdd<double>(tally);
}

// Two carriers of bf16: f32, whose subnormal numbers and overflow it shares,
// and f64, which holds all of its results. Every pair of its codes in the slow
// suite.
TEST(Lane, OfBf16InItsOwnRangeAgreesWithTheWideOne) {
  constexpr FloatFormat bf16{8, 7, 127};
  using Narrow = DoubleRounding<float>;
  using Wide = DoubleRounding<double>;
  Tally tally;
  uint64_t step = isSlow() ? 1 : 1021, differing = 0;
  for (uint64_t x = 0; x <= bf16.mask(); x += step) {
    float a = Narrow::decode(bf16, x);
    auto wideA = static_cast<double>(a);
    uint64_t differs = 0;
    for (uint64_t y = 0; y <= bf16.mask(); ++y) {
      float b = Narrow::decode(bf16, y);
      auto wideB = static_cast<double>(b);
      differs |=
          Narrow::encode(bf16, a + b) ^ Wide::encode(bf16, wideA + wideB);
      differs |=
          Narrow::encode(bf16, a * b) ^ Wide::encode(bf16, wideA * wideB);
      differs |=
          Narrow::encode(bf16, a / b) ^ Wide::encode(bf16, wideA / wideB);
    }
    differing += differs != 0;
    tally.count(3 * (bf16.mask() + 1));
  }
  EXPECT_EQ(differing, 0u);
}

// The sum of two posits in f32, with and without rounding to odd. Every pair of
// posit16 in the slow suite.
TEST(Lane, OfTaperedSumsNeedsNoRoundingToOdd) {
  using L = DoubleRounding<float>;
  Tally tally;
  for (PositFormat f : {PositFormat{{16}, 2}, PositFormat{{16}, 1},
                        PositFormat{{16}, 0}, PositFormat{{15}, 3}}) {
    if (!L::tapers(f))
      continue;
    uint64_t step = isSlow() ? 1 : 1021, differing = 0;
    for (uint64_t x = 0; x <= f.mask(); x += step) {
      float a = L::decode(f, x);
      uint64_t differs = 0;
      for (uint64_t y = 0; y <= f.mask(); ++y) {
        float b = L::decode(f, y);
        differs |= L::encode(f, a + b) ^ L::encode(f, L::sumToOdd(a, b));
      }
      differing += differs != 0;
      tally.count(f.mask() + 1);
    }
    EXPECT_EQ(differing, 0u) << f.bits << " " << f.es;
  }
}

// A lane that no predicate admits would pass all of the above.
TEST(Lane, IsTakenWhereTheProofsAllow) {
  using F = DoubleRounding<float>;
  using D = DoubleRounding<double>;
  constexpr FloatFormat f16{5, 10, 15}, bf16{8, 7, 127}, tf32{8, 10, 127},
      f8E5M2{5, 2, 15};
  constexpr PositFormat posit8{{8}, 2}, posit16{{16}, 2}, posit32{{32}, 2};
  constexpr RoundingMode draws(Rounding::Stochastic, 32);
  static_assert(F::division(f8E5M2, even) == EvaluationPath::Plain &&
                F::fusion(f8E5M2, even) == EvaluationPath::ToOdd);
  static_assert(F::addition(f16, even) == EvaluationPath::Plain &&
                F::addition(f16, Rounding::Up) == EvaluationPath::ToOdd &&
                F::division(f16, Rounding::Up) == EvaluationPath::Plain);
  static_assert(F::addition(f16, draws) == EvaluationPath::None &&
                D::addition(f16, draws) == EvaluationPath::ToOdd &&
                F::multiplication(f16, draws) == EvaluationPath::Plain);
  static_assert(F::addition(posit8, even) == EvaluationPath::Plain &&
                F::addition(posit16, even) == EvaluationPath::Plain &&
                F::addition(posit16, Rounding::Up) == EvaluationPath::ToOdd &&
                F::division(posit16, even) == EvaluationPath::None &&
                D::division(posit16, even) == EvaluationPath::Plain);
  static_assert(D::addition(posit32, even) == EvaluationPath::Plain &&
                F::addition(FloatFormat{5, 11, 15}, even) ==
                    EvaluationPath::ToOdd &&
                D::division(posit32, even) == EvaluationPath::ToOdd &&
                D::multiplication(posit32, even) == EvaluationPath::ToOdd &&
                D::multiplication(FloatFormat{9, 39, 255}, even) ==
                    EvaluationPath::None &&
                D::multiplication(posit16, draws) == EvaluationPath::None);
  // The ends of the range of f32: 2 * 62 + 1 < 127 exponents.
  static_assert(F::spans(FloatFormat{6, 3, 1}) &&
                !F::spans(FloatFormat{6, 3, 0}));
  static_assert(!F::spans(bf16) &&
                F::addition(bf16, even) == EvaluationPath::Plain &&
                F::multiplication(bf16, even) == EvaluationPath::Plain &&
                F::addition(bf16, Rounding::Up) == EvaluationPath::None &&
                D::addition(bf16, Rounding::Up) == EvaluationPath::ToOdd);
  static_assert(F::multiplication(tf32, even) == EvaluationPath::None &&
                F::division(tf32, even) == EvaluationPath::Plain);
  EXPECT_TRUE(usesMachine(even));
  EXPECT_FALSE(usesMachine(Rounding::TowardZero));
}

} // namespace
