// SPDX-License-Identifier: MIT
//
// Multiply-add steps in carriers against the oracle: its product, rounded, and
// its sum with that, rounded. A short step may decline (its result is not
// finite) only where its header says so.

#include "Sweep.h"
#include "numera/Numerics/StepFloat.h"
#include "numera/Numerics/StepPosit.h"

#include <cmath>
#include <optional>
#include <type_traits>

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto even = oracle::Mode::NearestEven;
constexpr StepForm forms[] = {StepForm::Gradual, StepForm::Normal,
                              StepForm::Saturating};

/// Formats whose steps are at the ends of what a carrier allows, inside and
/// just outside.
constexpr Case edges[] = {
    {"tf32", FloatFormat{8, 10, 127}},
    {"float<8,3>", FloatFormat{8, 3, 127}},
    {"float<8,4,bias=126>", FloatFormat{8, 4, 126}},
    {"float<8,4,bias=128>", FloatFormat{8, 4, 128}},
    {"float<6,9>", FloatFormat{6, 9, 31}},
    {"float<3,4>", FloatFormat{3, 4, 3}},
    {"float<3,10,bias=16>", FloatFormat{3, 10, 16}},
    {"float<3,10,bias=30>", FloatFormat{3, 10, 30}},
    {"float<4,10,fn,saturate>",
     FloatFormat{4, 10, 7, Specials::Fn, true, true, Overflow::Saturate}},
    {"bf16,saturate",
     FloatFormat{8, 7, 127, Specials::Ieee, true, true, Overflow::Saturate}},
    {"float<8,23,saturate>",
     FloatFormat{8, 23, 127, Specials::Ieee, true, true, Overflow::Saturate}},
    {"float<8,24>", FloatFormat{8, 24, 127}},
    {"float<5,20>", FloatFormat{5, 20, 15}},
    {"float<11,4>", FloatFormat{11, 4, 1023}},
};

/// The exact steps of a format: codes in, codes out.
class Truth {
public:
  template <typename F>
  explicit Truth(const F &f)
      : oracle(describe(f)), result(oracle.precision()) {}

  uint64_t multiply(uint64_t a, uint64_t b) { return apply(oracle::mul, a, b); }
  uint64_t add(uint64_t c, uint64_t product) {
    return apply(oracle::add, c, product);
  }

private:
  uint64_t apply(oracle::Binary exact, uint64_t x, uint64_t y) {
    exact(result, oracle.value(x, scratchX), oracle.value(y, scratchY));
    return oracle.round(oracle.locate(result), even);
  }
  oracle::Oracle oracle;
  oracle::Result result;
  oracle::Real scratchX, scratchY;
};

/// Calls check(a, b, product, c, sum) for all operands of formats of at most 8
/// bits, a part of the starts at a time; for samples of others.
template <typename F, typename Check>
void forOperands(const F &f, const Check &check) {
  Truth truth(f);
  uint64_t count = f.mask() + 1;
  if (f.width() <= 8) {
    std::vector<uint64_t> products(count * count), sums(count * count);
    for (uint64_t x = 0; x < count; ++x)
      for (uint64_t y = 0; y < count; ++y) {
        products[x * count + y] = truth.multiply(x, y);
        sums[x * count + y] = truth.add(x, y);
      }
    uint64_t stride = f.width() <= 6 ? 1 : samples(61, 7);
    uint64_t c = 0;
    for (uint64_t a = 0; a < count; ++a)
      for (uint64_t b = 0; b < count; ++b) {
        uint64_t product = products[a * count + b];
        for (c %= stride; c < count; c += stride)
          check(a, b, product, c, sums[c * count + product]);
      }
    return;
  }
  auto checkOne = [&](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t product = truth.multiply(a, b);
    check(a, b, product, c, truth.add(c, product));
  };
  std::vector<uint64_t> codes = boundaryCodes(f, 1);
  size_t step = isSlow() ? 1 : codes.size() / 20;
  for (size_t i = 0; i < codes.size(); ++i)
    for (size_t j = i % step; j < codes.size(); j += step)
      checkOne(codes[i], codes[j], codes[(i * 31 + j * 7) % codes.size()]);
  Sampler sampler(f.width(), 41);
  for (uint64_t i = 0; i < samples(40'000, 10'000'000); ++i) {
    uint64_t a = sampler.code(), b = sampler.code();
    if (i % 8 == 7)
      std::tie(a, b) = tieOfProduct(f, sampler);
    uint64_t product = truth.multiply(a, b);
    uint64_t c = i & 1 ? sampler.codeNear(product) : sampler.code();
    check(a, b, product, c, truth.add(c, product));
  }
}

template <typename T> struct Operands {
  T a, b, product, c, sum;
};
/// The values of codes; the code of a value.
template <typename T, typename F>
Operands<T> decoded(const F &f, uint64_t a, uint64_t b, uint64_t product,
                    uint64_t c, uint64_t sum) {
  return {decodeTo<T>(f, a), decodeTo<T>(f, b), decodeTo<T>(f, product),
          decodeTo<T>(f, c), decodeTo<T>(f, sum)};
}
template <typename T, typename F> uint64_t codeOf(const F &f, T x) {
  return encodeFrom<T>(f, x, Rounding::NearestEven);
}

template <typename T, typename F> bool embeds(const F &f) {
  return Carrier<T>::embeds(f);
}

// ---- the full step ----------------------------------------------------------

template <typename T> void checkFullSteps(std::span<const Case> cases) {
  Tally tally;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          if (!embeds<T>(f))
            return;
          forOperands(f, [&](uint64_t a, uint64_t b, uint64_t product,
                             uint64_t c, uint64_t sum) {
            auto x = decoded<T>(f, a, b, product, c, sum);
            T got = fullStep<T>(f, x.c, x.a, x.b);
            // The carrier's own bits: a NaN, a -0.
            tally.check(Carrier<T>::bits(got), Carrier<T>::bits(x.sum), "step",
                        a, b, c);
          });
        },
        c.format);
}

TEST(FullStep, OfSmallFormatsIsExact) {
  checkFullSteps<float>(smallFormats());
  checkFullSteps<double>(smallFormats().first(40));
}
TEST(FullStep, OfSixteenBitsIsExact) {
  checkFullSteps<float>(sixteenBitFormats());
  checkFullSteps<float>(edges);
}
TEST(FullStep, OfWideFormatsIsExactInDouble) {
  checkFullSteps<double>(edges);
  checkFullSteps<double>(wideFormats());
}

// ---- the ways to round ------------------------------------------------------

/// A binade of carriers, whole ones and those next to it: rounding is the same
/// at every scale. Against integers.
TEST(Rounding, BySplittingAndByShiftingIsNearestEven) {
  Tally tally;
  constexpr int q = 24;
  uint32_t stride = isSlow() ? 1 : 37;
  for (int cut = 2; cut < q; ++cut) {
    float shift = std::ldexp(1.0f, cut);
    for (uint32_t m = 1u << (q - 1); m < 1u << q;
         m += m < (1u << (q - 1)) + 4096 || m > (1u << q) - 8192 ? 1 : stride) {
      uint32_t kept = m >> cut, rest = m & ((1u << cut) - 1),
               half = 1u << (cut - 1);
      kept += rest > half || (rest == half && (kept & 1));
      uint64_t want = uint64_t{kept} << cut;
      auto x = static_cast<float>(m);
      tally.check(static_cast<uint64_t>(step::roundBySplitting(x, shift + 1)),
                  want, "split", cut, m);
      if (cut >= q - cut + 2)
        tally.check(static_cast<uint64_t>(step::roundByShifting(x, shift)),
                    want, "shift", cut, m);
    }
  }
}

// ---- short steps of floats --------------------------------------------------

template <typename T> Magnitudes<T> magnitudesOf(T x) {
  T infinity = std::numeric_limits<T>::infinity();
  T magnitude = std::isnan(x) ? infinity : std::abs(x);
  return {x == 0 ? infinity : magnitude, magnitude};
}

/// What a step makes of operands: nothing where it is not to be asked.
template <typename T, typename Step>
std::optional<T> run(const Step &step, const Operands<T> &x) {
  T start = step.start(x.c);
  if (!step.admits(magnitudesOf(x.a), magnitudesOf(x.b)) ||
      (step.form == StepForm::Saturating && !std::isfinite(start)))
    return std::nullopt;
  return step(start, step.first(x.a), step.second(x.a), step.prepared(x.b));
}

/// Where the step has to give a finite result.
template <typename T>
bool mustFinish(const FloatStep<T> &step, const Operands<T> &x) {
  if (step.form == StepForm::Saturating)
    return true;
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
  // One bit of fraction, or two, as the product may lie below its rounding;
  // 32 regimes without the first and the last.
  int32_t unit = 1 << f.es;
  int32_t high = std::min(f.bits - 4 - f.es, 14) * unit;
  int32_t low = -std::min(f.bits - 4 - f.es, 14) * unit;
  int32_t reach = std::min(8 * unit, Carrier<T>::bias / 2 - 3);
  return isWithin(x.a, -reach, reach) && isWithin(x.b, -reach, reach) &&
         isWithin(x.product, low, high) && isWithin(x.c, low, high) &&
         isWithin(x.sum, low, high);
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
    if (!std::isfinite(*got)) {
      tally.check(mustFinish(step, x), 0, name, " declines", a, b, c);
      return;
    }
    ++compared;
    tally.check(codeOf(f, step.result(*got)), sum, name, a, b, c);
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
      for (StepForm form : {StepForm::Gradual, StepForm::Normal})
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

/// A whole dot product: declined, or every step's bits.
TEST(FloatStep, MayBeRepeatedWithoutTests) {
  Tally tally;
  uint64_t finished = 0, all = 0;
  for (const Case &c : sixteenBitFormats())
    if (const auto *f = std::get_if<FloatFormat>(&c.format))
      for (StepForm form : {StepForm::Gradual, StepForm::Saturating})
        if (FloatStep<float> step{*f, form}; step.exists()) {
          Truth truth(*f);
          std::mt19937_64 engine(43);
          std::normal_distribution<double> normal;
          for (int sum = 0; sum < 200; ++sum, ++all) {
            double scale = std::ldexp(1.0, sum % 16 - 8);
            auto draw = [&] { return codeOf(*f, normal(engine) * scale); };
            uint64_t exact = 0;
            float ours = step.start(0);
            for (int k = 0; k < 100; ++k) {
              uint64_t a = draw(), b = draw();
              exact = truth.add(exact, truth.multiply(a, b));
              float x = decodeTo<float>(*f, a), y = decodeTo<float>(*f, b);
              ours =
                  step(ours, step.first(x), step.second(x), step.prepared(y));
            }
            if (!std::isfinite(ours))
              continue;
            ++finished;
            tally.check(codeOf(*f, step.result(ours)), exact, c.name, sum);
          }
        }
  EXPECT_GT(finished * 4, all * 3);
}

TEST(FloatStep, ComputesTheSameOnVectors) {
  using V = float __attribute__((ext_vector_type(4)));
  Tally tally;
  Sampler sampler(16, 47);
  constexpr FloatFormat f{
      5, 10, 15, Specials::Ieee, true, true, Overflow::Saturate};
  for (StepForm form : forms) {
    FloatStep<float> step{f, form};
    for (int i = 0; i < 20'000; ++i) {
      V c, first, second, b;
      for (int lane = 0; lane < 4; ++lane) {
        auto draw = [&] { return decodeTo<float>(f, sampler.code()); };
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
}

TEST(FloatStep, IsExactForSmallFormats) {
  EXPECT_GE(checkFloatSteps<float>(smallFormats()), 60);
  EXPECT_GE(checkFloatSteps<double>(smallFormats().first(36)), 40);
}
TEST(FloatStep, IsExactForSixteenBits) {
  EXPECT_GE(checkFloatSteps<float>(sixteenBitFormats()), 8);
  EXPECT_GE(checkFloatSteps<float>(edges), 18);
}
TEST(FloatStep, IsExactForWideFormatsInDouble) {
  EXPECT_GE(checkFloatSteps<double>(edges), 30);
  EXPECT_GE(checkFloatSteps<double>(wideFormats()), 2);
}

// ---- short steps of posits --------------------------------------------------

template <typename T> int checkPositSteps(std::span<const Case> cases) {
  Tally tally;
  int steps = 0;
  for (const Case &c : cases)
    if (const auto *f = std::get_if<PositFormat>(&c.format))
      if (PositStep<T> step{*f}; step.exists()) {
        checkSteps<T>(tally, c.name, step, 20);
        ++steps;
      }
  return steps;
}

constexpr Case positEdges[] = {
    {"posit<16,0>", PositFormat{16, 0}}, {"posit<16,3>", PositFormat{16, 3}},
    {"posit<15,1>", PositFormat{15, 1}}, {"posit<12,1>", PositFormat{12, 1}},
    {"posit<12,0>", PositFormat{12, 0}}, {"posit<24,2>", PositFormat{24, 2}},
    {"posit<32,2>", PositFormat{32, 2}}, {"posit<24,0>", PositFormat{24, 0}},
    {"posit<20,1>", PositFormat{20, 1}}, {"posit<32,4>", PositFormat{32, 4}},
};

TEST(PositStep, IsExactForSmallFormats) {
  EXPECT_GE(checkPositSteps<float>(smallFormats()), 4);
  EXPECT_GE(checkPositSteps<double>(smallFormats()), 4);
}
TEST(PositStep, IsExactForSixteenBits) {
  EXPECT_GE(checkPositSteps<float>(sixteenBitFormats()), 2);
  EXPECT_GE(checkPositSteps<float>(positEdges), 4);
}
TEST(PositStep, IsExactForWideFormatsInDouble) {
  EXPECT_GE(checkPositSteps<double>(sixteenBitFormats()), 2);
  EXPECT_GE(checkPositSteps<double>(positEdges), 7);
}

// What is compared above is what exists() admits.
TEST(Steps, ExistForTheFormatsThatMatter) {
  constexpr auto gradual = StepForm::Gradual;
  static_assert(FloatStep<float>{{8, 7, 127}, gradual}.exists());
  static_assert(FloatStep<float>{{5, 10, 15}, gradual}.exists());
  static_assert(FloatStep<float>{{8, 10, 127}, gradual}.exists());
  static_assert(!FloatStep<float>{{8, 11, 127}, gradual}.exists());
  static_assert(FloatStep<double>{{8, 23, 127}, gradual}.exists());
  static_assert(PositStep<float>{PositFormat{16, 2}}.exists());
  static_assert(PositStep<float>{PositFormat{16, 1}}.exists());
  static_assert(PositStep<float>{PositFormat{12, 1}}.exists());
  static_assert(PositStep<double>{PositFormat{24, 2}}.exists());
}

} // namespace
