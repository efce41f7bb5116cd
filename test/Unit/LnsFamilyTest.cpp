// SPDX-License-Identifier: MIT
//
// The family `lns` in the registry: validation, spelling, facts.

#include "Spellings.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/raw_ostream.h"

using namespace numera;
using namespace numera::test;

namespace {

TEST(LnsFamily, ChecksRanges) {
  EXPECT_EQ(fault("lns<0,3>"),
            "4: integer is '0', expected an integer from 1 to 11");
  EXPECT_EQ(fault("lns<12,3>"),
            "4: integer is '12', expected an integer from 1 to 11");
  EXPECT_EQ(fault("lns<4,59>"),
            "6: fraction is '59', expected an integer from 0 to 58");
  EXPECT_EQ(fault("lns<4,-1>"),
            "6: fraction is '-1', expected an integer from 0 to 58");
}

TEST(LnsFamily, NeedsBothParameters) {
  EXPECT_EQ(fault("lns<4>"), "5: 'fraction' is missing, family 'lns' needs it");
  EXPECT_EQ(fault("lns<fraction=4>"),
            "14: 'integer' is missing, family 'lns' needs it");
}

TEST(LnsFamily, HasNoOverflowRule) {
  EXPECT_EQ(fault("lns<4,3,overflow=saturate>"),
            "8: unknown key 'overflow' of family 'lns', expected integer, "
            "fraction, rounding or random-bits");
  EXPECT_EQ(fault("lns<4,3,mul.overflow=infinity>"),
            "21: overflow 'infinity' is not one of family 'lns'");
  Format format = parse("lns<4,3>");
  EXPECT_FALSE(format.getFamily().withOverflow(format, Overflow::Infinity));
}

TEST(LnsFamily, Spells) {
  EXPECT_EQ(parse("lns<integer=4, fraction=3>").spelling(), "lns<4,3>");
  EXPECT_EQ(parse("lns<4,3,toward-zero,mul.truncate-operands=2>").spelling(),
            "lns<4,3,toward-zero,mul.truncate-operands=2>");
  EXPECT_EQ(parse("lns<5,10>").width(), 17u);
  EXPECT_EQ(parse("lns<11,51>").width(), 64u);
  EXPECT_EQ(parse("lns<1,0>").width(), 3u);
}

TEST(LnsFamily, HasFieldsOfTheLogarithm) {
  Format format = parse("lns<4,3>");
  std::string text;
  for (const FormatFamily::Field &field : format.getFamily().fields(format, 0))
    text += field.name.str() + " " + std::to_string(field.bits) + " ";
  EXPECT_EQ(text, "sign 1 integer 5 fraction 3 ");
}

TEST(LnsFamily, StatesItsFacts) {
  Format format = parse("lns<4,3>");
  const FormatFamily &family = format.getFamily();
  EXPECT_TRUE(family.isIrrational());
  FormatFamily::Range range = family.range(format);
  EXPECT_EQ(range.precision, 4);
  EXPECT_EQ(range.leastExponent, -16);
  EXPECT_EQ(range.maxExponent, 15);
  EXPECT_TRUE(range.hasNaN);
  EXPECT_FALSE(range.hasInfinity || range.hasNegativeZero);
  EXPECT_EQ(family.precisionAt(format, -16), 4);
  EXPECT_EQ(family.precisionAt(format, 15), 4);
  EXPECT_EQ(family.precisionAt(format, 16), 0);
  EXPECT_EQ(family.precisionAt(format, -17), 0);
  EXPECT_EQ(family.largest(format), 0b0'01111'111u);
  EXPECT_EQ(family.highest(format), 0b0'01111'111u);
  EXPECT_EQ(family.lowest(format), 0b1'01111'111u);
}

// Values are irrational: nothing but the format itself holds them, or its
// products.
TEST(LnsFamily, EmbedsInNothingElse) {
  Format format = parse("lns<3,2>");
  EXPECT_FALSE(embeds(format, formatF64()));
  EXPECT_FALSE(embeds(format, parse("lns<3,3>")));
  EXPECT_FALSE(embeds(parse("float<2,0,finite>"), format));
  EXPECT_TRUE(embeds(format, format));
  EXPECT_EQ(defaultAccumulator(format), format);
}

TEST(LnsFamily, EvaluatesThroughItsOwnOperations) {
  Format format = parse("lns<3,3>");
  const FormatFamily &family = format.getFamily();
  auto evaluate = [&](OpKind operation, llvm::ArrayRef<uint64_t> operands) {
    return family.evaluate(operation, format, operands, Rounding::NearestEven);
  };
  constexpr uint64_t one = 0, sqrtTwo = 4, two = 8, four = 16, minusOne = 0x80,
                     zero = 0x40, nan = 0xc0;
  EXPECT_EQ(evaluate(OpKind::Mul, {sqrtTwo, sqrtTwo}), two);
  EXPECT_EQ(evaluate(OpKind::Add, {two, two}), four);
  EXPECT_EQ(evaluate(OpKind::Sub, {two, two}), zero);
  EXPECT_EQ(evaluate(OpKind::Mac, {two, sqrtTwo, zero}), 12u);
  EXPECT_EQ(evaluate(OpKind::Rsqrt, {four}), 0b0'1111'000u);
  EXPECT_EQ(evaluate(OpKind::Exp2, {sqrtTwo}), 11u); // 2^1.414
  EXPECT_EQ(evaluate(OpKind::Log2, {four}), two);
  EXPECT_EQ(evaluate(OpKind::Floor, {sqrtTwo}), one);
  EXPECT_EQ(evaluate(OpKind::Pow, {sqrtTwo, four}), four);
  EXPECT_EQ(evaluate(OpKind::Rem, {four, sqrtTwo}), 2u); // 1.17
  EXPECT_EQ(evaluate(OpKind::Div, {two, zero}), nan);
  EXPECT_EQ(evaluate(OpKind::Sqrt, {minusOne}), nan);
  EXPECT_EQ(evaluate(OpKind::Neg, {zero}), zero);
}

TEST(LnsFamily, ReadsFromFiles) {
  Registry registry;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  EXPECT_TRUE(registry.loadText(
      "formats:\n  log9: {family: lns, integer: 4, fraction: 3}\n", "f.yaml",
      "", stream))
      << errors;
  std::string error;
  EXPECT_EQ(registry.lookupFormat("log9", error), parse("lns<4,3>"));
  EXPECT_FALSE(registry.loadText(
      "formats:\n  log: {family: lns, integer: 40, fraction: 3}\n", "f.yaml",
      "", stream));
  EXPECT_EQ(errors, "f.yaml:2:31: error: integer is '40', expected an integer "
                    "from 1 to 11\n");
}

} // namespace
