// SPDX-License-Identifier: MIT
//
// The elementary functions against MPFR, which rounds correctly: its 96 bits
// toward zero and its ternary value are the significand and the sticky that
// an Unpacked promises. Formats of up to 16 bits are also rounded in every mode
// by the oracle, all inputs of them.

#include "numera/Numerics/Elementary/ComplementaryError.h"
#include "numera/Numerics/Elementary/Exponential.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Elementary/InverseHyperbolic.h"
#include "numera/Numerics/Elementary/InverseTrigonometric.h"
#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Trigonometric.h"
#include "numera/Numerics/Exact/CubeRoot.h"

#include "MpfrOracle.h"
#include "Sweep.h"

#include <iterator>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace numera {
namespace {

/// 1/(1 + e^-x) in 300 bits, moved off 1/2 and 1, which only 0 and infinity
/// reach, then truncated.
int mpfrSigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  if (mpfr_nan_p(x) || mpfr_zero_p(x) || mpfr_inf_p(x)) {
    mpfr_set_d(result, mpfr_zero_p(x) ? 0.5 : mpfr_sgn(x) > 0, mode);
    if (mpfr_nan_p(x))
      mpfr_set_nan(result);
    return 0;
  }
  MpfrReal wide(300);
  mpfr_neg(wide, x, MPFR_RNDN);
  mpfr_exp(wide, wide, MPFR_RNDN);
  mpfr_add_ui(wide, wide, 1, MPFR_RNDN);
  mpfr_ui_div(wide, 1, wide, MPFR_RNDN);
  if (mpfr_cmp_d(wide, 1) == 0 ||
      (mpfr_cmp_d(wide, 0.5) == 0 && mpfr_sgn(x) < 0))
    mpfr_nextbelow(wide);
  else if (mpfr_cmp_d(wide, 0.5) == 0)
    mpfr_nextabove(wide);
  mpfr_set(result, wide, mode);
  return 1;
}

struct Function {
  const char *name;
  Unpacked (*ours)(const Unpacked &);
  int (*oracle)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

int mpfrLog1p(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t m) {
  return mpfr_log1p(r, x, m);
}

constexpr Function functions[] = {
    {"cbrt", exact::cbrt, mpfr_cbrt},
    {"exp", exact::exp, mpfr_exp},
    {"exp2", exact::exp2, mpfr_exp2},
    {"expm1", exact::expm1, mpfr_expm1},
    {"log", exact::log, mpfr_log},
    {"log2", exact::log2, mpfr_log2},
    {"log10", exact::log10, mpfr_log10},
    {"log1p", exact::log1p, mpfrLog1p},
    {"sin", exact::sin, mpfr_sin},
    {"cos", exact::cos, mpfr_cos},
    {"tan", exact::tan, mpfr_tan},
    {"asin", exact::asin, mpfr_asin},
    {"acos", exact::acos, mpfr_acos},
    {"atan", exact::atan, mpfr_atan},
    {"sinh", exact::sinh, mpfr_sinh},
    {"cosh", exact::cosh, mpfr_cosh},
    {"tanh", exact::tanh, mpfr_tanh},
    {"asinh", exact::asinh, mpfr_asinh},
    {"acosh", exact::acosh, mpfr_acosh},
    {"atanh", exact::atanh, mpfr_atanh},
    {"erf", exact::erf, mpfr_erf},
    {"erfc", exact::erfc, mpfr_erfc},
    {"sigmoid", exact::sigmoid, mpfrSigmoid},
};

/// The functions from `first` to `last`.
constexpr std::span<const Function> between(std::string_view first,
                                            std::string_view last) {
  const Function *begin = functions, *end = std::end(functions);
  while (begin->name != first)
    ++begin;
  while (std::prev(end)->name != last)
    --end;
  return {begin, end};
}
constexpr std::span<const Function> powers = between("cbrt", "log1p"),
                                    angles = between("sin", "atan"),
                                    others = between("sinh", "sigmoid");

Unpacked expected(const Function &function, const Unpacked &x) {
  MpfrReal argument(x), result;
  bool inexact = function.oracle(result, argument, MPFR_RNDZ) != 0;
  return expectedFrom(result, inexact);
}

/// Every code of a format in every mode: ours against MPFR and the oracle's
/// rounding.
template <typename F>
void sweep(const F &f, std::span<const Function> functions) {
  test::Tally tally;
  oracle::Oracle truth(test::describe(f));
  oracle::Result result;
  oracle::Real scratch;
  MpfrReal argument, value;
  for (const Function &function : functions)
    for (uint64_t code = 0; code <= f.mask(); ++code) {
      mpfr_set(argument, truth.value(code, scratch), MPFR_RNDN);
      bool inexact = function.oracle(value, argument, MPFR_RNDZ) != 0;
      setResult(result, value, inexact);
      oracle::Place place = truth.locate(result);
      Unpacked ours = function.ours(f.decode(code));
      tally.check(agrees(ours, expectedFrom(value, inexact)), 1, function.name,
                  " unrounded", code);
      for (Rounding mode : test::modes)
        tally.check(f.encode(ours, mode),
                    truth.round(place, test::modeOf(mode)), function.name, code,
                    mode);
    }
}

constexpr FloatFormat binary16{5, 10, 15}, bfloat16{8, 7, 127};
constexpr PositFormat posit16{{16}, 2};

// Clauses: E1 E9.
TEST(Powers, OfBinary16RoundInEveryMode) { sweep(binary16, powers); }
TEST(Powers, OfBfloat16RoundInEveryMode) { sweep(bfloat16, powers); }
TEST(Powers, OfPosit16RoundInEveryMode) { sweep(posit16, powers); }
TEST(Angles, OfBinary16RoundInEveryMode) { sweep(binary16, angles); }
TEST(Angles, OfBfloat16RoundInEveryMode) { sweep(bfloat16, angles); }
TEST(Angles, OfPosit16RoundInEveryMode) { sweep(posit16, angles); }
TEST(Elementary, Binary16RoundsInEveryMode) { sweep(binary16, others); }
TEST(Elementary, Bfloat16RoundsInEveryMode) { sweep(bfloat16, others); }
TEST(Elementary, Posit16RoundsInEveryMode) { sweep(posit16, others); }
TEST(Elementary, SmallFormatsRoundInEveryMode) {
  for (const test::Case &c : test::smallFormats())
    std::visit([](const auto &f) { sweep(f, functions); }, c.format);
}

void compareRandom(FloatFormat format, int bits) {
  test::Tally tally;
  std::mt19937_64 random(20260);
  for (const Function &function : functions)
    for (uint64_t i = 0, end = test::samples(20'000, 1'000'000); i < end; ++i) {
      // Every exponent of the format, and as often those that matter.
      Unpacked x = i % 2 ? randomUnpacked(random, bits, -40, 10)
                         : format.decode(random() & format.mask());
      ASSERT_PRED2(agrees, function.ours(x), expected(function, x))
          << function.name << " of " << x;
      tally.count(1);
    }
}

TEST(Elementary, Binary32AtRandom) { compareRandom(binary32, 24); }
// Clauses: E2.
TEST(Elementary, Binary64AtRandom) { compareRandom(binary64, 53); }

TEST(Elementary, AllSignificandBitsAtRandom) { compareRandom(binary64, 64); }

/// Short significands near powers of two: where series start x + x^2/2 and
/// the like, and results lie beside a number of 64 bits or beside 1.
TEST(Elementary, ResultsBesideShortNumbers) {
  for (const Function &function : functions)
    for (int exponent = -300; exponent < 12; ++exponent)
      for (uint64_t m : {1ull, 3ull, 5ull, 9ull, 15ull, 33ull, 255ull, ~0ull})
        for (bool negative : {false, true}) {
          Unpacked x = Unpacked::fromInteger(negative, m);
          x.exponent = exponent;
          ASSERT_PRED2(agrees, function.ours(x), expected(function, x))
              << function.name << " of " << x;
        }
}

/// Where logarithms and acosh are near 0, acos too, and atanh has its pole.
TEST(Elementary, ArgumentsBesideOne) {
  for (int shift = 0; shift < 62; ++shift)
    for (bool below : {false, true}) {
      uint64_t step = uint64_t{1} << shift;
      Unpacked x{.kind = Kind::Finite, .significand = (1ull << 63) + step};
      if (below)
        x = {.kind = Kind::Finite, .exponent = -1, .significand = -step};
      for (const Function &function : functions)
        ASSERT_PRED2(agrees, function.ours(x), expected(function, x)) << x;
    }
}

TEST(Elementary, TwoOverPiIsRight) {
  MpfrReal quotient(64 * exact::twoOverPiWords + 128);
  mpfr_const_pi(quotient, MPFR_RNDN);
  mpfr_ui_div(quotient, 2, quotient, MPFR_RNDN);
  for (uint64_t word : exact::twoOverPi) {
    mpfr_mul_2ui(quotient, quotient, 64, MPFR_RNDN);
    ASSERT_EQ(word, mpfr_get_ui(quotient, MPFR_RNDZ));
    mpfr_frac(quotient, quotient, MPFR_RNDN);
  }
}

/// The binary64 number nearest to a multiple of pi/2, the multiples of pi/2
/// themselves, and arguments up to the end of the exponents.
// Clauses: E6.
TEST(Angles, OfHardAndHugeArguments) {
  std::vector<Unpacked> arguments = {
      Unpacked::fromInteger(false, 6381956970095103, 797)};
  MpfrReal multiple(200), pi(200);
  mpfr_const_pi(pi, MPFR_RNDN);
  for (int k = 1; k < 2000; ++k)
    for (int bits : {11, 24, 53, 64}) {
      mpfr_mul_si(multiple, pi, k % 2 ? k : -k, MPFR_RNDN);
      MpfrReal rounded(bits), exact;
      mpfr_div_2ui(rounded, multiple, 1, MPFR_RNDN);
      mpfr_set(exact, rounded, MPFR_RNDZ);
      arguments.push_back(expectedFrom(exact, false));
    }
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i)
    arguments.push_back(randomUnpacked(random, 64, 1000, 32767));
  arguments.push_back(Unpacked::fromInteger(true, 1, 32961));
  for (const Unpacked &x : arguments)
    for (const Function &function : between("sin", "tan"))
      ASSERT_PRED2(agrees, function.ours(x), expected(function, x))
          << function.name << " of " << x;
  for (const Function &function : between("sin", "tan"))
    EXPECT_TRUE(function.ours(Unpacked::fromInteger(false, 1, 32962)).isNaN());
}

// Clauses: E5.
TEST(Elementary, SpecialValuesAndExactResults) {
  std::vector<Unpacked> specials = {Unpacked::nan()};
  for (bool negative : {false, true}) {
    specials.push_back(Unpacked::zero(negative));
    specials.push_back(Unpacked::infinity(negative));
    for (int scale : {0, 1, 10, 19, 20, 21, 29, 1000, 100000})
      specials.push_back(Unpacked::fromInteger(negative, 1, scale));
    for (int scale = -100000; scale < 0; scale += 9999)
      specials.push_back(Unpacked::fromInteger(negative, 1, scale));
  }
  for (const Function &function : functions)
    for (const Unpacked &x : specials)
      if (x.exponent < 32962 ||
          (function.oracle != mpfr_sin && function.oracle != mpfr_cos &&
           function.oracle != mpfr_tan))
        EXPECT_PRED2(agrees, function.ours(x), expected(function, x))
            << function.name << " of " << x;
}

/// Cubes, powers of ten, and their neighbours of 64 bits: only the former are
/// exact.
// Clauses: E9.
TEST(Powers, ExactOfCubesAndPowersOfTen) {
  std::vector<Unpacked> numbers;
  auto add = [&](uint64_t m, int scale) {
    for (uint64_t neighbour : {m - 1, m, m + 1})
      numbers.push_back(Unpacked::fromInteger(m % 2 != 0, neighbour, scale));
  };
  for (uint64_t root = 1; root < 2642245; root += root < 999 ? 1 : 10007)
    add(root * root * root, static_cast<int>(root % 7) * 3 - 9);
  uint64_t five = 1;
  for (int power = 0; power <= 27; ++power, five *= 5) {
    add(five, power);
    add(five, -power);
  }
  for (const Unpacked &x : numbers)
    for (const Function &function : powers)
      ASSERT_PRED2(agrees, function.ours(x), expected(function, x))
          << function.name << " of " << x;
}

/// Algebraic, and so right to the last of its 96 bits.
TEST(Powers, AllBitsOfCubeRoots) {
  test::Tally tally;
  std::mt19937_64 random(23);
  for (uint64_t i = 0; i < test::samples(100'000, 2'000'000); ++i) {
    Unpacked x = randomUnpacked(random, i % 2 ? 64 : 24, -90, 90);
    ASSERT_EQ(exact::cbrt(x), expected(functions[0], x)) << x;
    tally.count(1);
  }
}

constexpr Unpacked half = Unpacked::fromInteger(false, 1, -1);
constexpr Unpacked four = Unpacked::fromInteger(false, 4);
static_assert(exact::exp(Unpacked::zero()).pack() == exact::unpackedOne.pack());
static_assert(exact::sin(half).sticky && exact::log(half).negative);
static_assert(exact::exp2(four).exponent == 4 && !exact::exp2(four).sticky);
static_assert(exact::erf(four).significand > ~uint64_t{0} << 39);
static_assert(exact::acos(exact::unpackedOne).isZero());
static_assert(exact::atanh(exact::unpackedOne).isInfinite());
static_assert(exact::cbrt(Unpacked::fromInteger(true, 27)).pack() ==
              Unpacked::fromInteger(true, 3).pack());
static_assert(exact::tan(half).sticky && exact::erfc(four).exponent == -26);

} // namespace
} // namespace numera
