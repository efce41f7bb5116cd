// SPDX-License-Identifier: MIT

#include "Eval/Neighbours.h"
#include "numera/Registry/Registry.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace numera;

namespace {

/// Against all values of a format, sorted.
TEST(Neighbours, AreThoseAmongAllValues) {
  static const Registry registry;
  for (const char *text :
       {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f4E2M1FN", "posit8",
        "posit<6,0>", "takum<8>", "fixed<3,4>", "fixed<3,4,wrap>",
        "fixed<3,4,unsigned>", "lns<3,4>", "float<4,3,flush>",
        "float<4,3,unsigned>", "float<4,3,saturate>", "p3109_k8p3se",
        "p3109_k8p3uf", "float<4,3,propagate>", "float<0,5,finite,bias=3>"}) {
    SCOPED_TRACE(text);
    std::string error;
    Format format = registry.lookupFormat(text, error);
    ASSERT_TRUE(format) << error;
    const FormatFamily &family = format.getFamily();
    auto valueOf = [&](uint64_t code) {
      Unpacked value = family.decode(format, code);
      double magnitude = value.isInfinite()
                             ? INFINITY
                             : std::ldexp(double(value.significand >> 11),
                                          value.exponent - 52);
      return value.isZero() ? 0.0 : value.negative ? -magnitude : magnitude;
    };
    std::vector<double> values;
    for (uint64_t code = 0; code >> format.width() == 0; ++code)
      if (!family.decode(format, code).isNaN())
        values.push_back(valueOf(code));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (uint64_t code = 0; code >> format.width() == 0; ++code) {
      uint64_t above = neighbourOf(format, code, true);
      uint64_t below = neighbourOf(format, code, false);
      if (family.decode(format, code).isNaN()) {
        EXPECT_TRUE(above == code && below == code);
        continue;
      }
      auto place = std::find(values.begin(), values.end(), valueOf(code));
      bool isLast = place + 1 == values.end(),
           isFirst = place == values.begin();
      EXPECT_EQ(valueOf(above), isLast ? *place : place[1]) << code;
      EXPECT_EQ(valueOf(below), isFirst ? *place : place[-1]) << code;
      double away = *place < 0 ? isFirst ? -INFINITY : place[-1]
                    : isLast   ? INFINITY
                               : place[1];
      double toward = *place < 0 ? place[1] : isFirst ? 0 : place[-1];
      double gap = std::isinf(*place) ? INFINITY
                   : std::isinf(away) ? std::abs(*place - toward)
                                      : std::abs(away - *place);
      Unpacked ulp = ulpOf(format, code);
      double found =
          ulp.isInfinite()
              ? INFINITY
              : std::ldexp(double(ulp.significand >> 11), ulp.exponent - 52);
      if (family.isIrrational())
        EXPECT_NEAR(found, gap, 1e-12 * gap) << code;
      else
        EXPECT_EQ(found, gap) << code;
    }
  }
}

} // namespace
