// SPDX-License-Identifier: MIT
//
// The quick phase against the exact forms (which ElementaryTest holds against
// MPFR): the largest relative error over seeded random arguments must stay
// under 2^-50, 16 times below what FastPath.h promises. A second program is
// compiled with fused multiply-adds.

#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Operations/Elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace numera {
namespace {

struct FastPathFunction {
  const char *name;
  double (*quick)(double);
  Unpacked (*exact)(const Unpacked &);
  FastPathRange range; ///< as the headers state it
};

const FastPathFunction functions[] = {
#define QUICK_Ziv(name) {#name, fast::name, exact::name, fast::name##Range},
#define QUICK_Direct(name)
#define QUICK_Exact(name)
#define QUICK_Choice(name)
#define QUICK_Test(name)
#define QUICK_Cast(name)
#define QUICK_Step(name)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  QUICK_##form(name)
#include "numera/Numerics/Core/Operations.def"
};

/// |y / exact - 1|, good to 2^-63.
double relativeError(double y, const Unpacked &exact) {
  if (exact.isZero())
    return y == 0 ? 0 : 1;
  long double value = std::ldexp(1.0L * exact.significand, exact.exponent - 63);
  value = exact.negative ? -value : value;
  return static_cast<double>(std::fabs((y - value) / value));
}

/// Every exponent in range, ordinary magnitudes, and numbers beside 1.
double argument(std::mt19937_64 &random, const FastPathFunction &function,
                int i) {
  double unit = std::ldexp(static_cast<double>(random() >> 11), -53);
  bool negative = (random() & 1) != 0;
  int exponent = static_cast<int>(random() % 2000) - 1000;
  double x = unit;
  if (i % 4 == 0)
    x = std::ldexp(1 + unit, exponent);
  else if (i % 4 == 1)
    x = 1 + std::ldexp(unit, exponent / 20);
  else
    x = std::ldexp(1 + unit, exponent % 11);
  x = negative ? -x : x;
  if (i % 5 == 0) // beside a multiple of pi/2, for angles
    x = std::ldexp(1.5707963267948966 * static_cast<double>(random() % 650),
                   0) +
        (i % 10 ? 0 : std::ldexp(unit, exponent / 20));
  auto [least, most] = function.range;
  if (x < least || x > most) // all have numbers below 1, or from 1 on
    x = least < 1 ? std::fabs(unit) + 0x1p-60 : 1 + unit;
  return x;
}

TEST(FastPath, RelativeErrorIsBelowTwoToMinus50) {
  int count = std::getenv("NUMERA_SLOW_TESTS") ? 4000000 : 400000;
  for (const FastPathFunction &function : functions) {
    std::mt19937_64 random(17);
    double largest = 0, where = 0;
    for (int i = 0; i < count; ++i) {
      double x = argument(random, function, i);
      Unpacked exact =
          function.exact(binary64.decode(__builtin_bit_cast(uint64_t, x)));
      double error = relativeError(function.quick(x), exact);
      if (error > largest)
        largest = error, where = x;
    }
    EXPECT_LT(largest, 0x1p-50) << function.name << " of " << where;
    RecordProperty(function.name, std::to_string(std::log2(largest)));
    if (std::getenv("NUMERA_SLOW_TESTS"))
      std::printf("%s: 2^%.2f at %a\n", function.name, std::log2(largest),
                  where);
  }
}

TEST(FastPath, ZerosAndLargeArguments) {
  EXPECT_EQ(fast::exp(0), 1);
  EXPECT_EQ(fast::tanh(0), 0);
  EXPECT_EQ(fast::expm1(0), 0);
  EXPECT_EQ(fast::log(1), 0);
  EXPECT_EQ(fast::tanh(-1e300), -1);
  EXPECT_EQ(fast::sigmoid(1e300), 1);
}

static_assert(fast::exp2(3) == 8 && fast::log2(0.25) == -2);

} // namespace
} // namespace numera
