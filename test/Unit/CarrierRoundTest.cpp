// SPDX-License-Identifier: MIT
//
// Rounding in a carrier against the oracle: at every number and boundary of a
// format, beside them, and between; for a few formats, every f32 there is
// (against the exact path, which the other tests hold against the oracle).

#include "Sweep.h"

#include <cmath>
#include <limits>

using namespace numera;
using namespace numera::test;

namespace {

/// Formats at and near the ends of what rounds() admits.
constexpr Case edges[] = {
    {"tf32", FloatFormat{8, 10, 127}},
    {"bf16,saturate",
     FloatFormat{8, 7, 127, Specials::Ieee, true, true, Overflow::Saturate}},
    {"bf16,propagate",
     FloatFormat{8, 7, 127, Specials::Ieee, true, true, Overflow::Propagate}},
    {"float<7,3>", FloatFormat{7, 3, 63}},
    {"float<7,15>", FloatFormat{7, 15, 63}},
    {"float<8,3,bias=123>", FloatFormat{8, 3, 123}},
    {"float<7,3,bias=42>", FloatFormat{7, 3, 42}},
    {"float<7,3,bias=20>", FloatFormat{7, 3, 20}},
    {"float<8,22>", FloatFormat{8, 22, 127}},
    {"float<6,22>", FloatFormat{6, 22, 31}},
    {"float<3,12,bias=-90>", FloatFormat{3, 12, -90}},
    {"float<3,12,bias=110>", FloatFormat{3, 12, 110}},
    {"float<1,14>", FloatFormat{1, 14, 0}},
    {"float<6,9,finite>", FloatFormat{6, 9, 31, Specials::Finite}},
    {"float<5,10,fn>", FloatFormat{5, 10, 15, Specials::Fn}},
    {"float<5,10,fnuz,infinity>", FloatFormat{5, 10, 16, Specials::Fnuz}},
    {"float<11,20>", FloatFormat{11, 20, 1023}},
    {"float<10,40>", FloatFormat{10, 40, 511}},
    {"posit<15,2>", PositFormat{{15}, 2}},
    {"posit<16,0>", PositFormat{{16}, 0}},
    {"posit<16,3>", PositFormat{{16}, 3}},
    {"posit<12,1>", PositFormat{{12}, 1}},
    {"posit<24,2>", PositFormat{{24}, 2}},
    {"posit<31,4>", PositFormat{{31}, 4}},
    {"posit<32,0>", PositFormat{{32}, 0}},
};

template <typename T> class Rounds {
public:
  using Word = typename Carrier<T>::Word;

  template <typename F>
  static void format(Tally &tally, const char *name, const F &f) {
    oracle::Oracle truth(describe(f));
    Sampler sampler(f.width(), 31), machine(Carrier<T>::width, 37);
    bool all = f.width() <= 16;
    uint64_t count = all ? f.mask() + 1 : samples(5'000);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t code = all ? i : sampler.code();
      if (Carrier<T>::embeds(f) && Carrier<T>::encodes(f))
        tally.check(encodeExactly<T>(f, decodeTo<T>(f, code)),
                    f.canonical(code), name, " encodeExact", code);
      // Small formats take every magnitude, larger ones a part in turn.
      uint64_t magnitude = code & ~(uint64_t{1} << (f.width() - 1));
      if (magnitude > f.maxCode() || magnitude != code ||
          (all && f.width() > 10 && code % 5 != 0 && f.maxCode() - code > 40 &&
           code > 40))
        continue;
      oracle::Real point;
      truth.boundary(magnitude, point);
      around(tally, name, f, truth,
             static_cast<T>(mpfr_get_d(point, MPFR_RNDN)));
      truth.decode(magnitude, point);
      around(tally, name, f, truth,
             static_cast<T>(mpfr_get_d(point, MPFR_RNDN)));
    }
    using Limits = std::numeric_limits<T>;
    for (T x : {T{0}, Limits::denorm_min(), Limits::min(), Limits::max(),
                Limits::infinity(), Limits::quiet_NaN(), T{1}})
      around(tally, name, f, truth, x);
    for (uint64_t i = 0; i < samples(2'000); ++i)
      number(tally, name, f, truth,
             Carrier<T>::value(static_cast<Word>(machine.code())));
  }

private:
  template <typename F>
  static void around(Tally &tally, const char *name, const F &f,
                     const oracle::Oracle &truth, T x) {
    T infinity = std::numeric_limits<T>::infinity();
    for (T y : {x, std::nextafter(x, infinity), std::nextafter(x, T{0})}) {
      number(tally, name, f, truth, y);
      number(tally, name, f, truth, -y);
    }
  }

  /// One number in every mode.
  template <typename F>
  static void number(Tally &tally, const char *name, const F &f,
                     const oracle::Oracle &truth, T x) {
    static thread_local oracle::Result exact;
    static thread_local uint32_t turn = 0;
    mpfr_set_d(exact.value, static_cast<double>(x), MPFR_RNDN);
    oracle::Place place = truth.locate(exact);
    auto check = [&](RoundingMode mode, uint64_t code) {
      oracle::Real scratch;
      mpfr_srcptr value = truth.value(code, scratch);
      uint64_t want = mpfr_nan_p(value)
                          ? uint64_t{Carrier<T>::nan}
                          : uint64_t{Carrier<T>::bits(
                                static_cast<T>(mpfr_get_d(value, MPFR_RNDN)))};
      tally.check(Carrier<T>::bits(CarrierRound<T>::round(f, x, mode)), want,
                  name, " round", Carrier<T>::bits(x), mode.rounding);
    };
    for (Rounding mode : modes)
      if (CarrierRound<T>::rounds(f, mode))
        check(mode, truth.round(place, modeOf(mode)));
    if (!CarrierRound<T>::rounds(f, Rounding::Stochastic))
      return;
    auto bits = static_cast<int32_t>(1 + turn++ * 7 % 32);
    uint64_t last = ~uint64_t{0} >> (64 - bits);
    uint64_t threshold = truth.threshold(exact, place, bits);
    for (uint64_t draw : {uint64_t{0}, threshold - 1, threshold, last})
      if (draw <= last)
        check({Rounding::Stochastic, bits, static_cast<uint32_t>(draw)},
              truth.roundStochastically(place, threshold, draw));
  }
};

/// Compares the formats that round() admits; returns how many there were.
template <typename T> int checkRounds(std::span<const Case> cases) {
  Tally tally;
  int count = 0;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          if (!CarrierRound<T>::rounds(f, Rounding::NearestEven))
            return;
          ++count;
          Rounds<T>::format(tally, c.name, f);
        },
        c.format);
  return count;
}

// Clauses: A10.
TEST(CarrierRoundOfFloat, AgreesWithTheOracleForSmallFormats) {
  EXPECT_GE(checkRounds<float>(smallFormats()), 20);
}
TEST(CarrierRoundOfFloat, AgreesWithTheOracleForSixteenBits) {
  EXPECT_GE(checkRounds<float>(sixteenBitFormats()), 6);
}
TEST(CarrierRoundOfFloat, AgreesWithTheOracleAtItsEdges) {
  EXPECT_GE(checkRounds<float>(edges), 15);
}
TEST(CarrierRoundOfDouble, AgreesWithTheOracleForSmallFormats) {
  EXPECT_GE(checkRounds<double>(smallFormats()), 20);
}
TEST(CarrierRoundOfDouble, AgreesWithTheOracleAtItsEdges) {
  EXPECT_GE(checkRounds<double>(edges), 20);
  EXPECT_GE(checkRounds<double>(wideFormats()), 2);
}

} // namespace
