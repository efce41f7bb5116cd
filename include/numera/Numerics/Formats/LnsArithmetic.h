// SPDX-License-Identifier: MIT
//
// Arithmetic of logarithmic numbers: products, quotients and roots are sums,
// differences and halves of logarithms; a sum takes log2(1 ± 2^-d), d the
// distance of the logarithms, in f64 where that decides and in Wide elsewhere.
// Included by Lns.h.

#ifndef NUMERA_NUMERICS_FORMATS_LNSARITHMETIC_H
#define NUMERA_NUMERICS_FORMATS_LNSARITHMETIC_H

#include "numera/Numerics/Elementary/FastPath.h"
#include "numera/Numerics/Formats/Lns.h"

namespace numera {

/// The quick path: nearest-even through f64.
namespace lns {

/// A number of steps rounded to nearest; not `decided` where the error of the
/// computation leaves two.
struct NearestStep {
  int64_t step;
  bool decided;
};

/// Codes of at most 41 bits: distances and sums are integers of f64's shifter.
constexpr bool isQuick(const LnsFormat &f, RoundingMode mode) {
  return mode == Rounding::NearestEven && f.fraction <= 28 &&
         !__builtin_is_constant_evaluated();
}
/// The same for casts.
constexpr bool castsQuickly(const LnsFormat &f, RoundingMode mode) {
  return isQuick(f, Rounding::NearestEven) &&
         (mode == Rounding::NearestEven || mode == Rounding::Stochastic);
}
/// Up to here every distance is decided (LnsTest tries all).
constexpr bool isAlwaysDecided(const LnsFormat &f) { return f.fraction <= 16; }

constexpr double toDouble(int64_t value) {
  constexpr double shifter = fast::detail::shifter;
  auto bits = static_cast<int64_t>(__builtin_bit_cast(uint64_t, shifter));
  return __builtin_bit_cast(double, bits + value) - shifter;
}
constexpr double powerOfTwo(int32_t exponent) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(1023 + exponent)
                                        << 52);
}

/// The integer nearest to `steps`, which is off by less than `error`. A tie is
/// impossible: what is not an integer is irrational.
constexpr NearestStep nearestStep(double steps, double error) {
#pragma clang fp contract(off)
  double low = (steps - error) + fast::detail::shifter;
  double high = (steps + error) + fast::detail::shifter;
  auto zero =
      static_cast<int64_t>(__builtin_bit_cast(uint64_t, fast::detail::shifter));
  return {static_cast<int64_t>(__builtin_bit_cast(uint64_t, low)) - zero,
          low == high};
}

/// One of the two integers next to `steps`, which is off by less than `error`:
/// the upper one if the draw is below the first N bits of the fraction. That
/// never falls where `steps` grows, so that both ends decide for all between.
constexpr NearestStep stepByChance(double steps, double error,
                                   RoundingMode mode) {
#pragma clang fp contract(off)
  constexpr double shifter = fast::detail::shifter;
  int32_t count = mode.randomBits;
  // An integer r is below the floor of v if r + 1 is not above v.
  double least = toDouble(mode.random & ~uint32_t{0} >> (32 - count)) + 1;
  double share = least * powerOfTwo(-count);
  auto step = [&](double x) {
    double integer = (x + shifter) - shifter;
    integer = integer > x ? integer - 1 : integer;
    return x - integer >= share ? integer + 1 : integer;
  };
  double low = step(steps - error), high = step(steps + error);
  auto zero = static_cast<int64_t>(__builtin_bit_cast(uint64_t, shifter));
  auto shifted =
      static_cast<int64_t>(__builtin_bit_cast(uint64_t, low + shifter));
  return {shifted - zero, low == high};
}

/// log2(1 ± 2^-d) for d = distance / 2^fraction. Of the power 2^-d and of
/// 1 - 2^-d = -expm1(-d ln 2) the relative error is below 2^-45, of the
/// logarithm, which is below 30, 2^-46 of it and twice the former: together
/// below 2^-41. For short fractions the difference is near enough as it
/// stands: it is above 2^-(fraction + 0.6), with an error just above 2^-46, of
/// which the logarithm makes 2^(fraction - 44.7).
constexpr NearestStep logarithmOfSum(int64_t distance, int32_t fraction,
                                     bool isDifference) {
#pragma clang fp contract(off)
  double d =
      fast::detail::atMost(toDouble(distance) * powerOfTwo(-fraction), 1000.0);
  double argument, error = powerOfTwo(fraction - 41);
  if (fraction <= 10) {
    double power = fast::exp2(-d);
    argument = 1.0 + (isDifference ? -power : power);
    error += isDifference ? powerOfTwo(2 * fraction - 44) : 0.0;
  } else {
    argument = isDifference ? -fast::expm1(-d * fast::detail::ln2)
                            : 1.0 + fast::exp2(-d);
  }
  return nearestStep(fast::log2(argument) * powerOfTwo(fraction), error);
}

/// The code of a logarithm that is rounded, saturated at both ends.
constexpr uint64_t saturated(const LnsFormat &f, bool negative, int64_t k) {
  k = k < -f.largest() ? -f.largest() : k;
  return f.codeOf(negative, k > f.largest() ? f.largest() : k);
}

/// A sum by the path that always decides.
[[gnu::noinline]] constexpr uint64_t
exactSum(const LnsFormat &f, bool negative, exact::int128_t high,
         exact::int128_t low, bool isDifference, RoundingMode mode) {
  if (high == low && isDifference)
    return f.zeroCode();
  exact::Place place{high + (exact::int128_t{1} << f.fraction), 0, false};
  if (high != low)
    place = exact::placeOfSum(high, low, f.fraction, isDifference);
  return f.encode(negative, place, mode);
}

/// ±2^a ± 2^b, logarithms in steps; `a` may be that of a product.
constexpr uint64_t sum(const LnsFormat &f, bool aNegative, int64_t a,
                       bool bNegative, int64_t b, RoundingMode mode) {
  int64_t high = a > b ? a : b, low = a > b ? b : a;
  bool negative = a > b ? aNegative : bNegative;
  bool isDifference = aNegative != bNegative;
  if (isQuick(f, mode)) {
    NearestStep step = logarithmOfSum(high - low, f.fraction, isDifference);
    uint64_t code = saturated(f, negative, high + step.step);
    code = isDifference && high == low ? f.zeroCode() : code;
    if (isAlwaysDecided(f) || step.decided)
      return code;
  }
  return exactSum(f, negative, high, low, isDifference, mode);
}

} // namespace lns

constexpr uint64_t LnsFormat::add(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  bool special = isSpecial(x) || isSpecial(y);
  uint64_t other = isSpecial(x) ? y : x;
  other = isNaN(x) || isNaN(y) ? nanCode() : other;
  if (!lns::isQuick(*this, mode) && special)
    return other;
  uint64_t sum = lns::sum(*this, isNegative(x), logarithm(x), isNegative(y),
                          logarithm(y), mode);
  return special ? other : sum;
}
constexpr uint64_t LnsFormat::sub(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  return add(x, negate(y), mode);
}

/// The logarithm of the product is exact: it may overflow, never round.
constexpr uint64_t LnsFormat::mul(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  uint64_t special = isNaN(x) || isNaN(y) ? nanCode() : zeroCode();
  exact::Place place{logarithm(x) + logarithm(y), 0, false};
  uint64_t product = encode(isNegative(x) != isNegative(y), place, mode);
  return isSpecial(x) || isSpecial(y) ? special : product;
}
constexpr uint64_t LnsFormat::div(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  uint64_t special = isNaN(x) || isSpecial(y) ? nanCode() : zeroCode();
  exact::Place place{logarithm(x) - logarithm(y), 0, false};
  uint64_t quotient = encode(isNegative(x) != isNegative(y), place, mode);
  return isSpecial(x) || isSpecial(y) ? special : quotient;
}

constexpr uint64_t LnsFormat::fma(uint64_t x, uint64_t y, uint64_t z,
                                  RoundingMode mode) const {
  bool special = isSpecial(x) || isSpecial(y) || isSpecial(z);
  uint64_t other = isSpecial(x) || isSpecial(y) ? z : mul(x, y, mode);
  other = isNaN(x) || isNaN(y) || isNaN(z) ? nanCode() : other;
  if (!lns::isQuick(*this, mode) && special)
    return other;
  uint64_t sum =
      lns::sum(*this, isNegative(x) != isNegative(y),
               logarithm(x) + logarithm(y), isNegative(z), logarithm(z), mode);
  return special ? other : sum;
}

/// Half of an odd logarithm is a tie.
constexpr uint64_t LnsFormat::sqrt(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x))
    return isZero(x) ? x : nanCode();
  return encode(false, exact::Place::half(logarithm(x)), mode);
}
constexpr uint64_t LnsFormat::rsqrt(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x))
    return nanCode();
  return encode(false, exact::Place::half(-logarithm(x)), mode);
}
/// A third of a logarithm is no tie.
constexpr uint64_t LnsFormat::cbrt(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  int64_t k = logarithm(x), third = k / 3 - (k % 3 < 0 ? 1 : 0);
  auto rest = static_cast<uint128_t>(k - 3 * third);
  return encode(isNegative(x), {third, rest * (~uint128_t{0} / 3), rest != 0},
                mode);
}

/// Half the logarithm of a sum of squares. Where a sum is no point of the grid
/// (placeOfSum), half of it is none, nor halfway between two.
constexpr uint64_t LnsFormat::hypot(uint64_t x, uint64_t y,
                                    RoundingMode mode) const {
  if (isNaN(x) || isNaN(y))
    return nanCode();
  if (isZero(x) || isZero(y))
    return absolute(isZero(x) ? y : x);
  int64_t a = logarithm(x), b = logarithm(y);
  int64_t high = a > b ? a : b, low = a > b ? b : a;
  if (high == low) // 2 x^2
    return encode(false,
                  exact::Place::half(2 * exact::int128_t{high} +
                                     (exact::int128_t{1} << fraction)),
                  mode);
  exact::Place sum = exact::placeOfSum(2 * exact::int128_t{high},
                                       2 * exact::int128_t{low}, fraction,
                                       /*isDifference=*/false);
  exact::Place half = exact::Place::half(sum.floor);
  half.fraction |= sum.fraction >> 1;
  half.inexact = true;
  return encode(false, half, mode);
}

/// The logarithm is below 2^11, with an error below 2^-46 of it; a power of
/// two's is exact.
constexpr bool LnsFormat::encodeFast(double value, RoundingMode mode,
                                     uint64_t &code) const {
#pragma clang fp contract(off)
  double magnitude = value < 0 ? -value : value;
  code = zeroCode();
  if (magnitude == 0)
    return true;
  // Subnormals, infinities and NaN go the other path.
  if (!lns::castsQuickly(*this, mode) || !(magnitude >= 0x1p-1022) ||
      !(magnitude <= 0x1.fffffffffffffp1023))
    return false;
  double logarithm = fast::log2(magnitude);
  double bound = (logarithm < 0 ? -logarithm : logarithm) + 1;
  double steps = logarithm * lns::powerOfTwo(fraction);
  double error = bound * lns::powerOfTwo(fraction - 45);
  if (mode == Rounding::Stochastic) {
    bool isPower = __builtin_bit_cast(uint64_t, magnitude) << 12 == 0;
    error = isPower ? 0.0 : error;
    lns::NearestStep step = lns::stepByChance(steps, error, mode);
    code = lns::saturated(*this, value < 0, step.step);
    // Next to zero, the place in value decides.
    return step.decided && steps - error >= -lns::toDouble(largest());
  }
  lns::NearestStep step = lns::nearestStep(steps, error);
  code = lns::saturated(*this, value < 0, step.step);
  return step.decided;
}
constexpr bool LnsFormat::decodeFast(uint64_t code, float &value) const {
#pragma clang fp contract(off)
  value = 0;
  if (isZero(code))
    return true;
  if (isNaN(code) || fraction > 28 || integer > 9 ||
      __builtin_is_constant_evaluated())
    return false;
  double power =
      fast::exp2(lns::toDouble(logarithm(code)) * lns::powerOfTwo(-fraction));
  auto low = static_cast<float>(power * (1 - fast::relativeError));
  auto high = static_cast<float>(power * (1 + fast::relativeError));
  value = isNegative(code) ? -low : low;
  return low == high;
}

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_LNSARITHMETIC_H
