// SPDX-License-Identifier: MIT

#include "Encodings.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr PositFormat posit8{{8}, 2}, posit16{{16}, 2}, posit32{{32}, 2};
constexpr Unpacked tiny{
    .kind = Kind::Finite, .exponent = -1000, .significand = uint64_t{1} << 63};
constexpr Unpacked huge{
    .kind = Kind::Finite, .exponent = 1000, .significand = uint64_t{1} << 63};
constexpr Unpacked minusTiny{.kind = Kind::Finite,
                             .negative = true,
                             .exponent = -1000,
                             .significand = uint64_t{1} << 63};

// Clauses: P1 P2.
TEST(Posit, DecodesAndRoundsAtEveryBoundaryOfSmallFormats) {
  Tally tally;
  sweepEncodings<PositFormat>(tally, smallFormats());
  for (int32_t bits = 2; bits <= 10; ++bits)
    for (int32_t es = 0; es <= 4; ++es)
      checkEncodings(tally, "posit", PositFormat{{bits}, es}, 0);
}
TEST(Posit, DecodesAndRoundsAtBoundariesOfSixteenBits) {
  Tally tally;
  sweepEncodings<PositFormat>(tally, sixteenBitFormats());
}
TEST(Posit, DecodesAndRoundsAtBoundariesOfEveryLength) {
  Tally tally;
  for (int32_t bits = 17; bits <= 64; ++bits)
    for (int32_t es = 0; es <= 4; ++es)
      checkEncodings(tally, "posit", PositFormat{{bits}, es}, samples(60));
}

TEST(Posit, HasThePublishedExtremes) {
  EXPECT_EQ(decodeTo<double>(posit8, 0b0'10'00'000), 1);
  EXPECT_EQ(decodeTo<double>(posit8, 1), 0x1p-24);
  EXPECT_EQ(decodeTo<double>(posit8, posit8.maxCode()), 0x1p24);
  EXPECT_EQ(decodeTo<double>(posit16, posit16.maxCode()), 0x1p56);
  EXPECT_EQ(decodeTo<double>(posit32, posit32.maxCode()), 0x1p120);
  EXPECT_EQ(decodeTo<double>(posit8, posit8.mask()), -0x1p-24);
  EXPECT_TRUE(posit8.isNaN(0x80));
}

// Clauses: P3.
TEST(Posit, NeverRoundsANonzeroNumberToZeroInNearestModes) {
  for (Rounding mode :
       {Rounding::NearestEven, Rounding::NearestAway, Rounding::NearestZero}) {
    EXPECT_EQ(posit8.encode(tiny, mode), 1u);
    EXPECT_EQ(posit8.encode(minusTiny, mode), 0xffu);
  }
}

// Clauses: P4.
TEST(Posit, KeepsTheInequalityOfDirectedModesBelowMinpos) {
  static_assert(posit8.encode(tiny, Rounding::Down) == 0);
  static_assert(posit8.encode(tiny, Rounding::Up) == 1);
  static_assert(posit8.encode(tiny, Rounding::TowardZero) == 0);
  static_assert(posit8.encode(minusTiny, Rounding::Up) == 0);
  static_assert(posit8.encode(minusTiny, Rounding::Down) == 0xff);
  EXPECT_EQ(posit8.encode(minusTiny, Rounding::TowardZero), 0u);
}

// Clauses: P3.
TEST(Posit, SaturatesInEveryMode) {
  for (Rounding mode : modes)
    EXPECT_EQ(posit8.encode(huge, mode), posit8.maxCode());
  EXPECT_EQ(posit8.encode(Unpacked::infinity(), Rounding::NearestEven),
            posit8.nanCode());
}

// Between 2^20 and 2^24 of posit<8,2> lies the nine-bit posit 2^22 on the bit
// string, not the mean of the two.
// Clauses: P2 R4.
TEST(Posit, TiesOnTheBitString) {
  auto rounded = [](uint64_t integer) {
    return posit8.encode(Unpacked::fromInteger(false, integer),
                         Rounding::NearestEven);
  };
  EXPECT_EQ(rounded(uint64_t{1} << 22), posit8.maxCode() - 1); // even
  EXPECT_EQ(rounded((uint64_t{1} << 22) + 1), posit8.maxCode());
  EXPECT_EQ(rounded((uint64_t{1} << 22) - 1), posit8.maxCode() - 1);
}

} // namespace
