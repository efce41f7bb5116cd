// SPDX-License-Identifier: MIT
//
// The cube root of an Unpacked: 96 bits of it, exactly cut. A first guess in
// f64 becomes 100 bits by one step of Newton's; comparing cubes of integers
// settles the last one, and whether anything follows.

#ifndef NUMERA_NUMERICS_EXACT_CUBEROOT_H
#define NUMERA_NUMERICS_EXACT_CUBEROOT_H

#include "numera/Numerics/Core/Wide.h"

namespace numera::exact {

namespace detail {

/// The cube root of 1/8 <= m <= 1 with a relative error below 2^-50. The
/// parabola is off by at most 1.6 %; each of Halley's steps cubes that and
/// takes 2/3 of it: 2^-18, then 2^-55 and what f64 rounds.
constexpr double cubeRootGuess(double m) {
#pragma clang fp contract(off)
  double y =
      0.38125132032025357 + m * (1.0723022484281485 - m * 0.46946111175364487);
  // No loop: fast::cbrt is to vectorise.
  double cube = y * y * y;
  y = y * (cube + 2 * m) / (2 * cube + m);
  cube = y * y * y;
  return y * (cube + 2 * m) / (2 * cube + m);
}

/// How root^3 compares with radicand * 2^192: negative, 0 or positive. `root`
/// has at most 97 bits.
constexpr int compareCube(uint128_t root, uint128_t radicand) {
  Product square = multiplyFull(root, root);
  Product low = multiplyFull(square.low, root);
  Product high = multiplyFull(square.high, root); // high.high is below 2^35
  uint128_t middle = high.low + low.high;
  uint128_t top = high.high + (middle < high.low ? 1 : 0);
  uint128_t above = top << 64 | middle >> 64; // the bits from 2^192 on
  if (above != radicand)
    return above > radicand ? 1 : -1;
  return static_cast<uint64_t>(middle) != 0 || low.low != 0;
}

} // namespace detail

/// The real cube root, of negative numbers too; of zeros and infinities they
/// themselves. Exact for cubes, irrational elsewhere.
constexpr Unpacked cbrt(const Unpacked &x) {
  if (!x.isFinite())
    return x;
  // |x| = m * 2^(3 third) with 1/8 <= m < 1; m * 2^66 is an integer.
  int32_t third = (x.exponent + 3) / 3;
  third -= 3 * third > x.exponent + 3 ? 1 : 0;
  int32_t shift = x.exponent + 3 - 3 * third; // 0 to 2
  Wide m{false, shift - 3, join(x.significand, 0)};
  double guess =
      detail::cubeRootGuess(static_cast<double>(x.significand) * 0x1p-66 *
                            static_cast<double>(1 << shift));
  Wide y = Wide::fromInteger(static_cast<int64_t>(guess * 0x1p60)).scaled(-60);
  Wide square = y * y;
  y = y + (m - square * y) / (square + square.scaled(1));
  // The root is below 1, and has 96 bits: its cube and m in units of 2^-288.
  uint128_t root = y.significand >> 32;
  uint128_t radicand = static_cast<uint128_t>(x.significand) << (30 + shift);
  int order = detail::compareCube(root, radicand);
  if (order > 0)
    order = detail::compareCube(--root, radicand);
  else if (order < 0 && detail::compareCube(root + 1, radicand) <= 0)
    order = detail::compareCube(++root, radicand);
  return Unpacked::fromWide(x.negative, root, third - 96, order != 0);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_CUBEROOT_H
