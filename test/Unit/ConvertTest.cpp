// SPDX-License-Identifier: MIT

#include "Sweep.h"

#include <deque>

using namespace numera;
using namespace numera::test;

namespace {

/// Casts `code` and holds the result in `used` modes against the oracle.
template <typename To, typename From>
void checkCast(Tally &tally, const char *toName, const To &to,
               const oracle::Oracle &truth, const char *fromName,
               const From &from, uint64_t code, mpfr_srcptr value,
               std::span<const Rounding> used) {
  oracle::Place place = truth.locate(value);
  for (Rounding mode : used)
    tally.check(cast(to, from, code, mode), truth.round(place, modeOf(mode)),
                fromName, code, " to ", toName, mode);
}

/// Casts codes of each source to each destination: all codes to 8 bits, and
/// above them every `step`-th in nearest-even, every 16th of which in all
/// modes.
void sweepCasts(std::span<const Case> sources,
                std::span<const Case> destinations, uint64_t step) {
  Tally tally;
  auto cross = [&](const char *toName, const auto &to,
                   const oracle::Oracle &toTruth, const char *fromName,
                   const auto &from, const oracle::Oracle &truth) {
    oracle::Real scratch;
    auto check = [&](uint64_t code, bool all) {
      checkCast(tally, toName, to, toTruth, fromName, from, code,
                truth.value(code, scratch),
                std::span(modes).first(all ? std::size(modes) : 1));
    };
    if (from.width() <= 16) {
      uint64_t stride = from.width() <= 8 ? 1 : step;
      for (uint64_t code = 0; code <= from.mask(); code += stride)
        check(code, from.width() <= 8 || isSlow() || code % 16 == 0);
      return;
    }
    Sampler sampler(from.width(), 11);
    for (uint64_t i = 0; i < samples(1'500); ++i)
      check(sampler.code(), true);
  };
  std::deque<oracle::Oracle> destinationTruths;
  for (const Case &to : destinations)
    std::visit(
        [&](const auto &f) { destinationTruths.emplace_back(describe(f)); },
        to.format);
  for (const Case &from : sources)
    std::visit(
        [&](const auto &fromFormat) {
          oracle::Oracle truth(describe(fromFormat));
          for (size_t i = 0; i < destinations.size(); ++i)
            std::visit(
                [&](const auto &toFormat) {
                  cross(destinations[i].name, toFormat, destinationTruths[i],
                        from.name, fromFormat, truth);
                },
                destinations[i].format);
        },
        from.format);
}

TEST(Cast, IsRoundedOnceFromAllCodesOfSmallFormatsToSmallOnes) {
  sweepCasts(smallFormats(), smallFormats(), 1);
}
TEST(Cast, IsRoundedOnceFromAllCodesOfSmallFormatsToLargerOnes) {
  sweepCasts(smallFormats(), sixteenBitFormats(), 1);
  sweepCasts(smallFormats(), wideFormats(), 1);
}
TEST(Cast, IsRoundedOnceFromSixteenBits) {
  uint64_t step = isSlow() ? 1 : 5;
  sweepCasts(sixteenBitFormats(), sixteenBitFormats(), step);
  sweepCasts(sixteenBitFormats(), smallFormats(), step);
  sweepCasts(sixteenBitFormats(), wideFormats(), isSlow() ? 1 : 19);
}
TEST(Cast, IsRoundedOnceFromWideFormats) {
  sweepCasts(wideFormats(), smallFormats(), 1);
  sweepCasts(wideFormats(), sixteenBitFormats(), 1);
  sweepCasts(wideFormats(), wideFormats(), 1);
}

template <typename T, typename F>
void checkMachine(Tally &tally, const char *name, const F &f, uint64_t code) {
  oracle::Oracle machineTruth(describe(Carrier<T>::format));
  oracle::Oracle truth(describe(f));
  oracle::Real value;
  truth.decode(code, value);
  uint64_t want =
      machineTruth.round(machineTruth.locate(value), oracle::Mode::NearestEven);
  T got = decodeTo<T>(f, code);
  // The machine's NaN is read back by its bits, not through arithmetic.
  if (!(isMachine<T>(f) && f.isNaN(code)))
    tally.check(Carrier<T>::bits(got), want, name, " to the machine", code);
  for (Rounding mode : modes)
    tally.check(encodeFrom(f, got, mode),
                cast(f, Carrier<T>::format, want, mode), name,
                " from the machine", code, mode);
}

TEST(DecodeTo, IsRoundedToNearestEvenAndComesBack) {
  Tally tally;
  for (auto cases : {smallFormats(), wideFormats()})
    for (const Case &c : cases)
      std::visit(
          [&](const auto &f) {
            Sampler sampler(f.width(), 13);
            for (uint64_t i = 0; i < 256; ++i) {
              uint64_t code = f.width() <= 8 ? i & f.mask() : sampler.code();
              checkMachine<float>(tally, c.name, f, code);
              checkMachine<double>(tally, c.name, f, code);
            }
          },
          c.format);
}

// f8E4M3FN has neither infinities nor a value above 448: the conversions of
// ONNX with and without saturation.
// Clauses: F7 R5.
TEST(Cast, OverflowsAsTheFormatSays) {
  constexpr FloatFormat open{4, 3, 7, Specials::Fn};
  constexpr FloatFormat closed{
      4, 3, 7, Specials::Fn, true, true, Overflow::Saturate};
  constexpr FloatFormat kept{
      5, 2, 15, Specials::Ieee, true, true, Overflow::Propagate};
  constexpr auto even = Rounding::NearestEven;
  constexpr uint64_t infinity = binary32.infinityCode();
  constexpr uint64_t large = binary32.maxCode();
  static_assert(cast(open, binary32, infinity, even) == open.nanCode());
  static_assert(cast(open, binary32, large, even) == open.nanCode());
  static_assert(cast(closed, binary32, infinity, even) == closed.maxCode());
  static_assert(cast(closed, binary32, large, even) == closed.maxCode());
  static_assert(cast(kept, binary32, infinity, even) == kept.infinityCode());
  static_assert(cast(kept, binary32, large, even) == kept.maxCode());
  EXPECT_EQ(cast(closed, binary32, binary32.nanCode() | 1, even),
            closed.nanCode());
}

/// f8E8M0FNU by definition: the exponent of a number, downward or upward.
uint64_t exponentOf(double x, bool isUp, Overflow overflow) {
  bool isInfinity = overflow == Overflow::Infinity;
  if (std::isnan(x))
    return 255;
  if (std::signbit(x) && x != 0)
    return isInfinity ? 255 : 0;
  if (std::isinf(x))
    return overflow == Overflow::Saturate ? 254 : 255;
  if (x == 0)
    return 0;
  int exponent = std::ilogb(x);
  if (isUp && std::ldexp(1.0, exponent) != x)
    ++exponent;
  if (exponent > 127)
    return isInfinity ? 255 : 254;
  return static_cast<uint64_t>(std::max(exponent, -127) + 127);
}

TEST(Convert, ExponentsOfF32) {
  Tally tally;
  for (Overflow overflow :
       {Overflow::Infinity, Overflow::Saturate, Overflow::Propagate}) {
    FloatFormat f{8, 0, 127, Specials::Fnu, true, false, overflow};
    auto check = [&](uint32_t bits) {
      auto x = std::bit_cast<float>(bits);
      for (Rounding mode : {Rounding::Down, Rounding::Up}) {
        uint64_t wanted = exponentOf(x, mode == Rounding::Up, overflow);
        tally.check(encodeFrom<float>(f, x, mode), wanted, "f32", bits,
                    " to f8E8M0FNU", mode);
        tally.check(cast(f, Carrier<float>::format, bits, mode), wanted, "f32",
                    bits, " to f8E8M0FNU, exact", mode);
      }
    };
    if (isSlow())
      for (uint64_t bits = 0; bits <= 0xffffffff; ++bits)
        check(static_cast<uint32_t>(bits));
    for (uint32_t exponent = 0; exponent < 512; ++exponent)
      for (uint32_t low :
           {0u, 1u, 2u, 0x3fffffu, 0x400000u, 0x400001u, 0x7ffffeu, 0x7fffffu})
        check(exponent << 23 | low);
    Sampler sampler(32, 5);
    for (uint64_t i = 0; i < samples(20'000); ++i)
      check(static_cast<uint32_t>(sampler.code()));
  }
}

/// Next to powers of two f64 has numbers that f32 has not, and others beyond.
TEST(Convert, ExponentsOfF64) {
  Tally tally;
  for (Overflow overflow :
       {Overflow::Infinity, Overflow::Saturate, Overflow::Propagate}) {
    FloatFormat f{8, 0, 127, Specials::Fnu, true, false, overflow};
    auto check = [&](uint64_t bits) {
      auto x = std::bit_cast<double>(bits);
      for (Rounding mode : {Rounding::Down, Rounding::Up}) {
        uint64_t exact = cast(f, Carrier<double>::format, bits, mode);
        tally.check(encodeFrom<double>(f, x, mode), exact, "f64", bits,
                    " to f8E8M0FNU", mode);
        // A number beyond is rounded down to the largest, by every rule.
        if (mode == Rounding::Up || !(x >= 0x1p128) || std::isinf(x))
          tally.check(exact, exponentOf(x, mode == Rounding::Up, overflow),
                      "f64", bits, " to f8E8M0FNU, exact", mode);
      }
    };
    for (uint64_t exponent = 0; exponent < 4096; ++exponent)
      for (uint64_t low : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 51,
                           (uint64_t{1} << 52) - 1})
        check(exponent << 52 | low);
    Sampler sampler(64, 5);
    for (uint64_t i = 0; i < samples(20'000); ++i)
      check(sampler.code());
  }
}

/// f8E8M0FNU by definition: code c is 2^(c - 127), 255 is NaN.
TEST(Convert, ExponentsToF32) {
  FloatFormat f{8, 0, 127, Specials::Fnu, true, false};
  for (uint64_t code = 0; code < 255; ++code)
    EXPECT_EQ(decodeTo<float>(f, code), std::ldexp(1.0f, int(code) - 127));
  EXPECT_EQ(std::bit_cast<uint32_t>(decodeTo<float>(f, 255)), 0x7fc00000u);
}

} // namespace
