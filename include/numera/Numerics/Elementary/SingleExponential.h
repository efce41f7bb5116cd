// SPDX-License-Identifier: MIT
//
// A quicker phase for codes of binary32 (Operations/Elementary.h), rounded to
// nearest: binary32 operations only, in twice as many lanes as those of
// FastPath.h. Products and sums are fused where that is written, and only
// there: for CPUs that have the instruction.
//
// e^x after Tang (Table-driven implementation of the exponential function in
// IEEE floating-point arithmetic, ACM TOMS 15, 1989), with
//
//     x = k ln2/32 + r + s,  k = 32 m + j,  |r| < 0.01085 < 2^-6.52
//     e^x = 2^m 2^(j/32) e^(r+s)
//
// 2^(j/32) = head + tail stands in two tables of 32 numbers.
//
// The error of what is rounded, against 2^-m e^x in [0.98, 1.98], in units of
// 2^-40 (|x| <= 87, so |k| <= 4017; u is 2^-24):
//
//   r     exact: the product with ln2High, 21 bits, is a multiple of 2^-26, and
//         x of 2^-30 where k is not 0; the difference has at most 24 bits
//   s     |s| < 2^-22, and ln2Low off by 2^-58: 2^-46, or          0.02
//   small r^5/120 is missing: below 2^-39.5                        1.5
//         r^2 and its factor near 1/2 are rounded: less than
//         2^-14.05 (2u + 2^-27), and below 2^-14, so is their sum   10
//         all this times head < 1.958                              22.6
//         tail times small, missing in rest: below 2^-38            4
//   rest  three sums below 2^-13 are rounded, 2^-38 each           12
//         and one more, with the margin                             4
//   sum   Fast2Sum (Dekker, 1971): rest has what sum lost            0
//
// together less than 43, and margin is 64. So the exact value lies between what
// `low` and `high` are rounded from. (What is missing of s e^r is below 2^-43.)

#ifndef NUMERA_NUMERICS_ELEMENTARY_SINGLEEXPONENTIAL_H
#define NUMERA_NUMERICS_ELEMENTARY_SINGLEEXPONENTIAL_H

#include <stdint.h>

namespace numera::single {

/// The codes that both ends of an interval round to.
struct Ends {
  uint32_t low, high;
};

namespace detail {
inline constexpr float powers[32] = {
    0x1p+0f,        0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f,
    0x1.172b84p+0f, 0x1.1d4874p+0f, 0x1.2387a6p+0f, 0x1.29e9ep+0f,
    0x1.306fep+0f,  0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f,
    0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f, 0x1.6247ecp+0f,
    0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f,
    0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f,
    0x1.ae89fap+0f, 0x1.b7f77p+0f,  0x1.c199bep+0f, 0x1.cb720ep+0f,
    0x1.d5818ep+0f, 0x1.dfc974p+0f, 0x1.ea4afap+0f, 0x1.f50766p+0f};
/// What the powers of 2 are more than those.
inline constexpr float tails[32] = {
    0x0p+0f,          -0x1.9d4f52p-25f, 0x1.9f3122p-25f,  -0x1.fdb496p-25f,
    -0x1.c15742p-27f, -0x1.d2e8cap-25f, 0x1.ceac48p-25f,  -0x1.5c0424p-25f,
    0x1.4636e2p-25f,  -0x1.18aac6p-25f, 0x1.824684p-25f,  0x1.8624b4p-30f,
    -0x1.593abcp-25f, -0x1.2c561p-25f,  -0x1.5bd5ecp-27f, -0x1.f8b55p-25f,
    0x1.9fcef4p-26f,  0x1.1d8beep-25f,  -0x1.829fdp-25f,  -0x1.accc7cp-26f,
    0x1.15506ep-27f,  -0x1.e64744p-25f, 0x1.51f848p-27f,  -0x1.b83b54p-25f,
    -0x1.a94b14p-26f, -0x1.a09438p-25f, -0x1.3d56b2p-27f, -0x1.8837ccp-27f,
    -0x1.822dbcp-27f, -0x1.908c94p-25f, 0x1.52486cp-27f,  -0x1.246ebp-26f};
} // namespace detail

/// For |x| <= 87: all results are normal.
inline constexpr float expMost = 87;
/// Below, e^x is less than 2^-150, and rounds to 0.
inline constexpr float expVanishes = -104;

inline Ends exp(float x) {
#pragma clang fp contract(off)
  constexpr float inverse = 0x1.715476p+5f; // 32 / ln 2
  constexpr float ln2High = 0x1.62e43p-6f, ln2Low = -0x1.05c61p-34f;
  constexpr float shifter = 0x1.8p23f, margin = 0x1p-34f;
  // In between, k stands in the low bits.
  float shifted = __builtin_fmaf(x, inverse, shifter);
  uint32_t index = __builtin_bit_cast(uint32_t, shifted);
  float k = shifted - shifter;
  float r = __builtin_fmaf(-k, ln2High, x), s = -k * ln2Low;
  float head = detail::powers[index & 31], tail = detail::tails[index & 31];
  // e^(r+s) - 1 - r
  float factor = __builtin_fmaf(r, 1.0f / 24, 1.0f / 6);
  factor = __builtin_fmaf(r, factor, 0.5f);
  float square = r * r;
  float small = __builtin_fmaf(s, __builtin_fmaf(square, 0.5f, r), s);
  small = __builtin_fmaf(square, factor, small);
  float product = head * r;
  float sum = head + product;
  float rest = __builtin_fmaf(head, small, __builtin_fmaf(tail, r, tail));
  rest = rest + __builtin_fmaf(head, r, -product);
  rest = rest + ((head - sum) + product);
  float low = sum + (rest - margin), high = sum + (rest + margin);
  uint32_t exponent = (index & ~31u) << 18; // m, in its place
  return {__builtin_bit_cast(uint32_t, low) + exponent,
          __builtin_bit_cast(uint32_t, high) + exponent};
}

} // namespace numera::single

#endif // NUMERA_NUMERICS_ELEMENTARY_SINGLEEXPONENTIAL_H
