// SPDX-License-Identifier: MIT

#include "Sweep.h"

#include <cmath>
#include <limits>

using namespace numera;
using namespace numera::test;

namespace {

/// Formats at and near the ends of what a carrier holds.
constexpr Case edges[] = {
    {"tf32", FloatFormat{8, 10, 127}},
    {"float<7,3>", FloatFormat{7, 3, 63}},
    {"float<7,15>", FloatFormat{7, 15, 63}},
    {"float<8,3,bias=120>", FloatFormat{8, 3, 120}},
    {"float<8,3,bias=123>", FloatFormat{8, 3, 123}},
    {"float<8,3,bias=127>", FloatFormat{8, 3, 127}},
    {"float<8,22>", FloatFormat{8, 22, 127}},
    {"float<8,7,bias=128,fnuz>", FloatFormat{8, 7, 128, Specials::Fnuz}},
    {"float<3,12,bias=-90>", FloatFormat{3, 12, -90}},
    {"float<3,12,bias=110>", FloatFormat{3, 12, 110}},
    {"float<11,20>", FloatFormat{11, 20, 1023}},
    {"float<10,40>", FloatFormat{10, 40, 511}},
    {"float<1,14>", FloatFormat{1, 14, 0}},
    {"float<1,3,saturate>",
     FloatFormat{1, 3, 0, Specials::Ieee, true, true, Overflow::Saturate}},
    {"posit<16,3>", PositFormat{{16}, 3}},
    {"posit<16,0>", PositFormat{{16}, 0}},
    {"posit<12,1>", PositFormat{{12}, 1}},
    {"posit<24,2>", PositFormat{{24}, 2}},
    {"posit<32,0>", PositFormat{{32}, 0}},
    {"posit<32,4>", PositFormat{{32}, 4}},
    {"takum<18>", TakumFormat{18}},
    {"takum<19>", TakumFormat{19}},
    {"takum<40>", TakumFormat{40}},
    {"takum<46>", TakumFormat{46}},
    {"takum<47>", TakumFormat{47}},
};

template <typename T, typename F>
void checkDecode(Tally &tally, const char *name, const F &f,
                 const oracle::Oracle &truth, uint64_t code) {
  oracle::Real scratch;
  mpfr_srcptr value = truth.value(code, scratch);
  T want = static_cast<T>(mpfr_get_d(value, MPFR_RNDN)); // embeds: exact
  T got = Carrier<T>::decode(f, code);
  tally.check(Carrier<T>::bits(got),
              mpfr_nan_p(value) ? uint64_t{Carrier<T>::nan}
                                : uint64_t{Carrier<T>::bits(want)},
              name, " decode", code);
}

template <typename T, typename F>
void checkEncode(Tally &tally, const char *name, const F &f,
                 const oracle::Oracle &truth, T x) {
  static thread_local oracle::Real value(64);
  mpfr_set_d(value, static_cast<double>(x), MPFR_RNDN);
  uint64_t want = truth.round(truth.locate(value), oracle::Mode::NearestEven);
  tally.check(Carrier<T>::encode(f, x), want, name, " encode",
              Carrier<T>::bits(x));
}

/// x and the carrier's two neighbours, in both signs.
template <typename T, typename F>
void checkAround(Tally &tally, const char *name, const F &f,
                 const oracle::Oracle &truth, T x) {
  T infinity = std::numeric_limits<T>::infinity();
  for (T y : {x, std::nextafter(x, infinity), std::nextafter(x, T{0})}) {
    checkEncode(tally, name, f, truth, y);
    checkEncode(tally, name, f, truth, -y);
  }
}

template <typename T, typename F>
void checkFormat(Tally &tally, const char *name, const F &f) {
  if (!Carrier<T>::embeds(f) && !Carrier<T>::encodes(f))
    return;
  oracle::Oracle truth(describe(f));
  Sampler sampler(f.width(), 17);
  bool all = f.width() <= 16;
  uint64_t count = all ? f.mask() + 1 : samples(20'000);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t code = all ? i : sampler.code();
    if (Carrier<T>::embeds(f))
      checkDecode<T>(tally, name, f, truth, code);
    uint64_t magnitude = code & ~(uint64_t{1} << (f.width() - 1));
    if (!Carrier<T>::encodes(f) || magnitude > f.maxCode())
      continue;
    oracle::Real point;
    truth.boundary(magnitude, point);
    checkAround(tally, name, f, truth,
                static_cast<T>(mpfr_get_d(point, MPFR_RNDN)));
    if (magnitude == code) {
      truth.decode(magnitude, point);
      checkAround(tally, name, f, truth,
                  static_cast<T>(mpfr_get_d(point, MPFR_RNDN)));
    }
  }
  if (!Carrier<T>::encodes(f))
    return;
  using Limits = std::numeric_limits<T>;
  for (T x : {T{0}, Limits::denorm_min(), Limits::min(), Limits::max(),
              Limits::infinity(), Limits::quiet_NaN(), T{1}})
    checkAround(tally, name, f, truth, x);
  Sampler machine(Carrier<T>::width, 19);
  for (uint64_t i = 0; i < samples(30'000); ++i)
    checkEncode(tally, name, f, truth,
                Carrier<T>::value(
                    static_cast<typename Carrier<T>::Word>(machine.code())));
}

template <typename T> void checkCarrier(std::span<const Case> cases) {
  Tally tally;
  for (const Case &c : cases)
    std::visit([&](const auto &f) { checkFormat<T>(tally, c.name, f); },
               c.format);
}

TEST(CarrierOfFloat, AgreesWithTheOracleForSmallFormats) {
  checkCarrier<float>(smallFormats());
}
TEST(CarrierOfFloat, AgreesWithTheOracleForSixteenBits) {
  checkCarrier<float>(sixteenBitFormats());
}
TEST(CarrierOfFloat, AgreesWithTheOracleAtItsEdges) {
  checkCarrier<float>(edges);
}
TEST(CarrierOfDouble, AgreesWithTheOracleForSmallFormats) {
  checkCarrier<double>(smallFormats());
}
TEST(CarrierOfDouble, AgreesWithTheOracleForSixteenBits) {
  checkCarrier<double>(sixteenBitFormats());
}
TEST(CarrierOfDouble, AgreesWithTheOracleAtItsEdges) {
  checkCarrier<double>(edges);
  checkCarrier<double>(wideFormats());
}

// Families without a codec of their own go through an Unpacked.
TEST(Carrier, TakesFormatsOfAnyFamily) {
  Tally tally;
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          if (Carrier<double>::embeds(f))
            return;
          oracle::Oracle truth(describe(f));
          for (uint64_t code = 0; code <= f.mask(); ++code) {
            double value = decodeTo<double>(f, code);
            oracle::Real scratch;
            mpfr_srcptr want = truth.value(code, scratch);
            tally.check(Carrier<double>::bits(value),
                        mpfr_nan_p(want) ? Carrier<double>::nan
                                         : Carrier<double>::bits(
                                               mpfr_get_d(want, MPFR_RNDN)),
                        c.name, code);
            using F = std::remove_cvref_t<decltype(f)>;
            if constexpr (!std::is_same_v<F, FloatFormat> &&
                          !std::is_same_v<F, PositFormat> &&
                          !std::is_same_v<F, TakumFormat>) {
              tally.check(
                  Carrier<double>::bits(Carrier<double>::decode(f, code)),
                  Carrier<double>::bits(value), c.name, code);
              tally.check(Carrier<double>::encode(f, value), f.canonical(code),
                          c.name, " encode", code);
            }
            tally.check(encodeFrom(f, value, Rounding::NearestEven),
                        f.canonical(code), c.name, " back", code);
          }
        },
        c.format);
}

// Codes, and numbers that go through them, of takums that f32 does not hold:
// every f32 with NUMERA_SLOW_TESTS, else one in some thousand.
// NaR has no number that is its negative: a compiler would see an overflow.
TEST(CarrierOfTakum, DecodesNaR) {
  constexpr TakumFormat f{12};
  static_assert(TakumCarrier<double>::decode(f, f.nanCode()) !=
                TakumCarrier<double>::decode(f, f.nanCode()));
  static_assert(TakumCarrier<float>::decodeNearest(f, f.nanCode()) !=
                TakumCarrier<float>::decodeNearest(f, f.nanCode()));
}

TEST(CarrierOfFloat, RoundsWhatItDoesNotHoldOfTakums) {
  Tally tally;
  for (int32_t size : {6, 12, 16, 18}) {
    TakumFormat f{size};
    ASSERT_TRUE(Carrier<float>::approximates(f));
    auto exact = [&](uint64_t code) {
      return cast(binary32, f, code, Rounding::NearestEven);
    };
    for (uint64_t code = 0; code <= f.mask(); ++code)
      tally.check(Carrier<float>::bits(Carrier<float>::decodeNearest(f, code)),
                  exact(code), "takum", " decode", code);
    uint64_t step = isSlow() ? (size == 16 ? 1 : 101) : 5'003;
    for (uint64_t word = 0; word < uint64_t{1} << 32; word += step) {
      float x = Carrier<float>::value(static_cast<uint32_t>(word));
      uint64_t code = f.encode(binary32.decode(word), Rounding::NearestEven);
      tally.check(Carrier<float>::encode(f, x), code, "takum", " encode", word);
      tally.check(Carrier<float>::bits(Carrier<float>::roundNearest(f, x)),
                  exact(code), "takum", " round", word);
    }
  }
}

// What is compared above is what the predicates admit: they must admit the
// formats that matter.
TEST(Carrier, HoldsTheFormatsThatMatter) {
  using F = Carrier<float>;
  using D = Carrier<double>;
  constexpr FloatFormat bf16{8, 7, 127}, f16{5, 10, 15}, tf32{8, 10, 127};
  static_assert(F::embeds(bf16) && F::encodes(bf16) && F::isTruncation(tf32));
  static_assert(F::embeds(f16) && F::encodes(f16));
  static_assert(F::embeds(PositFormat{{16}, 2}) &&
                F::embeds(PositFormat{{16}, 1}));
  static_assert(!F::embeds(PositFormat{{16}, 4}) && !F::embeds(binary32));
  static_assert(D::embeds(PositFormat{{32}, 2}) && D::encodes(binary32));
  static_assert(!D::embeds(PositFormat{{33}, 2}));
  static_assert(D::embeds(TakumFormat{16}) && D::encodes(TakumFormat{32}));
  static_assert(F::encodes(TakumFormat{16}) && !F::embeds(TakumFormat{16}));
  static_assert(!D::embeds(TakumFormat{64}) && !F::encodes(TakumFormat{32}));
  EXPECT_EQ(F::decode(f16, 0x3c00), 1.0f);
}

} // namespace
