// SPDX-License-Identifier: MIT
//
// The short path of StochasticCodes.h has the bits of the exact one, which
// StochasticTest.cpp holds against the oracle: numbers beside every code of 16
// bits, all magnitudes of the carrier, every number of random bits.

#include "numera/Numerics/Carrier/StochasticCodes.h"
#include "numera/Numerics/Operations/Convert.h"

#include "Tally.h"

#include <random>

namespace numera {
namespace {

template <typename T> class Comparison {
public:
  template <typename F> void beside(const F &f, uint64_t code) {
    uint64_t bits = Carrier<T>::format.encode(f.decode(code), Rounding::Down);
    check(f, bits);
    for (int i = 0; i < 3; ++i) {
      uint64_t distance = random() >> (63 - random() % 24);
      check(f, i % 2 ? bits + distance : bits - distance);
    }
  }
  template <typename F> void anywhere(const F &f) { check(f, random()); }

  ~Comparison() { EXPECT_GT(decided, 0u); }

private:
  template <typename F> void check(const F &f, uint64_t bits) {
    T x = Carrier<T>::value(static_cast<typename Carrier<T>::Word>(bits));
    RoundingMode mode(Rounding::Stochastic,
                      1 + static_cast<int32_t>(random() % 32),
                      static_cast<uint32_t>(random()));
    uint64_t code = 0;
    bool isShort = StochasticCodes<T>::encode(f, x, mode, code);
    decided += isShort;
    if (isShort)
      tally.check(code, cast(f, Carrier<T>::format, Carrier<T>::bits(x), mode),
                  "code of ", Carrier<T>::bits(x), mode.randomBits,
                  mode.random);
  }

  std::mt19937_64 random{41};
  test::Tally tally;
  uint64_t decided = 0;
};

template <typename T, typename F> void compare(const F &f) {
  static_assert(sizeof(T) >= 4);
  ASSERT_TRUE(StochasticCodes<T>::encodes(f));
  Comparison<T> comparison;
  uint64_t step = f.mask() > 0xffff ? f.mask() / 0xfff1 : 1;
  for (uint64_t i = 0; i <= f.mask() / step; ++i)
    comparison.beside(f, i * step);
  for (uint64_t i = 0; i < test::samples(100'000); ++i)
    comparison.anywhere(f);
}

TEST(StochasticCodes, PositsHaveTheExactBits) {
  for (int32_t bits : {8, 12, 16, 24, 28, 31, 32})
    for (int32_t es : {0, 1, 2, 3, 4}) {
      compare<float>(PositFormat{{bits}, es});
      compare<double>(PositFormat{{bits}, es});
    }
  for (int32_t es : {0, 1, 2, 3, 4})
    compare<float>(PositFormat{{es + 3}, es});
  compare<double>(PositFormat{{48}, 2});
  compare<double>(PositFormat{{64}, 2});
}
TEST(StochasticCodes, TakumsHaveTheExactBits) {
  for (int32_t bits : {6, 7, 8, 10, 12, 13, 14, 16, 20, 27, 28, 32}) {
    compare<float>(TakumFormat{bits});
    compare<double>(TakumFormat{bits});
  }
  compare<double>(TakumFormat{64});
}
TEST(StochasticCodes, FixedPointHasTheExactBits) {
  for (FixedFormat f : {FixedFormat{0, 0},
                        {4, 11},
                        {3, 4},
                        {0, 7},
                        {7, 0},
                        {8, 23},
                        {0, 31},
                        {31, 0},
                        {4, 12, false},
                        {0, 31, false},
                        {8, 0, false}}) {
    compare<float>(f);
    compare<double>(f);
  }
}

} // namespace
} // namespace numera
