// SPDX-License-Identifier: MIT
//
// Steps in binary16 against the oracle. One may decline only where its header
// says so.

#include "StepOperands.h"
#include "numera/Numerics/MultiplyAdd/StepHalf.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

constexpr StepForm forms[] = {StepForm::Saturating, StepForm::Overflowing,
                              StepForm::Confined};

/// At the ends of what binary16 allows, and beside them.
constexpr Case edges[] = {
    {"float<5,1>", FloatFormat{5, 1, 15}},
    {"float<5,3>", FloatFormat{5, 3, 15}},
    {"float<5,3,saturate>",
     FloatFormat{5, 3, 15, Specials::Ieee, true, true, Overflow::Saturate}},
    {"float<5,3,bias=16>", FloatFormat{5, 3, 16}},
    {"float<5,3,bias=14>", FloatFormat{5, 3, 14}},
    {"float<4,3,bias=21>", FloatFormat{4, 3, 21}},
    {"float<4,3,bias=22>", FloatFormat{4, 3, 22}},
    {"float<4,3,bias=0>", FloatFormat{4, 3, 0}},
    {"float<2,3>", FloatFormat{2, 3, 1}},
};

/// Calls check(name, step) for all steps that exist of edges and small formats;
/// returns how many there are.
template <typename Check> int forSteps(const Check &check) {
  int count = 0;
  for (std::span<const Case> cases :
       {smallFormats(), std::span<const Case>(edges)})
    for (const Case &c : cases)
      if (const auto *f = std::get_if<FloatFormat>(&c.format))
        for (StepForm form : forms)
          if (HalfStep step{*f, form}; step.exists()) {
            check(c.name, step);
            ++count;
          }
  return count;
}

_Float16 next(const HalfStep &step, _Float16 c, float a, float b) {
  return step(c, step.first(a), step.second(a), step.prepared(b));
}

TEST(HalfStep, HasTheOraclesBits) {
  Tally tally;
  int steps = forSteps([&](const char *name, const HalfStep &step) {
    const FloatFormat &f = step.format;
    uint64_t compared = 0, all = 0;
    forOperands(f, [&](uint64_t a, uint64_t b, uint64_t product, uint64_t c,
                       uint64_t sum) {
      auto x = decoded<float>(f, a, b, product, c, sum);
      bool starts = !std::isnan(float(step.start(x.c)));
      bool isPlain = std::isfinite(x.c) && (x.c != 0 || !std::signbit(x.c));
      tally.check(starts || !isPlain, 1, name, "starts", c);
      ++all;
      if (!starts || !step.admits(magnitudesOf(x.a, x.b)))
        return;
      float got = step.result(next(step, step.start(x.c), x.a, x.b));
      if (std::isnan(got)) {
        tally.check(isPlain, 0, name, "declines", a, b, c);
        return;
      }
      ++compared;
      tally.check(codeOf(f, got), sum, name, a, b, c);
      tally.check(got == 0 && std::signbit(got), 0, name, "-0", a, b, c);
    });
    EXPECT_GT(compared * 50, all) << name << ": " << compared << " of " << all;
  });
  EXPECT_GE(steps, 30);
}

/// Whole dot products, also past an overflow.
TEST(HalfStep, MayBeRepeatedWithoutTests) {
  Tally tally;
  int finished = 0, all = 0;
  forSteps([&](const char *name, const HalfStep &step) {
    const FloatFormat &f = step.format;
    Truth truth(f);
    std::mt19937_64 engine(47);
    std::normal_distribution<double> normal;
    for (int sum = 0; sum < 100; ++sum, ++all) {
      double scale = std::ldexp(1.0, sum % 16 - 8);
      uint64_t exact = 0;
      _Float16 ours = step.start(0);
      for (int k = 0; k < 100; ++k) {
        uint64_t a = codeOf(f, normal(engine) * scale);
        uint64_t b = codeOf(f, normal(engine) * scale);
        auto x = decodeTo<float>(f, a), y = decodeTo<float>(f, b);
        if (!step.admits(magnitudesOf(x, y)))
          continue;
        exact = truth.add(exact, truth.multiply(a, b));
        ours = next(step, ours, x, y);
      }
      float result = step.result(ours);
      if (std::isnan(result))
        continue;
      ++finished;
      tally.check(codeOf(f, result), exact, name, int(step.form));
    }
  });
  EXPECT_GT(finished * 100, all * 99) << finished << " of " << all;
}

/// No number of products of the other sign brings a sum back.
TEST(HalfStep, OverflowsForGood) {
  Tally tally;
  int steps = forSteps([&](const char *name, const HalfStep &step) {
    if (step.form != StepForm::Overflowing)
      return;
    auto largest = decodeTo<float>(step.format, step.format.maxCode());
    for (float sign : {1.0f, -1.0f}) {
      _Float16 sum = step.start(sign * largest);
      sum = next(step, sum, sign * largest, 1);
      for (int i = 0; i < 10; ++i) {
        tally.check(step.result(sum) == sign * INFINITY, 1, name, i);
        sum = next(step, sum, -sign * largest, 1);
      }
    }
  });
  EXPECT_GE(steps, 20);
}

/// What binary16 does not hold has no steps in it.
TEST(HalfStep, ExistsWhereItHolds) {
  auto exists = [](const FloatFormat &f, StepForm form) {
    return HalfStep{f, form}.exists();
  };
  EXPECT_TRUE(exists(FloatFormat{5, 3, 15}, StepForm::Overflowing));
  EXPECT_FALSE(exists(FloatFormat{5, 3, 14}, StepForm::Overflowing));
  EXPECT_FALSE(exists(FloatFormat{5, 3, 23}, StepForm::Overflowing));
  EXPECT_FALSE(exists(FloatFormat{3, 4, 3}, StepForm::Overflowing));
  EXPECT_FALSE(exists(FloatFormat{4, 3, 7}, StepForm::Saturating));
  EXPECT_FALSE(exists(FloatFormat{4, 3, 7}, StepForm::Gradual));
}

} // namespace
