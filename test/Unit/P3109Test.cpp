// SPDX-License-Identifier: MIT
//
// Floats whose specials are not IEEE's: P3109, fnu, and unsigned ones.

#include "Neighbours.h"

using namespace numera;
using namespace numera::test;

namespace {

/// (T or 1.T) * 2^..., from the fields of a magnitude.
Number magnitude(uint64_t code, int precision, int bias, bool hasZero) {
  uint64_t field = code >> (precision - 1);
  Number trailing = Number(code - (field << (precision - 1)));
  Number unit = std::ldexp(Number(1), 1 - precision);
  return field == 0 && hasZero
             ? std::ldexp(trailing * unit, 1 - bias)
             : std::ldexp(1 + trailing * unit, int(field) - bias);
}

/// A format of P3109, by its own parameters.
struct P3109 {
  int k, p;
  bool isSigned, isExtended;

  FloatFormat format() const {
    return {.exponentBits = k - p + (isSigned ? 0 : 1),
            .mantissaBits = p - 1,
            .bias = 1 << (isSigned ? k - p - 1 : k - p),
            .specials = isExtended ? Specials::P3109 : Specials::P3109Finite,
            .isSigned = isSigned};
  }
  Number value(uint64_t code) const {
    uint64_t half = uint64_t{1} << (k - 1), all = 2 * half - 1;
    if (code == (isSigned ? half : all))
      return NAN;
    if (isSigned && code > half)
      return -value(code - half);
    if (isExtended && code == (isSigned ? half : all) - 1)
      return INFINITY;
    return magnitude(code, p, 1 << (isSigned ? k - p - 1 : k - p), true);
  }
};

template <typename Function> void forEachP3109(int most, Function function) {
  for (int k = 3; k <= most; ++k)
    for (bool isSigned : {true, false})
      for (int p = 1; p <= (isSigned ? k - 1 : k); ++p)
        for (bool isExtended : {true, false})
          function(P3109{k, p, isSigned, isExtended});
}

/// What a float gives for a number beyond its largest, which ends a binade or
/// does not.
template <typename F>
void checkOverflow(Tally &tally, const char *name, const F &f, Number largest,
                   uint64_t code, uint64_t overflowed, int precision) {
  int exponent;
  std::frexp(largest, &exponent);
  Number unit = std::ldexp(Number(1), exponent - precision);
  Number middle = largest + unit / 2;
  std::vector<Number> points = around(middle);
  for (Number x : {std::nextafter(largest, Number(INFINITY)), largest + unit,
                   4 * largest, Number(0x1p8000L)})
    points.push_back(x);
  for (Number x : points)
    for (Rounding mode : modes) {
      bool isOver = mode == Rounding::Up;
      if (mode == Rounding::NearestEven)
        isOver = x == middle ? code % 2 == 1 : x > middle;
      if (mode == Rounding::NearestAway)
        isOver = x >= middle;
      if (mode == Rounding::NearestZero)
        isOver = x > middle;
      tally.check(f.encode(unpackedOf(x), mode), isOver ? overflowed : code,
                  name, " beyond", code, mode);
    }
}

// 344,048 codes: the tables K = 3 to 12.
// Clauses: F1 F2 F10.
TEST(P3109, DecodesEveryCodeToTwelveBits) {
  Tally tally;
  int formats = 0;
  uint64_t codes = 0;
  forEachP3109(12, [&](const P3109 &p) {
    ++formats;
    FloatFormat f = p.format();
    for (uint64_t code = 0; code >> p.k == 0; ++code, ++codes)
      tally.check(isValue(f.decode(code), p.value(code)), 1, "p3109", p.k, p.p,
                  code);
  });
  EXPECT_EQ(formats, 280);
  EXPECT_EQ(codes, 344'048u);
}
// Clauses: F10 R2 R3 R5.
TEST(P3109, RoundsAtEveryBoundaryToTenBits) {
  Tally tally;
  forEachP3109(10, [&](const P3109 &p) {
    FloatFormat f = p.format();
    Numbers numbers;
    for (uint64_t code = 0; code >> p.k == 0; ++code) {
      Number value = p.value(code);
      if (std::isfinite(value))
        numbers.add(value, code);
      for (Rounding mode : modes)
        tally.check(f.encode(f.decode(code), mode), code, "p3109", code, mode);
    }
    numbers.sort();
    checkNeighbours(tally, "p3109", f, numbers);
    auto [largest, code] = numbers.entries.back();
    uint64_t nan =
        p.isSigned ? uint64_t{1} << (p.k - 1) : (uint64_t{1} << p.k) - 1;
    // K = 3 and unsigned with precision 3: subnormals and one binade, cut.
    checkOverflow(tally, "p3109", f, largest, code,
                  p.isExtended ? code + 1 : nan, p.p);
  });
}

constexpr FloatFormat p8p3se{5, 2, 16, Specials::P3109};
constexpr FloatFormat p8p3uf{6, 2, 32, Specials::P3109Finite, true, false};

// Clauses: F10.
TEST(P3109, HasNaNForPoles) {
  uint64_t one = 0x40, zero = 0, nan = 0x80;
  EXPECT_EQ(decodeTo<double>(p8p3se, one), 1);
  for (Rounding mode : modes) {
    EXPECT_EQ(div(p8p3se, one, zero, mode), nan);
    EXPECT_EQ(div(p8p3se, 0x7f, zero, mode), nan); // infinity / 0
    EXPECT_EQ(rsqrt(p8p3se, zero, mode), nan);
    EXPECT_EQ(div(p8p3se, one, 0x7f, mode), zero);
    EXPECT_EQ(div(p8p3uf, 0x80, zero, mode), 0xffu);
  }
  // Overflow and infinite operands still give infinities.
  EXPECT_EQ(add(p8p3se, 0x7e, 0x7e, Rounding::NearestEven), 0x7fu);
  EXPECT_EQ(add(p8p3se, 0x7f, one, Rounding::NearestEven), 0x7fu);
  EXPECT_EQ(add(p8p3se, 0x7f, 0xff, Rounding::NearestEven), nan);
}
// Clauses: F10.
TEST(P3109, HasOneZeroAndOneNaN) {
  EXPECT_EQ(neg(p8p3se, 0), 0u);
  EXPECT_EQ(neg(p8p3se, 0x80), 0x80u);
  EXPECT_EQ(neg(p8p3se, 0x7f), 0xffu);
  EXPECT_EQ(p8p3se.encode(Unpacked::zero(true), Rounding::Down), 0u);
}

/// Unsigned formats of each specials, magnitudes by their tables.
struct Unsigned {
  const char *name;
  FloatFormat format;
  uint64_t largest; ///< its code
  uint64_t special; ///< what an overflow to infinity gives
};
constexpr Unsigned unsignedFormats[] = {
    {"float<4,3,unsigned>", {4, 3, 7, Specials::Ieee, true, false}, 0x77, 0x78},
    {"float<1,1,unsigned>", {1, 1, 0, Specials::Ieee, true, false}, 1, 2},
    {"float<3,4,fn,unsigned,infinity>",
     {3, 4, 3, Specials::Fn, true, false},
     0x7e,
     0x7f},
    {"float<4,3,fn,unsigned>",
     {4, 3, 7, Specials::Fn, true, false, Overflow::Saturate},
     0x7e,
     0x7e},
    {"float<4,4,finite,unsigned>",
     {4, 4, 7, Specials::Finite, true, false, Overflow::Saturate},
     0xff,
     0xff},
    {"f8E8M0FNU",
     {8, 0, 127, Specials::Fnu, true, false, Overflow::Saturate},
     0xfe,
     0xfe},
    {"float<8,0,fnu,infinity>",
     {8, 0, 127, Specials::Fnu, true, false},
     0xfe,
     0xff},
    {"float<5,3,fnu>",
     {5, 3, 15, Specials::Fnu, true, false, Overflow::Saturate},
     0xfe,
     0xfe},
    {"float<0,6,fnu,bias=-3>",
     {0, 6, -3, Specials::Fnu, true, false, Overflow::Saturate},
     0x3e,
     0x3e},
    {"float<1,0,fnu>",
     {1, 0, 0, Specials::Fnu, true, false, Overflow::Saturate},
     0,
     0},
};

// Clauses: F3 F11 F12.
TEST(Unsigned, DecodesAndRoundsAtEveryBoundary) {
  Tally tally;
  for (const auto &[name, f, largest, special] : unsignedFormats) {
    bool hasZero = f.specials != Specials::Fnu;
    Numbers numbers;
    for (uint64_t code = 0; code <= largest; ++code) {
      Number value = magnitude(code, f.mantissaBits + 1, f.bias, hasZero);
      numbers.add(value, code);
      tally.check(isValue(f.decode(code), value), 1, name, code);
      for (Rounding mode : modes)
        tally.check(f.encode(f.decode(code), mode), code, name, code, mode);
    }
    EXPECT_EQ(f.maxCode(), largest) << name;
    checkNeighbours(tally, name, f, numbers);
    int precision = f.mantissaBits + 1;
    if (largest >> f.mantissaBits == 0 && hasZero)
      --precision; // subnormal
    checkOverflow(tally, name, f, numbers.entries.back().value, largest,
                  special, precision);
  }
}

// Clauses: F11.
TEST(Unsigned, HasNoNegativeNumbers) {
  for (const auto &[name, f, largest, special] : unsignedFormats) {
    bool isNaN = f.overflow == Overflow::Infinity;
    uint64_t want = isNaN ? f.nanCode() : 0;
    for (Rounding mode : modes) {
      EXPECT_EQ(f.encode(unpackedOf(-0x1p-300L), mode), want) << name;
      EXPECT_EQ(f.encode(unpackedOf(-1), mode), want) << name;
      EXPECT_EQ(f.encode(Unpacked::infinity(true), mode), want) << name;
      EXPECT_EQ(f.encode(Unpacked::zero(true), mode), 0u) << name;
    }
    EXPECT_EQ(neg(f, largest), want) << name;
    EXPECT_EQ(abs(f, largest), largest) << name;
  }
  EXPECT_EQ(neg(unsignedFormats[0].format, 0), 0u);
}

// Clauses: F12.
TEST(Fnu, TakesWhatLiesBelowToItsLeastNumber) {
  constexpr FloatFormat f{
      8, 0, 127, Specials::Fnu, true, false, Overflow::Saturate};
  for (Rounding mode : modes) {
    EXPECT_EQ(f.encode(unpackedOf(0x1p-128L), mode), 0u);
    EXPECT_EQ(f.encode(unpackedOf(0x1p-5000L), mode), 0u);
    EXPECT_EQ(f.encode(Unpacked::zero(), mode), 0u);
  }
  EXPECT_EQ(sub(f, 127, 127, Rounding::NearestEven), 0u);
  EXPECT_EQ(f.encode(Unpacked::infinity(), Rounding::NearestEven), 0xfeu);
  EXPECT_EQ(f.encode(Unpacked::nan(), Rounding::NearestEven), 0xffu);
}

// The first binade has the field 0, the last ends the word.
// Clauses: F12.
TEST(Fnu, MayHaveSixtyFourBits) {
  constexpr FloatFormat f{
      16, 48, 32767, Specials::Fnu, true, false, Overflow::Saturate};
  constexpr auto even = Rounding::NearestEven;
  for (uint64_t code :
       {uint64_t{0}, uint64_t{1}, uint64_t{1} << 47, (uint64_t{1} << 48) - 1,
        uint64_t{1} << 48, f.maxCode()})
    EXPECT_EQ(f.encode(f.decode(code), even), code);
  EXPECT_EQ(f.decode(1).exponent, -32767);
  Unpacked beyond = f.decode(f.maxCode());
  beyond.significand = ~uint64_t{0};
  EXPECT_EQ(f.encode(beyond, even), f.maxCode());
}

} // namespace
