// SPDX-License-Identifier: MIT
//
// Elementary.h gives the bits of the exact form alone, whichever phase decides:
// every input of 16-bit formats, random ones of f32.

#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Operations/Convert.h"
#include "numera/Numerics/Operations/Elementary.h"
#include "gtest/gtest.h"
#include <random>

using namespace numera;

namespace {

struct Function {
  const char *name;
  double (*approximate)(double);
  FastPathRange range;
  Unpacked (*exact)(const Unpacked &);
};

const Function functions[] = {
#define TWO_PHASES_Ziv(name)                                                   \
  {#name, fast::name, fast::name##Range, exact::name},
#define TWO_PHASES_Direct(name)
#define TWO_PHASES_Exact(name)
#define TWO_PHASES_Choice(name)
#define TWO_PHASES_Test(name)
#define TWO_PHASES_Cast(name)
#define TWO_PHASES_Step(name)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  TWO_PHASES_##form(name)
#include "numera/Numerics/Core/Operations.def"
};

const Rounding modes[] = {Rounding::NearestEven, Rounding::NearestAway,
                          Rounding::NearestZero, Rounding::TowardZero,
                          Rounding::Up,          Rounding::Down,
                          Rounding::ToOdd};

template <typename F>
void expectTheExactBits(const F &f, uint64_t code, Rounding mode) {
  for (const Function &function : functions) {
    uint64_t exactly = f.encode(function.exact(f.decode(code)), mode);
    ASSERT_EQ(elementary(
                  f, code, function.approximate, function.range,
                  [&](double value) { return encodeFrom(f, value, mode); },
                  [&](uint64_t) { return exactly; }),
              exactly)
        << function.name << " of code " << code << ", mode "
        << static_cast<int>(mode);
  }
}

template <typename F> void expectTheExactBitsOfEveryCode(const F &f) {
  for (uint64_t code = 0; code <= f.mask(); ++code) {
    expectTheExactBits(f, code, Rounding::NearestEven);
    expectTheExactBits(f, code, modes[code % std::size(modes)]);
  }
}

// Clauses: E4.
TEST(TwoPhase, GivesTheExactBitsOfEveryInputOfF16) {
  expectTheExactBitsOfEveryCode(FloatFormat{5, 10, 15});
}
TEST(TwoPhase, GivesTheExactBitsOfEveryInputOfBF16) {
  expectTheExactBitsOfEveryCode(FloatFormat{8, 7, 127});
}
TEST(TwoPhase, GivesTheExactBitsOfEveryInputOfF8E4M3FN) {
  expectTheExactBitsOfEveryCode(
      FloatFormat{4, 3, 7, Specials::Fn, true, true, Overflow::Saturate});
}
TEST(TwoPhase, GivesTheExactBitsOfEveryInputOfPosit16) {
  expectTheExactBitsOfEveryCode(PositFormat{{16}, 2});
}

TEST(TwoPhase, GivesTheExactBitsOfF32AndPosit32) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    Rounding mode = modes[i % std::size(modes)];
    // Exponents around 0 half of the time, where the functions are lively.
    uint64_t lively = (bits & 0x80ff'ffff) | (112 + (bits >> 40) % 30) << 23;
    expectTheExactBits(binary32, i % 2 ? lively : bits & 0xffff'ffff, mode);
    expectTheExactBits(PositFormat{{32}, 2}, bits & 0xffff'ffff, mode);
  }
}

} // namespace
