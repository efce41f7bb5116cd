// SPDX-License-Identifier: MIT

#include "Sweep.h"

#include <cmath>
#include <limits>

using namespace numera;
using namespace numera::test;

namespace {

/// roundToIntegral in one direction, as an operation of the sweep.
template <Rounding direction> struct Integral {
  template <typename F>
  uint64_t operator()(const F &f, uint64_t x, Rounding mode) const {
    return roundToIntegral(f, x, direction, mode);
  }
};

void sweep(std::span<const Case> cases) {
  Tally tally;
  uint64_t count = samples(5'000);
  sweepCodes(tally, cases, count, oracle::floor, Integral<Rounding::Down>());
  sweepCodes(tally, cases, count, oracle::ceil, Integral<Rounding::Up>());
  sweepCodes(tally, cases, count, oracle::trunc,
             Integral<Rounding::TowardZero>());
  sweepCodes(tally, cases, count, oracle::round,
             Integral<Rounding::NearestAway>());
  sweepCodes(tally, cases, count, oracle::roundeven,
             Integral<Rounding::NearestEven>());
}

// Clauses: A9.
TEST(RoundToIntegral, HoldsForAllCodesOfSmallFormats) { sweep(smallFormats()); }
TEST(RoundToIntegral, HoldsForAllCodesOfSixteenBits) {
  sweep(sixteenBitFormats());
}
TEST(RoundToIntegral, HoldsForWideFormats) { sweep(wideFormats()); }

TEST(RoundToIntegral, KeepsTheSignOfZeroAndTakesTiesAsNamed) {
  constexpr FloatFormat f{5, 10, 15};
  auto rounded = [&](double x, Rounding direction) {
    uint64_t code = encodeFrom(f, x, Rounding::NearestEven);
    return decodeTo<double>(
        f, roundToIntegral(f, code, direction, Rounding::NearestEven));
  };
  EXPECT_TRUE(std::signbit(rounded(-0.25, Rounding::Up)));
  EXPECT_EQ(rounded(2.5, Rounding::NearestAway), 3);
  EXPECT_EQ(rounded(2.5, Rounding::NearestEven), 2);
  EXPECT_EQ(rounded(-0.5, Rounding::NearestAway), -1);
  EXPECT_EQ(rounded(-0.25, Rounding::Down), -1);
}

/// Every integer type's ends, powers of two and their neighbours, and random
/// integers of every length.
std::vector<uint64_t> integers(uint64_t count) {
  std::vector<uint64_t> list{0};
  for (int bit = 0; bit < 64; ++bit)
    for (uint64_t delta : {-2, -1, 0, 1, 2}) {
      list.push_back((uint64_t{1} << bit) + delta);
      list.push_back(0 - ((uint64_t{1} << bit) + delta));
    }
  std::mt19937_64 engine(7);
  for (uint64_t i = 0; i < count; ++i) {
    list.push_back(engine() >> (i & 63));
    list.push_back(0 - list.back());
  }
  return list;
}

template <typename F>
void checkFromIntegers(Tally &tally, const char *name, const F &f,
                       std::span<const uint64_t> integers) {
  oracle::Oracle truth(describe(f));
  oracle::Real exact;
  for (uint64_t integer : integers) {
    auto asSigned = static_cast<int64_t>(integer);
    mpfr_set_si(exact, asSigned, MPFR_RNDN);
    oracle::Place place = truth.locate(exact);
    for (Rounding mode : modes)
      tally.check(fromSigned(f, asSigned, mode),
                  truth.round(place, modeOf(mode)), name, " from signed",
                  integer, mode);
    mpfr_set_ui(exact, integer, MPFR_RNDN);
    place = truth.locate(exact);
    for (Rounding mode : modes)
      tally.check(fromUnsigned(f, integer, mode),
                  truth.round(place, modeOf(mode)), name, " from unsigned",
                  integer, mode);
  }
}

template <typename F>
void checkToIntegers(Tally &tally, const char *name, const F &f, uint64_t code,
                     mpfr_srcptr value) {
  for (int32_t width : {1, 3, 8, 16, 32, 63, 64})
    for (bool isSigned : {false, true})
      tally.check(toInteger(f, code, width, isSigned),
                  oracle::toInteger(value, width, isSigned), name,
                  isSigned ? " to signed" : " to unsigned", width, code);
}

// Clauses: V4.
TEST(FromInteger, RoundsOnceInEveryMode) {
  Tally tally;
  std::vector<uint64_t> list = integers(samples(500));
  for (auto cases : {smallFormats(), sixteenBitFormats(), wideFormats()})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) { checkFromIntegers(tally, c.name, f, list); },
          c.format);
}

// Clauses: V5.
TEST(ToInteger, TruncatesAndSaturatesFromEveryFormat) {
  Tally tally;
  for (auto cases : {smallFormats(), sixteenBitFormats(), wideFormats()})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) {
            oracle::Oracle truth(describe(f));
            oracle::Real scratch;
            Sampler sampler(f.width(), 3);
            bool all = f.width() <= 8;
            uint64_t count = all ? f.mask() + 1 : samples(10'000);
            for (uint64_t i = 0; i < count; ++i) {
              uint64_t code = all ? i : sampler.code();
              checkToIntegers(tally, c.name, f, code,
                              truth.value(code, scratch));
            }
          },
          c.format);
}

TEST(ToInteger, SaturatesAtTheEndsAndTakesNaNToZero) {
  constexpr auto even = Rounding::NearestEven;
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr uint64_t infinity = binary64.infinityCode();
  static_assert(toInteger(binary64, binary64.nanCode(), 64, true) == 0);
  static_assert(toInteger(binary64, infinity, 64, true) == ~uint64_t{0} >> 1);
  static_assert(toInteger(binary64, infinity, 8, false) == 255);
  static_assert(toInteger(binary64, infinity | binary64.signBit(), 8, true) ==
                0x80);
  static_assert(toInteger(binary64, fromSigned(binary64, -1, even), 8, false) ==
                0);
  static_assert(toInteger(binary64, fromSigned(binary64, least, even), 64,
                          true) == uint64_t{1} << 63);
  EXPECT_EQ(toInteger(PositFormat{{8}, 2}, 0x80, 32, true), 0u);
}

// f32 holds 2^62 + 2^38 + 1 only after rounding it up; a path through f64
// would round to the tie first, and then down.
TEST(FromInteger, DoesNotGoThroughAMachineNumber) {
  constexpr uint64_t integer = (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1;
  static_assert(fromUnsigned(binary32, integer, Rounding::NearestEven) ==
                (uint64_t{127 + 62} << 23) + 1);
  EXPECT_EQ(fromUnsigned(binary32, integer - 1, Rounding::NearestEven),
            uint64_t{127 + 62} << 23);
}

} // namespace
