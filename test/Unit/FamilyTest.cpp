// SPDX-License-Identifier: MIT
//
// Families: validation, parameters, fields.

#include "Spellings.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

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
  const OperationChange *add = format.changeOf(OpKind::Add);
  ASSERT_TRUE(add);
  EXPECT_EQ(add->rounding, Rounding::Stochastic);
  EXPECT_EQ(add->randomBits, 5);
  EXPECT_EQ(add->overflow, Overflow::Saturate);
  EXPECT_EQ(add->truncateOperands, 0);
  EXPECT_EQ(format.changeOf(OpKind::Mul)->truncateOperands, 3);
  EXPECT_EQ(format.changeOf(OpKind::Div), nullptr);
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

TEST(Family, EncodesManyNumbersAsItEncodesOne) {
  // Every exponent of f32, both signs; few and many bits of the fraction.
  std::vector<float> numbers = {0.0f, -0.0f, NAN};
  for (uint32_t high = 0; high < (1u << 16); ++high) {
    uint32_t low = high * 0x9e3779b9u >> 16;
    for (uint32_t bits : {high << 16, high << 16 | 1, high << 16 | low})
      if (float number = llvm::bit_cast<float>(bits); std::isfinite(number))
        numbers.push_back(number);
  }
  Format f32 = parse("float<8,23>");
  for (llvm::StringRef text :
       {"float<8,7>", "float<5,10>", "float<4,3,finite>", "float<5,7,bias=9>",
        "posit<16,2>", "posit<8,2>", "posit<20,1>", "takum<16>", "lns<5,6>",
        "fixed<8,8>", "fixed<4,4,wrap>", "float<8,23>", "float<11,52>"})
    for (Rounding rounding :
         {Rounding::NearestEven, Rounding::TowardZero, Rounding::Up}) {
      Format format = parse(text);
      const FormatFamily &family = format.getFamily();
      std::vector<uint64_t> codes(numbers.size());
      family.encodeAll(format, numbers, rounding, codes);
      size_t wrong = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        Unpacked number =
            f32.getFamily().decode(f32, llvm::bit_cast<uint32_t>(numbers[i]));
        wrong += codes[i] != family.encode(format, number, rounding);
      }
      EXPECT_EQ(wrong, 0u) << text.str() << " " << int(rounding);
    }
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

} // namespace
