// SPDX-License-Identifier: MIT
//
// Decimals against printf and to_chars, which are exact.

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/HexFloat.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/Number.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace numera;

namespace {

TEST(Decimal, IsThatOfPrintf) {
  const Format &f64 = formatF64();
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    uint64_t code = random() & ~(uint64_t{1} << 63);
    if (code >= 0x7ff0000000000000)
      continue;
    Unpacked value = f64.getFamily().decode(f64, code);
    DecimalDigits digits = digitsOf(value);
    char text[1200];
    std::snprintf(text, sizeof text, "%.*e", int(digits.digits.size()) - 1,
                  __builtin_bit_cast(double, code));
    llvm::StringRef expected = text;
    auto [mantissa, exponent] = expected.split('e');
    std::string all = mantissa.str();
    all.erase(std::remove(all.begin(), all.end(), '.'), all.end());
    EXPECT_EQ(digits.digits, all);
    EXPECT_EQ(digits.exponent, std::stoi(exponent.str()));
    // Nothing is left behind the last digit.
    EXPECT_EQ(parseNumber(printDecimal(value))->pack(), value.pack());
    EXPECT_NE(digits.digits.back(), '0');

    std::snprintf(text, sizeof text, "%.7e", __builtin_bit_cast(double, code));
    DecimalDigits eight = roundDigits(digits, 8);
    eight.digits.resize(8, '0');
    EXPECT_EQ(eight.digits.substr(0, 1) + "." + eight.digits.substr(1),
              llvm::StringRef(text).split('e').first.str());
  }
}

TEST(Decimal, ShortestIsThatOfToChars) {
  const Format &f32 = formatF32();
  std::mt19937_64 random(4);
  for (int i = 0; i < 3000; ++i) {
    auto code = static_cast<uint32_t>(random());
    float value = __builtin_bit_cast(float, code);
    if (!std::isfinite(value))
      continue;
    std::string text = printShortest(f32, code);
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value);
    for (int digits = 1; digits < 9; ++digits) {
      char shorter[64];
      std::snprintf(shorter, sizeof shorter, "%.*e", digits - 1, value);
      if (std::strtof(shorter, nullptr) != value)
        continue;
      EXPECT_EQ(parseNumber(shorter)->pack(), parseNumber(text)->pack());
      break;
    }
  }
}

TEST(Decimal, ShortestIsRoundedAsTheFormatDoes) {
  for (const char *text :
       {"posit<7,1,toward-zero>", "float<4,3,up>", "float<3,2,fn,down>",
        "takum<8,to-odd>", "fixed<3,4,nearest-zero>", "posit<8,2>"}) {
    SpellingError error;
    Format format = parseFormatSpelling(text, error);
    ASSERT_TRUE(format) << text;
    const FormatFamily &family = format.getFamily();
    for (uint64_t code = 0; code >> format.width() == 0; ++code) {
      if (!family.decode(format, code).isFinite())
        continue;
      std::string shortest = printShortest(format, code);
      EXPECT_EQ(
          family.encode(format, *parseNumber(shortest), format.getRounding()),
          code)
          << text << ' ' << shortest;
    }
  }
}

TEST(Decimal, WritesAsPeopleDo) {
  auto print = [](llvm::StringRef text) {
    return printDecimal(*parseNumber(text));
  };
  EXPECT_EQ(print("448"), "448");
  EXPECT_EQ(print("-0x1p-6"), "-0.015625");
  EXPECT_EQ(print("0x1p-14"), "6.103515625e-05");
  EXPECT_EQ(print("0x1p-13"), "0.0001220703125");
  EXPECT_EQ(print("0x1p+60"), "1152921504606846976");
  EXPECT_EQ(print("0x1p+70"), "1.180591620717411303424e+21");
  EXPECT_EQ(print("1000"), "1000");
  EXPECT_EQ(print("-0"), "-0");
  EXPECT_EQ(printRounded(*parseNumber("0x1.fffffffffp+39"), 6),
            "1099511627768");
  EXPECT_EQ(printRounded(*parseNumber("0x1.ffffffffffffffffp+70"), 6),
            "2.36118e+21");
  EXPECT_EQ(printRounded(*parseNumber("99999999999999999999999"), 6), "1e+23");
}

TEST(Decimal, OfAnIrrationalValueEndsWhereItsBitsDo) {
  Unpacked third =
      *parseNumber("1.4142135623730950488016887242096980785696718");
  ASSERT_TRUE(third.sticky);
  std::string text = printDecimal(third);
  ASSERT_TRUE(llvm::StringRef(text).ends_with("…")) << text;
  text.resize(text.size() - 3);
  EXPECT_GE(text.size(), 27u);
  EXPECT_TRUE(llvm::StringRef("1.4142135623730950488016887242096980785696718")
                  .starts_with(text))
      << text;
  EXPECT_EQ(printHexFloat(third), "0x1.6a09e667f3bcc908b2fb136p+0…");
  EXPECT_EQ(printNearestHexFloat(third), "0x1.6a09e667f3bcdp+0");
}

} // namespace
