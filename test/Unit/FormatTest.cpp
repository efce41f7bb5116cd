// SPDX-License-Identifier: MIT
//
// The facts of formats, embedding, accumulators, evaluation.

#include "Spellings.h"
#include "numera/Numerics/Exact/Compare.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

double valueOf(const Format &format, uint64_t code) {
  Unpacked value = format.getFamily().decode(format, code);
  double magnitude =
      std::ldexp(static_cast<double>(value.significand), value.exponent - 63);
  switch (value.kind) {
  case Kind::Zero:
    magnitude = 0;
    break;
  case Kind::Infinite:
    magnitude = INFINITY;
    break;
  case Kind::NaN:
    return NAN;
  case Kind::Finite:
    break;
  }
  return value.negative ? -magnitude : magnitude;
}

TEST(Format, IsStoredInTheSmallestIntegerThatHoldsIt) {
  EXPECT_EQ(parse("float<2,1,finite>").storageBits(), 8u);
  EXPECT_EQ(parse("posit<9>").storageBits(), 16u);
  EXPECT_EQ(parse("float<8,10>").width(), 19u);
  EXPECT_EQ(parse("float<8,10>").storageBits(), 32u);
  EXPECT_EQ(parse("float<16,47>").storageBits(), 64u);
  EXPECT_EQ(parse("opaque<\"x\",1>").storageBits(), 8u);
}

TEST(Format, DiffersByRoundingAndName) {
  EXPECT_EQ(parse("float<5,7>"), parse("float<5, 7, nearest-even>"));
  EXPECT_NE(parse("float<5,7>"), parse("float<5,7,up>"));
  EXPECT_NE(parse("opaque<\"a\",8>"), parse("opaque<\"b\",8>"));
  EXPECT_EQ(hash_value(parse("posit<16>")), hash_value(parse("posit<16,2>")));
}

TEST(Format, WordsOfRoundingAndOverflowComeBack) {
  for (int32_t mode = 0; mode <= 7; ++mode)
    EXPECT_EQ(roundingFromName(nameOf(static_cast<Rounding>(mode))),
              static_cast<Rounding>(mode));
  for (int32_t rule = 0; rule <= 3; ++rule)
    EXPECT_EQ(overflowFromName(nameOf(static_cast<Overflow>(rule))),
              static_cast<Overflow>(rule));
  EXPECT_EQ(roundingFromName("nearest"), std::nullopt);
  EXPECT_EQ(overflowFromName("clamp"), std::nullopt);
}

TEST(Format, IdentitiesComeFromTheFormat) {
  auto bounds = [](llvm::StringRef text) {
    Format f = parse(text);
    return std::pair(valueOf(f, f.getFamily().lowest(f)),
                     valueOf(f, f.getFamily().highest(f)));
  };
  EXPECT_EQ(bounds("float<5,10>"),
            (std::pair<double, double>(-INFINITY, INFINITY)));
  EXPECT_EQ(bounds("float<4,3,fn>"), std::pair(-448.0, 448.0));
  EXPECT_EQ(bounds("float<4,3,fnuz>"), std::pair(-240.0, 240.0));
  EXPECT_EQ(bounds("float<2,1,finite>"), std::pair(-6.0, 6.0));
  EXPECT_EQ(bounds("posit<8,2>"), std::pair(-0x1p24, 0x1p24));
  EXPECT_EQ(bounds("fixed<4,3>"), std::pair(-16.0, 15.875));
  EXPECT_EQ(bounds("fixed<4,3,wrap>"), std::pair(-16.0, 15.875));
  EXPECT_EQ(bounds("fixed<4,3,unsigned>"), std::pair(0.0, 15.875));
  EXPECT_EQ(bounds("takum<12>"), std::pair(-0x1p254, 0x1p254));
  EXPECT_EQ(bounds("float<5,10,unsigned>"),
            (std::pair<double, double>(0, INFINITY)));
  EXPECT_EQ(bounds("float<4,3,fn,unsigned>"), std::pair(0.0, 448.0));
  EXPECT_EQ(bounds("float<8,0,fnu>"), std::pair(0x1p-127, 0x1p127));
  EXPECT_EQ(bounds("float<5,2,p3109>"),
            (std::pair<double, double>(-INFINITY, INFINITY)));
  EXPECT_EQ(bounds("float<5,2,p3109,infinities=false>"),
            std::pair(-57344.0, 57344.0));
}

TEST(Format, PrecisionIsThatOfTheBinade) {
  auto precisionAt = [](llvm::StringRef text, int32_t exponent) {
    Format format = parse(text);
    return format.getFamily().precisionAt(format, exponent);
  };
  EXPECT_EQ(precisionAt("float<5,10>", 0), 11);
  EXPECT_EQ(precisionAt("float<5,10>", 15), 11);
  EXPECT_EQ(precisionAt("float<5,10>", 16), 0);
  EXPECT_EQ(precisionAt("float<5,10>", -24), 1); // the least subnormal
  EXPECT_EQ(precisionAt("float<5,10>", -15), 10);
  EXPECT_EQ(precisionAt("float<5,10,flush>", -15), 0);
  EXPECT_EQ(precisionAt("posit<16,2>", 0), 12);
  EXPECT_EQ(precisionAt("posit<16,2>", 56), 1);
  EXPECT_EQ(precisionAt("posit<16,2>", 55), 0); // no exponent bits are left
  EXPECT_EQ(precisionAt("float<8,0,fnu>", 127), 1);
  EXPECT_EQ(precisionAt("fixed<4,3>", 3), 7);
  EXPECT_EQ(precisionAt("fixed<4,3>", 4), 0); // -16 is there, 16 is not
  EXPECT_EQ(precisionAt("fixed<4,3>", -3), 1);
  EXPECT_EQ(precisionAt("fixed<4,3>", -4), 0);
  EXPECT_EQ(precisionAt("takum<16>", 0), 12);
  EXPECT_EQ(precisionAt("takum<16>", 254), 5);
  EXPECT_EQ(precisionAt("takum<16>", -255), 5); // without 2^-255
  EXPECT_EQ(precisionAt("takum<8>", 15), 1);
  EXPECT_EQ(precisionAt("takum<8>", 16), 0);
}

TEST(Embeds, EveryFormatInItself) {
  for (const char *text : {"float<4,3,fn>", "posit<32>", "opaque<\"x\",8>"})
    EXPECT_TRUE(embeds(parse(text), parse(text)));
}

TEST(Embeds, SmallFormatsInF32) {
  for (const char *text : {"float<8,7>", "float<5,10>", "float<4,3,fn>",
                           "float<5,2,fnuz>", "posit<16,2>", "posit<8,4>",
                           "float<8,23,saturate>", "float<8,23,flush>"})
    EXPECT_TRUE(embeds(parse(text), formatF32())) << text;
  EXPECT_FALSE(embeds(formatF64(), formatF32()));
  EXPECT_FALSE(embeds(parse("posit<32,2>"), formatF32()));
  EXPECT_FALSE(embeds(parse("float<9,7>"), formatF32()));
  EXPECT_TRUE(embeds(parse("float<8,7,bias=143>"), formatF32()));
  EXPECT_FALSE(embeds(parse("float<8,7,bias=144>"), formatF32()));
  EXPECT_TRUE(embeds(parse("posit<32,2>"), formatF64()));
  EXPECT_TRUE(embeds(parse("posit<16,4>"), formatF64()));
  EXPECT_FALSE(embeds(parse("opaque<\"x\",8>"), formatF32()));
}

TEST(Embeds, LooksAtTheLargestValue) {
  // 480 is no value of the fn format, whose largest is 448.
  EXPECT_FALSE(embeds(parse("float<4,3,finite>"), parse("float<4,3,fn>")));
  EXPECT_FALSE(embeds(parse("float<4,3,fn>"), parse("float<4,3>")));
}

TEST(Embeds, LooksAtSpecials) {
  Format finite = parse("float<2,1,finite>");
  EXPECT_TRUE(embeds(finite, parse("float<4,3,fn>")));
  EXPECT_FALSE(embeds(finite, parse("float<4,3,fnuz>"))); // no -0
  EXPECT_FALSE(embeds(parse("float<3,2>"), parse("float<4,3,fn>")));
  EXPECT_TRUE(embeds(parse("float<4,3,fnuz>"), parse("float<5,10>")));
}

TEST(Embeds, LooksAtSignsAndZeros) {
  EXPECT_TRUE(embeds(parse("float<4,3,fn,unsigned>"), parse("float<5,10>")));
  EXPECT_TRUE(embeds(parse("float<8,0,fnu>"), formatF32()));
  EXPECT_TRUE(embeds(parse("float<8,0,fnu>"), parse("float<9,1,fnu>")));
  EXPECT_FALSE(embeds(parse("float<4,3,fn>"), parse("float<5,10,unsigned>")));
  // E8M0 has no zero.
  EXPECT_FALSE(
      embeds(parse("float<3,0,fn,unsigned>"), parse("float<8,0,fnu>")));
  EXPECT_TRUE(embeds(parse("float<5,2,p3109>"), formatF32()));
  EXPECT_FALSE(embeds(parse("float<8,23,p3109>"), formatF32())); // its range
}

TEST(Embeds, LooksAtTheLowestOfFixedPoint) {
  EXPECT_TRUE(embeds(parse("fixed<4,11>"), formatF32()));
  EXPECT_TRUE(embeds(parse("fixed<0,24,unsigned>"), formatF32()));
  EXPECT_FALSE(embeds(parse("fixed<0,25,unsigned>"), formatF32()));
  EXPECT_TRUE(embeds(parse("fixed<53,0,wrap>"), formatF64()));
  EXPECT_TRUE(embeds(parse("fixed<4,3,unsigned>"), parse("fixed<4,3>")));
  EXPECT_FALSE(embeds(parse("fixed<4,3>"), parse("fixed<5,3,unsigned>")));
  EXPECT_TRUE(embeds(parse("fixed<4,3>"), parse("fixed<5,4>")));
  EXPECT_FALSE(embeds(parse("fixed<4,3>"), parse("fixed<8,2>")));
  // -16 is no number of a format that ends at 15 and has its other numbers.
  EXPECT_FALSE(embeds(parse("fixed<4,0>"), parse("float<3,4,finite,bias=4>")));
  EXPECT_TRUE(embeds(parse("fixed<4,0>"), parse("float<4,3,fn>")));
  EXPECT_FALSE(embeds(parse("float<4,3,fn>"), parse("fixed<20,20>"))); // NaN
  EXPECT_TRUE(embeds(parse("float<2,1,finite,unsigned>"), parse("fixed<3,1>")));
}

TEST(Embeds, FollowsThePrecisionOfATakum) {
  EXPECT_TRUE(embeds(parse("takum<16>"), formatF64()));
  EXPECT_TRUE(embeds(parse("takum<57>"), formatF64()));
  EXPECT_FALSE(embeds(parse("takum<58>"), formatF64()));
  EXPECT_FALSE(embeds(parse("takum<16>"), formatF32())); // its range
  EXPECT_TRUE(embeds(parse("takum<4>"), formatF32()));   // 2^-63 to 2^63
  EXPECT_TRUE(embeds(parse("takum<12>"), parse("takum<16>")));
  EXPECT_FALSE(embeds(parse("takum<16>"), parse("takum<12>")));
  EXPECT_FALSE(embeds(parse("takum<8>"), parse("posit<32,2>")));
  EXPECT_TRUE(embeds(parse("fixed<3,4>"), parse("takum<16>")));
  EXPECT_FALSE(embeds(parse("fixed<3,9>"), parse("takum<16>")));
}

TEST(Embeds, LooksAtSubnormals) {
  EXPECT_FALSE(embeds(parse("float<5,7>"), parse("float<5,10,flush>")));
  EXPECT_TRUE(embeds(parse("float<5,7,flush>"), parse("float<5,10>")));
}

TEST(Embeds, FollowsThePrecisionOfAPosit) {
  EXPECT_TRUE(embeds(parse("posit<8,2>"), parse("posit<16,2>")));
  EXPECT_TRUE(embeds(parse("posit<8,0>"), parse("posit<16,1>")));
  EXPECT_FALSE(embeds(parse("posit<16,1>"), parse("posit<16,2>")));
  EXPECT_TRUE(embeds(parse("float<4,3,fnuz>"), parse("posit<16,2>")));
  EXPECT_FALSE(embeds(parse("float<4,3,fn>"), parse("posit<16,2>"))); // -0
  EXPECT_FALSE(embeds(parse("float<6,7,fnuz>"), parse("posit<16,2>")));
}

TEST(DefaultAccumulator, IsTheFirstThatHoldsProductsExactly) {
  auto accumulator = [](llvm::StringRef text) {
    return defaultAccumulator(parse(text)).spelling();
  };
  const char *f32 = "float<8,23>", *f64 = "float<11,52>";
  for (const char *small :
       {"float<8,7>", "float<5,10>", "float<8,10>", "float<4,3,fn>",
        "float<5,2>", "float<2,1,finite>", "posit<8,2>", "posit<16,2>"})
    EXPECT_EQ(accumulator(small), f32) << small;
  EXPECT_EQ(accumulator("float<8,11>"), f32); // 24 bits
  EXPECT_EQ(accumulator("float<8,12>"), f64); // 26 bits
  EXPECT_EQ(accumulator("float<9,7>"), f64);  // the range of f32 is too small
  EXPECT_EQ(accumulator("posit<24,2>"), f64);
  EXPECT_EQ(accumulator("takum<16>"), f64); // the range of f32 is too small
  EXPECT_EQ(accumulator("takum<32>"), "takum<32>");
  EXPECT_EQ(accumulator("float<5,2,p3109>"), f32);
  EXPECT_EQ(accumulator("float<8,25>"), f64);           // 52 bits
  EXPECT_EQ(accumulator("float<8,26>"), "float<8,26>"); // 54 bits
  EXPECT_EQ(accumulator("float<8,30>"), "float<8,30>");
  EXPECT_EQ(accumulator("posit<32,2>"), "posit<32,2>");
  // Without exponent bits there is no hidden bit: 12 bits, not 13.
  EXPECT_EQ(accumulator("float<0,12,finite,bias=0>"), f32);
  EXPECT_EQ(accumulator("opaque<\"x\",16>"), "opaque<\"x\",16>");
}

TEST(DefaultAccumulator, OfTheMachineFormatsIsTheFormat) {
  EXPECT_EQ(defaultAccumulator(formatF32()), formatF32());
  EXPECT_EQ(defaultAccumulator(formatF64()), formatF64());
  EXPECT_EQ(formatF32().getFamily().machineWidth(formatF32()), 32u);
  EXPECT_EQ(formatF64().getFamily().machineWidth(formatF64()), 64u);
  Format up = parse("float<8,23,up>");
  EXPECT_EQ(up.getFamily().machineWidth(up), 0u);
  EXPECT_EQ(defaultAccumulator(up), formatF64());
}

TEST(Quire, HasTheStandardsBits) {
  std::string error;
  auto bits = [&](llvm::StringRef text) {
    return quireOf(parse(text), error)->bits;
  };
  EXPECT_EQ(bits("posit<8,2>"), 128);
  EXPECT_EQ(bits("posit<16,2>"), 256);
  EXPECT_EQ(bits("posit<12,1>"), 112);
  EXPECT_EQ(bits("posit<64,4>"), 4000);
  EXPECT_EQ(bits("float<11,52>"), 4352);
}

TEST(Quire, IsRefusedByName) {
  auto error = [](llvm::StringRef text) {
    std::string message;
    EXPECT_FALSE(quireOf(parse(text), message)) << text.str();
    return message;
  };
  EXPECT_EQ(error("float<12,20>"),
            "format 'float<12,20>' has no quire: it would have 8384 bits, more "
            "than 4352");
  EXPECT_EQ(error("opaque<\"mybf16\",16>"),
            "format 'opaque<\"mybf16\",16>' has no quire: only its library "
            "defines its values");
}

TEST(Evaluate, ComputesOnCodes) {
  Format bf16 = parse("float<8,7>");
  auto evaluate = [&](OpKind operation, llvm::ArrayRef<uint64_t> operands,
                      int32_t extra = 0) {
    return bf16.getFamily().evaluate(operation, bf16, operands,
                                     Rounding::NearestEven, extra);
  };
  uint64_t one = 0x3f80, two = 0x4000, three = 0x4040, nan = 0x7fc0;
  EXPECT_EQ(evaluate(OpKind::Add, {one, two}), three);
  EXPECT_EQ(evaluate(OpKind::Sub, {three, two}), one);
  EXPECT_EQ(evaluate(OpKind::Div, {two, two}), one);
  EXPECT_EQ(evaluate(OpKind::Fma, {one, two, one}), three);
  EXPECT_EQ(evaluate(OpKind::Mac, {one, two, one}), three);
  EXPECT_EQ(evaluate(OpKind::Rem, {three, two}), one);
  EXPECT_EQ(evaluate(OpKind::Max, {one, nan}), nan);
  EXPECT_EQ(evaluate(OpKind::MaxNum, {one, nan}), one);
  EXPECT_EQ(evaluate(OpKind::Sqrt, {0x4080}), two);
  EXPECT_EQ(evaluate(OpKind::Floor, {0x4060}), three);
  EXPECT_EQ(evaluate(OpKind::RoundEven, {0x4020}), two);
  EXPECT_EQ(evaluate(OpKind::Round, {0x4020}), three);
  EXPECT_EQ(evaluate(OpKind::Neg, {one}), 0xbf80u);
  EXPECT_EQ(evaluate(OpKind::IsNaN, {nan}), 1u);
  EXPECT_EQ(evaluate(OpKind::Cmp, {one, two}, Relation::Less), 1u);
  EXPECT_EQ(evaluate(OpKind::Cmp, {one, two}, Relation::Greater), 0u);
  EXPECT_EQ(evaluate(OpKind::Cast, {0xffff}), nan);
}

TEST(Evaluate, KnowsEveryOperation) {
  for (const char *text : {"float<5,10>", "posit<16,2>", "float<4,3,fn>",
                           "float<5,10,p3109>", "float<5,10,unsigned,saturate>",
                           "fixed<4,11>", "fixed<1,62,wrap>", "takum<16>"}) {
    Format format = parse(text);
    const FormatFamily &family = format.getFamily();
    auto power = [&](int32_t exponent) {
      return family.encode(format, Unpacked::fromInteger(false, 1, exponent),
                           Rounding::NearestEven);
    };
    uint64_t one = power(0), half = power(-1);
    auto evaluate = [&](OpKind operation) {
      // acosh has values from 1 on alone.
      std::vector<uint64_t> operands(operandCount(operation),
                                     operation == OpKind::Acosh ? one : half);
      return family.evaluate(operation, format, operands,
                             Rounding::NearestEven);
    };
#define NUMERA_OPERATION(enumerator, name, operands, ...)                      \
  EXPECT_FALSE(family.decode(format, evaluate(OpKind::enumerator)).isNaN())    \
      << text << " " #name;
#include "numera/Numerics/Core/Operations.def"
  }
}

TEST(Evaluate, RoundsElementaryFunctions) {
  auto value = [](OpKind operation, llvm::StringRef text, double x) {
    Format f = parse(text);
    int exponent;
    double fraction = std::frexp(x, &exponent);
    uint64_t code = f.getFamily().encode(
        f,
        Unpacked::fromInteger(
            x < 0, static_cast<uint64_t>(std::ldexp(std::fabs(fraction), 53)),
            exponent - 53),
        Rounding::NearestEven);
    return valueOf(f, f.getFamily().evaluate(operation, f, {code, code},
                                             Rounding::NearestEven));
  };
  EXPECT_EQ(value(OpKind::Exp, "float<8,23>", 1), 0x1.5bf0a8p+1);
  EXPECT_EQ(value(OpKind::Exp2, "posit<16,2>", 3), 8);
  EXPECT_EQ(value(OpKind::Expm1, "float<8,23>", 1), 0x1.b7e152p+0);
  EXPECT_EQ(value(OpKind::Log, "float<8,23>", 2), 0x1.62e43p-1);
  EXPECT_EQ(value(OpKind::Log2, "float<5,10>", 8), 3);
  EXPECT_EQ(value(OpKind::Log1p, "float<8,23>", 1), 0x1.62e43p-1);
  EXPECT_EQ(value(OpKind::Sin, "float<8,23>", 1), 0x1.aed548p-1);
  EXPECT_EQ(value(OpKind::Cos, "float<8,23>", 1), 0x1.14a28p-1);
  EXPECT_EQ(value(OpKind::Tanh, "float<8,23>", 1), 0x1.85efacp-1);
  EXPECT_EQ(value(OpKind::Erf, "float<8,23>", 1), 0x1.af767ap-1);
  EXPECT_EQ(value(OpKind::Sigmoid, "float<8,23>", 0), 0.5);
  EXPECT_EQ(value(OpKind::Cbrt, "float<8,23>", 27), 3);
  EXPECT_EQ(value(OpKind::Log10, "float<8,23>", 1000), 3);
  EXPECT_EQ(value(OpKind::Tan, "float<8,23>", 1), 0x1.8eb246p+0);
  EXPECT_EQ(value(OpKind::Atan, "float<8,23>", 1), 0x1.921fb6p-1);
  EXPECT_EQ(value(OpKind::Sinh, "float<8,23>", 1), 0x1.2cd9fcp+0);
  EXPECT_EQ(value(OpKind::Cosh, "float<8,23>", 1), 0x1.8b0756p+0);
  EXPECT_EQ(value(OpKind::Asinh, "float<8,23>", 1), 0x1.c34366p-1);
  EXPECT_EQ(value(OpKind::Erfc, "float<8,23>", 1), 0x1.422616p-3);
  EXPECT_EQ(value(OpKind::Asin, "float<8,23>", 0.5), 0x1.0c1524p-1);
  EXPECT_EQ(value(OpKind::Acos, "float<8,23>", 0.5), 0x1.0c1524p+0);
  EXPECT_EQ(value(OpKind::Acosh, "float<8,23>", 2), 0x1.512428p+0);
  EXPECT_EQ(value(OpKind::Atanh, "float<8,23>", 0.5), 0x1.193ea8p-1);
  EXPECT_EQ(value(OpKind::Pow, "float<8,23>", 2), 4);
}

} // namespace
