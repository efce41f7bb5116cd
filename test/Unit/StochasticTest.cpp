// SPDX-License-Identifier: MIT
//
// Stochastic rounding, proven rather than sampled: of the 2^N draws exactly the
// first floor(nu 2^N) must take a result away from zero. The oracle gives that
// threshold; the draws beside it, the first and the last are tried.

#include "Sweep.h"

#include <algorithm>
#include <cmath>

using namespace numera;
using namespace numera::test;

namespace {

/// Tries an operation that gives the oracle's `result` with N random bits.
template <typename Ours>
void checkDraws(Tally &tally, const oracle::Oracle &truth,
                const oracle::Result &result, int32_t bits, const Ours &ours,
                const char *name, const char *operation, uint64_t x,
                uint64_t y = 0, uint64_t z = 0) {
  oracle::Place place = truth.locate(result);
  uint64_t threshold = truth.threshold(result, place, bits);
  uint64_t last = ~uint64_t{0} >> (64 - bits);
  // What lies above the N bits must not count.
  uint64_t noise = (x * 0x9e3779b97f4a7c15 ^ y) & ~last & 0xffffffff;
  for (uint64_t draw : {uint64_t{0}, threshold - 1, threshold, last}) {
    if (draw > last)
      continue;
    RoundingMode mode(Rounding::Stochastic, bits,
                      static_cast<uint32_t>(draw | noise));
    tally.check(ours(mode), truth.roundStochastically(place, threshold, draw),
                name, operation, x, y, z, " bits", bits, " draw", draw);
  }
}

/// The operations on one pair of codes: 1 to 32 random bits in turn.
template <typename F> class Operands {
public:
  Operands(Tally &tally, const Case &c, const F &f)
      : tally(tally), name(c.name), f(f), truth(describe(f)) {}

  void pair(uint64_t x, uint64_t y) {
    mpfr_srcptr u = truth.value(x, a), v = truth.value(y, b);
    auto check = [&](const char *operation, oracle::Binary exact, auto ours) {
      exact(result, u, v);
      checkDraws(tally, truth, result, nextBits(), ours, name, operation, x, y);
    };
    check(" add", oracle::add, [&](auto mode) { return add(f, x, y, mode); });
    check(" sub", oracle::sub, [&](auto mode) { return sub(f, x, y, mode); });
    check(" mul", oracle::mul, [&](auto mode) { return mul(f, x, y, mode); });
    check(" div", oracle::div, [&](auto mode) { return div(f, x, y, mode); });
    check(" rem", oracle::rem, [&](auto mode) { return rem(f, x, y, mode); });
  }
  void triple(uint64_t x, uint64_t y, uint64_t z) {
    oracle::fma(result, truth.value(x, a), truth.value(y, b),
                truth.value(z, c));
    checkDraws(
        tally, truth, result, nextBits(),
        [&](auto mode) { return fma(f, x, y, z, mode); }, name, " fma", x, y,
        z);
  }
  void unary(uint64_t x) {
    auto check = [&](const char *operation, oracle::Unary exact, auto ours) {
      exact(result, truth.value(x, a));
      checkDraws(tally, truth, result, nextBits(), ours, name, operation, x);
    };
    check(" sqrt", oracle::sqrt, [&](auto mode) { return sqrt(f, x, mode); });
    check(" rsqrt", oracle::rsqrt,
          [&](auto mode) { return rsqrt(f, x, mode); });
    check(" ceil", oracle::ceil,
          [&](auto mode) { return roundToIntegral(f, x, Rounding::Up, mode); });
  }
  void integer(uint64_t x) {
    mpfr_set_ui(result.value, x, MPFR_RNDN);
    finishExact();
    checkDraws(
        tally, truth, result, nextBits(),
        [&](auto mode) { return fromUnsigned(f, x, mode); }, name,
        " from unsigned", x);
    auto asSigned = static_cast<int64_t>(x);
    mpfr_set_si(result.value, asSigned, MPFR_RNDN);
    checkDraws(
        tally, truth, result, nextBits(),
        [&](auto mode) { return fromSigned(f, asSigned, mode); }, name,
        " from signed", x);
  }
  /// A machine number between a magnitude and the next one, in both signs; the
  /// place goes from 0 to 1.
  template <typename T> void machineNumber(uint64_t magnitude, double place) {
    truth.boundary(magnitude, b);
    if (magnitude == 0)
      mpfr_set_zero(a, 1);
    else
      truth.decode(magnitude, a);
    mpfr_sub(b, b, a, MPFR_RNDN); // near half of the way
    mpfr_mul_d(b, b, 2 * place, MPFR_RNDN);
    mpfr_add(b, b, a, MPFR_RNDN);
    auto value = static_cast<T>(mpfr_get_d(b, MPFR_RNDN));
    if (!std::isfinite(value))
      return;
    for (T x : {value, -value}) {
      mpfr_set_d(result.value, static_cast<double>(x), MPFR_RNDN);
      finishExact();
      uint64_t code = Carrier<T>::bits(x);
      checkDraws(
          tally, truth, result, nextBits(),
          [&](auto mode) { return encodeFrom(f, x, mode); }, name,
          " from the machine", code);
      checkDraws(
          tally, truth, result, nextBits(),
          [&](auto mode) { return cast(f, Carrier<T>::format, code, mode); },
          name, " cast", code);
    }
  }

private:
  int32_t nextBits() { return 1 + static_cast<int32_t>(turn++ * 7 % 32); }
  void finishExact() { result.tail = result.cancelled = result.pole = false; }

  Tally &tally;
  const char *name;
  const F &f;
  oracle::Oracle truth;
  oracle::Result result; // of full precision, the table's 53 bits are too few
  oracle::Real a, b, c;
  uint64_t turn = 0;
};

template <typename F>
void checkConversions(Operands<F> &operands, const F &f, Sampler &sampler,
                      uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t magnitude =
        f.width() <= 8 ? i % (f.maxCode() + 1) : f.absolute(sampler.code());
    if (magnitude > f.maxCode())
      continue;
    double place = static_cast<double>(sampler.random()() >> 11) * 0x1p-53;
    operands.template machineNumber<double>(magnitude, place);
    operands.template machineNumber<float>(magnitude, place);
    operands.integer(sampler.random()() >> (i & 63));
  }
  operands.template machineNumber<double>(f.maxCode(), 0.75);
  operands.template machineNumber<double>(0, 0.75);
  operands.template machineNumber<double>(0, 0x1p-30);
}

// Clauses: D1.
TEST(Stochastic, TakesTheExactShareOfDrawsForAllPairsOfSmallFormats) {
  Tally tally;
  const uint64_t step = isLong() ? 1 : 3; // a third of them in the quick suite
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          Operands operands(tally, c, f);
          Sampler sampler(f.width(), 41);
          for (int round = 0; round < (isSlow() ? 32 : 1); ++round)
            for (uint64_t x = 0; x <= f.mask(); ++x) {
              operands.unary(x);
              for (uint64_t y = x % step; y <= f.mask(); y += step)
                operands.pair(x, y);
            }
          for (uint64_t i = 0; i < samples(10'000); ++i)
            operands.triple(sampler.code(), sampler.code(), sampler.code());
          checkConversions(operands, f, sampler, samples(2'000));
        },
        c.format);
}

void checkSampled(std::span<const Case> cases, uint64_t count) {
  Tally tally;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          Operands operands(tally, c, f);
          Sampler sampler(f.width(), 43);
          for (uint64_t x : boundaryCodes(f, 1))
            operands.unary(x);
          for (uint64_t i = 0; i < count; ++i) {
            uint64_t x = sampler.code(), z = sampler.code();
            uint64_t y = i & 1 ? sampler.codeNear(x) : sampler.code();
            operands.pair(x, y);
            operands.triple(x, y, z);
            operands.unary(x);
          }
          checkConversions(operands, f, sampler, count / 4);
        },
        c.format);
}

// Clauses: D1.
TEST(Stochastic, TakesTheExactShareOfDrawsForSixteenBits) {
  checkSampled(sixteenBitFormats(), samples(20'000, 1'000'000));
}
// Clauses: D1.
TEST(Stochastic, TakesTheExactShareOfDrawsForWideFormats) {
  checkSampled(wideFormats(), samples(2'000, 100'000));
}

/// The statistical form of the same, once: a million draws, a quarter of them
/// in the quick suite, of a generator that has nothing to do with the
/// library's, within 4 sigma of the exact share.
template <typename F>
void checkFrequency(const F &f, double value, int32_t bits) {
  oracle::Oracle truth(describe(f));
  oracle::Result result;
  mpfr_set_d(result.value, value, MPFR_RNDN);
  oracle::Place place = truth.locate(result);
  double share = std::ldexp(
      static_cast<double>(truth.threshold(result, place, bits)), -bits);
  uint64_t away = truth.roundStochastically(place, 1, 0);
  std::mt19937_64 engine(47);
  const int count = static_cast<int>(samples(1'000'000, 1'000'000));
  int moved = 0;
  for (int i = 0; i < count; ++i)
    moved += encodeFrom(f, value,
                        {Rounding::Stochastic, bits,
                         static_cast<uint32_t>(engine() >> 32)}) == away;
  double sigma = std::sqrt(count * share * (1 - share));
  EXPECT_LE(std::fabs(moved - count * share), 4 * sigma)
      << value << ", " << bits << " bits";
}

// Clauses: D1.
TEST(Stochastic, HasTheFrequencyOfTheShare) {
  constexpr FloatFormat f8{4, 3, 7};
  constexpr PositFormat posit8{{8}, 2};
  for (int32_t bits = 1; bits <= 32; ++bits) {
    checkFrequency(f8, 1.03, bits);
    checkFrequency(f8, 250.0, bits); // beside the largest
    checkFrequency(f8, 0x1p-11, bits);
    checkFrequency(posit8, -1.03, bits);
    checkFrequency(posit8, 0x1.8p22, bits); // neighbours 4 binades apart
    checkFrequency(posit8, 0x1p-26, bits);  // below the least
  }
}

// Clauses: D2.
TEST(Stochastic, NeverMovesWhatIsExact) {
  Tally tally;
  for (const Case &c : smallFormats())
    std::visit(
        [&](const auto &f) {
          for (uint64_t code = 0; code <= f.mask(); ++code)
            for (uint32_t draw : {0u, 1u, ~0u >> 1, ~0u})
              for (int32_t bits : {1, 2, 31, 32})
                tally.check(f.encode(f.decode(code),
                                     {Rounding::Stochastic, bits, draw}),
                            f.encode(f.decode(code), Rounding::TowardZero),
                            c.name, code, bits, draw);
        },
        c.format);
}

} // namespace
