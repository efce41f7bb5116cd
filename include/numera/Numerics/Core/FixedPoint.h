// SPDX-License-Identifier: MIT
//
// 128-bit fixed-point fractions, in units of 2^-128: their products, and power
// series in them with coefficients made at compile time. What elementary
// functions are evaluated with where the range is known.

#ifndef NUMERA_NUMERICS_CORE_FIXEDPOINT_H
#define NUMERA_NUMERICS_CORE_FIXEDPOINT_H

#include "numera/Numerics/Core/Unpacked.h"

namespace numera::exact {

constexpr int countLeadingZeros(uint128_t value) {
  auto high = static_cast<uint64_t>(value >> 64);
  return high ? __builtin_clzll(high)
              : 64 + __builtin_clzll(static_cast<uint64_t>(value));
}

constexpr uint128_t join(uint64_t high, uint64_t low) {
  return static_cast<uint128_t>(high) << 64 | low;
}

/// A 256-bit product.
struct Product {
  uint128_t high;
  uint128_t low;
};

constexpr Product multiplyFull(uint128_t a, uint128_t b) {
  auto a0 = static_cast<uint64_t>(a), a1 = static_cast<uint64_t>(a >> 64);
  auto b0 = static_cast<uint64_t>(b), b1 = static_cast<uint64_t>(b >> 64);
  uint128_t low = static_cast<uint128_t>(a0) * b0;
  uint128_t cross0 = static_cast<uint128_t>(a0) * b1;
  uint128_t cross1 = static_cast<uint128_t>(a1) * b0;
  uint128_t middle = (low >> 64) + static_cast<uint64_t>(cross0) +
                     static_cast<uint64_t>(cross1);
  uint128_t high = static_cast<uint128_t>(a1) * b1 + (cross0 >> 64) +
                   (cross1 >> 64) + (middle >> 64);
  return {high, middle << 64 | static_cast<uint64_t>(low)};
}

/// floor(a * b / 2^128): the product of two fixed-point fractions.
constexpr uint128_t multiplyHigh(uint128_t a, uint128_t b) {
  return multiplyFull(a, b).high;
}

/// 2^254 / significand for a significand with its leading one at bit 127:
/// 1/d, 1/2 <= d < 1, in units of 2^-126. Newton's iteration doubles the 30
/// bits of the first estimate twice; adding a small correction, rather than
/// multiplying by 2 - d r, leaves a relative error below 2^-123.
constexpr uint128_t reciprocal(uint128_t significand) {
  uint64_t estimate = ~uint64_t{0} / static_cast<uint64_t>(significand >> 96);
  uint128_t r = static_cast<uint128_t>(estimate) << 94;
  for (int step = 0; step < 2; ++step) {
    uint128_t product = multiplyHigh(significand, r); // near 2^126
    bool below = product < uint128_t{1} << 126;
    uint128_t defect = below ? (uint128_t{1} << 126) - product
                             : product - (uint128_t{1} << 126);
    uint128_t correction = multiplyHigh(r, defect << 2);
    r = below ? r + correction : r - correction;
  }
  return r;
}

/// Sum over k of (±1)^k coefficients[k] u^k by Horner's rule in units of
/// 2^-128, where all partial sums stay in [0, 1). Each step truncates once and
/// each coefficient is truncated: the error is below 2 / (1 - u) units.
template <int N>
constexpr uint128_t horner(const uint128_t (&coefficients)[N], uint128_t u,
                           bool alternating) {
  uint128_t sum = coefficients[N - 1];
  for (int k = N - 2; k >= 0; --k) {
    uint128_t product = multiplyHigh(u, sum);
    sum = alternating ? coefficients[k] - product : coefficients[k] + product;
  }
  return sum;
}

/// N coefficients of a series, generated at compile time.
template <int N> struct Series {
  uint128_t coefficients[N];
};

/// floor(2^128 / divisor) for a divisor that is no power of two, else one less.
consteval uint128_t reciprocalOf(uint128_t divisor) {
  return ~uint128_t{0} / divisor;
}

consteval uint128_t factorial(int n) {
  uint128_t product = 1; // 34! < 2^128
  for (int k = 2; k <= n; ++k)
    product *= static_cast<uint128_t>(k);
  return product;
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_CORE_FIXEDPOINT_H
