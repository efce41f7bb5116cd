// SPDX-License-Identifier: MIT
//
// The phase of the error function in binary32 against the exact form (which
// ElementaryTest holds against MPFR), and its tables against MPFR.

#include "numera/Numerics/Elementary/SingleErrorFunction.h"
#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Formats/Float.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <cstdlib>

namespace numera {
namespace {

constexpr FloatFormat binary32{8, 23, 127};

/// erf |x| rounded to nearest.
uint32_t rounded(uint32_t magnitude) {
  Unpacked exact = exact::erf(binary32.decode(magnitude).operand());
  return static_cast<uint32_t>(
      binary32.encode(exact, RoundingMode(Rounding::NearestEven)));
}

TEST(SingleErrorFunction, EndsAreAtMostOneCodeAroundTheResult) {
  // A prime, so that all low bits come.
  uint32_t step = std::getenv("NUMERA_SLOW_TESTS") ? 199 : 1999;
  auto least = __builtin_bit_cast(uint32_t, single::erfLeast);
  auto end = __builtin_bit_cast(uint32_t, single::erfSaturates);
  int count = 0, undecided = 0;
  for (uint32_t magnitude = least; magnitude < end; magnitude += step) {
    uint32_t exact = rounded(magnitude);
    for (uint32_t sign : {0u, 0x8000'0000u}) {
      single::Ends ends =
          single::erf(__builtin_bit_cast(float, sign | magnitude));
      ASSERT_LE(ends.high - ends.low, 1u) << std::hex << magnitude;
      ASSERT_TRUE((exact | sign) == ends.low || (exact | sign) == ends.high)
          << std::hex << magnitude;
      undecided += ends.low != ends.high;
      ++count;
    }
  }
  EXPECT_LT(undecided, count / 1000);
  EXPECT_GT(count, 500'000);
}

/// Around the middles between multiples of 1/16, where the error is largest.
TEST(SingleErrorFunction, FarFromTheTablesPoints) {
  for (int k = 0; k < 63; ++k)
    for (int i = -50; i <= 50; ++i) {
      float x = (float(k) + 0.5f) / 16 + float(i) * 0x1p-22f;
      auto magnitude = __builtin_bit_cast(uint32_t, x);
      single::Ends ends = single::erf(x);
      uint32_t exact = rounded(magnitude);
      ASSERT_TRUE(exact == ends.low || exact == ends.high) << x;
    }
}

TEST(SingleErrorFunction, TablesHaveTheErrorFunctionAndItsSlope) {
  mpfr_t x, expected, found;
  for (mpfr_ptr number : {x, expected, found})
    mpfr_init2(number, 200);
  auto expectNear = [&](double sum, int k) {
    mpfr_set_d(found, sum, MPFR_RNDN);
    mpfr_sub(found, found, expected, MPFR_RNDN);
    EXPECT_LE(std::fabs(mpfr_get_d(found, MPFR_RNDN)),
              0x1p-49 * mpfr_get_d(expected, MPFR_RNDN))
        << k;
  };
  for (int k = 0; k < 64; ++k) {
    double at = k / 16.0;
    mpfr_set_d(x, at, MPFR_RNDN);
    mpfr_erf(expected, x, MPFR_RNDN);
    expectNear(double(single::detail::errorFunctions[k]) +
                   double(single::detail::errorFunctionTails[k]),
               k);
    mpfr_const_pi(expected, MPFR_RNDN);
    mpfr_rec_sqrt(expected, expected, MPFR_RNDN);
    mpfr_set_d(x, -at * at, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul(expected, expected, x, MPFR_RNDN);
    mpfr_mul_ui(expected, expected, 2, MPFR_RNDN);
    expectNear(double(single::detail::errorSlopes[k]) +
                   double(single::detail::errorSlopeTails[k]),
               k);
  }
  for (mpfr_ptr number : {x, expected, found})
    mpfr_clear(number);
}

TEST(SingleErrorFunction, ZeroAndTheEndOfTheRange) {
  single::Ends zero = single::erf(0.0f), negative = single::erf(-0.0f);
  EXPECT_EQ(zero.low, 0u);
  EXPECT_EQ(zero.high, 0u);
  EXPECT_EQ(negative.low, 0x8000'0000u);
  EXPECT_EQ(negative.high, 0x8000'0000u);
  EXPECT_EQ(rounded(__builtin_bit_cast(uint32_t, single::erfSaturates)),
            0x3f80'0000u);
}

} // namespace
} // namespace numera
