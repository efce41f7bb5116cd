// SPDX-License-Identifier: MIT
//
// Literals: what is a number, and its value. The oracle writes values down as
// integers times powers of two; rounding is checked through f64 and strtod.

#include "numera/Registry/Formats/Number.h"
#include "numera/Registry/Formats/FormatFamily.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

using namespace numera;

namespace {

uint64_t asF64(llvm::StringRef text, Rounding rounding) {
  std::optional<Unpacked> value = parseNumber(text);
  EXPECT_TRUE(value) << text.str();
  const Format &f64 = formatF64();
  return value ? f64.getFamily().encode(f64, *value, rounding) : 0;
}

uint64_t strtodBits(const std::string &text) {
  return __builtin_bit_cast(uint64_t, std::strtod(text.c_str(), nullptr));
}

TEST(Number, LengthIsThatOfTheLongestNumber) {
  for (auto [text, length] : {std::pair{"12", 2},
                              {"12.", 3},
                              {".5", 2},
                              {"1e-7)", 4},
                              {"1e+", 1},
                              {"1e", 1},
                              {"1p3", 1},
                              {"0x41", 4},
                              {"0x1.8p+1 ", 8},
                              {"0x.8", 4},
                              {"0x1p", 3},
                              {"0X1.8P1", 7},
                              {"", 0},
                              {".", 0},
                              {"-1", 0},
                              {"0x", 0},
                              {"e5", 0}})
    EXPECT_EQ(lengthOfNumber(text), size_t(length)) << text;
}

TEST(Number, RefusesWhatIsNone) {
  for (const char *text :
       {"", "-", "1x", "--1", "0x", "1 ", "+1", "nan", "0xg"})
    EXPECT_FALSE(parseNumber(text)) << text;
}

TEST(Number, HoldsShortValuesExactly) {
  EXPECT_EQ(parseNumber("-0x1.8p+1")->pack(),
            Unpacked::fromInteger(true, 3).pack());
  EXPECT_EQ(parseNumber("0.375")->pack(),
            Unpacked::fromInteger(false, 3, -3).pack());
  EXPECT_EQ(parseNumber("18446744073709551615")->pack(),
            Unpacked::fromInteger(false, ~uint64_t{0}).pack());
  EXPECT_EQ(parseNumber("12500e-2")->pack(),
            Unpacked::fromInteger(false, 125).pack());
  EXPECT_EQ(parseNumber("-0.00")->pack(), Unpacked::zero(true).pack());
  EXPECT_EQ(parseNumber("0e99999999999")->pack(), Unpacked::zero().pack());
}

TEST(Number, KeepsWhatFollowsBehind96Bits) {
  // 2^200 + 1, in both notations.
  for (const char *text :
       {"1606938044258990275541962092341162602522202993782792835301377",
        "0x100000000000000000000000000000000000000000000000001"}) {
    Unpacked value = *parseNumber(text);
    EXPECT_EQ(value.exponent, 200);
    EXPECT_EQ(value.significand, uint64_t{1} << 63);
    EXPECT_EQ(value.tail, 0u);
    EXPECT_TRUE(value.sticky);
  }
  EXPECT_FALSE(parseNumber("1267650600228229401496703205376")->sticky); // 2^100
  EXPECT_TRUE(parseNumber("0.1")->sticky);
}

TEST(Number, ReachesEveryExponent) {
  EXPECT_EQ(parseNumber("0x1p+131071")->exponent, 131071);
  // log2(10) = 3.32192809488736…
  EXPECT_EQ(parseNumber("1e39000")->exponent, 129555);
  EXPECT_EQ(parseNumber("1e-39000")->exponent, -129556);
  EXPECT_GT(parseNumber("1e999999999999")->exponent, 1 << 18);
  EXPECT_LT(parseNumber("1e-999999999999")->exponent, -(1 << 18));
  EXPECT_GT(parseNumber("0x1p+999999999999")->exponent, 1 << 18);
  std::string ones(200000, '1');
  EXPECT_TRUE(parseNumber("0." + ones)->sticky);
}

TEST(Number, RoundsAsStrtod) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string text = std::to_string(random() >> random() % 60);
    for (auto more = random() % 4; more != 0; --more)
      text += std::to_string(random());
    text.insert(random() % (text.size() + 1), ".");
    text += "e" + std::to_string(int(random() % 700) - 350);
    EXPECT_EQ(asF64(text, Rounding::NearestEven), strtodBits(text)) << text;
  }
  // A tie, and one digit behind it.
  EXPECT_EQ(asF64("9007199254740993", Rounding::NearestEven),
            strtodBits("9007199254740992"));
  EXPECT_EQ(asF64("9007199254740993" + ("." + std::string(2000, '0')) + "1",
                  Rounding::NearestEven),
            strtodBits("9007199254740994"));
}

TEST(Number, RoundsHexadecimalAsStrtod) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 20000; ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "0x%llx.%llx%llxp%d",
                  (unsigned long long)(random() >> random() % 64),
                  (unsigned long long)random(), (unsigned long long)random(),
                  int(random() % 2300) - 1200);
    EXPECT_EQ(asF64(text, Rounding::NearestEven), strtodBits(text)) << text;
  }
}

} // namespace
