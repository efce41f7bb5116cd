// SPDX-License-Identifier: MIT
//
// What the tests of multiply-add steps share: operands, and the oracle's
// product, rounded, and its sum with that, rounded.

#ifndef NUMERA_TEST_UNIT_STEPOPERANDS_H
#define NUMERA_TEST_UNIT_STEPOPERANDS_H

#include "Sweep.h"
#include "numera/Numerics/MultiplyAdd/Step.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace numera::test {

/// Formats whose steps are at the ends of what a carrier allows, inside and
/// just outside.
inline constexpr Case stepEdges[] = {
    {"tf32", FloatFormat{8, 10, 127}},
    {"float<8,3>", FloatFormat{8, 3, 127}},
    {"float<8,4,bias=126>", FloatFormat{8, 4, 126}},
    {"float<8,4,bias=128>", FloatFormat{8, 4, 128}},
    {"float<6,9>", FloatFormat{6, 9, 31}},
    {"float<3,4>", FloatFormat{3, 4, 3}},
    {"float<3,10,bias=16>", FloatFormat{3, 10, 16}},
    {"float<3,10,bias=30>", FloatFormat{3, 10, 30}},
    {"float<4,10,fn,saturate>",
     FloatFormat{4, 10, 7, Specials::Fn, true, true, Overflow::Saturate}},
    {"bf16,saturate",
     FloatFormat{8, 7, 127, Specials::Ieee, true, true, Overflow::Saturate}},
    {"float<8,23,saturate>",
     FloatFormat{8, 23, 127, Specials::Ieee, true, true, Overflow::Saturate}},
    {"float<8,24>", FloatFormat{8, 24, 127}},
    {"float<5,20>", FloatFormat{5, 20, 15}},
    {"float<11,4>", FloatFormat{11, 4, 1023}},
};

/// The exact steps of a format: codes in, codes out.
class Truth {
public:
  template <typename F>
  explicit Truth(const F &f)
      : oracle(describe(f)), result(oracle.precision()) {}

  uint64_t multiply(uint64_t a, uint64_t b) { return apply(oracle::mul, a, b); }
  uint64_t add(uint64_t c, uint64_t product) {
    return apply(oracle::add, c, product);
  }

private:
  uint64_t apply(oracle::Binary exact, uint64_t x, uint64_t y) {
    exact(result, oracle.value(x, scratchX), oracle.value(y, scratchY));
    return oracle.round(oracle.locate(result), oracle::Mode::NearestEven);
  }
  oracle::Oracle oracle;
  oracle::Result result;
  oracle::Real scratchX, scratchY;
};

/// Calls check(a, b, product, c, sum) for all operands of formats of at most 8
/// bits, a part of the starts at a time; for samples of others.
template <typename F, typename Check>
void forOperands(const F &f, const Check &check) {
  Truth truth(f);
  uint64_t count = f.mask() + 1;
  if (f.width() <= 8) {
    std::vector<uint64_t> products(count * count), sums(count * count);
    for (uint64_t x = 0; x < count; ++x)
      for (uint64_t y = 0; y < count; ++y) {
        products[x * count + y] = truth.multiply(x, y);
        sums[x * count + y] = truth.add(x, y);
      }
    uint64_t usual = isSlow() ? 7 : isLong() ? 61 : 241;
    uint64_t stride = f.width() <= 6 ? 1 : usual;
    uint64_t c = 0;
    for (uint64_t a = 0; a < count; ++a)
      for (uint64_t b = 0; b < count; ++b) {
        uint64_t product = products[a * count + b];
        for (c %= stride; c < count; c += stride)
          check(a, b, product, c, sums[c * count + product]);
      }
    return;
  }
  auto checkOne = [&](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t product = truth.multiply(a, b);
    check(a, b, product, c, truth.add(c, product));
  };
  std::vector<uint64_t> codes = boundaryCodes(f, 1);
  size_t step = isSlow() ? 1 : codes.size() / 20;
  for (size_t i = 0; i < codes.size(); ++i)
    for (size_t j = i % step; j < codes.size(); j += step)
      checkOne(codes[i], codes[j], codes[(i * 31 + j * 7) % codes.size()]);
  Sampler sampler(f.width(), 41);
  for (uint64_t i = 0; i < samples(40'000, 10'000'000); ++i) {
    uint64_t a = sampler.code(), b = sampler.code();
    if (i % 8 == 7)
      std::tie(a, b) = tieOfProduct(f, sampler);
    uint64_t product = truth.multiply(a, b);
    uint64_t c = i & 1 ? sampler.codeNear(product) : sampler.code();
    check(a, b, product, c, truth.add(c, product));
  }
}

template <typename T> struct Operands {
  T a, b, product, c, sum;
};
/// The values of codes; the code of a value.
template <typename T, typename F>
Operands<T> decoded(const F &f, uint64_t a, uint64_t b, uint64_t product,
                    uint64_t c, uint64_t sum) {
  return {decodeTo<T>(f, a), decodeTo<T>(f, b), decodeTo<T>(f, product),
          decodeTo<T>(f, c), decodeTo<T>(f, sum)};
}
template <typename T, typename F> uint64_t codeOf(const F &f, T x) {
  return encodeFrom<T>(f, x, Rounding::NearestEven);
}

/// Those of an exact product, as a block's.
template <typename T> Magnitudes<T> magnitudesOf(T a, T b) {
  T infinity = std::numeric_limits<T>::infinity();
  T magnitude = std::abs(a * b);
  if (std::isnan(magnitude))
    magnitude = infinity;
  return {a == 0 || b == 0 ? infinity : magnitude, magnitude};
}

template <typename T, typename F> bool embeds(const F &f) {
  return Carrier<T>::embeds(f);
}

} // namespace numera::test

#endif // NUMERA_TEST_UNIT_STEPOPERANDS_H
