// SPDX-License-Identifier: MIT
//
// Short multiply-add steps against the oracle. One may decline (its result is
// NaN) only where its header says so.

#include "StepOperands.h"
#include "numera/Numerics/MultiplyAdd/Steps.h"

#include <cmath>
#include <optional>

using namespace numera;
using namespace numera::test;

namespace {

constexpr StepForm forms[] = {StepForm::Gradual,    StepForm::Normal,
                              StepForm::Saturating, StepForm::Overflowing,
                              StepForm::AnyProduct, StepForm::AnySum,
                              StepForm::Fused,      StepForm::Confined};

// ---- floats --------------------------------------------------

/// What a step makes of operands: nothing where it is not to be asked.
template <typename T, typename Step>
std::optional<T> run(const Step &step, const Operands<T> &x) {
  T start = step.start(x.c);
  if (!step.admits(magnitudesOf(x.a, x.b)) || std::isnan(start))
    return std::nullopt;
  return step.result(
      step(start, step.first(x.a), step.second(x.a), step.prepared(x.b)));
}

/// Where the step has to give a result.
template <typename T>
bool mustFinish(const FloatStep<T> &step, const Operands<T> &x) {
  if (step.form == StepForm::Saturating || step.form == StepForm::Overflowing)
    return true;
  if (step.form == StepForm::Confined)
    return std::isfinite(x.c);
  T limit = std::ldexp(T{1}, step.format.maxExponent());
  for (T number : {x.a, x.b, x.c, x.product, x.sum})
    if (!(std::abs(number) < limit)) // just below it, t may overflow
      return false;
  return x.c != 0 || !std::signbit(x.c);
}
template <typename T>
bool mustFinish(const PositStep<T> &step, const Operands<T> &x) {
  const PositFormat &f = step.format;
  auto isWithin = [](T number, int32_t low, int32_t high) {
    T magnitude = std::abs(number);
    return number == 0 || (magnitude >= std::ldexp(T{1}, low) &&
                           magnitude < std::ldexp(T{1}, high));
  };
  bool anyProduct =
      step.form == StepForm::AnyProduct || step.form == StepForm::AnySum;
  // The regimes with a bit of fraction, or those in the table.
  int32_t high = f.bits - 3 - f.es, least = -high;
  if (step.form == StepForm::Gradual && high > 14 && f.es >= 2) {
    high = 14;
    // The last bit of 2^least 2^es may be that of the regime below -14.
    least = -high;
    while ((least << f.es) - (f.bits - 2 - f.es + least) < (-high << f.es) - 1)
      ++least;
  }
  high *= 1 << f.es, least *= 1 << f.es;
  // What is rounded to 2^-high may lie below.
  bool isBelow = anyProduct && std::abs(x.sum) == std::ldexp(T{1}, -high);
  return (anyProduct || isWithin(x.product, least, high)) &&
         (step.form == StepForm::AnySum ||
          (isWithin(x.c, least, high) && isWithin(x.sum, least, high) &&
           !isBelow));
}

template <typename T>
bool mustFinish(const FixedStep<T> &, const Operands<T> &) {
  return true;
}

template <typename T, typename Step>
void checkSteps(Tally &tally, const char *name, const Step &step,
                uint64_t share) {
  const auto &f = step.format;
  uint64_t compared = 0, all = 0;
  forOperands(f, [&](uint64_t a, uint64_t b, uint64_t product, uint64_t c,
                     uint64_t sum) {
    auto x = decoded<T>(f, a, b, product, c, sum);
    ++all;
    std::optional<T> got = run<T>(step, x);
    if (!got)
      return;
    if (std::isnan(*got)) {
      tally.check(mustFinish(step, x), 0, name, " declines", a, b, c);
      return;
    }
    ++compared;
    tally.check(codeOf(f, *got), sum, name, a, b, c);
    tally.check(*got == 0 && std::signbit(*got), 0, name, " -0", a, b, c);
  });
  EXPECT_GT(compared * share, all) << name << ": " << compared << " of " << all;
}

/// The number of steps that were tried.
template <typename T> int checkFloatSteps(std::span<const Case> cases) {
  Tally tally;
  int steps = 0;
  for (const Case &c : cases)
    if (const auto *f = std::get_if<FloatFormat>(&c.format))
      for (StepForm form : forms)
        if (FloatStep<T> step{*f, form}; step.exists()) {
          checkSteps<T>(tally, c.name, step,
                        form == StepForm::Gradual ? 8 : 50);
          ++steps;
        }
  return steps;
}

/// What a step once declined, no later step brings back.
TEST(FloatStep, StaysDeclined) {
  Tally tally;
  for (const Case &c : smallFormats())
    if (const auto *f = std::get_if<FloatFormat>(&c.format))
      for (StepForm form :
           {StepForm::Gradual, StepForm::Normal, StepForm::Fused})
        if (FloatStep<float> step{*f, form}; step.exists())
          for (uint64_t a = 0; a <= f->mask(); ++a)
            for (uint64_t b = 0; b <= f->mask(); ++b)
              for (float start : {INFINITY, -INFINITY, NAN}) {
                float x = decodeTo<float>(*f, a), y = decodeTo<float>(*f, b);
                float got = step(start, step.first(x), step.second(x),
                                 step.prepared(y));
                tally.check(std::isfinite(got), 0, c.name, a, b);
              }
}

/// A whole dot product: declined, or every step's bits. Returns false if it is
/// declined.
template <typename T, typename F>
bool checkSum(Tally &tally, const char *name, const ShortStep<T, F> &step,
              double scale, std::mt19937_64 &engine) {
  const F &f = step.format;
  Truth truth(f);
  std::normal_distribution<double> normal;
  auto draw = [&] { return codeOf(f, normal(engine) * scale); };
  uint64_t exact = 0;
  T ours = step.start(0);
  for (int k = 0; k < 100; ++k) {
    uint64_t a = draw(), b = draw();
    T x = decodeTo<T>(f, a), y = decodeTo<T>(f, b);
    if (!step.admits(magnitudesOf(x, y)))
      continue;
    exact = truth.add(exact, truth.multiply(a, b));
    ours = step(ours, step.first(x), step.second(x), step.prepared(y));
  }
  T result = step.result(ours);
  if (!std::isnan(result))
    tally.check(codeOf(f, result), exact, name, static_cast<int>(step.form));
  return !std::isnan(result);
}

template <typename T, typename F>
void checkSums(std::span<const Case> cases, std::span<const StepForm> of,
               int least) {
  Tally tally;
  int finished = 0, all = 0;
  for (const Case &c : cases)
    if (const auto *f = std::get_if<F>(&c.format))
      for (StepForm form : of)
        if (ShortStep<T, F> step{{*f, form}}; step.exists()) {
          std::mt19937_64 engine(43);
          for (uint64_t sum = 0; sum < samples(100, 100); ++sum, ++all)
            finished +=
                checkSum<T, F>(tally, c.name, step,
                               std::ldexp(1.0, int(sum % 16) - 8), engine);
        }
  EXPECT_GT(finished * 100, all * least) << finished << " of " << all;
}

TEST(FloatStep, MayBeRepeatedWithoutTests) {
  constexpr StepForm some[] = {StepForm::Gradual, StepForm::Saturating,
                               StepForm::Normal, StepForm::Fused};
  checkSums<float, FloatFormat>(sixteenBitFormats(), some, 75);
  // Also past an overflow.
  constexpr StepForm all[] = {StepForm::Overflowing, StepForm::Saturating,
                              StepForm::Confined};
  checkSums<float, FloatFormat>(smallFormats(), all, 99);
  checkSums<float, FloatFormat>(stepEdges, all, 99);
}
TEST(PositStep, MayBeRepeatedWithoutTests) {
  checkSums<float, PositFormat>(smallFormats(), forms, 30);
  checkSums<float, PositFormat>(sixteenBitFormats(), forms, 90);
  checkSums<double, PositFormat>(wideFormats(), forms, 90);
  constexpr StepForm any[] = {StepForm::AnySum};
  checkSums<float, PositFormat>(smallFormats(), any, 99);
}

/// A kernel prepares numbers for the form that it takes first.
TEST(FloatStep, KnowsForWhichFormsItsNumbersAre) {
  int alike = 0, different = 0;
  for (const Case &c : stepEdges)
    if (const auto *f = std::get_if<FloatFormat>(&c.format))
      for (StepForm from : forms)
        for (StepForm to : {StepForm::Fused, StepForm::Confined}) {
          FloatStep<float> x{*f, from}, y{*f, to};
          if (!x.exists() || !y.exists())
            continue;
          bool same = x.first(1) == y.first(1) && x.second(1) == y.second(1) &&
                      x.prepared(1) == y.prepared(1) &&
                      x.start(1) == y.start(1);
          EXPECT_EQ(x.preparesFor(to), same)
              << c.name << ' ' << int(from) << ' ' << int(to);
          ++(same ? alike : different);
        }
  EXPECT_GE(alike, 20);
  EXPECT_GE(different, 20);
}

/// No number of products of the other sign brings a sum back.
TEST(FloatStep, OverflowsForGood) {
  Tally tally;
  int steps = 0;
  auto check = [&](const Case &c, const FloatFormat &f) {
    FloatStep<float> step{f, StepForm::Overflowing};
    if (!step.exists())
      return;
    ++steps;
    auto largest = decodeTo<float>(f, f.maxCode());
    float middle =
        largest +
        static_cast<float>(std::ldexp(1.0, f.maxExponent() - f.precision()));
    // The least product with which c overflows, and the value below.
    auto below = decodeTo<float>(f, codeOf(f, middle - largest) - 1);
    for (float product : {middle - largest, below})
      for (int count : {1, 2, 3, 1000}) {
        auto multiply = [&](float sum, float a) {
          return step(sum, step.first(a), step.second(a), step.prepared(1));
        };
        float sum = multiply(step.start(largest), product);
        for (int i = 1; i < count; ++i)
          sum = multiply(sum, -largest);
        bool overflows = product >= middle - largest;
        if (overflows || count == 1)
          tally.check(Carrier<float>::bits(step.result(sum)),
                      Carrier<float>::bits(overflows ? INFINITY : largest),
                      c.name, count);
      }
  };
  for (std::span<const Case> cases :
       {smallFormats(), std::span<const Case>(stepEdges)})
    for (const Case &c : cases)
      if (const auto *f = std::get_if<FloatFormat>(&c.format))
        check(c, *f);
  EXPECT_GE(steps, 4);
}

/// Of finite operands: a step that saturates loses a NaN.
template <typename F>
void checkVectors(Tally &tally, const F &f, StepForm form) {
  using V = float __attribute__((ext_vector_type(4)));
  ShortStep<float, F> step{{f, form}};
  ASSERT_TRUE(step.exists());
  Sampler sampler(f.width(), 47);
  auto draw = [&] {
    float x = decodeTo<float>(f, sampler.code());
    return x == 0 || (std::abs(x) < 64 && std::abs(x) > 0x1p-10f) ? x : 1;
  };
  for (int i = 0; i < 20'000; ++i) {
    V c, first, second, b;
    for (int lane = 0; lane < 4; ++lane) {
      float a = draw();
      c[lane] = step.start(draw());
      first[lane] = step.first(a);
      second[lane] = step.second(a);
      b[lane] = step.prepared(draw());
    }
    V got = step(c, first, second, b);
    for (int lane = 0; lane < 4; ++lane) {
      float want = step(c[lane], first[lane], second[lane], b[lane]);
      tally.check(canonical<float>(got[lane]), canonical(want), "vector");
    }
  }
}

TEST(ShortStep, ComputesTheSameOnVectors) {
  Tally tally;
  constexpr FloatFormat f{
      5, 10, 15, Specials::Ieee, true, true, Overflow::Saturate};
  for (StepForm form :
       {StepForm::Gradual, StepForm::Normal, StepForm::Saturating,
        StepForm::Fused, StepForm::Confined})
    checkVectors(tally, f, form);
  checkVectors(tally, PositFormat{{16}, 2}, StepForm::Gradual);
  checkVectors(tally, PositFormat{{16}, 1}, StepForm::Gradual);
  checkVectors(tally, FixedFormat{4, 11}, StepForm::Gradual);
}

TEST(FloatStep, IsExactForSmallFormats) {
  EXPECT_GE(checkFloatSteps<float>(smallFormats()), 60);
  EXPECT_GE(checkFloatSteps<double>(smallFormats().first(36)), 40);
}
TEST(FloatStep, IsExactForSixteenBits) {
  EXPECT_GE(checkFloatSteps<float>(sixteenBitFormats()), 8);
  EXPECT_GE(checkFloatSteps<float>(stepEdges), 18);
}
TEST(FloatStep, IsExactForWideFormatsInDouble) {
  EXPECT_GE(checkFloatSteps<double>(stepEdges), 30);
  EXPECT_GE(checkFloatSteps<double>(wideFormats()), 2);
}

// ---- posits --------------------------------------------------------------

/// Returns how many steps were tried.
template <typename T, typename Format>
int checkSteps(std::span<const Case> cases, uint64_t share) {
  Tally tally;
  int steps = 0;
  for (const Case &c : cases)
    if (const auto *f = std::get_if<Format>(&c.format))
      for (StepForm form : forms)
        if (ShortStep<T, Format> step{{*f, form}}; step.exists()) {
          checkSteps<T>(tally, c.name, step, share);
          ++steps;
        }
  return steps;
}
template <typename T> int checkPositSteps(std::span<const Case> cases) {
  return checkSteps<T, PositFormat>(cases, 20);
}
template <typename T> int checkFixedSteps(std::span<const Case> cases) {
  return checkSteps<T, FixedFormat>(cases, 2);
}

constexpr Case positEdges[] = {
    {"posit<16,0>", PositFormat{{16}, 0}},
    {"posit<16,3>", PositFormat{{16}, 3}},
    {"posit<15,1>", PositFormat{{15}, 1}},
    {"posit<12,1>", PositFormat{{12}, 1}},
    {"posit<12,0>", PositFormat{{12}, 0}},
    {"posit<24,2>", PositFormat{{24}, 2}},
    {"posit<32,2>", PositFormat{{32}, 2}},
    {"posit<24,0>", PositFormat{{24}, 0}},
    {"posit<20,1>", PositFormat{{20}, 1}},
    {"posit<32,4>", PositFormat{{32}, 4}},
};

TEST(PositStep, IsExactForSmallFormats) {
  EXPECT_GE(checkPositSteps<float>(smallFormats()), 8);
  EXPECT_GE(checkPositSteps<double>(smallFormats()), 4);
}
TEST(PositStep, IsExactForSixteenBits) {
  EXPECT_GE(checkPositSteps<float>(sixteenBitFormats()), 2);
  EXPECT_GE(checkPositSteps<float>(positEdges), 8);
}
TEST(PositStep, IsExactForWideFormatsInDouble) {
  EXPECT_GE(checkPositSteps<double>(sixteenBitFormats()), 2);
  EXPECT_GE(checkPositSteps<double>(positEdges), 7);
}

// ---- fixed point
// -------------------------------------------------------------

constexpr Case fixedEdges[] = {
    {"fixed<7,8>", FixedFormat{7, 8}},
    {"fixed<15,0>", FixedFormat{15, 0}},
    {"fixed<0,15>", FixedFormat{0, 15}},
    {"fixed<8,8,unsigned>", FixedFormat{8, 8, false}},
    {"fixed<14,7>", FixedFormat{14, 7}},
    {"fixed<25,25>", FixedFormat{25, 25}},
    {"fixed<30,20,unsigned>", FixedFormat{30, 20, false}},
};

TEST(FixedStep, IsExactForAllOperands) {
  EXPECT_GE(checkFixedSteps<float>(smallFormats()), 5);
  EXPECT_GE(checkFixedSteps<float>(sixteenBitFormats()), 1);
  EXPECT_GE(checkFixedSteps<float>(fixedEdges), 5);
  EXPECT_GE(checkFixedSteps<double>(fixedEdges), 7);
}

// What is compared above is what exists() admits.
TEST(Steps, ExistForTheFormatsThatMatter) {
  constexpr auto gradual = StepForm::Gradual;
  static_assert(FloatStep<float>{{8, 7, 127}, gradual}.exists());
  static_assert(FloatStep<float>{{5, 10, 15}, gradual}.exists());
  static_assert(FloatStep<float>{{8, 10, 127}, gradual}.exists());
  static_assert(!FloatStep<float>{{8, 11, 127}, gradual}.exists());
  static_assert(FloatStep<double>{{8, 23, 127}, gradual}.exists());
  static_assert(PositStep<float>{PositFormat{{16}, 2}}.exists());
  static_assert(PositStep<float>{PositFormat{{16}, 1}}.exists());
  static_assert(PositStep<float>{PositFormat{{12}, 1}}.exists());
  static_assert(PositStep<double>{PositFormat{{24}, 2}}.exists());
  static_assert(FloatStep<float>{{3, 4, 3}, StepForm::Overflowing}.exists());
  static_assert(FloatStep<float>{{4, 3, 7}, StepForm::Overflowing}.exists());
  static_assert(!FloatStep<float>{{5, 2, 15}, StepForm::Overflowing}.exists());
  for (auto form : {StepForm::AnyProduct, StepForm::AnySum}) {
    EXPECT_TRUE((PositStep<float>{PositFormat{{12}, 1}, form}.exists()));
    EXPECT_TRUE((PositStep<float>{PositFormat{{8}, 2}, form}.exists()));
    EXPECT_FALSE((PositStep<float>{PositFormat{{17}, 2}, form}.exists()));
    EXPECT_FALSE((PositStep<double>{PositFormat{{12}, 1}, form}.exists()));
  }
}

} // namespace
