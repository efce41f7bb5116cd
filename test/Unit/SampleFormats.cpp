// SPDX-License-Identifier: MIT

#include "SampleFormats.h"

namespace numera::test {

oracle::Format describe(const FloatFormat &f) {
  return {.exponentBits = f.exponentBits,
          .mantissaBits = f.mantissaBits,
          .bias = f.bias,
          .specials = static_cast<oracle::Specials>(f.specials),
          .hasSubnormals = f.hasSubnormals,
          .isSigned = f.isSigned,
          .overflow = static_cast<oracle::Overflow>(f.overflow)};
}

oracle::Format describe(const PositFormat &f) {
  return {.family = oracle::Family::Posit, .bits = f.bits, .es = f.es};
}

oracle::Format describe(const TakumFormat &f) {
  return {.family = oracle::Family::Takum, .bits = f.bits};
}

oracle::Format describe(const FixedFormat &f) {
  return {.family = oracle::Family::Fixed,
          .integerBits = f.integer,
          .fractionBits = f.fraction,
          .isSigned = f.isSigned,
          .overflow = static_cast<oracle::Overflow>(f.overflow)};
}

namespace {

constexpr auto ieee = Specials::Ieee;
constexpr auto fn = Specials::Fn;
constexpr auto fnuz = Specials::Fnuz;
constexpr auto finite = Specials::Finite;
constexpr auto fnu = Specials::Fnu;
constexpr auto infinity = Overflow::Infinity;
constexpr auto saturate = Overflow::Saturate;
constexpr auto propagate = Overflow::Propagate;
constexpr auto wrap = Overflow::Wrap;

/// kKpP with s or u, e or f: IEEE P3109's own names.
constexpr FloatFormat p3109(int32_t bits, int32_t precision, bool isSigned,
                            bool isExtended, Overflow overflow = infinity) {
  int32_t exponentBits = bits - precision + (isSigned ? 0 : 1);
  return {exponentBits,
          precision - 1,
          1 << (exponentBits - 1),
          isExtended ? Specials::P3109 : Specials::P3109Finite,
          true,
          isSigned,
          overflow};
}

// The tiny ones first: tinyFormats() is a prefix.
constexpr Case small[] = {
    {"f4E2M1FN", FloatFormat{2, 1, 1, finite, true, true, saturate}},
    {"f6E3M2FN", FloatFormat{3, 2, 3, finite, true, true, saturate}},
    {"f6E2M3FN", FloatFormat{2, 3, 1, finite, true, true, saturate}},
    {"float<2,2>", FloatFormat{2, 2, 1}},
    {"float<3,2>", FloatFormat{3, 2, 3}},
    {"float<1,2>", FloatFormat{1, 2, 0}},
    {"float<0,4,finite,bias=1>",
     FloatFormat{0, 4, 1, finite, true, true, saturate}},
    {"float<2,2,fn>", FloatFormat{2, 2, 1, fn, true, true, saturate}},
    {"float<2,1,flush>", FloatFormat{2, 1, 1, ieee, false}},
    {"float<3,0,fn>", FloatFormat{3, 0, 3, fn, true, true, infinity}},
    {"float<2,2,fnu>", FloatFormat{2, 2, 1, fnu, true, false, saturate}},
    {"float<2,2,fnuz,propagate>",
     FloatFormat{2, 2, 2, fnuz, true, true, propagate}},
    {"float<0,4,p3109,bias=1>",
     FloatFormat{0, 4, 1, Specials::P3109, true, true, infinity}},
    {"p3109_k3p1ue", p3109(3, 1, false, true)},
    {"p3109_k4p2se", p3109(4, 2, true, true)},
    {"p3109_k5p1se", p3109(5, 1, true, true)},
    {"p3109_k5p2uf", p3109(5, 2, false, false)},
    {"p3109_k6p3sf", p3109(6, 3, true, false)},
    {"fixed<2,3>", FixedFormat{2, 3}},
    {"fixed<1,3,wrap>", FixedFormat{1, 3, true, wrap}},
    {"fixed<3,1,unsigned>", FixedFormat{3, 1, false}},
    {"fixed<0,5,unsigned,wrap>", FixedFormat{0, 5, false, wrap}},
    {"takum<2>", TakumFormat{2}},
    {"takum<5>", TakumFormat{5}},
    {"takum<6>", TakumFormat{6}},
    {"posit<2,0>", PositFormat{{2}, 0}},
    {"posit<3,2>", PositFormat{{3}, 2}},
    {"posit<5,1>", PositFormat{{5}, 1}},
    {"posit<6,1>", PositFormat{{6}, 1}},
    {"f8E4M3FN", FloatFormat{4, 3, 7, fn, true, true, saturate}},
    {"f8E4M3FN,infinity", FloatFormat{4, 3, 7, fn, true, true, infinity}},
    {"f8E5M2", FloatFormat{5, 2, 15}},
    {"f8E4M3FNUZ", FloatFormat{4, 3, 8, fnuz, true, true, saturate}},
    {"f8E5M2FNUZ,infinity", FloatFormat{5, 2, 16, fnuz, true, true, infinity}},
    {"f8E4M3", FloatFormat{4, 3, 7}},
    {"f8E4M3,saturate", FloatFormat{4, 3, 7, ieee, true, true, saturate}},
    {"f8E3M4,propagate", FloatFormat{3, 4, 3, ieee, true, true, propagate}},
    {"f8E3M4", FloatFormat{3, 4, 3}},
    {"f8E5M2FNUZ", FloatFormat{5, 2, 16, fnuz, true, true, saturate}},
    {"f8E8M0FNU", FloatFormat{8, 0, 127, fnu, true, false, saturate}},
    {"f8E8M0FNU,infinity", FloatFormat{8, 0, 127, fnu, true, false, infinity}},
    {"float<5,3,fnu>", FloatFormat{5, 3, 15, fnu, true, false, propagate}},
    {"float<7,0,finite>", FloatFormat{7, 0, 63, finite, true, true, saturate}},
    {"float<0,7,fn,bias=-3>", FloatFormat{0, 7, -3, fn, true, true, infinity}},
    {"p3109_k8p3se", p3109(8, 3, true, true)},
    {"p3109_k8p1se", p3109(8, 1, true, true)},
    {"p3109_k8p1ue", p3109(8, 1, false, true)},
    {"p3109_k8p4sf", p3109(8, 4, true, false)},
    {"p3109_k8p4se,saturate", p3109(8, 4, true, true, saturate)},
    {"p3109_k8p2ue,propagate", p3109(8, 2, false, true, propagate)},
    {"p3109_k7p7uf", p3109(7, 7, false, false)},
    {"float<4,3,p3109,flush>",
     FloatFormat{4, 3, 8, Specials::P3109, false, true, infinity}},
    {"float<4,3,flush>", FloatFormat{4, 3, 7, ieee, false}},
    {"float<4,4,unsigned>", FloatFormat{4, 4, 7, ieee, true, false}},
    {"float<5,3,fn,unsigned,flush>",
     FloatFormat{5, 3, 11, fn, false, false, saturate}},
    {"fixed<3,4>", FixedFormat{3, 4}},
    {"fixed<4,3,wrap>", FixedFormat{4, 3, true, wrap}},
    {"fixed<5,3,unsigned>", FixedFormat{5, 3, false}},
    {"fixed<0,8,unsigned,wrap>", FixedFormat{0, 8, false, wrap}},
    {"fixed<7,0>", FixedFormat{7, 0}},
    {"takum<7>", TakumFormat{7}},
    {"takum<8>", TakumFormat{8}},
    {"posit<8,0>", PositFormat{{8}, 0}},
    {"posit<8,1>", PositFormat{{8}, 1}},
    {"posit<8,2>", PositFormat{{8}, 2}},
    {"posit<8,3>", PositFormat{{8}, 3}},
    {"posit<8,4>", PositFormat{{8}, 4}},
};
constexpr size_t tinyCount = 29;

constexpr Case sixteen[] = {
    {"bf16", FloatFormat{8, 7, 127}},
    {"f16", FloatFormat{5, 10, 15}},
    {"posit<16,2>", PositFormat{{16}, 2}},
    {"posit<16,1>", PositFormat{{16}, 1}},
    {"p3109_k16p9ue", p3109(16, 9, false, true)},
    {"p3109_k12p1sf", p3109(12, 1, true, false)},
    {"fixed<4,11>", FixedFormat{4, 11}},
    {"fixed<8,8,unsigned,wrap>", FixedFormat{8, 8, false, wrap}},
    {"takum<16>", TakumFormat{16}},
    {"takum<12>", TakumFormat{12}},
    {"float<5,7>", FloatFormat{5, 7, 15}},
    {"float<6,9>", FloatFormat{6, 9, 31, finite, true, true, saturate}},
};

constexpr Case wide[] = {
    {"f32", binary32},
    {"f64", binary64},
    {"posit<32,2>", PositFormat{{32}, 2}},
    {"posit<64,2>", PositFormat{{64}, 2}},
    {"posit<64,0>", PositFormat{{64}, 0}},
    {"takum<17>", TakumFormat{17}},
    {"takum<32>", TakumFormat{32}},
    {"takum<64>", TakumFormat{64}},
    {"fixed<15,16>", FixedFormat{15, 16}},
    {"fixed<31,32,wrap>", FixedFormat{31, 32, true, wrap}},
    {"fixed<0,64,unsigned>", FixedFormat{0, 64, false}},
    {"fixed<32,32,unsigned,wrap>", FixedFormat{32, 32, false, wrap}},
    {"float<8,20>", FloatFormat{8, 20, 127}},
    {"float<11,30>", FloatFormat{11, 30, 1023}},
    {"float<15,40>", FloatFormat{15, 40, 16383}},
    {"float<16,47>", FloatFormat{16, 47, 32767}},
    {"float<16,0,p3109>",
     FloatFormat{16, 0, 32768, Specials::P3109, true, true, infinity}},
    {"float<12,52,p3109,unsigned>",
     FloatFormat{12, 52, 2048, Specials::P3109, true, false, infinity}},
    {"float<14,50,fnu>", FloatFormat{14, 50, 8191, fnu, true, false, infinity}},
    {"float<0,52,finite,bias=20>",
     FloatFormat{0, 52, 20, finite, true, true, saturate}},
    {"float<9,40,fn,flush>",
     FloatFormat{9, 40, 255, fn, false, true, infinity}},
    {"float<16,48,unsigned>", FloatFormat{16, 48, 32767, fn, true, false}},
};

} // namespace

std::span<const Case> smallFormats() { return small; }
std::span<const Case> tinyFormats() {
  return std::span(small).first(tinyCount);
}
std::span<const Case> sixteenBitFormats() { return sixteen; }
std::span<const Case> builtinSixteenBitFormats() {
  return std::span(sixteen).first(3);
}
std::span<const Case> otherSixteenBitFormats() {
  return std::span(sixteen).subspan(3);
}
std::span<const Case> wideFormats() { return wide; }

} // namespace numera::test
