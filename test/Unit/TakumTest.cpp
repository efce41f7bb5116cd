// SPDX-License-Identifier: MIT

#include "numera/Numerics/Formats/Takum.h"
#include "Neighbours.h"
#include "numera/Numerics/Exact/Compare.h"

using namespace numera;
using namespace numera::test;

namespace {

constexpr Unpacked power(int32_t exponent, bool negative = false) {
  return Unpacked::fromInteger(negative, 1, exponent);
}

/// The definition, on a string of bits with zeros behind it: sign, direction,
/// regime, characteristic, mantissa.
Number takum(uint64_t code, int bits) {
  if (code == 0)
    return 0;
  if (code == uint64_t{1} << (bits - 1))
    return NAN;
  int position = bits;
  auto bit = [&] { return --position < 0 ? 0 : int(code >> position & 1); };
  auto take = [&](int count) {
    int field = 0;
    while (count-- > 0)
      field = 2 * field + bit();
    return field;
  };
  int s = bit(), d = bit(), regime = take(3);
  int r = d ? regime : 7 - regime;
  int field = take(r);
  int c = d ? (1 << r) - 1 + field : -(1 << (r + 1)) + 1 + field;
  Number f = 0, unit = 0.5L;
  while (position > 0) {
    f += unit * bit();
    unit /= 2;
  }
  int e = s ? -(c + s) : c + s;
  return std::ldexp(1 - 3 * s + f, e);
}

Numbers numbersOf(int bits) {
  Numbers numbers;
  std::vector<Number> longer; // positive ones of one bit more
  for (uint64_t code = 0; code >> bits == 0; ++code)
    if (Number value = takum(code, bits); !std::isnan(value))
      numbers.add(value, code);
  numbers.sort();
  for (uint64_t code = 1; code >> bits == 0; ++code)
    longer.push_back(takum(code, bits + 1));
  numbers.boundary = [longer](Number low, Number) {
    return *std::ranges::upper_bound(longer, low);
  };
  numbers.keepsFromZero = true;
  return numbers;
}

// Clauses: T1.
TEST(Takum, DecodesEveryCodeToSixteenBits) {
  Tally tally;
  for (int bits = 2; bits <= 16; ++bits) {
    TakumFormat f{bits};
    for (uint64_t code = 0; code >> bits == 0; ++code)
      tally.check(isValue(f.decode(code), takum(code, bits)), 1, "takum", bits,
                  code);
  }
}
// Clauses: T1.
TEST(Takum, DecodesCodesOfEveryLength) {
  Tally tally;
  for (int bits = 17; bits <= 64; ++bits) {
    TakumFormat f{bits};
    Sampler sampler(bits, bits);
    for (uint64_t i = 0; i < samples(2000); ++i) {
      uint64_t code = sampler.code();
      tally.check(isValue(f.decode(code), takum(code, bits)), 1, "takum", bits,
                  code);
      for (Rounding mode : modes)
        tally.check(f.encode(f.decode(code), mode), code, "takum", bits, mode);
    }
  }
}
// Clauses: T1 T2.
TEST(Takum, RoundsAtEveryBoundaryOfSmallFormats) {
  Tally tally;
  for (int bits = 2; bits <= 11; ++bits)
    checkNeighbours(tally, "takum", TakumFormat{bits}, numbersOf(bits));
  checkNeighbours(tally, "takum", TakumFormat{13}, numbersOf(13));
}
// Clauses: T2.
TEST(Takum, RoundsAtBoundariesOfEveryLength) {
  Tally tally;
  for (int bits = 14; bits < 64; ++bits) {
    TakumFormat f{bits};
    Sampler sampler(bits, bits);
    for (uint64_t i = 0; i < samples(500); ++i) {
      uint64_t code = f.absolute(sampler.code());
      if (code == 0 || code >= f.maxCode())
        continue;
      Numbers numbers;
      Number middle = takum(2 * code + 1, bits + 1);
      numbers.add(takum(code, bits), code);
      numbers.add(takum(code + 1, bits), code + 1);
      numbers.boundary = [=](Number, Number) { return middle; };
      checkNeighbours(tally, "takum", f, numbers);
    }
  }
}

// Clauses: T3.
TEST(Takum, SaturatesInEveryMode) {
  for (int bits : {2, 3, 8, 12, 16, 64}) {
    TakumFormat f{bits};
    Unpacked beyond = f.decode(f.maxCode()); // less than half a step farther
    beyond.tail = 1;
    for (Rounding mode : modes) {
      EXPECT_EQ(f.encode(beyond, mode), f.maxCode());
      for (int32_t exponent : {255, 256, 1 << 20}) {
        EXPECT_EQ(f.encode(power(exponent), mode), f.maxCode());
        EXPECT_EQ(f.encode(power(exponent, true), mode), f.negate(f.maxCode()));
      }
    }
    EXPECT_EQ(f.encode(power(1000), {Rounding::Stochastic, 32, 0}),
              f.maxCode());
  }
}
// Clauses: T3 T4.
TEST(Takum, KeepsTheInequalityBelowItsLeastNumber) {
  // 2^-255 itself is the code of zero, and no takum.
  for (int bits : {2, 3, 5, 8, 12, 13, 16, 32, 64})
    for (int32_t exponent : {-255, -256, -(1 << 20)}) {
      TakumFormat f{bits};
      uint64_t minus = f.mask();
      for (Rounding mode : {Rounding::NearestEven, Rounding::NearestAway,
                            Rounding::NearestZero, Rounding::ToOdd}) {
        EXPECT_EQ(f.encode(power(exponent), mode), 1u);
        EXPECT_EQ(f.encode(power(exponent, true), mode), minus);
      }
      EXPECT_EQ(f.encode(power(exponent), Rounding::TowardZero), 0u);
      EXPECT_EQ(f.encode(power(exponent), Rounding::Down), 0u);
      EXPECT_EQ(f.encode(power(exponent), Rounding::Up), 1u);
      EXPECT_EQ(f.encode(power(exponent, true), Rounding::TowardZero), 0u);
      EXPECT_EQ(f.encode(power(exponent, true), Rounding::Up), 0u);
      EXPECT_EQ(f.encode(power(exponent, true), Rounding::Down), minus);
    }
}
// Of takum<16>, the least number is 17/16 * 2^-255.
// Clauses: T4.
TEST(Takum, DrawsBetweenZeroAndItsLeastNumber) {
  constexpr TakumFormat f{16};
  auto up = [&](int32_t exponent, uint32_t draw) {
    return f.encode(power(exponent), {Rounding::Stochastic, 8, draw});
  };
  uint32_t whole = 256 * 16 / 17; // 240
  EXPECT_EQ(up(-255, whole - 1), 1u);
  EXPECT_EQ(up(-255, whole), 0u);
  EXPECT_EQ(up(-256, whole / 2 - 1), 1u);
  EXPECT_EQ(up(-256, whole / 2), 0u);
  EXPECT_EQ(up(-1000, 0), 0u);
}

// Clauses: T5.
TEST(Takum, HasOneNaR) {
  constexpr TakumFormat f{16};
  static_assert(f.encode(Unpacked::nan(), Rounding::NearestEven) == 0x8000);
  static_assert(f.encode(Unpacked::infinity(), Rounding::Up) == 0x8000);
  static_assert(f.encode(Unpacked::infinity(true), Rounding::Up) == 0x8000);
  uint64_t one = f.encode(power(0), Rounding::NearestEven);
  EXPECT_EQ(one, 0x4000u);
  EXPECT_EQ(add(f, one, one, Rounding::NearestEven), 0x4800u); // r = 1, c = 1
  EXPECT_EQ(div(f, one, 0, Rounding::NearestEven), f.nanCode());
  EXPECT_EQ(rsqrt(f, 0, Rounding::NearestEven), f.nanCode());
  EXPECT_EQ(sqrt(f, f.negate(one), Rounding::NearestEven), f.nanCode());
  EXPECT_EQ(add(f, one, f.nanCode(), Rounding::NearestEven), f.nanCode());
  EXPECT_EQ(minnum(f, f.nanCode(), one), one);
  EXPECT_EQ(min(f, f.nanCode(), one), f.nanCode());
}
// Clauses: T6.
TEST(Takum, OrdersItsCodesAsIntegers) {
  Tally tally;
  constexpr TakumFormat f{8};
  for (uint64_t x = 0; x < 256; ++x)
    for (uint64_t y = 0; y < 256; ++y) {
      Number a = takum(x, 8), b = takum(y, 8);
      if (std::isnan(a))
        a = -INFINITY;
      if (std::isnan(b))
        b = -INFINITY;
      tally.check(relation(f, x, y),
                  a == b  ? Equal
                  : a > b ? Greater
                          : Less,
                  "takum<8>", x, y);
    }
}

// Clauses: T7.
TEST(Takum, TruncatesItsMantissaTowardZero) {
  Tally tally;
  for (int bits : {2, 5, 9, 12, 14, 16}) {
    TakumFormat f{bits};
    for (uint64_t code = 0; code >> bits == 0; ++code)
      for (int count = 0; count <= 12; ++count) {
        Number value = takum(code, bits);
        uint64_t got = f.truncate(code, count);
        if (code == 0 || std::isnan(value)) {
          tally.check(got, code, "truncate", bits, code, count);
          continue;
        }
        int exponent;
        std::frexp(value, &exponent);
        int size = exponent > 0 ? exponent : 1 - exponent;
        int mantissa = bits - 5 - (std::bit_width(unsigned(size)) - 1);
        mantissa = std::max(mantissa, 0);
        int kept = mantissa - std::min(count, mantissa);
        Number unit = std::ldexp(Number(1), exponent - 1 - kept);
        Number want = std::trunc(value / unit) * unit;
        if (std::fabs(want) == 0x1p-255L)
          want = 0; // no takum
        tally.check(isValue(f.decode(got), want), 1, "truncate", bits, code,
                    count);
      }
  }
}

TEST(Takum, StatesItsRange) {
  static_assert(TakumFormat{16}.precision() == 12);
  static_assert(TakumFormat{16}.leastExponent() == -255);
  static_assert(TakumFormat{16}.maxExponent() == 254);
  static_assert(TakumFormat{12}.leastExponent() == -254);
  static_assert(TakumFormat{8}.leastExponent() == -239);
  static_assert(TakumFormat{2}.precision() == 1);
  static_assert(TakumFormat{2}.leastExponent() == 0);
  static_assert(TakumFormat{64}.precision() == 60);
  EXPECT_EQ(TakumFormat::of(std::data({7})).bits, 7);
}

// Every number of 16 bits or less is one of f64.
TEST(Takum, GoesThroughF64Unchanged) {
  Tally tally;
  for (int bits = 2; bits <= 16; ++bits) {
    TakumFormat f{bits};
    for (uint64_t code = 0; code >> bits == 0; ++code)
      tally.check(encodeFrom<double>(f, decodeTo<double>(f, code),
                                     Rounding::NearestEven),
                  code, "takum", bits);
  }
}

} // namespace
