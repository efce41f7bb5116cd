// SPDX-License-Identifier: MIT

#include "Encodings.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr FloatFormat f16{5, 10, 15}, bf16{8, 7, 127};
constexpr FloatFormat f8E5M2{5, 2, 15};
constexpr FloatFormat f8E4M3FN{4, 3, 7, Specials::Fn};
constexpr FloatFormat f8E4M3FNUZ{4, 3, 8, Specials::Fnuz};
constexpr FloatFormat f4E2M1FN{2, 1, 1, Specials::Finite};

// Clauses: F1 F6 R2.
TEST(Float, DecodesAndRoundsAtEveryBoundaryOfSmallFormats) {
  Tally tally;
  sweepEncodings<FloatFormat>(tally, smallFormats());
}
TEST(Float, DecodesAndRoundsAtBoundariesOfSixteenBits) {
  Tally tally;
  sweepEncodings<FloatFormat>(tally, sixteenBitFormats());
}
TEST(Float, DecodesAndRoundsAtBoundariesOfWideFormats) {
  Tally tally;
  sweepEncodings<FloatFormat>(tally, wideFormats(), samples(2'000));
}

// Clauses: F2.
TEST(Float, HasThePublishedExtremes) {
  EXPECT_EQ(decodeTo<double>(f8E4M3FN, f8E4M3FN.maxCode()), 448);
  EXPECT_EQ(decodeTo<double>(f8E4M3FN, 1), 0x1p-9);
  EXPECT_EQ(decodeTo<double>(f8E5M2, f8E5M2.maxCode()), 57344);
  EXPECT_EQ(decodeTo<double>(f8E5M2, 1), 0x1p-16);
  EXPECT_EQ(decodeTo<double>(f8E4M3FNUZ, f8E4M3FNUZ.maxCode()), 240);
  EXPECT_EQ(decodeTo<double>(f8E4M3FNUZ, 1), 0x1p-10);
  EXPECT_EQ(decodeTo<double>(f4E2M1FN, f4E2M1FN.maxCode()), 6);
  EXPECT_EQ(decodeTo<double>(f16, f16.maxCode()), 65504);
  EXPECT_EQ(decodeTo<double>(f16, 1), 0x1p-24);
  EXPECT_EQ(decodeTo<double>(bf16, bf16.maxCode()), 0x1.fep127);
}

// Clauses: F3 F4.
TEST(Float, HasTheSpecialCodesOfItsKind) {
  static_assert(f8E5M2.infinityCode() == 0b0'11111'00);
  static_assert(f8E5M2.nanCode() == 0b0'11111'10);
  static_assert(f8E5M2.isNaN(0b1'11111'01) && !f8E5M2.isNaN(0b1'11111'00));
  static_assert(f8E4M3FN.nanCode() == 0b0'1111'111);
  static_assert(f8E4M3FN.isNaN(0b1'1111'111) && !f8E4M3FN.isNaN(0b0'1111'110));
  static_assert(f8E4M3FNUZ.nanCode() == 0b1'0000'000);
  static_assert(!f8E4M3FNUZ.hasNegativeZero());
  static_assert(!f4E2M1FN.hasNaN() && f4E2M1FN.nanCode() == 0);
  static_assert(f16.width() == 16 && f16.precision() == 11);
  static_assert(f16.minExponent() == -14 && f16.leastExponent() == -24);
  static_assert(f16.maxExponent() == 15);
  static_assert(binary64.mask() == ~uint64_t{0});
}

// Clauses: A8.
TEST(Float, NegatesAndTakesMagnitudesOfAllSmallCodes) {
  Tally tally;
  auto negated = [](const auto &f, uint64_t x, Rounding) { return neg(f, x); };
  auto absolute = [](const auto &f, uint64_t x, Rounding) { return abs(f, x); };
  sweepCodes<true>(tally, smallFormats(), 0, oracle::neg, negated);
  sweepCodes<true>(tally, smallFormats(), 0, oracle::abs, absolute);
  sweepCodes<true>(tally, sixteenBitFormats(), 0, oracle::neg, negated);
  sweepCodes<true>(tally, sixteenBitFormats(), 0, oracle::abs, absolute);
}

// Rounding comes first: what rounds to the largest value has not overflowed.
// Clauses: F7 R5.
TEST(Float, OverflowsAfterRounding) {
  constexpr Unpacked below = Unpacked::fromInteger(false, 65519);
  constexpr Unpacked half = Unpacked::fromInteger(false, 65520);
  constexpr auto even = Rounding::NearestEven;
  static_assert(f16.encode(below, even) == f16.maxCode());
  static_assert(f16.encode(half, even) == f16.infinityCode());
  static_assert(f16.encode(half, Rounding::NearestZero) == f16.maxCode());
  static_assert(f16.encode(half, Rounding::TowardZero) == f16.maxCode());
  static_assert(f16.encode(half, Rounding::Down) == f16.maxCode());
  static_assert(f16.encode(below, Rounding::Up) == f16.infinityCode());
  // 464 is the tie above 448, whose significand is even.
  static_assert(f8E4M3FN.encode(Unpacked::fromInteger(false, 464), even) ==
                f8E4M3FN.maxCode());
  static_assert(f8E4M3FN.encode(Unpacked::fromInteger(false, 465), even) ==
                f8E4M3FN.nanCode());
}

// With 64 magnitude bits the carry out of the largest binade leaves the word.
TEST(Float, OverflowsWhereTheCarryLeavesTheWord) {
  constexpr FloatFormat f{16, 48, 32767, Specials::Fn, true, false};
  constexpr Unpacked x{.kind = Kind::Finite,
                       .exponent = f.maxExponent(),
                       .significand = ~uint64_t{0}};
  static_assert(f.width() == 64 && f.maxCode() == ~uint64_t{0} - 1);
  static_assert(f.encode(x, Rounding::NearestEven) == f.nanCode());
  EXPECT_EQ(f.encode(x, Rounding::Down), f.maxCode());
}

// A flushed -subnormal is zero, and the code of -0 is NaN here.
TEST(Float, FlushesToTheOnlyZeroThereIs) {
  constexpr FloatFormat fnuz{4, 3, 8, Specials::Fnuz, false};
  constexpr FloatFormat p3109{4, 3, 8, Specials::P3109, false};
  constexpr FloatFormat ieee{4, 3, 7, Specials::Ieee, false};
  static_assert(fnuz.canonical(0x81) == 0 && p3109.canonical(0x87) == 0);
  static_assert(ieee.canonical(0x81) == 0x80 && ieee.canonical(0x07) == 0);
  EXPECT_EQ(fnuz.canonical(0x88), 0x88u);
  EXPECT_EQ(fnuz.canonical(0x80), 0x80u); // NaN
}

// Without a zero, field 0 is a binade: also the only one, and where 64
// magnitude bits leave no room above the hidden bit.
TEST(Float, HasTheBinadeOfFieldZeroWithoutAZero) {
  constexpr auto even = Rounding::NearestEven;
  constexpr FloatFormat only{0, 3, 2, Specials::Fnu, true, false};
  static_assert(only.maxExponent() == -2 && only.minExponent() == -2);
  constexpr FloatFormat full{14, 50, 8191, Specials::Fnu, true, false};
  for (uint64_t code : {uint64_t{0}, uint64_t{1}, uint64_t{6}}) {
    EXPECT_EQ(only.encode(only.decode(code), even), code);
    EXPECT_EQ(full.encode(full.decode(code), even), code);
  }
}

} // namespace
