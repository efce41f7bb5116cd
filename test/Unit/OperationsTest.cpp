// SPDX-License-Identifier: MIT
//
// Operations together: published figures, the machine's own arithmetic, and
// formats drawn at random.

#include "Sweep.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

constexpr auto even = Rounding::NearestEven;

struct Harmonic {
  double sum;
  uint64_t last;
  bool operator==(const Harmonic &) const = default;
};

/// Adds 1/k, every operation rounded, until the sum stays.
template <typename F> Harmonic harmonic(const F &f) {
  uint64_t one = fromSigned(f, 1, even), sum = one;
  for (uint64_t k = 2;; ++k) {
    uint64_t term = div(f, one, fromUnsigned(f, k, even), even);
    uint64_t next = add(f, sum, term, even);
    if (next == sum)
      return {decodeTo<double>(f, sum), k};
    sum = next;
  }
}

TEST(Operations, HarmonicSumsStopWherePublished) {
  using H = Harmonic;
  EXPECT_EQ(harmonic(FloatFormat{5, 10, 15}), (H{7.0859375, 513}));
  EXPECT_EQ(harmonic(FloatFormat{8, 7, 127}), (H{5.0625, 65}));
  EXPECT_EQ(harmonic(FloatFormat{4, 3, 7}), (H{3.0, 9}));
  EXPECT_EQ(harmonic(FloatFormat{5, 2, 15}), (H{2.0, 5}));
  EXPECT_EQ(harmonic(FloatFormat{3, 4, 3}), (H{3.5, 16}));
  EXPECT_EQ(harmonic(PositFormat{{8}, 0}), (H{3.5, 16}));
  EXPECT_EQ(harmonic(PositFormat{{8}, 2}), (H{3.0, 9}));
  EXPECT_EQ(harmonic(PositFormat{{16}, 1}), (H{7.77734375, 1024}));
  EXPECT_EQ(harmonic(PositFormat{{16}, 2}), (H{7.78125, 1025}));
}

/// Shares of all operand pairs in percent: results that are exact (infinities
/// of infinite operands included, overflow not), and NaN.
struct Closure {
  double exact, nan;
};

template <typename F, typename OpKind>
Closure closure(const F &f, oracle::Binary exactOperation, OpKind operation) {
  oracle::Oracle truth(describe(f));
  oracle::Result result;
  oracle::Real x, y, z;
  int exact = 0, nan = 0, pairs = 0;
  for (uint64_t a = 0; a <= f.mask(); ++a)
    for (uint64_t b = 0; b <= f.mask(); ++b, ++pairs) {
      uint64_t code = operation(f, a, b, even);
      mpfr_srcptr rounded = truth.value(code, z);
      exactOperation(result, truth.value(a, x), truth.value(b, y));
      nan += mpfr_nan_p(rounded) != 0;
      exact += !result.tail && mpfr_equal_p(result.value, rounded);
    }
  return {100.0 * exact / pairs, 100.0 * nan / pairs};
}

TEST(Operations, ClosureSharesAreThePublishedOnes) {
  auto plus = [](const auto &f, uint64_t x, uint64_t y, Rounding mode) {
    return add(f, x, y, mode);
  };
  auto times = [](const auto &f, uint64_t x, uint64_t y, Rounding mode) {
    return mul(f, x, y, mode);
  };
  constexpr PositFormat posit{{8}, 1};
  constexpr FloatFormat ieee{4, 3, 7};
  Closure sums = closure(posit, oracle::add, plus);
  EXPECT_NEAR(sums.exact, 24.226, 0.0006);
  EXPECT_NEAR(sums.nan, 0.780, 0.0006);
  Closure products = closure(posit, oracle::mul, times);
  EXPECT_NEAR(products.exact, 17.226, 0.0006);
  EXPECT_NEAR(products.nan, 0.780, 0.0006);
  sums = closure(ieee, oracle::add, plus);
  EXPECT_NEAR(sums.exact, 18.533, 0.0006);
  EXPECT_NEAR(sums.nan, 10.641, 0.0006);
  products = closure(ieee, oracle::mul, times);
  EXPECT_NEAR(products.exact, 22.272, 0.0006);
  EXPECT_NEAR(products.nan, 10.651, 0.0006);
}

/// The exact path in f32 and f64 against the machine's arithmetic; `fma` is
/// the C library's, which need not be an instruction.
template <typename T> void checkMachineArithmetic() {
  Tally tally;
  constexpr FloatFormat f = Carrier<T>::format;
  auto check = [&](uint64_t got, T want, const char *name, uint64_t x,
                   uint64_t y) {
    tally.check(got,
                std::isnan(want) ? uint64_t{Carrier<T>::nan}
                                 : uint64_t{Carrier<T>::bits(want)},
                name, x, y);
  };
  Sampler sampler(Carrier<T>::width, 31);
  for (uint64_t i = 0; i < samples(500'000); ++i) {
    uint64_t x = sampler.code(), z = sampler.code();
    uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
    T a = machine<T>(x), b = machine<T>(y), c = machine<T>(z);
    check(reference::add(f, x, y, even), a + b, "add", x, y);
    check(reference::sub(f, x, y, even), a - b, "sub", x, y);
    check(reference::mul(f, x, y, even), a * b, "mul", x, y);
    check(reference::div(f, x, y, even), a / b, "div", x, y);
    check(reference::sqrt(f, x, even), std::sqrt(a), "sqrt", x, x);
    check(reference::fma(f, x, y, z, even), std::fma(a, b, c), "fma", x, y);
    if (i % 16 == 0)
      check(rem(f, x, y, even), std::fmod(a, b), "rem", x, y);
    check(roundToIntegral(f, x, Rounding::Up, even), std::ceil(a), "ceil", x,
          x);
    check(roundToIntegral(f, x, Rounding::NearestAway, even), std::round(a),
          "round", x, x);
  }
}

// Clauses: F9.
TEST(Operations, AreTheMachinesInF32) { checkMachineArithmetic<float>(); }
TEST(Operations, AreTheMachinesInF64) { checkMachineArithmetic<double>(); }

/// True if the family `float` takes these parameters: room for the specials,
/// and a number beside zero.
bool isValid(const FloatFormat &f) {
  if (f.specials == Specials::Ieee)
    return f.exponentBits > 0 && f.mantissaBits > 0;
  uint64_t first = f.hasSubnormals ? 1 : uint64_t{1} << f.mantissaBits;
  return f.magnitudeBits() > 1 && f.magnitudeMask() > 3 && f.maxCode() >= first;
}

/// A valid float format with any combination of parameters.
FloatFormat randomFloat(std::mt19937_64 &engine) {
  auto pick = [&](int least, int most) {
    return least + static_cast<int>(engine() % (most - least + 1));
  };
  for (;;) {
    FloatFormat f{};
    f.specials = static_cast<Specials>(pick(0, 6));
    f.overflow = static_cast<Overflow>(pick(0, 2));
    f.isSigned = f.specials == Specials::Fnuz || pick(0, 3) != 0;
    f.hasSubnormals = pick(0, 3) != 0;
    if (f.specials == Specials::Fnu) {
      f.isSigned = false;
      f.hasSubnormals = true;
    }
    f.exponentBits = pick(0, 9) ? pick(1, 1 << pick(1, 4)) : 0;
    f.mantissaBits = pick(0, pick(0, 1) ? 6 : 52);
    int room = f.isSigned ? 63 : 64;
    if (f.magnitudeBits() > room)
      f.mantissaBits = room - f.exponentBits;
    int middle = f.exponentBits ? (1 << (f.exponentBits - 1)) - 1 : 0;
    f.bias = pick(0, 2) ? middle : middle + pick(-200, 200);
    if (isValid(f))
      return f;
  }
}

template <typename F>
void checkRandomFormat(Tally &tally, const std::string &name, const F &f,
                       uint64_t seed) {
  oracle::Oracle truth(describe(f));
  oracle::Result result(truth.precision());
  oracle::Real x, y, z;
  Sampler sampler(f.width(), seed);
  for (int i = 0; i < 40; ++i) {
    uint64_t a = sampler.code(), c = sampler.code();
    uint64_t b = i & 1 ? sampler.codeNear(a) : sampler.code();
    mpfr_srcptr u = truth.value(a, x), v = truth.value(b, y);
    mpfr_srcptr w = truth.value(c, z);
    auto check = [&](const char *operation, auto ours) {
      oracle::Place place = truth.locate(result);
      for (Rounding mode : modes)
        tally.check(ours(mode), truth.round(place, modeOf(mode)), name.c_str(),
                    operation, a, b, c, mode);
    };
    oracle::add(result, u, v);
    check(" add", [&](Rounding mode) { return add(f, a, b, mode); });
    oracle::mul(result, u, v);
    check(" mul", [&](Rounding mode) { return mul(f, a, b, mode); });
    oracle::div(result, u, v);
    check(" div", [&](Rounding mode) { return div(f, a, b, mode); });
    oracle::fma(result, u, v, w);
    check(" fma", [&](Rounding mode) { return fma(f, a, b, c, mode); });
    oracle::sqrt(result, u);
    check(" sqrt", [&](Rounding mode) { return sqrt(f, a, mode); });
    oracle::rsqrt(result, u);
    check(" rsqrt", [&](Rounding mode) { return rsqrt(f, a, mode); });
    oracle::rem(result, u, v);
    check(" rem", [&](Rounding mode) { return rem(f, a, b, mode); });
  }
}

TEST(Operations, HoldForRandomFloatFormats) {
  Tally tally;
  std::mt19937_64 engine(37);
  for (uint64_t i = 0; i < samples(1'000); ++i) {
    FloatFormat f = randomFloat(engine);
    std::string name =
        "float<" + std::to_string(f.exponentBits) + "," +
        std::to_string(f.mantissaBits) + ",bias=" + std::to_string(f.bias) +
        ",specials " + std::to_string(static_cast<int>(f.specials)) +
        (f.hasSubnormals ? "" : ",flush") + (f.isSigned ? "" : ",unsigned") +
        ",overflow " + std::to_string(static_cast<int>(f.overflow)) + ">";
    checkRandomFormat(tally, name, f, i);
  }
}

TEST(Operations, HoldForEveryPositFormat) {
  Tally tally;
  for (int32_t bits = 2; bits <= 64; ++bits)
    for (int32_t es = 0; es <= 4; ++es)
      checkRandomFormat(
          tally, "posit<" + std::to_string(bits) + "," + std::to_string(es),
          PositFormat{{bits}, es}, static_cast<uint64_t>(bits * 5 + es));
}

TEST(Operations, HoldForEveryTakumFormat) {
  Tally tally;
  for (int32_t bits = 2; bits <= 64; ++bits)
    checkRandomFormat(tally, "takum<" + std::to_string(bits) + ">",
                      TakumFormat{bits}, static_cast<uint64_t>(bits));
}

TEST(Operations, HoldForRandomFixedFormats) {
  Tally tally;
  std::mt19937_64 engine(53);
  for (uint64_t i = 0; i < samples(500); ++i) {
    FixedFormat f{};
    f.isSigned = (engine() & 1) != 0;
    int32_t bits = 1 + static_cast<int32_t>(engine() % (f.isSigned ? 63 : 64));
    f.fraction = static_cast<int32_t>(engine() % (bits + 1));
    f.integer = bits - f.fraction;
    f.overflow = engine() & 1 ? Overflow::Wrap : Overflow::Saturate;
    checkRandomFormat(tally,
                      "fixed<" + std::to_string(f.integer) + "," +
                          std::to_string(f.fraction) +
                          (f.isSigned ? "" : ",unsigned") +
                          (f.overflow == Overflow::Wrap ? ",wrap>" : ">"),
                      f, i);
  }
}

} // namespace
