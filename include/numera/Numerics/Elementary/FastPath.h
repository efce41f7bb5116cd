// SPDX-License-Identifier: MIT
//
// The quick phase of elementary functions: IEEE binary64 operations only,
// without branches or tables, so that loops over them vectorise. Where nothing
// hangs on a rounding, a product and a sum may be contracted to a fused
// multiply-add, which has one rounding less: y may differ from machine to
// machine, but no result does. Every function returns y with
//
//     |y - f(x)| <= relativeError * |f(x)|
//
// in the range it states. A caller rounds y * (1 - relativeError) and
// y * (1 + relativeError) to its format; if the codes differ, it takes the
// form in numera::exact. Outside the range the result means nothing.

#ifndef NUMERA_NUMERICS_ELEMENTARY_FASTPATH_H
#define NUMERA_NUMERICS_ELEMENTARY_FASTPATH_H

#include "numera/Numerics/Exact/CubeRoot.h"
#include <stdint.h>

/// In front of what may be contracted. On GPUs nothing is: PTX names the
/// rounding of every operation.
#ifdef __NVPTX__
#define NUMERA_MAY_CONTRACT _Pragma("clang fp contract(off)")
#else
#define NUMERA_MAY_CONTRACT _Pragma("clang fp contract(fast)")
#endif

namespace numera::fast {

/// Covers every function here. The analyses below end under 2^-49; FastPathTest
/// measures under 2^-50 against numera::exact. The factor of 8 leaves room for
/// the two roundings of the products that a caller forms.
inline constexpr double relativeError = 0x1p-46;

namespace detail {

inline constexpr double inverseLn2 = 0x1.71547652b82fep+0;
/// ln 2 cut to 42 bits: its product with an integer below 2^11 is exact.
inline constexpr double ln2High = 0x1.62e42fefa38p-1;
inline constexpr double ln2Low = 0x1.ef35793c7673p-45;
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;
/// Added and subtracted, it rounds to an integer; in between, that integer
/// stands in the low bits.
inline constexpr double shifter = 0x1.8p52;

/// value to the nearest integer, and 2^ that integer.
struct RoundedExponent {
  double integer;
  double power;
};

/// For |value| < 1022.
constexpr RoundedExponent roundExponent(double value) {
  NUMERA_MAY_CONTRACT
  double shifted = value + shifter;
  uint64_t low = __builtin_bit_cast(uint64_t, shifted);
  uint64_t biased = (low << 52) + 0x3ff0'0000'0000'0000;
  return {shifted - shifter, __builtin_bit_cast(double, biased)};
}

/// e^r - 1 for |r| <= 0.3467 by Taylor's series to r^13/13!; the first omitted
/// term is below 2^-57 r. r times a factor in (0.84, 1.2) that is off by at
/// most three roundings: relative error below 2^-50.3. Even and odd powers are
/// summed side by side: a processor waits for half as many results.
constexpr double expm1Reduced(double r) {
  NUMERA_MAY_CONTRACT
  double square = r * r;
  double even = 1.0 / 6227020800;
  even = even * square + 1.0 / 39916800;
  even = even * square + 1.0 / 362880;
  even = even * square + 1.0 / 5040;
  even = even * square + 1.0 / 120;
  even = even * square + 1.0 / 6;
  even = even * square + 1.0;
  double odd = 1.0 / 479001600;
  odd = odd * square + 1.0 / 3628800;
  odd = odd * square + 1.0 / 40320;
  odd = odd * square + 1.0 / 720;
  odd = odd * square + 1.0 / 24;
  odd = odd * square + 0.5;
  return (even + odd * r) * r;
}

/// x - integer * ln 2; the first difference is exact.
constexpr double reduceByLn2(double x, double integer) {
  NUMERA_MAY_CONTRACT
  return (x - integer * ln2High) - integer * ln2Low;
}

/// x = (1 + f) * 2^exponent with 1 + f between sqrt(1/2) and sqrt(2).
struct SplitLogarithm {
  double exponent;
  double f;
};

/// For a positive normal x. Subtracting the code of sqrt(1/2) moves the change
/// of the exponent field there.
constexpr SplitLogarithm splitAroundOne(double x) {
  constexpr uint64_t sqrtHalf = 0x3fe6'a09e'0000'0000;
  uint64_t code = __builtin_bit_cast(uint64_t, x);
  uint64_t moved = code - sqrtHalf;
  int64_t exponent = static_cast<int64_t>(moved) >> 52;
  uint64_t fraction = (moved & 0x000f'ffff'ffff'ffff) + sqrtHalf;
  // The integer through the shifter: conversions of 64 bits do not vectorise.
  double shifted =
      __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, shifter) +
                                     static_cast<uint64_t>(exponent));
  return {shifted - shifter, __builtin_bit_cast(double, fraction) - 1.0};
}

/// log(1 + f) = 2 atanh s, s = f / (2 + f), |s| < 0.1716, to s^23; the first
/// omitted term is below 2^-61 s. Three roundings in s and two in the factor
/// near 2: relative error below 2^-50.4.
constexpr double log1pReduced(double f) {
  NUMERA_MAY_CONTRACT
  double s = f / (2.0 + f);
  double square = s * s;
  double sum = 2.0 / 23;
  sum = sum * square + 2.0 / 21;
  sum = sum * square + 2.0 / 19;
  sum = sum * square + 2.0 / 17;
  sum = sum * square + 2.0 / 15;
  sum = sum * square + 2.0 / 13;
  sum = sum * square + 2.0 / 11;
  sum = sum * square + 2.0 / 9;
  sum = sum * square + 2.0 / 7;
  sum = sum * square + 2.0 / 5;
  sum = sum * square + 2.0 / 3;
  sum = sum * square + 2.0;
  return sum * s;
}

/// e^x - 1 for |x| <= 700, with full relative accuracy near 0. 2^k - 1 and
/// 2^k t, |t| < 0.42, cancel at most to 0.41 (k = 1) or 0.29 (k = -1).
constexpr double expm1(double x) {
  NUMERA_MAY_CONTRACT
  RoundedExponent k = roundExponent(x * inverseLn2);
  double t = expm1Reduced(reduceByLn2(x, k.integer));
  return (k.power - 1.0) + k.power * t;
}

constexpr double atMost(double value, double bound) {
  return value < bound ? value : bound;
}

} // namespace detail

/// e^x for |x| <= 700.
constexpr double exp(double x) {
  NUMERA_MAY_CONTRACT
  detail::RoundedExponent k = detail::roundExponent(x * detail::inverseLn2);
  double t = detail::expm1Reduced(detail::reduceByLn2(x, k.integer));
  return (1.0 + t) * k.power;
}

/// 2^x for |x| <= 1020.
constexpr double exp2(double x) {
  NUMERA_MAY_CONTRACT
  detail::RoundedExponent k = detail::roundExponent(x);
  double t = detail::expm1Reduced((x - k.integer) * detail::ln2);
  return (1.0 + t) * k.power;
}

/// e^x - 1 for |x| <= 700 and x = 0 or |x| >= 2^-1000.
constexpr double expm1(double x) { return detail::expm1(x); }

/// ln x for positive normal x. k ln 2 and log(1 + f), at most half of it,
/// cancel one bit.
constexpr double log(double x) {
  NUMERA_MAY_CONTRACT
  detail::SplitLogarithm split = detail::splitAroundOne(x);
  double small = detail::log1pReduced(split.f);
  return split.exponent * detail::ln2High +
         (split.exponent * detail::ln2Low + small);
}

/// log to base 2 for positive normal x.
constexpr double log2(double x) {
  NUMERA_MAY_CONTRACT
  detail::SplitLogarithm split = detail::splitAroundOne(x);
  return split.exponent + detail::log1pReduced(split.f) * detail::inverseLn2;
}

/// log to base 10 for positive normal x; one bit cancels, as in log.
constexpr double log10(double x) {
  NUMERA_MAY_CONTRACT
  constexpr double log10Of2High = 0x1.34413509f7p-2; // 42 bits
  constexpr double log10Of2Low = 0x1.3fde623e2566bp-43;
  constexpr double log10OfE = 0x1.bcb7b1526e50ep-2;
  detail::SplitLogarithm split = detail::splitAroundOne(x);
  double small = detail::log1pReduced(split.f) * log10OfE;
  return split.exponent * log10Of2High + (split.exponent * log10Of2Low + small);
}

/// ln(1 + x) for -1 < x and x = 0 or |x| >= 2^-1000. What 1 + x loses of x is
/// added, over 1 + x, where it is not nothing beside the logarithm.
constexpr double log1p(double x) {
#pragma clang fp contract(off)
  double sum = 1.0 + x;
  double lost = x - (sum - 1.0);
  return log(sum) + (x < 0x1p53 ? lost / sum : 0.0);
}

/// The cube root for 0 or |x| >= 2^-1000: of a number between 1 and 8, whose
/// eighth detail::cubeRootGuess takes.
constexpr double cbrt(double x) {
#pragma clang fp contract(off)
  double magnitude = x < 0 ? -x : x;
  uint64_t code = __builtin_bit_cast(uint64_t, magnitude);
  // A third of the exponent, rounded down: (e - 1)/3 to the nearest.
  double exponent =
      __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, detail::shifter) +
                                     (code >> 52)) -
      detail::shifter - 1024.0;
  double shifted = exponent * (1.0 / 3) + detail::shifter;
  uint64_t third = __builtin_bit_cast(uint64_t, shifted);
  double scaled =
      __builtin_bit_cast(double, code - ((third << 52) + (third << 53)));
  double root = exact::detail::cubeRootGuess(0.125 * scaled) * 2.0;
  uint64_t result = __builtin_bit_cast(uint64_t, root) + (third << 52);
  double value = __builtin_bit_cast(double, result);
  value = magnitude == 0 ? 0.0 : value;
  return x < 0 ? -value : value;
}

/// 1 / sqrt(x) for positive normal x: two roundings.
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

/// tanh x for every finite x that is 0 or |x| >= 2^-1000. With
/// t = e^2|x| - 1 it is t / (t + 2); from 25 on it is 1 within 2^-70.
constexpr double tanh(double x) {
  NUMERA_MAY_CONTRACT
  double t = detail::expm1(2.0 * detail::atMost(x < 0 ? -x : x, 25.0));
  double magnitude = t / (t + 2.0);
  return x < 0 ? -magnitude : magnitude;
}

/// 1 / (1 + e^-x) for x >= -700; from 100 on it is 1 within 2^-140.
constexpr double sigmoid(double x) {
  NUMERA_MAY_CONTRACT
  return 1.0 / (1.0 + exp(-detail::atMost(x, 100.0)));
}

} // namespace numera::fast

#endif // NUMERA_NUMERICS_ELEMENTARY_FASTPATH_H
