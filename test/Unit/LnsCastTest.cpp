// SPDX-License-Identifier: MIT
//
// Logarithmic formats: casts and stochastic rounding, held against LnsOracle.h.

#include "LnsSamples.h"
#include "Sweep.h"

#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

using Nature = LnsOracle::Nature;

// Clauses: L9.
TEST(Lns, CastsAmongLogarithmicFormats) {
  Tally tally;
  for (const LnsFormat &from :
       {LnsFormat{3, 3}, LnsFormat{4, 6}, LnsFormat{2, 9}})
    for (const LnsFormat &to :
         {LnsFormat{3, 2}, LnsFormat{3, 3}, LnsFormat{2, 8}, LnsFormat{5, 26},
          LnsFormat{6, 55}}) {
      LnsOracle source = oracleOf(from), truth = oracleOf(to);
      Real value(LnsOracle::precision);
      for (uint64_t x = 0; x < source.count(); ++x) {
        source.value(value, x);
        auto place = truth.locate(value);
        for (Rounding mode : modes)
          tally.check(cast(to, from, x, mode), truth.round(place, mode), "cast",
                      x, mode);
      }
    }
}

TEST(Lns, CastsToFloatsPositsAndIntegers) {
  Tally tally;
  const Case results[] = {{"f32", binary32},
                          {"bf16", FloatFormat{8, 7, 127}},
                          {"posit8", PositFormat{{8}, 2}}};
  for (const LnsFormat &f :
       {LnsFormat{3, 3}, LnsFormat{8, 6}, LnsFormat{4, 10}}) {
    LnsOracle source = oracleOf(f);
    Real value(LnsOracle::precision);
    for (const Case &result : results)
      std::visit(
          [&](auto to) {
            oracle::Oracle truth(describe(to));
            oracle::Result exact(truth.precision());
            for (uint64_t x = 0; x < source.count(); ++x) {
              source.value(value, x);
              exact.tail = mpfr_set(exact.value, value, MPFR_RNDZ) != 0;
              auto place = truth.locate(exact);
              for (Rounding mode : modes)
                tally.check(cast(to, f, x, mode),
                            truth.round(place, modeOf(mode)), result.name, x,
                            mode);
              if (std::string(result.name) == "f32")
                tally.check(__builtin_bit_cast(uint32_t, decodeTo<float>(f, x)),
                            truth.round(place, oracle::Mode::NearestEven),
                            "decode", x);
            }
          },
          result.format);
    for (uint64_t x = 0; x < source.count(); ++x) {
      source.value(value, x);
      for (int width : {8, 32, 64})
        for (bool isSigned : {false, true})
          tally.check(toInteger(f, x, width, isSigned),
                      oracle::toInteger(value, width, isSigned), "to integer",
                      x);
    }
  }
}

/// How many of the 2^bits draws round away from zero.
template <typename Round>
uint64_t countAway(uint64_t inward, int32_t bits, Round round) {
  uint64_t away = 0;
  for (uint32_t draw = 0; draw >> bits == 0; ++draw)
    away += round(RoundingMode(Rounding::Stochastic, bits, draw)) != inward;
  return away;
}

// Clauses: L3 L5.
TEST(Lns, StochasticRoundingTakesTheShareOfTheLogarithm) {
  Tally tally;
  std::mt19937_64 random(6);
  Real exact(LnsOracle::precision), share(LnsOracle::precision);
  for (const LnsFormat &f :
       {LnsFormat{3, 3}, LnsFormat{5, 9}, LnsFormat{8, 23}, LnsFormat{3, 50}}) {
    LnsOracle truth = oracleOf(f);
    for (uint64_t i = 0; i < samples(100); ++i) {
      double value = std::ldexp(1 + static_cast<double>(random()) * 0x1p-64,
                                static_cast<int>(random() % 24) - 12);
      mpfr_set_d(exact, i % 2 ? value : -value, MPFR_RNDN);
      uint64_t inward =
          truth.round(exact, Rounding::TowardZero, Nature::Fraction);
      mpfr_abs(share, exact, MPFR_RNDN);
      mpfr_log2(share, share, MPFR_RNDN);
      mpfr_mul_2si(share, share, f.fraction, MPFR_RNDN);
      bool below = mpfr_cmp_si(share, -truth.largestLogarithm()) < 0;
      if (mpfr_cmp_si(share, truth.largestLogarithm()) > 0)
        continue;  // saturates
      if (below) { // the share of the least power, in value
        LnsOracle::power(share, -truth.largestLogarithm(), f.fraction);
        mpfr_div(share, exact, share, MPFR_RNDN);
        mpfr_abs(share, share, MPFR_RNDN);
      } else {
        Real floor(LnsOracle::precision);
        mpfr_floor(floor, share);
        mpfr_sub(share, share, floor, MPFR_RNDN);
      }
      for (int32_t bits = 1; bits <= 8; ++bits) {
        Real scaled(LnsOracle::precision);
        mpfr_mul_2si(scaled, share, bits, MPFR_RNDN);
        uint64_t away = countAway(inward, bits, [&](RoundingMode mode) {
          return encodeFrom<double>(f, mpfr_get_d(exact, MPFR_RNDN), mode);
        });
        tally.check(away, mpfr_get_ui(scaled, MPFR_RNDD), "away", i, below);
      }
    }
  }
}

/// Of all draws, the first that takes `value` to the lower magnitude, by the
/// exact path.
uint64_t thresholdOf(const LnsFormat &f, uint64_t word, int32_t bits,
                     uint64_t inward) {
  uint64_t low = 0, high = uint64_t{1} << bits;
  while (low < high) {
    uint64_t draw = (low + high) / 2;
    RoundingMode mode(Rounding::Stochastic, bits, static_cast<uint32_t>(draw));
    bool isUp = cast(f, binary64, word, mode) != inward;
    (isUp ? low : high) = isUp ? draw + 1 : draw;
  }
  return low;
}

// Clauses: D1 L3.
TEST(Lns, ByChanceTheShortPathHasTheExactBits) {
  Tally tally;
  std::mt19937_64 random(7);
  for (const LnsFormat &f : {LnsFormat{4, 11}, LnsFormat{4, 3}, LnsFormat{1, 0},
                             LnsFormat{8, 23}, LnsFormat{9, 28}}) {
    uint64_t decided = 0, count = samples(4000);
    for (uint64_t i = 0; i < count; ++i) {
      double fraction = 1 + static_cast<double>(random()) * 0x1p-64;
      int exponent = static_cast<int>(random() % 32) - 16;
      double value = std::ldexp(i % 16 == 0 ? 1.0 : fraction, exponent);
      auto word = __builtin_bit_cast(uint64_t, i % 2 ? value : -value);
      auto x = __builtin_bit_cast(double, word);
      uint64_t inward = cast(f, binary64, word, Rounding::TowardZero);
      int32_t bits = i % 3 ? 32 : 1 + static_cast<int32_t>(random() % 32);
      uint64_t last = ~uint64_t{0} >> (64 - bits);
      uint64_t threshold = thresholdOf(f, word, bits, inward);
      for (uint64_t draw : {threshold - 1, threshold, random(), last}) {
        RoundingMode mode(Rounding::Stochastic, bits,
                          static_cast<uint32_t>(draw & last));
        uint64_t code = 0;
        decided += f.encodeFast(x, mode, code);
        tally.check(encodeFrom<double>(f, x, mode),
                    cast(f, binary64, word, mode), "by chance", word,
                    mode.random);
      }
    }
    EXPECT_GT(decided, count); // the others are next to zero, or to the draw
  }
}

// Clauses: L5.
TEST(Lns, NoDrawOf32BitsLiftsWhatIsFarBelowTheLeast) {
  constexpr LnsFormat f{3, 3}; // 2^-7.875 is the least
  for (uint32_t draw : {uint32_t{0}, uint32_t{1}, ~uint32_t{1}, ~uint32_t{0}}) {
    RoundingMode mode(Rounding::Stochastic, 32, draw);
    for (double far : {0x1p-40, 0x1p-48, 0x1p-49, 0x1p-100, 0x1p-1000})
      for (double value : {far, -far})
        EXPECT_EQ(encodeFrom<double>(f, value, mode), f.zeroCode())
            << value << ' ' << draw;
    EXPECT_NE(encodeFrom<double>(f, 0x1p-7, mode), f.zeroCode());
  }
  // 2^-32 of the least goes up for one draw of them all.
  int up = 0;
  for (uint32_t draw : {uint32_t{0}, ~uint32_t{0}})
    up += encodeFrom<double>(f, 0x1p-39, {Rounding::Stochastic, 32, draw}) !=
          f.zeroCode();
  EXPECT_EQ(up, 1);
}

TEST(Lns, StochasticRoundingOfOwnOperations) {
  constexpr LnsFormat f{3, 3};
  for (int32_t bits = 1; bits <= 8; ++bits) {
    uint64_t all = uint64_t{1} << bits;
    // A root of an odd logarithm is a tie.
    uint64_t low = f.codeOf(false, 2);
    EXPECT_EQ(countAway(low, bits,
                        [&](RoundingMode mode) {
                          return f.sqrt(f.codeOf(false, 5), mode);
                        }),
              all / 2);
    // The least power over 4, and over 2^9.
    uint64_t least = f.codeOf(false, -63);
    for (int64_t down : {2, 7}) {
      uint64_t divisor = f.codeOf(false, 8 * down);
      EXPECT_EQ(countAway(f.zeroCode(), bits,
                          [&](RoundingMode mode) {
                            return f.div(least, divisor, mode);
                          }),
                all >> down);
    }
    // Exact results never move.
    for (uint64_t x = 0; x < 64; ++x)
      EXPECT_EQ(countAway(x, bits,
                          [&](RoundingMode mode) {
                            return f.mul(x, f.codeOfOne(), mode);
                          }),
                0u);
  }
}

} // namespace
