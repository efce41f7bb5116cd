// SPDX-License-Identifier: MIT
//
// What is said of numbers and formats: decimals against printf, which is exact;
// facts of formats against all of their codes.

#include "numera/Registry/Description/Decimal.h"
#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Description/HexFloat.h"
#include "numera/Registry/Formats/Number.h"

#include "llvm/ADT/StringExtras.h"
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

/// What is said of a format, found by looking at all of its codes.
TEST(FormatFacts, CountWhatIsThere) {
  Registry registry;
  for (const char *text : {"f8E4M3FN",
                           "f8E5M2",
                           "f8E4M3FNUZ",
                           "f8E5M2FNUZ",
                           "f8E3M4",
                           "f8E8M0FNU",
                           "f6E3M2FN",
                           "f4E2M1FN",
                           "bf16",
                           "f16",
                           "posit8",
                           "posit16",
                           "posit<2,0>",
                           "fixed<4,4>",
                           "fixed<3,4,unsigned>",
                           "fixed<8,8,wrap>",
                           "takum<8>",
                           "takum<12>",
                           "takum<16>",
                           "posit<5,4>",
                           "p3109_k8p3se",
                           "p3109_k8p1se",
                           "p3109_k8p3sf",
                           "p3109_k8p3ue",
                           "p3109_k6p2uf",
                           "float<4,3,flush>",
                           "float<4,3,fnuz,flush>",
                           "float<4,3,unsigned>",
                           "float<4,3,unsigned,flush>",
                           "float<0,7,finite,bias=3>",
                           "float<1,5>",
                           "float<1,5,finite>",
                           "float<4,0,fn>",
                           "float<3,4,fn>",
                           "float<4,3,finite,flush>",
                           "float<4,3,bias=-20>",
                           "float<8,7,bias=200>",
                           "float<4,3,p3109,flush>"}) {
    SCOPED_TRACE(text);
    std::string error;
    Format format = registry.lookupFormat(text, error);
    ASSERT_TRUE(format) << error;
    FormatFacts facts = factsOf(registry, format);
    uint64_t nan = 0, infinity = 0, subnormal = 0;
    auto asDouble = [](const Unpacked &value) {
      double magnitude =
          std::ldexp(double(value.significand >> 11), value.exponent - 52);
      return value.isZero() ? 0.0 : value.negative ? -magnitude : magnitude;
    };
    std::vector<double> values;
    for (uint64_t code = 0; code >> format.width() == 0; ++code) {
      Unpacked value = format.getFamily().decode(format, code);
      nan += value.isNaN();
      infinity += value.isInfinite();
      if (value.isFinite() || value.isZero())
        values.push_back(asDouble(value));
      subnormal += value.isFinite() && facts.smallestNormal &&
                   value.exponent < facts.smallestNormal->exponent;
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    EXPECT_EQ(facts.codes.nan, nan);
    EXPECT_EQ(facts.codes.infinity, infinity);
    EXPECT_EQ(facts.subnormalCodes, subnormal);
    EXPECT_EQ(uint64_t(facts.finiteValues), values.size());
    EXPECT_EQ(asDouble(facts.largest), values.back());
    EXPECT_EQ(asDouble(facts.lowest), values.front());
    auto positive = std::upper_bound(values.begin(), values.end(), 0.0);
    EXPECT_EQ(asDouble(facts.smallest), *positive);
    EXPECT_NEAR(facts.decades, std::log10(values.back() / *positive), 1e-9);
    auto one = std::find(values.begin(), values.end(), 1.0);
    bool hasNext = one != values.end() && one + 1 != values.end();
    ASSERT_EQ(facts.epsilon.has_value(), hasNext);
    if (hasNext) {
      EXPECT_EQ(asDouble(*facts.epsilon), one[1] - 1);
    }
  }
}

} // namespace
