// SPDX-License-Identifier: MIT
//
// The phase of e^x in binary32 against the exact form (which ElementaryTest
// holds against MPFR).

#include "numera/Numerics/Elementary/SingleExponential.h"
#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Formats/Float.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace numera {
namespace {

constexpr FloatFormat binary32{8, 23, 127};

/// `exact` rounded to nearest.
uint32_t rounded(const Unpacked &exact) {
  return static_cast<uint32_t>(
      binary32.encode(exact, RoundingMode(Rounding::NearestEven)));
}

TEST(SingleExponential, EndsAreAtMostOneCodeAroundTheResult) {
  // A prime, so that all low bits come.
  uint32_t step = std::getenv("NUMERA_SLOW_TESTS") ? 199 : 1999;
  auto most = __builtin_bit_cast(uint32_t, single::expMost);
  int count = 0, undecided = 0;
  for (uint32_t sign : {0u, 0x8000'0000u})
    for (uint32_t magnitude = 0; magnitude <= most; magnitude += step) {
      uint32_t code = sign | magnitude;
      single::Ends ends = single::exp(__builtin_bit_cast(float, code));
      uint32_t exact = rounded(exact::exp(binary32.decode(code).operand()));
      ASSERT_LE(ends.high - ends.low, 1u) << std::hex << code;
      ASSERT_TRUE(exact == ends.low || exact == ends.high) << std::hex << code;
      undecided += ends.low != ends.high;
      ++count;
    }
  // 2^-10 of those whose results are not near 1.
  EXPECT_LT(undecided, count / 800);
  EXPECT_GT(count, 1'000'000);
}

TEST(SingleExponential, TablesHaveThePowersOfTwo) {
  for (int j = 0; j < 32; ++j) {
    Unpacked power = exact::exp2(
        binary32.decode(__builtin_bit_cast(uint32_t, float(j) / 32)).operand());
    float head = single::detail::powers[j];
    EXPECT_EQ(__builtin_bit_cast(uint32_t, head), rounded(power)) << j;
    // 64 bits of the power less those of the head.
    double sum = double(head) + double(single::detail::tails[j]);
    double exact = double(power.significand >> 11) * 0x1p-52;
    EXPECT_NEAR(sum, exact, 0x1p-49) << j;
  }
}

TEST(SingleExponential, ExactAndExtremeArguments) {
  constexpr uint32_t one = 0x3f80'0000;
  for (float x : {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1p-40f}) {
    single::Ends ends = single::exp(x);
    EXPECT_EQ(ends.low, one);
    EXPECT_EQ(ends.high, one);
  }
}

} // namespace
} // namespace numera
