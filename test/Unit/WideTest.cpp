// SPDX-License-Identifier: MIT
//
// The error bounds that the files of the elementary functions state, measured:
// the kernels' 128 bits before they are cut to 64, against MPFR at 300.

#include "MpfrOracle.h"

#include "numera/Numerics/Elementary/ErrorFunction.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Power.h"
#include "numera/Numerics/Elementary/Trigonometric.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace numera {
namespace {

using exact::Wide;

class Exactly : public MpfrReal {
public:
  Exactly() : MpfrReal(300) {}
  explicit Exactly(const Wide &value) : Exactly() {
    MpfrReal low;
    mpfr_set_ui_2exp(*this, static_cast<uint64_t>(value.significand >> 64),
                     value.exponent - 63, MPFR_RNDN);
    mpfr_set_ui_2exp(low, static_cast<uint64_t>(value.significand),
                     value.exponent - 127, MPFR_RNDN);
    mpfr_add(*this, *this, low, MPFR_RNDN);
    mpfr_setsign(*this, *this, value.negative, MPFR_RNDN);
  }
};

/// The smallest e with |ours / truth - 1| < 2^e; destroys truth.
long errorExponent(const Wide &ours, Exactly &truth) {
  Exactly value(ours);
  mpfr_div(truth, value, truth, MPFR_RNDN);
  mpfr_sub_ui(truth, truth, 1, MPFR_RNDN);
  return mpfr_zero_p(truth) ? -300 : mpfr_get_exp(truth);
}

int logistic(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_exp(result, x, mode);
  mpfr_add_ui(result, result, 1, mode);
  return mpfr_ui_div(result, 1, result, mode);
}

struct Kernel {
  const char *name;
  Wide (*ours)(const Wide &);
  int (*truth)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  int lowest, highest; ///< exponents of the arguments
  double limit;        ///< of the argument's magnitude
  bool bothSigns;
  long bound; ///< the relative error stated is below 2^bound
};

const Kernel kernels[] = {
    {"exponential", exact::detail::exponential, mpfr_exp, -70, 20, 2e6, true,
     -126},
    {"expm1Reduced", exact::detail::expm1Reduced, mpfr_expm1, -70, -2, 0.3466,
     true, -126},
    {"logarithm", exact::detail::logarithm, mpfr_log, -70, 1000, 0x1p1001,
     false, -119},
    {"sineReduced", exact::detail::sineReduced, mpfr_sin, -70, -1, 0.7854, true,
     -125},
    {"cosineReduced", exact::detail::cosineReduced, mpfr_cos, -70, -1, 0.7854,
     true, -125},
    {"tanhSmall", exact::detail::tanhSmall, mpfr_tanh, -70, -4, 0.125, true,
     -126},
    {"logisticTail", exact::detail::logisticTail, logistic, -70, 20, 2e6, false,
     -121},
    {"erfSmall", exact::detail::erfSmall, mpfr_erf, -70, -1, 1, true, -122},
    {"erfLarge", exact::detail::erfLarge, mpfr_erf, 0, 2, 6.625, false, -120},
};

TEST(Wide, KernelsKeepTheirBounds) {
  int count = std::getenv("NUMERA_SLOW_TESTS") ? 1000000 : 20000;
  for (const Kernel &kernel : kernels) {
    std::mt19937_64 random(5);
    long worst = -300;
    for (int i = 0; i < count; ++i) {
      std::uniform_int_distribution<int32_t> exponent(
          i % 2 ? std::max(kernel.lowest, kernel.highest - 6) : kernel.lowest,
          kernel.highest);
      Wide x{kernel.bothSigns && i % 4 < 2, exponent(random),
             exact::join(random() | 1ull << 63, 0)};
      Exactly argument(x), truth;
      if (std::fabs(mpfr_get_d(argument, MPFR_RNDN)) >= kernel.limit)
        continue;
      kernel.truth(truth, argument, MPFR_RNDN);
      worst = std::max(worst, errorExponent(kernel.ours(x), truth));
    }
    EXPECT_LE(worst, kernel.bound) << kernel.name;
    RecordProperty(kernel.name, static_cast<int>(worst));
  }
}

TEST(Wide, DivisionErrorIsBelowTwoToMinus122) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 100000; ++i) {
    Wide a{false, 3, exact::join(random() | 1ull << 63, random())};
    Wide b{false, -5, exact::join(random() | 1ull << 63, random())};
    if (i % 4 == 0)
      b.significand = exact::join(1ull << 63 | (i & 4), 0);
    Exactly truth(a), divisor(b);
    mpfr_div(truth, truth, divisor, MPFR_RNDN);
    ASSERT_LE(errorExponent(a / b, truth), -122);
  }
}

/// Sums are the exact ones truncated, at every distance and cancellation.
TEST(Wide, ZeroIsAnOperandToo) {
  Wide zero, three = Wide::fromInteger(3);
  EXPECT_TRUE(Wide::fromFraction(0).isZero());
  EXPECT_TRUE((zero / three).isZero());
  EXPECT_TRUE(isSmaller(zero, three));
  EXPECT_FALSE(isSmaller(three, zero));
  EXPECT_FALSE(isSmaller(zero, zero));
}

TEST(Wide, SumsTruncateExactly) {
  std::mt19937_64 random(14);
  for (int i = 0; i < 200000; ++i) {
    int distance = static_cast<int>(random() % 150);
    Wide a{false, 0, exact::join(random() | 1ull << 63, random())};
    Wide b{i % 2 == 0, -distance, exact::join(random() | 1ull << 63, random())};
    if (i % 3 == 0)
      a.significand = exact::join(1ull << 63, i % 5);
    Exactly left(a), right(b);
    MpfrReal sum(128);
    mpfr_add(sum, left, right, MPFR_RNDZ);
    Exactly ours(a + b);
    ASSERT_EQ(mpfr_cmp(sum, ours), 0) << i;
  }
}

} // namespace
} // namespace numera
