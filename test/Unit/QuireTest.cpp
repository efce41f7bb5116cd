// SPDX-License-Identifier: MIT
//
// Quires against ExactSum.h.
// Clauses: Q1 Q2 Q3 Q4 Q5 Q6.

#include "numera/Numerics/Exact/Quire.h"
#include "ExactSum.h"

#include <algorithm>
#include <vector>

using namespace numera;
using namespace numera::test;

namespace {

/// A quire with words around it that nothing may touch.
template <typename F> class Guarded {
public:
  explicit Guarded(const F &f)
      : f(f), words(static_cast<size_t>(quireLayout(f).words()) + 2, canary) {
    quire().clear();
  }
  Quire<F> quire() { return Quire<F>(f, words.data() + 1); }
  const uint64_t *data() const { return words.data() + 1; }
  uint64_t round(RoundingMode mode) const {
    return Quire<F>::round(f, data(), mode);
  }
  bool isIntact() const {
    return words.front() == canary && words.back() == canary;
  }

private:
  static constexpr uint64_t canary = 0x5555aaaa5555aaaa;
  F f;
  std::vector<uint64_t> words;
};

/// Compares in every mode.
template <typename F>
void checkRounded(Tally &tally, const char *name, const Guarded<F> &ours,
                  const ExactSum &sum, uint64_t what) {
  for (Rounding mode : modes)
    tally.check(ours.round(mode), sum.round(mode), name, what, mode);
}

/// The formats with a quire that the oracle knows.
template <typename Check> void forEachFormat(const Check &check) {
  static const Case more[] = {
      {"posit<2,4>", PositFormat{{2}, 4}},
      {"posit<12,3>", PositFormat{{12}, 3}},
      {"posit<16,0>", PositFormat{{16}, 0}},
      {"posit<16,4>", PositFormat{{16}, 4}},
      {"posit<32,0>", PositFormat{{32}, 0}},
      {"posit<32,1>", PositFormat{{32}, 1}},
      {"posit<32,3>", PositFormat{{32}, 3}},
      {"posit<32,4>", PositFormat{{32}, 4}},
      {"posit<33,2>", PositFormat{{33}, 2}},
      {"posit<37,2>", PositFormat{{37}, 2}},
      {"posit<64,1>", PositFormat{{64}, 1}},
      {"posit<64,4>", PositFormat{{64}, 4}},
      {"fixed<7,8>", FixedFormat{7, 8}},
      {"fixed<0,15>", FixedFormat{0, 15}},
      {"fixed<8,8,unsigned>", FixedFormat{8, 8, false}},
      {"fixed<7,8,wrap>", FixedFormat{7, 8, true, Overflow::Wrap}},
      {"fixed<31,32>", FixedFormat{31, 32}},
      {"takum<16>", TakumFormat{16}},
      {"takum<64>", TakumFormat{64}},
      // Every product lies above every value, and below.
      {"float<4,3,bias=-40>", FloatFormat{4, 3, -40}},
      {"float<4,3,bias=60>", FloatFormat{4, 3, 60}},
      {"float<3,40>", FloatFormat{3, 40, 3}},
  };
  for (std::span<const Case> cases :
       {smallFormats(), sixteenBitFormats(), wideFormats(),
        std::span<const Case>(more)})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) {
            if (quireLayout(f).bits <= mostQuireBits)
              check(c.name, f);
          },
          c.format);
}

TEST(Quire, OfPositsHasTheStandardsSize) {
  for (int32_t n = 2; n <= 64; ++n)
    EXPECT_EQ(quireLayout(PositFormat{{n}, 2}).bits, 16 * n);
  constexpr QuireLayout sixteen = quireLayout(PositFormat{{16}, 2});
  static_assert(sixteen == QuireLayout{256, -112, 4, false});
  // 32 + 4 (n - 2) 2^es, in whole words.
  static_assert(quireLayout(PositFormat{{12}, 1}) ==
                QuireLayout{112, -40, 2, false});
  static_assert(quireLayout(PositFormat{{64}, 4}).bits == 4000);
  static_assert(quireLayout(PositFormat{{2}, 0}) ==
                QuireLayout{32, 0, 1, false});
}

TEST(Quire, OfFloatsHasRoomForProductsAndFlags) {
  static_assert(quireLayout(binary64) == QuireLayout{4352, -2148, 67, true});
  static_assert(quireLayout(binary64).bits == mostQuireBits);
  // 32 + 2 * 128 + 2 * 149 = 586 bits, and bf16's 32 + 2 * 128 + 2 * 133 = 554
  static_assert(quireLayout(binary32) == QuireLayout{704, -298, 10, true});
  static_assert(quireLayout(FloatFormat{8, 7, 127}) ==
                QuireLayout{640, -266, 9, true});
  // No infinity, no flags: 32 + 2 * 9 + 2 * 9 = 68
  static_assert(quireLayout(FloatFormat{4, 3, 7, Specials::Fn}) ==
                QuireLayout{128, -18, 2, false});
  static_assert(quireLayout(FloatFormat{16, 40, 32767}).bits > mostQuireBits);
}

TEST(Quire, OfFixedPointHasRoomForProducts) {
  // 32 + 2 * 7 + 2 * 8 = 62
  static_assert(quireLayout(FixedFormat{7, 8}) ==
                QuireLayout{64, -16, 1, false});
  static_assert(quireLayout(FixedFormat{31, 32}) ==
                QuireLayout{192, -64, 3, false});
}

TEST(Quire, OfExtremeBiasesHoldsValuesAsWellAsProducts) {
  // All values from 2^41, products from 2^82: values reach lower.
  constexpr FloatFormat large{4, 3, -40};
  static_assert(quireLayout(large).least == leastWeight(large));
  // All values below 2^-45: values reach higher than products.
  constexpr FloatFormat tiny{4, 3, 60};
  static_assert(quireLayout(tiny).least == 2 * leastWeight(tiny));
  static_assert(64 * quireLayout(tiny).sumWords + quireLayout(tiny).least >=
                tiny.maxExponent() + 32);
}

/// One value and one product: z + x y for all triples.
TEST(Quire, GivesTheFusedMultiplyAddOfAllTriplesToSixBits) {
  Tally tally;
  for (const Case &c : tinyFormats())
    std::visit(
        [&](const auto &f) {
          oracle::Oracle truth(describe(f));
          for (uint64_t x = 0; x <= f.mask(); ++x)
            for (uint64_t y = 0; y <= f.mask(); ++y)
              for (uint64_t z = 0; z <= f.mask(); z += f.mask() < 32 ? 1 : 3) {
                Guarded ours(f);
                ExactSum sum(truth);
                ours.quire().add(z);
                sum.add(z);
                ours.quire().mac(x, y);
                sum.mac(x, y);
                checkRounded(tally, c.name, ours, sum, x << 16 | y << 8 | z);
              }
        },
        c.format);
}

/// Walks of every operation, with cancellations of what was added before.
TEST(Quire, IsExactOnRandomWalks) {
  Tally tally;
  forEachFormat([&](const char *name, const auto &f) {
    oracle::Oracle truth(describe(f));
    Sampler sampler(f.width(), 7);
    std::mt19937_64 engine(11);
    for (uint64_t walk = 0; walk < samples(60); ++walk) {
      Guarded ours(f), others(f);
      ExactSum sum(truth), otherSum(truth);
      std::vector<std::pair<uint64_t, uint64_t>> products;
      // Specials would end most walks of small formats early.
      auto code = [&] {
        uint64_t found = sampler.code();
        bool keep = walk % 8 == 0 || f.width() == 2;
        while (!keep && f.decode(found).kind >= Kind::Infinite)
          found = sampler.code();
        return found;
      };
      for (int step = 0; step < 40; ++step) {
        uint64_t x = code(), y = code();
        switch (engine() % 8) {
        case 0:
          ours.quire().add(x);
          sum.add(x);
          break;
        case 1:
          ours.quire().sub(x);
          sum.add(x, /*negated=*/true);
          break;
        case 2:
          ours.quire().negate();
          sum.negate();
          break;
        case 3:
          others.quire().mac(x, y);
          otherSum.mac(x, y);
          ours.quire().merge(others.data());
          sum.merge(otherSum);
          break;
        case 4: // what was added once, with the other sign
          if (!products.empty()) {
            std::tie(x, y) = products[engine() % products.size()];
            x = f.negate(x);
          }
          [[fallthrough]];
        default:
          ours.quire().mac(x, y);
          sum.mac(x, y);
          products.emplace_back(x, y);
        }
        if (step % 4 == 3)
          checkRounded(tally, name, ours, sum, x);
      }
      ASSERT_TRUE(ours.isIntact()) << name;
    }
  });
}

/// minpos^2 borrows through every word of the quire, and gives it back.
TEST(Quire, CarriesThroughEveryWord) {
  Tally tally;
  forEachFormat([&](const char *name, const auto &f) {
    oracle::Oracle truth(describe(f));
    uint64_t most = f.maxCode(), least = truth.next(0) & f.mask();
    uint64_t minus = f.negate(least);
    if (!f.isNegative(minus))
      return; // an unsigned format
    Guarded ours(f);
    ExactSum sum(truth);
    auto mac = [&](uint64_t x, uint64_t y) {
      ours.quire().mac(x, y);
      sum.mac(x, y);
      checkRounded(tally, name, ours, sum, x);
    };
    mac(minus, least); // all ones
    mac(least, least); // zero again
    EXPECT_TRUE(sum.isZero());
    mac(most, most);
    mac(minus, least); // 1…1 0…0 less one
    mac(f.negate(most), most);
    mac(minus, minus);
    EXPECT_TRUE(sum.isZero());
    EXPECT_TRUE(ours.isIntact()) << name;
  });
}

/// What a wide accumulator loses: 1 beside maxpos^2, whole words further down.
TEST(Quire, KeepsWhatLiesFarBelow) {
  Tally tally;
  forEachFormat([&](const char *name, const auto &f) {
    oracle::Oracle truth(describe(f));
    Sampler sampler(f.width(), 3);
    uint64_t most = f.maxCode(), minus = f.negate(most);
    if (!f.isNegative(minus))
      return; // an unsigned format
    for (int i = 0; i < 30; ++i) {
      uint64_t x = sampler.code(), y = sampler.code();
      if (f.decode(x).kind >= Kind::Infinite ||
          f.decode(y).kind >= Kind::Infinite)
        continue;
      Guarded ours(f);
      ExactSum alone(truth);
      ours.quire().mac(most, most);
      ours.quire().mac(x, y);
      ours.quire().mac(most, most);
      ours.quire().mac(minus, most);
      ours.quire().mac(minus, most);
      alone.mac(x, y);
      checkRounded(tally, name, ours, alone, x);
    }
  });
}

TEST(Quire, SumsAMillionProducts) {
  Tally tally;
  auto check = [&](const char *name, const auto &f, uint64_t count) {
    oracle::Oracle truth(describe(f));
    Sampler sampler(f.width(), 5);
    Guarded ours(f);
    ExactSum sum(truth);
    for (uint64_t i = 1; i <= count; ++i) {
      uint64_t x = sampler.code(), y = sampler.code();
      if (f.decode(x).kind >= Kind::Infinite ||
          f.decode(y).kind >= Kind::Infinite)
        continue;
      ours.quire().mac(x, y);
      sum.mac(x, y);
      if (i % 65536 == 0)
        checkRounded(tally, name, ours, sum, i);
    }
    checkRounded(tally, name, ours, sum, count);
  };
  check("posit<16,2>", PositFormat{{16}, 2}, 1'000'000);
  check("bf16", FloatFormat{8, 7, 127}, 1'000'000);
  check("f8E4M3FN", FloatFormat{4, 3, 7, Specials::Fn}, 1'000'000);
  check("posit<32,2>", PositFormat{{32}, 2}, samples(100'000, 1'000'000));
  check("f64", binary64, samples(100'000, 1'000'000));
}

/// A million of the largest product, of one sign: the carry bits.
TEST(Quire, HasRoomForLongSumsOfTheLargestProduct) {
  constexpr PositFormat f{{8}, 0};
  Guarded ours(f);
  constexpr int count = 1'000'000;
  uint64_t minus = f.negate(f.maxCode());
  for (int i = 0; i < count; ++i)
    ours.quire().mac(minus, f.maxCode());
  for (int i = 0; i < count - 1; ++i)
    ours.quire().mac(f.maxCode(), f.maxCode());
  ours.quire().mac(f.maxCode(), f.maxCode());
  EXPECT_EQ(ours.round(Rounding::NearestEven), 0u);
  ours.quire().add(1);
  EXPECT_EQ(ours.round(Rounding::NearestEven), 1u);
}

TEST(Quire, KeepsNaRAsTheStandardWritesIt) {
  constexpr PositFormat f{{16}, 2};
  uint64_t words[4];
  Quire<PositFormat> quire(f, words);
  quire.clear();
  quire.mac(0x4000, 0x4000);
  quire.mac(f.nanCode(), 0);
  EXPECT_EQ(words[3], uint64_t{1} << 63);
  EXPECT_EQ(words[0] | words[1] | words[2], 0u);
  quire.mac(0x4000, 0x4000);
  quire.add(0x4000);
  quire.sub(0x4000);
  quire.negate();
  EXPECT_EQ(Quire<PositFormat>::round(f, words, Rounding::NearestEven),
            f.nanCode());
  uint64_t sum[4] = {1, 2, 3, 4};
  Quire<PositFormat>(f, sum).merge(words);
  EXPECT_EQ(sum[3], uint64_t{1} << 63);
  EXPECT_EQ(sum[0] | sum[1] | sum[2], 0u);
}

TEST(Quire, SumsInfinitiesAsIEEESumsDo) {
  constexpr FloatFormat f{5, 10, 15};
  constexpr uint64_t infinity = f.infinityCode(), one = 15 << 10,
                     minus = f.signBit();
  auto round = [&](auto fill) {
    Guarded ours(f);
    fill(ours.quire());
    return ours.round(Rounding::NearestEven);
  };
  EXPECT_EQ(round([](auto q) { q.mac(infinity, one | minus); }),
            infinity | minus);
  EXPECT_EQ(round([](auto q) { q.mac(infinity, 0); }), f.nanCode());
  EXPECT_EQ(round([](auto q) {
              q.add(infinity);
              q.sub(infinity);
            }),
            f.nanCode());
  EXPECT_EQ(round([](auto q) {
              q.add(infinity);
              q.negate();
              q.add(one);
            }),
            infinity | minus);
}

TEST(Quire, RoundsAnExactZeroToPlusZeroInEveryMode) {
  constexpr FloatFormat f{5, 10, 15};
  for (Rounding mode : modes) {
    Guarded ours(f);
    ours.quire().add(f.signBit()); // -0
    EXPECT_EQ(ours.round(mode), 0u);
    ours.quire().add(1);
    ours.quire().sub(1);
    EXPECT_EQ(ours.round(mode), 0u);
  }
}

/// Stochastic rounding sees the sum's 32 bits behind the last one kept.
TEST(Quire, RoundsStochasticallyByTheExactRest) {
  constexpr FloatFormat f{5, 10, 15};
  Guarded ours(f);
  ours.quire().add(15 << 10);    // 1
  ours.quire().mac(1, 15 << 10); // 2^-24, of an ulp of 2^-10: a share of 2^-14
  auto at = [&](uint32_t random) {
    return ours.round({Rounding::Stochastic, 32, random});
  };
  EXPECT_EQ(at((1u << 18) - 1), (15u << 10) + 1);
  EXPECT_EQ(at(1u << 18), 15u << 10);
}

/// The arithmetic is constexpr: 0.5 * 0.5 + 0.25 is 0.5.
constexpr uint64_t half() {
  constexpr PositFormat f{{8}, 2};
  uint64_t words[2] = {};
  Quire<PositFormat> quire(f, words);
  quire.mac(0x38, 0x38);
  quire.add(0x30);
  return Quire<PositFormat>::round(f, words, Rounding::NearestEven);
}
static_assert(half() == 0x38);

// One bit more than the pattern of NaR is a number, if one that no sum of fewer
// than 2^31 products reaches.
TEST(Quire, TakesThePatternOfNaRAloneForNaR) {
  constexpr PositFormat f{{16}, 2};
  uint64_t words[] = {0, 0, 0, uint64_t{1} << 63};
  ASSERT_EQ(quireLayout(f).words(), 4);
  constexpr auto even = Rounding::NearestEven;
  EXPECT_EQ(Quire<PositFormat>::round(f, words, even), f.nanCode());
  for (uint64_t &word : words) {
    word ^= 1;
    EXPECT_EQ(Quire<PositFormat>::round(f, words, even), f.negate(f.maxCode()));
    word ^= 1;
  }
}

} // namespace
