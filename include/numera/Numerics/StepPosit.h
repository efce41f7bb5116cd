// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same` for posits, in
// 7 to 9 floating-point operations on carriers or vectors of them, and two
// times a few integer ones, or a look-up, for the number of bits a regime
// drops. As with floats (StepFloat.h, whose notation is used here), results
// carry their own proof: c ends infinite or NaN, and stays so, where a step
// cannot do its work.
//
// Between 2^(k 2^es) and 2^((k+1) 2^es), regime k, a posit has F(k) bits of
// fraction, as many in regime -1 - k as in k, so rounding there drops
// D = q - 1 - F(k) bits. It is nearest-even as for floats while F(k) >= 1: the
// fraction's last bit is the code's, and the boundary between two regimes is
// the middle between the last value of the one and the first of the other.
//
// Let F be 1 in the regimes from 2^low on and up to 2^high. Numbers are held
// times 2^scaleOfC(), so that t = (2^D + 1) s is infinite for any s above
// 2^high, where D is q - 1 or more, and for none below: sums that leave the
// regimes end infinite or NaN. Products must lie between 2^low and 2^high,
// which admits() asks of a block's bounds. Then all that is added is a multiple
// of 2^(low-1), and so are sums: one below 2^low is 2^(low-1) or 0, a value,
// and of its one bit nothing is dropped.
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
  /// Gradual looks D up where the carrier is f32; Computed never does.
  StepForm form = StepForm::Gradual;

  /// True if the steps of this format are exact.
  constexpr bool exists() const {
    return (form == StepForm::Gradual || form == StepForm::Computed) &&
           Traits::embeds(format) && mostRegime() >= 0 &&
           scaleOfC() < Traits::format.maxExponent() &&
           // the last bits of products and of values, the largest value
           low() - 2 * format.precision() + scaleOfC() >
               Traits::format.minExponent() &&
           format.leastExponent() + scaleOfB() > Traits::format.minExponent() &&
           format.maxExponent() + scaleOfA() <= Traits::format.maxExponent() &&
           sumsAreSafe();
  }
  /// True if no product of such operands leaves the regimes.
  constexpr bool admits(Magnitudes<T> a, Magnitudes<T> b) const {
    return a.least * b.least >= power(low()) && a.most * b.most < power(high());
  }

  /// Numbers are prepared times 2^scale.
  constexpr int32_t scaleOfC() const {
    return Traits::format.maxExponent() + 2 - q - high();
  }
  constexpr int32_t scaleOfB() const { return scaleOfC() / 2; }
  constexpr int32_t scaleOfA() const { return scaleOfC() - scaleOfB(); }

  constexpr T first(T a) const { return a * power(scaleOfA()); }
  /// One prepared form is enough.
  constexpr T second(T) const { return 0; }
  constexpr T prepared(T b) const { return b * power(scaleOfB()); }
  /// NaN for what lies outside the regimes.
  constexpr T start(T c) const {
    T magnitude = c < 0 ? -c : c;
    bool isWithin =
        c == 0 || (magnitude >= power(low()) && magnitude < power(high()));
    return isWithin ? c * power(scaleOfC()) : Traits::value(Traits::nan);
  }
  /// The value of the format that a finite c stands for.
  constexpr T result(T c) const { return c * power(-scaleOfC()); }

  /// One step on prepared numbers. V is T or a vector of T.
  template <typename V> constexpr V operator()(V c, V first, V, V b) const {
    V sum = c + product(first, b);
    return split(sum, shiftOf(sum));
  }

  /// 2^D for a prepared number.
  template <typename V> constexpr V shiftOf(V x) const {
    if constexpr (sizeof(V) == sizeof(float))
      if (form == StepForm::Gradual && hasTable())
        return lane::lookup(
            Traits::bits(x) >> tableShift() & 31, [this](uint32_t index) {
              int32_t regime = regimeOf(index);
              return index == 0 ? T{1} // zero's
                                : power(q - 1 - fractionOf(regime));
            });
    using U = step::WordsOf<V>;
    using Word = Traits::Word;
    // The sign falls off. What is left is the distance from regime 0, and half
    // a unit more, so that regimes k and -1 - k are equally far.
    U field = (__builtin_bit_cast(U, x) << 1) +
              static_cast<U>(1 - (static_cast<Word>(bias()) << q));
    auto distance = __builtin_bit_cast(step::IntegersOf<V>, field);
    distance = distance < 0 ? -distance : distance;
    U regime = __builtin_bit_cast(U, distance) >> (1 + format.es) &
               static_cast<U>(Traits::infinity);
    Word nearest = Traits::powerBits(q - 1 - fractionOf(0));
    return __builtin_bit_cast(V, regime + static_cast<U>(nearest));
  }

private:
  /// In a float of an admitted block five bits of the exponent tell all regimes
  /// apart, those of prepared numbers and of sums one regime further.
  constexpr bool hasTable() const {
    return 2 * mostRegime() + 4 <= 32 && tableShift() + 5 < Traits::width &&
           bias() % (1 << format.es) == 0 &&
           fractionOf(regimeOf(0)) < -1; // zero has an entry of its own
  }
  constexpr int32_t tableShift() const { return q - 1 + format.es; }
  constexpr int32_t regimeOf(uint32_t index) const {
    auto offset = static_cast<uint32_t>(bias() >> format.es);
    return static_cast<int32_t>((index - offset + 16) % 32) - 16;
  }

  /// Of the exponents of prepared numbers.
  constexpr int32_t bias() const { return Traits::bias + scaleOfC(); }
  constexpr int32_t fractionOf(int32_t regime) const {
    return format.bits - 3 - format.es - (regime < 0 ? ~regime : regime);
  }
  constexpr int32_t fractionAt(int32_t exponent) const {
    return fractionOf(exponent >> format.es);
  }
  /// The last with a bit of fraction.
  constexpr int32_t mostRegime() const { return format.bits - 4 - format.es; }
  constexpr int32_t high() const {
    return (mostRegime() + 1) * (1 << format.es);
  }
  constexpr int32_t low() const { return -high(); }

  constexpr bool sumsAreSafe() const {
    // A sum that is rounded up may be 2^high.
    for (int32_t x = low(); x <= high(); ++x) {
      // h is 2^distance: half a unit above x, or below 2^x.
      int32_t above = x - fractionAt(x) - 1;
      int32_t below = x - 2 - fractionAt(x - 1);
      int32_t distance = x == high() || below < above ? below : above;
      for (int32_t y = x; y >= low() && y + 1 > distance - 1; --y) {
        // Where the sum is exact only below 2^(x + 1), it has to stay there,
        // or y below half the first boundary above that.
        int32_t spare = y - fractionAt(y) - (x - q + 1);
        bool isSafe =
            spare > 0 || x + 1 >= high() || y + 2 <= x - fractionAt(x + 1);
        if (spare < 0 || !isSafe)
          return false;
      }
    }
    return true;
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

  static constexpr T power(int32_t exponent) {
    return Traits::value(Traits::powerBits(exponent));
  }
};

template <typename T> struct ShortStep<T, PositFormat> : PositStep<T> {};

} // namespace numera

#endif // NUMERA_NUMERICS_STEPPOSIT_H
