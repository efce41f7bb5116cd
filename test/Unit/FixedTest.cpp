// SPDX-License-Identifier: MIT

#include "numera/Numerics/Formats/Fixed.h"
#include "Neighbours.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Operations/Convert.h"

#include <gmpxx.h>

using namespace numera;
using namespace numera::test;

namespace {

mpz_class integer(uint64_t x) {
  mpz_class result;
  mpz_import(result.get_mpz_t(), 1, 1, sizeof x, 0, 0, &x);
  return result;
}
uint64_t lowWord(const mpz_class &x) { // modulo 2^64, two's complement
  mpz_class word;
  mpz_fdiv_r_2exp(word.get_mpz_t(), x.get_mpz_t(), 64);
  uint64_t result = 0;
  mpz_export(&result, nullptr, 1, sizeof result, 0, 0, word.get_mpz_t());
  return result;
}

mpz_class power(unsigned exponent) { return mpz_class(1) << exponent; }

/// A code as an integer.
mpz_class integerOf(const FixedFormat &f, uint64_t code) {
  mpz_class value = integer(code);
  bool negative = f.isSigned && code >> (f.width() - 1) != 0;
  return negative ? value - power(f.width()) : value;
}
mpz_class lowest(const FixedFormat &f) {
  return f.isSigned ? mpz_class(-power(f.width() - 1)) : mpz_class(0);
}
mpz_class highest(const FixedFormat &f) {
  return power(f.integer + f.fraction) - 1;
}

/// An integer clamped or wrapped.
uint64_t placed(const FixedFormat &f, mpz_class value) {
  uint64_t mask = ~uint64_t{0} >> (64 - f.width());
  if (f.overflow == Overflow::Saturate) {
    value = std::max(value, lowest(f));
    value = std::min(value, highest(f));
  }
  return lowWord(value) & mask;
}

/// The code for an exact result in units of the last place.
uint64_t rounded(const FixedFormat &f, const mpq_class &value,
                 RoundingMode mode) {
  bool negative = value < 0;
  mpq_class size = abs(value);
  mpz_class kept = size.get_num() / size.get_den();
  mpq_class rest = size - kept, half(1, 2);
  bool odd = mpz_odd_p(kept.get_mpz_t());
  bool up = false;
  switch (mode.rounding) {
  case Rounding::NearestEven:
    up = rest > half || (rest == half && odd);
    break;
  case Rounding::NearestAway:
    up = rest >= half;
    break;
  case Rounding::NearestZero:
    up = rest > half;
    break;
  case Rounding::TowardZero:
    break;
  case Rounding::Up:
    up = !negative && rest > 0;
    break;
  case Rounding::Down:
    up = negative && rest > 0;
    break;
  case Rounding::ToOdd:
    up = !odd && rest > 0;
    break;
  case Rounding::Stochastic: {
    mpz_class draws = power(mode.randomBits);
    mpz_class draw = integer(mode.random) % draws;
    up = rest * draws >= draw + 1;
  }
  }
  kept += up;
  return placed(f, negative ? mpz_class(-kept) : kept);
}

constexpr FixedFormat fixed(int32_t integer, int32_t fraction,
                            bool isSigned = true, bool wraps = false) {
  return {integer, fraction, isSigned,
          wraps ? Overflow::Wrap : Overflow::Saturate};
}

/// Every way to divide `width` bits, with both rules of overflow.
template <typename Function> void forEachFormat(int width, Function function) {
  for (bool isSigned : {true, false})
    for (int fraction = 0; fraction + isSigned <= width; ++fraction)
      for (bool wraps : {false, true})
        if (width > isSigned)
          function(
              fixed(width - isSigned - fraction, fraction, isSigned, wraps));
}

// Clauses: X1.
TEST(Fixed, DecodesEveryCodeToTwelveBits) {
  Tally tally;
  for (int width = 1; width <= 12; ++width)
    forEachFormat(width, [&](const FixedFormat &f) {
      for (uint64_t code = 0; code >> width == 0; ++code) {
        int64_t number = integerOf(f, code).get_si();
        tally.check(
            isValue(f.decode(code), std::ldexp(Number(number), -f.fraction)), 1,
            "fixed", width, code);
        for (Rounding mode : modes)
          tally.check(f.encode(f.decode(code), mode), code, "fixed", code,
                      mode);
      }
    });
}
// Clauses: X2 R2.
TEST(Fixed, RoundsAtEveryBoundaryOfSmallFormats) {
  Tally tally;
  for (int width = 1; width <= 10; ++width)
    forEachFormat(width, [&](const FixedFormat &f) {
      if (f.overflow == Overflow::Wrap && width > 6)
        return; // the same between the ends
      Numbers numbers;
      for (uint64_t code = 0; code >> width == 0; ++code)
        numbers.add(
            std::ldexp(Number(integerOf(f, code).get_si()), -f.fraction), code);
      numbers.sort();
      checkNeighbours(tally, "fixed", f, numbers);
    });
}

/// A number of 64 bits in units of the last place.
mpq_class unitsOf(const FixedFormat &f, const Unpacked &x) {
  mpq_class value(integer(x.significand));
  int shift = x.exponent - 63 + f.fraction;
  value = shift >= 0 ? mpq_class(value * power(shift))
                     : mpq_class(value / power(-shift));
  return x.negative ? mpq_class(-value) : value;
}

// What is beyond the ends, to and over the 64 bits of the word.
// Clauses: X3 X4 R5.
TEST(Fixed, ClampsOrWrapsAfterRounding) {
  Tally tally;
  std::mt19937_64 engine(7);
  for (int width : {1, 2, 3, 7, 8, 16, 31, 32, 33, 63, 64})
    forEachFormat(width, [&](const FixedFormat &f) {
      for (int i = 0; i < 400; ++i) {
        Unpacked x{.kind = Kind::Finite,
                   .negative = i % 2 != 0,
                   .exponent = int32_t(engine() % 200) - 70 - f.fraction,
                   .significand = engine() | uint64_t{1} << 63};
        if (i % 3 == 0)
          x.significand &= ~uint64_t{0} << engine() % 64;
        if (i % 3 == 1)
          x.significand |= ~uint64_t{0} >> engine() % 64;
        for (Rounding mode : modes)
          tally.check(f.encode(x, mode), rounded(f, unitsOf(f, x), mode),
                      "fixed", width, f.fraction, x.significand, mode);
        RoundingMode draws{Rounding::Stochastic, 1 + i % 32,
                           uint32_t(engine())};
        tally.check(f.encode(x, draws), rounded(f, unitsOf(f, x), draws),
                    "fixed stochastic", width, f.fraction, x.significand);
      }
    });
}

/// Every operation that rounds, on one pair (and an addend).
void checkOperations(Tally &tally, const FixedFormat &f, uint64_t x, uint64_t y,
                     uint64_t z, RoundingMode mode) {
  mpz_class a = integerOf(f, x), b = integerOf(f, y), c = integerOf(f, z);
  mpz_class one = power(f.fraction);
  auto check = [&](const char *what, uint64_t got, uint64_t want) {
    tally.check(got, want, what, f.integer, f.fraction, x, y, z, mode.rounding);
  };
  check("add", add(f, x, y, mode), placed(f, a + b));
  check("sub", sub(f, x, y, mode), placed(f, a - b));
  check("mul", mul(f, x, y, mode), rounded(f, mpq_class(a * b) / one, mode));
  check("fma", fma(f, x, y, z, mode),
        rounded(f, mpq_class(a * b + c * one) / one, mode));
  if (b == 0) {
    uint64_t largest = a < 0   ? lowWord(lowest(f)) & f.mask()
                       : a > 0 ? lowWord(highest(f))
                               : 0;
    check("div by zero", div(f, x, y, mode), largest);
    check("rem by zero", rem(f, x, y, mode), 0);
    return;
  }
  check("div", div(f, x, y, mode), rounded(f, mpq_class(a * one) / b, mode));
  check("rem", rem(f, x, y, mode), placed(f, a % b)); // GMP's % truncates
}

/// The root of a rational cut to 64 bits behind the last place, and half a unit
/// for what was cut off.
mpq_class root(const mpz_class &numerator, const mpz_class &denominator) {
  mpz_class scaled = (numerator << 128) / denominator, floor = sqrt(scaled);
  bool isExact = floor * floor * denominator == numerator << 128;
  return mpq_class(2 * floor + (isExact ? 0 : 1)) / power(65);
}

void checkUnary(Tally &tally, const FixedFormat &f, uint64_t x,
                RoundingMode mode) {
  mpz_class a = integerOf(f, x);
  auto check = [&](const char *what, uint64_t got, uint64_t want) {
    tally.check(got, want, what, f.integer, f.fraction, x, mode.rounding);
  };
  unsigned fraction = f.fraction;
  uint64_t largest = lowWord(highest(f));
  check("sqrt", sqrt(f, x, mode),
        a < 0 ? 0 : rounded(f, root(a << fraction, 1), mode));
  check("rsqrt", rsqrt(f, x, mode),
        a < 0    ? 0
        : a == 0 ? largest
                 : rounded(f, root(power(3 * fraction), a), mode));
  check("neg", neg(f, x), placed(f, -a));
  check("abs", abs(f, x), placed(f, abs(a)));
  mpz_class unit = power(fraction), down;
  mpz_fdiv_q_2exp(down.get_mpz_t(), a.get_mpz_t(), fraction);
  check("floor", roundToIntegral(f, x, Rounding::Down, mode),
        placed(f, down * unit));
  check("trunc", roundToIntegral(f, x, Rounding::TowardZero, mode),
        placed(f, a / unit * unit));
}

// Clauses: X1 X3 X4 X5 A1 A8.
TEST(Fixed, ComputesOnEveryPairOfSmallFormats) {
  Tally tally;
  uint32_t draw = 0;
  for (int width = 1; width <= 5; ++width)
    forEachFormat(width, [&](const FixedFormat &f) {
      for (uint64_t x = 0; x >> width == 0; ++x)
        for (uint64_t y = 0; y >> width == 0; ++y) {
          uint64_t z = (7 * x + 3 * y) & f.mask();
          for (Rounding mode : modes)
            checkOperations(tally, f, x, y, z, mode);
          checkOperations(tally, f, x, y, z, {Rounding::Stochastic, 3, draw++});
        }
    });
  for (int width = 1; width <= 10; ++width)
    forEachFormat(width, [&](const FixedFormat &f) {
      for (uint64_t x = 0; x >> width == 0; ++x) {
        for (Rounding mode : modes)
          checkUnary(tally, f, x, mode);
        checkUnary(tally, f, x, {Rounding::Stochastic, 4, draw++});
      }
    });
}

/// Around the values and boundaries of `f`, beyond its range, anything.
template <typename T>
void checkMachineNumbers(Tally &tally, const FixedFormat &f,
                         std::mt19937_64 &engine) {
  using Word = typename Carrier<T>::Word;
  std::vector<Word> words = {0,
                             Carrier<T>::sign,
                             Carrier<T>::infinity,
                             Carrier<T>::infinity | Carrier<T>::sign,
                             Carrier<T>::nan,
                             Carrier<T>::nan | 1};
  for (int i = 0; i < 300; ++i) {
    auto twice = static_cast<double>(static_cast<int64_t>(engine()) >>
                                     (engine() % 40 + 63 - f.width()));
    auto near = static_cast<T>(std::ldexp(twice, -1 - f.fraction));
    Word word = Carrier<T>::bits(near);
    words.insert(words.end(),
                 {word, word + 1, word - 1, static_cast<Word>(engine())});
  }
  for (Word word : words) {
    T value = Carrier<T>::value(word);
    for (Rounding mode : modes)
      tally.check(encodeFrom(f, value, mode),
                  cast(f, Carrier<T>::format, word, mode), "fixed",
                  " from the machine", word, f.width(), f.fraction, mode);
  }
  for (int i = 0; i < 300; ++i) {
    uint64_t code = engine() & f.mask();
    tally.check(Carrier<T>::bits(decodeTo<T>(f, code)),
                cast(Carrier<T>::format, f, code, Rounding::NearestEven),
                "fixed", " to the machine", code, f.width(), f.fraction);
  }
}

// Clauses: X4 X5.
TEST(Fixed, ConvertsMachineNumbers) {
  Tally tally;
  std::mt19937_64 engine(17);
  for (int width : {1, 2, 8, 12, 16, 21, 22, 23, 24, 25, 32, 33, 50, 51, 52, 53,
                    62, 63, 64})
    forEachFormat(width, [&](const FixedFormat &f) {
      if (width > 24 && f.fraction % 5 != 0)
        return;
      checkMachineNumbers<float>(tally, f, engine);
      checkMachineNumbers<double>(tally, f, engine);
    });
}

// Products of 128 bits, quotients and roots of more than 96.
// Clauses: X6.
TEST(Fixed, LosesNoBitOfWideResults) {
  Tally tally;
  std::mt19937_64 engine(11);
  for (int width : {32, 48, 63, 64})
    forEachFormat(width, [&](const FixedFormat &f) {
      if (f.integer > 2 && f.fraction > 2 && f.fraction % 3 != width % 2)
        return;
      Sampler sampler(width, 3 * width + f.fraction);
      for (uint64_t i = 0; i < samples(30); ++i) {
        uint64_t x = sampler.code(), y = sampler.code();
        // Every second addend is near the product.
        uint64_t z =
            i & 1
                ? sampler.codeNear(f.negate(mul(f, x, y, Rounding::TowardZero)))
                : sampler.code();
        RoundingMode draws{Rounding::Stochastic, int32_t(1 + i % 32),
                           uint32_t(engine())};
        for (Rounding mode : modes) {
          checkOperations(tally, f, x, y, z, mode);
          checkUnary(tally, f, x, mode);
        }
        checkOperations(tally, f, x, y, z, draws);
        checkUnary(tally, f, x, draws);
      }
      for (Rounding mode : modes)
        for (uint64_t x : {uint64_t{0}, uint64_t{1}, uint64_t{2}, f.maxCode(),
                           f.lowestCode(), f.mask()}) {
          checkUnary(tally, f, x, mode);
          for (uint64_t y : {uint64_t{1}, f.maxCode(), f.lowestCode()})
            for (uint64_t z : {uint64_t{0}, f.maxCode(), f.lowestCode()})
              checkOperations(tally, f, x, y, z, mode);
        }
    });
}

constexpr FixedFormat q4_3 = fixed(4, 3), wrapping = fixed(4, 3, true, true);
constexpr FixedFormat u4_4 = fixed(4, 4, false);

// Clauses: X4 X5 V1.
TEST(Fixed, HasNoNaNAndNoInfinity) {
  for (Rounding mode : modes)
    for (const FixedFormat &f : {q4_3, wrapping}) {
      EXPECT_EQ(f.encode(Unpacked::nan(), mode), 0u);
      EXPECT_EQ(f.encode(Unpacked::infinity(), mode), 0x7fu);
      EXPECT_EQ(f.encode(Unpacked::infinity(true), mode), 0x80u);
      EXPECT_EQ(f.encode(Unpacked::pole(true), mode), 0x80u);
      EXPECT_EQ(f.encode(Unpacked::zero(true), mode), 0u);
      EXPECT_EQ(sqrt(f, 0xf8, mode), 0u); // -1
      EXPECT_EQ(div(f, 0, 0, mode), 0u);
    }
  EXPECT_EQ(u4_4.encode(Unpacked::infinity(true), Rounding::Up), 0u);
  EXPECT_EQ(u4_4.encode(Unpacked::infinity(), Rounding::Down), 0xffu);
}
// Clauses: X3 A8.
TEST(Fixed, NegatesTheLowestNumberByItsRule) {
  EXPECT_EQ(neg(q4_3, 0x80), 0x7fu);
  EXPECT_EQ(abs(q4_3, 0x80), 0x7fu);
  EXPECT_EQ(neg(wrapping, 0x80), 0x80u);
  EXPECT_EQ(abs(wrapping, 0x80), 0x80u);
  EXPECT_EQ(neg(u4_4, 1), 0u);
  EXPECT_EQ(neg(fixed(4, 4, false, true), 1), 0xffu);
}

// Clauses: X1 K1.
TEST(Fixed, OrdersItsCodesAsIntegers) {
  Tally tally;
  for (const FixedFormat &f : {q4_3, u4_4, fixed(1, 0), fixed(0, 1, false),
                               fixed(0, 63), fixed(64, 0, false)}) {
    std::vector<uint64_t> codes;
    for (uint64_t code = 0; code <= std::min<uint64_t>(f.mask(), 255); ++code)
      codes.insert(codes.end(),
                   {code, f.mask() - code, (f.mask() >> 1) + code});
    for (uint64_t x : codes)
      for (uint64_t y : codes) {
        x &= f.mask(), y &= f.mask();
        mpz_class a = integerOf(f, x), b = integerOf(f, y);
        tally.check(relation(f, x, y),
                    a == b  ? Equal
                    : a > b ? Greater
                            : Less,
                    "relation", x, y);
        tally.check(min(f, x, y), a < b ? x : y, "min", x, y);
        tally.check(maxnum(f, x, y), a > b ? x : y, "maxnum", x, y);
      }
  }
}
// Clauses: X7.
TEST(Fixed, TruncatesMagnitudes) {
  EXPECT_EQ(q4_3.truncate(0x77, 3), 0x70u);
  EXPECT_EQ(q4_3.truncate(0xff, 1), 0u);    // -1 unit
  EXPECT_EQ(q4_3.truncate(0xf9, 2), 0xfcu); // -7 to -4 units
  EXPECT_EQ(q4_3.truncate(0x80, 6), 0x80u);
  EXPECT_EQ(u4_4.truncate(0xff, 7), 0x80u);
  EXPECT_EQ(fixed(0, 63).truncate(~uint64_t{0}, 63), 0u);
  EXPECT_EQ(fixed(0, 64, false).truncate(~uint64_t{0}, 63), uint64_t{1} << 63);
  EXPECT_EQ(fixed(0, 64, false).truncate(~uint64_t{0}, 64), 0u);
}

TEST(Fixed, StatesItsRange) {
  static_assert(q4_3.width() == 8 && u4_4.width() == 8);
  static_assert(q4_3.precision() == 7 && u4_4.precision() == 8);
  static_assert(q4_3.leastExponent() == -3 && q4_3.maxExponent() == 3);
  static_assert(q4_3.maxCode() == 0x7f && q4_3.lowestCode() == 0x80);
  static_assert(u4_4.maxCode() == 0xff && u4_4.lowestCode() == 0);
  static_assert(fixed(64, 0, false).mask() == ~uint64_t{0});
  int32_t parameters[FixedFormat::parameterCount];
  wrapping.store(parameters);
  EXPECT_EQ(FixedFormat::of(parameters), wrapping);
  EXPECT_EQ(parameters[3], 3);
}

} // namespace
