// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same` for posits, in
// 7 to 9 machine operations on carriers or vectors of them, and two look-ups of
// how many bits a regime drops. As with floats (StepFloat.h, whose notation is
// used here), results carry their own proof: c ends infinite or NaN, and stays
// so, where a step cannot do its work.
//
// Between 2^(k 2^es) and 2^((k+1) 2^es), regime k, a posit has F(k) bits of
// fraction, so rounding there drops D = q - 1 - F(k) bits. It is nearest-even
// as for floats while F(k) >= 1: the fraction's last bit is the code's, and the
// boundary between two regimes is the middle between the last value of the one
// and the first of the other. For all other regimes 2^D is NaN here.
//
// Numbers are held times 2, so that the exponent's bias is a multiple of
// 32 * 2^es and the exponent field, less its last es bits, has k modulo 32 in
// its last five. Five bits are what a vector look-up of 32 entries takes as
// they are, so 2^D is a function of these alone: zero finds the entry of k = 0,
// and regimes that are 32 apart cannot be told apart. Factors are therefore
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
  static constexpr int32_t q = Traits::format.precision();

  PositFormat format;
  StepForm form = StepForm::Gradual; ///< there is just this one

  /// True if the steps of this format are exact.
  constexpr bool exists() const {
    if (form != StepForm::Gradual || !Traits::embeds(format) ||
        mostRegime() < 0 || (bias >> format.es) % 32 != 0)
      return false;
    // t, and the last bits of products
    if (mostExponent() + 2 + q > Traits::format.maxExponent() ||
        -2 * reach() - 2 * format.precision() < Traits::format.leastExponent())
      return false;
    int32_t low = leastExponent();
    for (int32_t e = low - fractionAt(low); e < low; ++e)
      if (isValid(((e >> format.es) + 16 & 31) - 16))
        return false;
    return sumsAreSafe();
  }

  /// All operands: preparing them is the only guard.
  constexpr bool admits(Magnitudes<T>, Magnitudes<T>) const { return true; }

  /// Zero, and numbers for which no product leaves 32 regimes; else NaN.
  constexpr T first(T a) const { return within(a, -reach(), reach()); }
  /// One prepared form is enough.
  constexpr T second(T) const { return 0; }
  constexpr T prepared(T b) const { return within(b, -reach(), reach()) * 2; }
  constexpr T start(T c) const {
    return within(c, leastExponent(), mostExponent() + 1) * 2;
  }
  /// The value of the format that a finite c stands for.
  constexpr T result(T c) const { return c / 2; }

  /// One step on prepared numbers. V is T or a vector of T.
  template <typename V> constexpr V operator()(V c, V first, V, V b) const {
    V sum = c + product(first, b);
    return split(sum, shiftOf(sum));
  }

private:
  using Word = typename Traits::SignedWord;
  static constexpr int32_t bias = Traits::bias + 1; // of numbers times 2

  constexpr int32_t span() const { return 1 << format.es; }
  /// F(k); regimes k and -1 - k have the same.
  constexpr int32_t fractionOf(int32_t regime) const {
    return format.bits - 3 - format.es - (regime < 0 ? ~regime : regime);
  }
  constexpr int32_t fractionAt(int32_t exponent) const {
    return fractionOf(exponent >> format.es);
  }
  /// One bit of fraction; of 32 regimes all but the first and the last.
  constexpr int32_t mostRegime() const {
    int32_t regime = format.bits - 4 - format.es;
    return regime < 14 ? regime : 14;
  }
  constexpr bool isValid(int32_t regime) const {
    return (regime < 0 ? ~regime : regime) <= mostRegime();
  }
  constexpr int32_t leastExponent() const { return ~mostRegime() * span(); }
  constexpr int32_t mostExponent() const {
    return (mostRegime() + 1) * span() - 1;
  }
  /// Factors lie in [2^-w, 2^w).
  constexpr int32_t reach() const {
    int32_t table = 8 * span(), carrier = Traits::format.maxExponent() / 2 - 3;
    return table < carrier ? table : carrier;
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

  /// 2^D for a number that is held times 2, or NaN.
  template <typename V> constexpr V shiftOf(V x) const {
    using I = step::IntegersOf<V>;
    // k modulo 32, signed, at the top; then k or -1 - k, whichever is positive
    constexpr int32_t top = Traits::width - 5;
    I regime = __builtin_bit_cast(I, x) << (top - (q - 1) - format.es);
    regime ^= regime >> (Traits::width - 1);
    Word field = static_cast<Word>(Traits::infinity);
    Word least = static_cast<Word>(Traits::powerBits(q - 1 - fractionOf(0)));
    I shift = ((regime >> (top - (q - 1))) & field) + least;
    Word beyond = static_cast<Word>(Word{mostRegime() + 1} << top);
    return regime < beyond ? __builtin_bit_cast(V, shift)
                           : static_cast<V>(Traits::value(Traits::nan));
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

template <typename T> struct ShortStep<T, PositFormat> : PositStep<T> {};

} // namespace numera

#endif // NUMERA_NUMERICS_STEPPOSIT_H
