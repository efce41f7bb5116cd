// SPDX-License-Identifier: MIT
//
// Families: validation, the facts of formats, embedding, accumulators.

#include "numera/Numerics/Compare.h"
#include "numera/Registry/FormatFamily.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace numera;

namespace {

Format parse(llvm::StringRef text) {
  SpellingError error;
  Format format = parseFormatSpelling(text, error);
  EXPECT_TRUE(format) << text.str() << ": " << error.message;
  return format;
}

/// `column: message`.
std::string fault(llvm::StringRef text) {
  SpellingError error;
  EXPECT_FALSE(parseFormatSpelling(text, error)) << text.str();
  return std::to_string(error.column) + ": " + error.message;
}

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

TEST(FloatFamily, ChecksRanges) {
  EXPECT_EQ(fault("float<17,7>"),
            "6: exponent is '17', expected an integer from 0 to 16");
  EXPECT_EQ(fault("float<5,53>"),
            "8: mantissa is '53', expected an integer from 0 to 52");
  EXPECT_EQ(fault("float<x,7>"),
            "6: exponent is 'x', expected an integer from 0 to 16");
  EXPECT_EQ(fault("float<5,7,bias=99999999999>"),
            "15: bias is '99999999999', expected an integer from -65536 to "
            "65536");
  EXPECT_EQ(fault("float<16,48>"),
            "9: 16 exponent bits, 48 mantissa bits and a sign are 65 bits, "
            "expected at most 64");
}

TEST(FloatFamily, IeeeNeedsRoomForInfinityAndNaN) {
  EXPECT_EQ(fault("float<0,7>"),
            "6: exponent is '0', a format with ieee specials needs at least 1 "
            "for its infinities");
  EXPECT_EQ(fault("float<5,0>"),
            "8: mantissa is '0', a format with ieee specials needs at least 1 "
            "for its NaN");
}

TEST(FloatFamily, NeedsANumberBesideZero) {
  EXPECT_EQ(fault("float<0,1,fn,bias=0>"),
            "8: the format has no number but zero, expected more exponent or "
            "mantissa bits");
  EXPECT_EQ(fault("float<0,0,finite,bias=0>"),
            "8: the format has no number but zero, expected more exponent or "
            "mantissa bits");
  EXPECT_EQ(fault("float<1,3,flush>"),
            "10: the format has no number but zero, expected more exponent or "
            "mantissa bits, or subnormals");
}

TEST(FloatFamily, NeedsABiasWithoutExponentBits) {
  EXPECT_EQ(fault("float<0,7,finite>"),
            "6: exponent is '0', a format without exponent bits needs a bias");
}

TEST(FloatFamily, ChecksTheSpecialsOfUnsignedFormats) {
  EXPECT_EQ(fault("float<4,3,fnuz,unsigned>"),
            "15: a format with fnuz specials is signed, its NaN is the code of "
            "-0");
  EXPECT_EQ(fault("float<8,0,fnu,signed=true>"),
            "21: a format with fnu specials is unsigned");
  EXPECT_EQ(fault("float<8,0,fnu,flush>"),
            "14: a format with fnu specials has no subnormals");
  EXPECT_EQ(fault("float<4,3,infinities=false>"),
            "21: 'infinities' is a choice of p3109 specials alone");
  EXPECT_EQ(fault("float<4,3,p3109,infinities=no>"),
            "27: infinities is 'no', expected true or false");
  EXPECT_EQ(fault("float<4,3,signed=maybe>"),
            "17: signed is 'maybe', expected true, false or unsigned");
  EXPECT_EQ(fault("float<4,3,wrap>"),
            "10: unknown word 'wrap' of family 'float', expected ieee, fn, "
            "fnuz, finite, fnu, p3109, flush, unsigned, infinity, saturate, "
            "propagate, nearest-even, nearest-away, nearest-zero, toward-zero, "
            "up, down, to-odd, stochastic or key=value");
  EXPECT_EQ(fault("float<4,3,overflow=wrap>"),
            "19: overflow is 'wrap', expected infinity, saturate or propagate");
}

TEST(FloatFamily, LeavesRoomForSpecialsWithoutASign) {
  const std::string message =
      "the format has no number but zero, expected more exponent or mantissa "
      "bits";
  for (const char *text :
       {"float<0,0,finite,unsigned,bias=0>", "float<0,1,p3109,unsigned,bias=0>",
        "float<0,0,fnu,bias=0>", "float<1,0,p3109>", "float<1,0,fn,unsigned>",
        "float<0,0,p3109,unsigned,infinities=false,bias=0>"})
    EXPECT_EQ(fault(text), "8: " + message) << text;
  for (const char *text :
       {"float<1,0,fnu>", "float<1,0,finite,unsigned>", "float<1,1,unsigned>",
        "float<0,2,p3109,unsigned,bias=0>", "float<1,1,p3109>",
        "float<1,0,p3109,infinities=false>",
        "float<1,1,p3109,unsigned,infinities=false>"}) {
    Format format = parse(text);
    Unpacked largest =
        format.getFamily().decode(format, format.getFamily().largest(format));
    EXPECT_TRUE(largest.isFinite()) << text;
  }
}

TEST(FloatFamily, ChecksRandomBits) {
  EXPECT_EQ(fault("float<4,3,random-bits=4>"),
            "22: 'random-bits' is for stochastic rounding alone");
  EXPECT_EQ(fault("float<4,3,stochastic,random-bits=33>"),
            "33: random-bits is '33', expected an integer from 1 to 32");
  EXPECT_EQ(fault("posit<8,stochastic,random-bits=0>"),
            "31: random-bits is '0', expected an integer from 1 to 32");
}

TEST(Family, ChecksChangesOfOperations) {
  EXPECT_EQ(fault("float<5,7,mul.foo=3>"),
            "10: unknown key 'mul.foo' of family 'float', expected exponent, "
            "mantissa, bias, specials, infinities, subnormals, signed, "
            "overflow, rounding, random-bits, mul.rounding, mul.random-bits, "
            "mul.overflow or mul.truncate-operands");
  EXPECT_EQ(fault("float<5,7,mul.ronding=up>"),
            "10: unknown key 'mul.ronding' of family 'float', did you mean "
            "'mul.rounding'?");
  EXPECT_EQ(fault("float<5,7,cmp.rounding=up>"),
            "10: unknown key 'cmp.rounding' of family 'float', did you mean "
            "'rounding'?");
  EXPECT_EQ(fault("float<5,7,mul.rounding=up,mul.rounding=up>"),
            "26: 'mul.rounding' is given twice, give it once");
  EXPECT_EQ(fault("float<5,7,mul.random-bits=3>"),
            "26: 'mul.random-bits' is for stochastic rounding alone");
  EXPECT_EQ(fault("float<5,7,stochastic,mul.random-bits=3>"),
            "37: 'mul.random-bits' is for stochastic rounding alone");
  EXPECT_EQ(fault("float<5,7,mul.truncate-operands=8>"),
            "32: mul.truncate-operands is '8', expected an integer from 0 to "
            "7");
  EXPECT_EQ(fault("posit<16,2,mul.truncate-operands=12>"),
            "33: mul.truncate-operands is '12', expected an integer from 0 to "
            "11");
  EXPECT_EQ(fault("posit<16,2,mul.overflow=saturate>"),
            "24: overflow 'saturate' is not one of family 'posit'");
  EXPECT_EQ(fault("float<5,7,add.overflow=wrap>"),
            "23: overflow 'wrap' is not one of family 'float'");
  EXPECT_EQ(fault("float<5,7,add.overflow=wrp>"),
            "23: add.overflow is 'wrp', did you mean 'wrap'?");
}

TEST(Family, ReadsChangesOfOperations) {
  Format format = parse("float<5,7,up,mul.truncate-operands=3,"
                        "add.rounding=stochastic,add.random-bits=5,"
                        "add.overflow=saturate>");
  ASSERT_EQ(format.getChanges().size(), 2u);
  const OperationChange *add = format.changeOf(Operation::Add);
  ASSERT_TRUE(add);
  EXPECT_EQ(add->rounding, Rounding::Stochastic);
  EXPECT_EQ(add->randomBits, 5);
  EXPECT_EQ(add->overflow, Overflow::Saturate);
  EXPECT_EQ(add->truncateOperands, 0);
  EXPECT_EQ(format.changeOf(Operation::Mul)->truncateOperands, 3);
  EXPECT_EQ(format.changeOf(Operation::Div), nullptr);
  EXPECT_EQ(format.getRounding(), Rounding::Up);
  // A change of nothing is none.
  EXPECT_EQ(parse("float<5,7,mul.truncate-operands=0>"), parse("float<5,7>"));
}

TEST(Family, HasOtherOverflowRules) {
  Format format = parse("float<5,7,up,mul.truncate-operands=3>");
  const FormatFamily &family = format.getFamily();
  EXPECT_EQ(family.withOverflow(format, Overflow::Saturate).spelling(),
            "float<5,7,saturate,up,mul.truncate-operands=3>");
  EXPECT_FALSE(family.withOverflow(format, Overflow::Wrap));
  Format posit = parse("posit<8>");
  EXPECT_FALSE(posit.getFamily().withOverflow(posit, Overflow::Saturate));
}

TEST(FloatFamily, ParametersAreTheAbiConstants) {
  // exponent, mantissa, bias, specials, subnormals, signed, overflow
  EXPECT_EQ(parse("float<5,7>").getParameters(),
            (llvm::ArrayRef<int32_t>{5, 7, 15, 0, 1, 1, 0}));
  EXPECT_EQ(parse("float<4,3,fnuz,flush,propagate>").getParameters(),
            (llvm::ArrayRef<int32_t>{4, 3, 8, 2, 0, 1, 2}));
  EXPECT_EQ(parse("float<2,1,finite>").getParameters(),
            (llvm::ArrayRef<int32_t>{2, 1, 1, 3, 1, 1, 1}));
  EXPECT_EQ(parse("float<8,0,fnu>").getParameters(),
            (llvm::ArrayRef<int32_t>{8, 0, 127, 4, 1, 0, 1}));
  EXPECT_EQ(parse("float<5,2,p3109>").getParameters(),
            (llvm::ArrayRef<int32_t>{5, 2, 16, 5, 1, 1, 0}));
  EXPECT_EQ(parse("float<6,2,p3109,unsigned,infinities=false>").getParameters(),
            (llvm::ArrayRef<int32_t>{6, 2, 32, 6, 1, 0, 0}));
  EXPECT_EQ(parse("fixed<4,11>").getParameters(),
            (llvm::ArrayRef<int32_t>{4, 11, 1, 1}));
  EXPECT_EQ(parse("fixed<4,11,unsigned,wrap>").getParameters(),
            (llvm::ArrayRef<int32_t>{4, 11, 0, 3}));
  EXPECT_EQ(parse("takum<16>").getParameters(), (llvm::ArrayRef<int32_t>{16}));
  EXPECT_EQ(parse("posit<16,1>").getParameters(),
            (llvm::ArrayRef<int32_t>{16, 1}));
}

TEST(FixedFamily, ChecksRanges) {
  EXPECT_EQ(fault("fixed<4>"),
            "7: 'fraction' is missing, family 'fixed' needs it");
  EXPECT_EQ(fault("fixed<fraction=4>"),
            "16: 'integer' is missing, family 'fixed' needs it");
  EXPECT_EQ(fault("fixed<65,0>"),
            "6: integer is '65', expected an integer from 0 to 64");
  EXPECT_EQ(fault("fixed<0,-1>"),
            "8: fraction is '-1', expected an integer from 0 to 64");
  EXPECT_EQ(fault("fixed<0,0>"),
            "8: integer and fraction are '0', expected at least one bit");
  EXPECT_EQ(fault("fixed<32,32>"),
            "9: 32 integer bits, 32 fraction bits and a sign are 65 bits, "
            "expected at most 64");
  EXPECT_EQ(fault("fixed<33,32,unsigned>"),
            "9: 33 integer bits and 32 fraction bits are 65 bits, expected at "
            "most 64");
  EXPECT_EQ(fault("fixed<4,3,infinity>"),
            "10: unknown word 'infinity' of family 'fixed', expected unsigned, "
            "saturate, wrap, nearest-even, nearest-away, nearest-zero, "
            "toward-zero, up, down, to-odd, stochastic or key=value");
  EXPECT_EQ(fault("fixed<4,3,overflow=infinity>"),
            "19: overflow is 'infinity', expected saturate or wrap");
  EXPECT_EQ(fault("fixed<4,3,signed=no>"),
            "17: signed is 'no', expected true, false or unsigned");
  EXPECT_EQ(fault("fixed<4,3,mul.overflow=infinity>"),
            "23: overflow 'infinity' is not one of family 'fixed'");
  EXPECT_EQ(fault("fixed<4,3,mul.truncate-operands=7>"),
            "32: mul.truncate-operands is '7', expected an integer from 0 to "
            "6");
}

TEST(TakumFamily, ChecksRanges) {
  EXPECT_EQ(fault("takum<1>"),
            "6: bits is '1', expected an integer from 2 to 64");
  EXPECT_EQ(fault("takum<65>"),
            "6: bits is '65', expected an integer from 2 to 64");
  EXPECT_EQ(fault("takum<up>"),
            "8: 'bits' is missing, family 'takum' needs it");
  EXPECT_EQ(fault("takum<16,saturate>"),
            "9: unknown word 'saturate' of family 'takum', expected "
            "nearest-even, nearest-away, nearest-zero, toward-zero, up, down, "
            "to-odd, stochastic or key=value");
}

TEST(Fields, OfAFormatAddUpToItsWidth) {
  auto fields = [](llvm::StringRef text, uint64_t code) {
    Format format = parse(text);
    std::string result;
    unsigned total = 0;
    for (const FormatFamily::Field &field :
         format.getFamily().fields(format, code)) {
      result += field.name.str() + " " + std::to_string(field.bits) + ",";
      total += field.bits;
    }
    EXPECT_EQ(total, format.width()) << text.str();
    return result;
  };
  EXPECT_EQ(fields("float<5,7>", 0), "sign 1,exponent 5,significand 7,");
  EXPECT_EQ(fields("float<8,0,fnu>", 0), "sign 0,exponent 8,significand 0,");
  EXPECT_EQ(fields("fixed<4,11>", 0), "sign 1,integer 4,fraction 11,");
  EXPECT_EQ(fields("fixed<0,8,unsigned>", 0), "sign 0,integer 0,fraction 8,");
  EXPECT_EQ(fields("takum<16>", 0x4000),
            "sign 1,direction 1,regime 3,characteristic 0,mantissa 11,");
  EXPECT_EQ(fields("takum<16>", 0x7800), // R = 7
            "sign 1,direction 1,regime 3,characteristic 7,mantissa 4,");
  EXPECT_EQ(fields("takum<16>", 0x0001),
            "sign 1,direction 1,regime 3,characteristic 7,mantissa 4,");
  EXPECT_EQ(fields("takum<16>", 0xc000), // -1: D and R as they stand
            "sign 1,direction 1,regime 3,characteristic 0,mantissa 11,");
  EXPECT_EQ(fields("takum<8>", 1),
            "sign 1,direction 1,regime 3,characteristic 3,mantissa 0,");
  EXPECT_EQ(fields("takum<3>", 1),
            "sign 1,direction 1,regime 1,characteristic 0,mantissa 0,");
}

TEST(PositFamily, ChecksRanges) {
  EXPECT_EQ(fault("posit<1>"),
            "6: bits is '1', expected an integer from 2 to 64");
  EXPECT_EQ(fault("posit<65>"),
            "6: bits is '65', expected an integer from 2 to 64");
  EXPECT_EQ(fault("posit<16,5>"),
            "9: es is '5', expected an integer from 0 to 4");
  EXPECT_EQ(fault("posit<es=1>"),
            "10: 'bits' is missing, family 'posit' needs it");
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
            "knows its values");
}

TEST(Evaluate, ComputesOnCodes) {
  Format bf16 = parse("float<8,7>");
  auto evaluate = [&](Operation operation, llvm::ArrayRef<uint64_t> operands,
                      int32_t extra = 0) {
    return bf16.getFamily().evaluate(operation, bf16, operands,
                                     Rounding::NearestEven, extra);
  };
  uint64_t one = 0x3f80, two = 0x4000, three = 0x4040, nan = 0x7fc0;
  EXPECT_EQ(evaluate(Operation::Add, {one, two}), three);
  EXPECT_EQ(evaluate(Operation::Sub, {three, two}), one);
  EXPECT_EQ(evaluate(Operation::Div, {two, two}), one);
  EXPECT_EQ(evaluate(Operation::Fma, {one, two, one}), three);
  EXPECT_EQ(evaluate(Operation::Mac, {one, two, one}), three);
  EXPECT_EQ(evaluate(Operation::Rem, {three, two}), one);
  EXPECT_EQ(evaluate(Operation::Max, {one, nan}), nan);
  EXPECT_EQ(evaluate(Operation::MaxNum, {one, nan}), one);
  EXPECT_EQ(evaluate(Operation::Sqrt, {0x4080}), two);
  EXPECT_EQ(evaluate(Operation::Floor, {0x4060}), three);
  EXPECT_EQ(evaluate(Operation::RoundEven, {0x4020}), two);
  EXPECT_EQ(evaluate(Operation::Round, {0x4020}), three);
  EXPECT_EQ(evaluate(Operation::Neg, {one}), 0xbf80u);
  EXPECT_EQ(evaluate(Operation::IsNaN, {nan}), 1u);
  EXPECT_EQ(evaluate(Operation::Cmp, {one, two}, Relation::Less), 1u);
  EXPECT_EQ(evaluate(Operation::Cmp, {one, two}, Relation::Greater), 0u);
  EXPECT_EQ(evaluate(Operation::Cast, {0xffff}), nan);
}

TEST(Evaluate, KnowsEveryOperation) {
  for (const char *text : {"float<5,10>", "posit<16,2>", "float<4,3,fn>",
                           "float<5,10,p3109>", "float<5,10,unsigned,saturate>",
                           "fixed<4,11>", "fixed<1,62,wrap>", "takum<16>"}) {
    Format format = parse(text);
    const FormatFamily &family = format.getFamily();
    uint64_t half = family.encode(format, Unpacked::fromInteger(false, 1, -1),
                                  Rounding::NearestEven);
    auto evaluate = [&](Operation operation) {
      std::vector<uint64_t> operands(operandCount(operation), half);
      return family.evaluate(operation, format, operands,
                             Rounding::NearestEven);
    };
#define NUMERA_OPERATION(enumerator, name, operands)                           \
  EXPECT_FALSE(family.decode(format, evaluate(Operation::enumerator)).isNaN()) \
      << text << " " << name;
#include "numera/Registry/Operations.def"
  }
}

TEST(Evaluate, RoundsElementaryFunctions) {
  auto value = [](Operation operation, llvm::StringRef text, double x) {
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
  EXPECT_EQ(value(Operation::Exp, "float<8,23>", 1), 0x1.5bf0a8p+1);
  EXPECT_EQ(value(Operation::Exp2, "posit<16,2>", 3), 8);
  EXPECT_EQ(value(Operation::Expm1, "float<8,23>", 1), 0x1.b7e152p+0);
  EXPECT_EQ(value(Operation::Log, "float<8,23>", 2), 0x1.62e43p-1);
  EXPECT_EQ(value(Operation::Log2, "float<5,10>", 8), 3);
  EXPECT_EQ(value(Operation::Log1p, "float<8,23>", 1), 0x1.62e43p-1);
  EXPECT_EQ(value(Operation::Sin, "float<8,23>", 1), 0x1.aed548p-1);
  EXPECT_EQ(value(Operation::Cos, "float<8,23>", 1), 0x1.14a28p-1);
  EXPECT_EQ(value(Operation::Tanh, "float<8,23>", 1), 0x1.85efacp-1);
  EXPECT_EQ(value(Operation::Erf, "float<8,23>", 1), 0x1.af767ap-1);
  EXPECT_EQ(value(Operation::Sigmoid, "float<8,23>", 0), 0.5);
  EXPECT_EQ(value(Operation::Pow, "float<8,23>", 2), 4);
}

} // namespace
