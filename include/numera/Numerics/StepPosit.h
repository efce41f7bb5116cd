// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same` for posits, in
// 11 to 13 machine operations on vectors of carriers. As with floats
// (StepFloat.h, whose notation is used here), results carry their own proof: c
// ends infinite or NaN, and stays so, where a step cannot do its work.
//
// Between 2^(k 2^es) and 2^((k+1) 2^es), regime k, a posit has F(k) bits of
// fraction, so rounding there drops D = q - 1 - F(k) bits. D is read from a
// table of 32 entries by the regime's last five bits: those of the carrier's
// exponent, less its last es bits, if numbers are held times 2, which makes the
// exponent's bias a multiple of 2^es. Rounding is nearest-even as for floats
// while F(k) >= 1: the fraction's last bit is the code's, and the boundary
// between two regimes is the middle between the last value of the one and the
// first of the other. For all other regimes the table has NaN.
//
// The table cannot tell regimes that are 32 apart. Factors are therefore
// prepared as NaN unless they are zero or lie in [2^-w, 2^w), where products
// stay within 32 regimes, and two of those are NaN: a sum that grows passes at
// least one of them, since it grows to less than twice a valid number. A sum
// that cancels is a multiple of the least valid unit in the last place;
// exists() tries what lies between that and the least valid regime.
//
// Products: as floats where 2p + 2 <= q. Where they have up to q bits, they are
// exact, and split. Where they have more, z = RN(a b) only finds the regime and
// scales, and the exact product is split: t = RN(2^D z + a b), R = t - RN(t - a
// b). The proof of splitting holds for a real M + e as for an integer M, with
// |e| <= 1/2: ties are where e = 0.
//
// Sums are rounded to q bits first. With x the larger operand and y the other,
// that is harmless if the sum is exact, or if y lies below half the distance h
// from x to the next boundary: then both sums round to x. sumsAreSafe() asks
// this of all pairs of exponents. Posits taper, so it holds for 2p + 2 > q too.

#ifndef NUMERA_NUMERICS_STEPPOSIT_H
#define NUMERA_NUMERICS_STEPPOSIT_H

#include "numera/Numerics/Step.h"

namespace numera {

/// The step of one posit format in carrier T. The operands are prepared once,
/// then the step runs on prepared carriers or on vectors of them.
template <typename T> struct PositStep {
  using Traits = Carrier<T>;
  using Word = typename Traits::Word;
  static constexpr int32_t q = Traits::format.precision();
  static constexpr int32_t entries = 32;

  PositFormat format;
  T shifts[entries]; ///< 2^D, or NaN

  constexpr explicit PositStep(const PositFormat &format)
      : format(format), shifts{} {
    for (int32_t i = 0; i < entries; ++i) {
      int32_t k = regimeAt(i);
      // Zero, whose exponent field is 0, needs a number.
      shifts[i] = isValid(k) ? power(q - 1 - fractionOf(k))
                  : i == 0   ? T{1}
                             : Traits::value(Traits::nan);
    }
  }

  /// True if the steps of this format are exact.
  constexpr bool exists() const {
    if (!Traits::embeds(format) || !isValid(-1) || !isValid(0) ||
        q + format.es + 5 > Traits::width) // the sign is no part of an index
      return false;
    int32_t low = leastExponent(), high = mostExponent();
    // t, the last bits of products, and the entry of zero
    if (high + 2 + q > Traits::format.maxExponent() ||
        -2 * reach() - 2 * format.precision() <
            Traits::format.leastExponent() ||
        (!isValid(regimeAt(0)) && (regimeAt(0) + 1) * span() > -2 * reach()))
      return false;
    for (int32_t e = low - fractionAt(low); e < low; ++e)
      if (shiftAt(e) == shiftAt(e)) // not NaN
        return false;
    return sumsAreSafe();
  }

  /// Zero, and numbers for which no product leaves the table; else NaN.
  constexpr T preparedA(T a) const { return within(a, -reach(), reach()); }
  constexpr T preparedB(T b) const { return within(b, -reach(), reach()) * 2; }
  constexpr T preparedC(T c) const {
    return within(c, leastExponent(), mostExponent() + 1) * 2;
  }
  /// The value of the format that a finite c stands for.
  constexpr T result(T c) const { return c / 2; }

  /// One step on prepared numbers. V is T or a vector of T.
  template <typename V> constexpr V operator()(V c, V a, V b) const {
    V sum = c + product(a, b);
    return split(sum, shiftOf(sum));
  }

private:
  static constexpr int32_t bias = Traits::bias + 1; // of numbers times 2

  constexpr int32_t span() const { return 1 << format.es; }
  constexpr int32_t fractionOf(int32_t regime) const {
    int32_t length = regime >= 0 ? regime + 2 : 1 - regime;
    return format.bits - 1 - length - format.es;
  }
  constexpr int32_t fractionAt(int32_t exponent) const {
    return fractionOf(exponent >> format.es);
  }
  constexpr bool isValid(int32_t regime) const {
    return regime > -16 && regime < 15 && fractionOf(regime) >= 1;
  }
  constexpr int32_t leastExponent() const {
    int32_t k = -1;
    while (isValid(k - 1))
      --k;
    return k * span();
  }
  constexpr int32_t mostExponent() const {
    int32_t k = 0;
    while (isValid(k + 1))
      ++k;
    return (k + 1) * span() - 1;
  }
  /// Factors lie in [2^-w, 2^w).
  constexpr int32_t reach() const {
    int32_t table = 8 * span(), carrier = Traits::format.maxExponent() / 2 - 3;
    return table < carrier ? table : carrier;
  }

  constexpr int32_t indexAt(int32_t exponent) const {
    return ((exponent + bias) >> format.es) & (entries - 1);
  }
  constexpr int32_t regimeAt(int32_t index) const {
    return ((index - (bias >> format.es) + 16) & (entries - 1)) - 16;
  }
  constexpr T shiftAt(int32_t exponent) const {
    return shifts[indexAt(exponent)];
  }

  constexpr bool sumsAreSafe() const {
    int32_t low = leastExponent(), high = mostExponent();
    // A sum that is rounded up may be 2^(high + 1).
    for (int32_t x = low; x <= high + 1; ++x) {
      // h is 2^distance: half a unit above x, or below 2^x.
      int32_t above = x - fractionAt(x) - 1;
      int32_t below = x - 2 - fractionAt(x - 1);
      int32_t distance = x > high || (x > low && below < above) ? below : above;
      for (int32_t y = x; y >= low && y + 1 > distance - 1; --y) {
        // Where the sum is exact only below 2^(x + 1), it has to stay there,
        // or y below half the first boundary above that.
        int32_t spare = y - fractionAt(y) - (x - q + 1);
        bool isSafe = spare > 0 || x >= high || y + 2 <= x - fractionAt(x + 1);
        if (spare < 0 || !isSafe)
          return false;
      }
    }
    return true;
  }

  template <typename V> constexpr V shiftOf(V x) const {
    using I = step::IntegersOf<V>;
    I index = __builtin_bit_cast(I, x) >> (q - 1 + format.es);
    return step::lookUp<V>(shifts, index);
  }
  template <typename V> static constexpr V split(V x, V shift) {
    V high = step::fma(x, shift, x);
    return high - (high - x);
  }
  template <typename V> constexpr V product(V a, V b) const {
    V z = a * b;
    V shift = shiftOf(z);
    if (2 * format.precision() + 2 <= q) {
      V above = step::fma(z, shift, z);
      return step::fma(-z, shift, above);
    }
    if (2 * format.precision() <= q)
      return split(z, shift);
    V above = step::fma(a, b, z * shift);
    return above - step::fma(-a, b, above);
  }

  constexpr T within(T x, int32_t low, int32_t beyond) const {
    T magnitude = x < 0 ? -x : x;
    bool isWithin =
        x == 0 || (magnitude >= power(low) && magnitude < power(beyond));
    return isWithin ? x : Traits::value(Traits::nan);
  }
  static constexpr T power(int32_t exponent) {
    return Traits::value(Traits::powerBits(exponent));
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_STEPPOSIT_H
