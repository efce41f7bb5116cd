// SPDX-License-Identifier: MIT

#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Numerics/Core/Rounding.h"

#include <gtest/gtest.h>

#include <random>

using namespace numera;

namespace {

constexpr uint64_t top = uint64_t{1} << 63;

TEST(Unpacked, OfAnIntegerHasItsLeadingOneAtBit63) {
  constexpr Unpacked five = Unpacked::fromInteger(true, 5, -3);
  static_assert(five.isFinite() && five.negative && !five.sticky);
  static_assert(five.exponent == -1 && five.significand == (top | top >> 2));
  constexpr Unpacked most = Unpacked::fromInteger(false, ~uint64_t{0});
  static_assert(most.exponent == 63 && most.significand == ~uint64_t{0});
  static_assert(Unpacked::fromInteger(true, 0).isZero());
  EXPECT_TRUE(Unpacked::fromInteger(true, 0).negative);
}

TEST(Unpacked, OfAWideIntegerKeepsWhatItCutsAsSticky) {
  constexpr uint128_t one = 1;
  constexpr Unpacked exact = Unpacked::fromWide(false, one << 127, -127, false);
  static_assert(exact.exponent == 0 && exact.significand == top);
  static_assert(!exact.sticky);
  constexpr Unpacked cut =
      Unpacked::fromWide(false, one << 127 | 1, -127, false);
  static_assert(cut.significand == top && cut.sticky);
  constexpr Unpacked kept = Unpacked::fromWide(true, 3, 0, true);
  static_assert(kept.exponent == 1 && kept.significand == (top | top >> 1));
  static_assert(kept.sticky && kept.negative);
  EXPECT_FALSE(Unpacked::fromWide(false, 3, 0, false).sticky);
}

TEST(Unpacked, CrossesTheSeamUnchanged) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 10000; ++i) {
    Unpacked x{.kind = static_cast<Kind>(engine() & 3),
               .negative = (engine() & 1) != 0,
               .sticky = (engine() & 1) != 0,
               .exponent = static_cast<int32_t>(engine()) >> 4, // 28 bits
               .significand = engine(),
               .tail = static_cast<uint32_t>(engine())};
    Unpacked y = Unpacked::unpack(x.pack());
    ASSERT_EQ(x.kind, y.kind);
    ASSERT_EQ(x.negative, y.negative);
    ASSERT_EQ(x.sticky, y.sticky);
    ASSERT_EQ(x.exponent, y.exponent);
    ASSERT_EQ(x.significand, y.significand);
    ASSERT_EQ(x.tail, y.tail);
  }
}

// The layout is part of the runtime ABI.
TEST(Unpacked, PacksItsFieldsWhereTheABISaysTheyAre) {
  constexpr uint128_t packed = Unpacked{.kind = Kind::Infinite,
                                        .negative = true,
                                        .sticky = true,
                                        .exponent = -2,
                                        .significand = 7,
                                        .tail = 5}
                                   .pack();
  static_assert(static_cast<uint64_t>(packed) == 7);
  static_assert(static_cast<uint64_t>(packed >> 64) == 0xefff'fffe'0000'0005);
  static_assert(Unpacked::unpack(packed).exponent == -2);
}

TEST(ShiftRight, TellsWhetherAOneWasCutOff) {
  for (int32_t shift : {0, 1, 63, 64, 127, 128, 129, 1 << 30}) {
    bool sticky = false;
    uint128_t result = shiftRight(uint128_t{1} << 127, shift, sticky);
    EXPECT_EQ(sticky, shift > 127) << shift;
    EXPECT_EQ(result != 0, shift <= 127) << shift;
  }
  bool sticky = false;
  EXPECT_EQ(shiftRight(0, 500, sticky), uint128_t{0});
  EXPECT_FALSE(sticky);
  sticky = true; // an earlier one is kept
  shiftRight(4, 1, sticky);
  EXPECT_TRUE(sticky);
}

// The layout is part of the runtime ABI.
TEST(Rounding, CrossesTheSeamUnchanged) {
  for (int32_t rounding = 0; rounding <= 7; ++rounding)
    for (int32_t bits : {0, 1, 17, 32})
      for (uint32_t random : {0u, 1u, ~0u}) {
        RoundingMode mode(static_cast<Rounding>(rounding), bits, random);
        EXPECT_EQ(mode.pack(), rounding + 256 * bits);
        RoundingMode back = RoundingMode::unpack(mode.pack(), random);
        EXPECT_EQ(back.rounding, mode.rounding);
        EXPECT_EQ(back.randomBits, bits);
        EXPECT_EQ(back.random, random);
      }
}

TEST(Unpacked, OfNothingIsZero) {
  EXPECT_TRUE(Unpacked::fromWide(true, 0, 5, false).isZero());
  EXPECT_TRUE(Unpacked::fromWide(true, 0, 5, false).negative);
}

TEST(Rounding, MovesUpByTheRestTheSignAndTheParity) {
  constexpr Remainder none{0, false}, low{0, true}, tie{1u << 31, false},
      high{1u << 31, true};
  constexpr auto even = Rounding::NearestEven;
  static_assert(!roundsUp(even, false, false, tie));
  static_assert(roundsUp(even, false, true, tie));
  static_assert(!roundsUp(even, false, true, low));
  static_assert(roundsUp(even, false, false, high));
  static_assert(roundsUp(Rounding::NearestAway, true, false, tie));
  static_assert(!roundsUp(Rounding::NearestZero, true, true, tie));
  static_assert(!roundsUp(Rounding::TowardZero, false, true, high));
  static_assert(roundsUp(Rounding::Up, false, false, low));
  static_assert(!roundsUp(Rounding::Up, true, false, high));
  static_assert(roundsUp(Rounding::Down, true, false, low));
  static_assert(!roundsUp(Rounding::Down, true, false, none));
  static_assert(roundsUp(Rounding::ToOdd, false, false, low));
  static_assert(!roundsUp(Rounding::ToOdd, false, true, high));
  // 0.01 of the way with two bits: one draw of four moves up.
  constexpr Remainder quarter{1u << 30, true};
  constexpr auto stochastic = Rounding::Stochastic;
  static_assert(roundsUp({stochastic, 2, 0}, false, false, quarter));
  static_assert(!roundsUp({stochastic, 2, 1}, false, false, quarter));
  static_assert(!roundsUp({stochastic, 1, 0}, false, false, quarter));
  static_assert(roundsUp({stochastic, 2, ~3u}, true, false, quarter));
  for (int32_t mode = 0; mode <= 6; ++mode) {
    EXPECT_FALSE(roundsUp(static_cast<Rounding>(mode), true, true, none));
    EXPECT_EQ(isNearest(static_cast<Rounding>(mode)), mode < 3);
  }
}

} // namespace
