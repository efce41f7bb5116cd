// SPDX-License-Identifier: MIT

#include "numera/Registry/Description/FormatFacts.h"
#include "numera/Registry/Registry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace numera;

namespace {

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
                           "fixed<1,0,wrap>",
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
