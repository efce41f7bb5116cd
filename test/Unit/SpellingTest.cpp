// SPDX-License-Identifier: MIT
//
// Spellings: what they parse to, how they print, and what is said about wrong
// ones.

#include "numera/Registry/Formats/FormatFamily.h"

#include <gtest/gtest.h>

using namespace numera;

namespace {

/// The canonical spelling of what `text` means; the error if it means nothing.
std::string canonical(llvm::StringRef text) {
  SpellingError error;
  Format format = parseFormatSpelling(text, error);
  return format ? format.spelling() : error.message;
}

/// `column: message`.
std::string fault(llvm::StringRef text) {
  SpellingError error;
  EXPECT_FALSE(parseFormatSpelling(text, error)) << text.str();
  return std::to_string(error.column) + ": " + error.message;
}

TEST(Spelling, NamesOnlyWhatDiffersFromTheDefaults) {
  EXPECT_EQ(canonical("float<5,7>"), "float<5,7>");
  EXPECT_EQ(canonical("float<5,7,bias=15,ieee,subnormals=on,signed=true,"
                      "nearest-even,infinity>"),
            "float<5,7>");
  EXPECT_EQ(canonical("float<4,3,fn,saturate>"), "float<4,3,fn>");
  EXPECT_EQ(canonical("float<4,3,fn,bias=7>"), "float<4,3,fn>");
  EXPECT_EQ(canonical("float<4,3,fnuz,bias=8>"), "float<4,3,fnuz>");
  EXPECT_EQ(canonical("float<4,3,fnuz,bias=7>"), "float<4,3,fnuz,bias=7>");
}

TEST(Spelling, HasOneOrder) {
  EXPECT_EQ(canonical("float<5,7,saturate,up,flush,bias=-9>"),
            "float<5,7,bias=-9,flush,saturate,up>");
  EXPECT_EQ(canonical("float<mantissa=7,exponent=5,overflow=propagate,"
                      "rounding=to-odd,specials=fn>"),
            "float<5,7,fn,propagate,to-odd>");
  EXPECT_EQ(canonical("float<mul.truncate-operands=3,exponent=5,random-bits=4,"
                      "mantissa=7,add.overflow=saturate,stochastic,saturate,"
                      "add.rounding=up>"),
            "float<5,7,saturate,stochastic,random-bits=4,add.rounding=up,"
            "add.overflow=saturate,mul.truncate-operands=3>");
  EXPECT_EQ(canonical("float<5,2,infinities=false,unsigned,p3109>"),
            "float<5,2,p3109,infinities=false,unsigned>");
}

TEST(Spelling, LeavesOutWhatFollowsFromTheSpecials) {
  EXPECT_EQ(canonical("float<8,0,fnu,unsigned,saturate,bias=127>"),
            "float<8,0,fnu>");
  EXPECT_EQ(canonical("float<5,2,p3109,bias=16,infinities=true,infinity>"),
            "float<5,2,p3109>");
  EXPECT_EQ(canonical("float<5,2,p3109,bias=15>"), "float<5,2,p3109,bias=15>");
  EXPECT_EQ(canonical("float<5,2,stochastic,random-bits=32>"),
            "float<5,2,stochastic>");
  EXPECT_EQ(canonical("float<5,2,add.rounding=stochastic,add.random-bits=32>"),
            "float<5,2,add.rounding=stochastic>");
}

TEST(Spelling, AllowsSpaces) {
  EXPECT_EQ(canonical(" float < 5 , 7 , bias = 9 , up > "),
            "float<5,7,bias=9,up>");
  EXPECT_EQ(canonical("posit<16, 2>"), "posit<16,2>");
  EXPECT_EQ(canonical("opaque<\"mybf16\", 16>"), "opaque<\"mybf16\",16>");
}

TEST(Spelling, OfAPositAlwaysNamesBoth) {
  EXPECT_EQ(canonical("posit<16>"), "posit<16,2>");
  EXPECT_EQ(canonical("posit<12,1,toward-zero>"), "posit<12,1,toward-zero>");
  EXPECT_EQ(canonical("posit<bits=8,es=0>"), "posit<8,0>");
}

TEST(Spelling, OfFixedPointNamesBothFields) {
  EXPECT_EQ(canonical("fixed<4, 11>"), "fixed<4,11>");
  EXPECT_EQ(canonical("fixed<fraction=11,up,integer=4,wrap,signed=false>"),
            "fixed<4,11,unsigned,wrap,up>");
  EXPECT_EQ(canonical("fixed<4,11,saturate,signed=true>"), "fixed<4,11>");
}

TEST(Spelling, OfATakumNamesItsBits) {
  EXPECT_EQ(canonical("takum<16>"), "takum<16>");
  EXPECT_EQ(canonical("takum<bits=8,down>"), "takum<8,down>");
}

TEST(Spelling, WithoutExponentBitsNamesTheBias) {
  EXPECT_EQ(canonical("float<0,7,finite,bias=-1>"),
            "float<0,7,finite,bias=-1>");
}

TEST(Spelling, ParsesBackToTheSameFormat) {
  for (const char *text :
       {"float<8,0,fnu>",
        "float<16,48,fn,unsigned>",
        "float<5,2,p3109>",
        "float<5,2,p3109,infinities=false,unsigned,bias=3,saturate>",
        "float<5,7,stochastic>",
        "posit<16,1,stochastic,random-bits=7>",
        "fixed<0,64,unsigned>",
        "fixed<63,0,wrap>",
        "fixed<1,0>",
        "fixed<4,11,unsigned,wrap,down,mul.overflow=saturate>",
        "takum<2>",
        "takum<64,to-odd,mul.truncate-operands=59>",
        "float<5,7,up,add.rounding=stochastic,add.random-bits=1,"
        "add.overflow=propagate,add.truncate-operands=1,mul.rounding=down>",
        "float<8,23>",
        "float<16,47>",
        "float<4,3,fn>",
        "float<5,7,bias=9,up>",
        "float<0,5,finite,bias=0>",
        "float<2,1,finite,infinity>",
        "float<3,0,fn,flush,nearest-away>",
        "posit<2,0>",
        "posit<64,4,down>",
        "opaque<\"x\",1>",
        "opaque<\"my_format2\",64>"}) {
    SpellingError error;
    Format format = parseFormatSpelling(text, error);
    ASSERT_TRUE(format) << error.message;
    EXPECT_EQ(format.spelling(), text);
    EXPECT_EQ(parseFormatSpelling(format.spelling(), error), format);
  }
}

TEST(Spelling, FaultsHaveAColumn) {
  EXPECT_EQ(fault(""), "0: the spelling ends, expected a family");
  EXPECT_EQ(fault("flaot<5,7>"),
            "0: unknown family 'flaot', did you mean 'float'?");
  EXPECT_EQ(fault("zebra<5,7>"),
            "0: unknown family 'zebra', expected float, lns, posit, fixed, "
            "takum or opaque");
  EXPECT_EQ(fault("float"), "5: the spelling ends, expected '<'");
  EXPECT_EQ(fault("float<5,7"), "9: the spelling ends, expected ',' or '>'");
  EXPECT_EQ(fault("float<5,>"), "8: found '>', expected a parameter");
  EXPECT_EQ(fault("float<5,7,bias=>"), "15: found '>', expected a value");
  EXPECT_EQ(fault("float<5,7> x"),
            "11: found 'x', expected nothing behind '>'");
  EXPECT_EQ(fault("float<5,7,up,down>"),
            "13: 'rounding' is given twice, give it once");
  EXPECT_EQ(fault("float<5,7,bais=3>"),
            "10: unknown key 'bais' of family 'float', did you mean 'bias'?");
  EXPECT_EQ(fault("float<5,7,satrate>"),
            "10: unknown word 'satrate' of family 'float', did you mean "
            "'saturate'?");
  EXPECT_EQ(fault("posit<16,2,1>"),
            "11: unknown word '1' of family 'posit', expected nearest-even, "
            "nearest-away, nearest-zero, toward-zero, up, down, to-odd, "
            "stochastic or key=value");
  EXPECT_EQ(fault("float<5>"),
            "7: 'mantissa' is missing, family 'float' needs it");
}

TEST(Spelling, OfAnOpaqueFormatQuotesItsName) {
  EXPECT_EQ(fault("opaque<16>"),
            "7: found '1', expected a name in double quotes");
  EXPECT_EQ(fault("opaque<\"mybf16>"), "15: the spelling ends, expected '\"'");
  EXPECT_EQ(fault("opaque<\"my bf\",16>"),
            "8: 'my bf' is not a name, expected letters, digits and '_', a "
            "letter or '_' first");
  EXPECT_EQ(fault("opaque<\"a\">"),
            "10: found '>', expected ',' and the number of bits");
  EXPECT_EQ(fault("opaque<\"a\",257>"),
            "11: bits is '257', expected an integer from 1 to 256");
}

} // namespace
