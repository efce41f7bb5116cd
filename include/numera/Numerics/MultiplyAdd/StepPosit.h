// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same` for posits, in
// 7 to 9 floating-point operations on carriers or vectors of them, and twice a
// few integer operations, or a lookup, for the number of bits that a regime
// drops. As with floats (StepFloat.h, whose notation is used here), the result
// shows whether it is correct: c becomes and stays infinite or NaN in a case
// that a step does not handle.
//
// Between 2^(k 2^es) and 2^((k+1) 2^es), regime k, a posit has F(k) bits of
// fraction, as many in regime -1 - k as in k, so rounding there drops
// D = q - 1 - F(k) bits. It is nearest-even as for floats while F(k) >= 1: the
// fraction's last bit is the code's, and the boundary between two regimes is
// the middle between the last value of the one and the first of the other.
//
// A step takes care of the regimes from 2^low on and up to 2^high, where
// F >= 1. What it looks up for the others is NaN, and where D is computed
// instead, numbers are held times 2^scaleOfC(), so that t = (2^D + 1) s is
// infinite for any s above 2^high, where D is q - 1 or more, and for none
// below: sums that leave the regimes end infinite or NaN. Products must lie
// between 2^least and 2^high, which admits() asks of a block's bounds: from
// 2^least on all values are multiples of 2^(low-1). Then all sums are; one
// below 2^low is 2^(low-1) or 0, a value, and of its one bit nothing is
// dropped.
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
//
// The forms AnyProduct and AnySum round by words (StepRegimes.h). Values are
// multiples of the least one, so that sums are not below it.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPPOSIT_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPPOSIT_H

#include "numera/Numerics/MultiplyAdd/StepRegimes.h"

namespace numera {

/// The step of one posit format in carrier T. The operands are prepared once,
/// then the step runs on prepared carriers or on vectors of them.
template <typename T> struct PositStep {
  using Traits = Carrier<T>;
  static constexpr int32_t q = Traits::format.precision();

  PositFormat format;
  /// Gradual looks D up, where tables have room for es.
  StepForm form = StepForm::Gradual;

  /// True if the steps of this format are exact.
  constexpr bool exists() const {
    if (roundsWords())
      return sizeof(T) == sizeof(float) && words().exists() &&
             2 * format.precision() + 2 <= q &&
             (mostRegime() >= 0 || form == StepForm::AnySum) &&
             sumsAreSafe(-format.maxExponent(), format.maxExponent());
    return form == StepForm::Gradual && Traits::embeds(format) &&
           mostRegime() >= 0 && scaleOfC() < Traits::format.maxExponent() &&
           // the last bits of products and of values, the largest value
           low() - 2 * format.precision() + scaleOfC() >
               Traits::format.minExponent() &&
           format.leastExponent() + scaleOfB() > Traits::format.minExponent() &&
           format.maxExponent() + scaleOfA() <= Traits::format.maxExponent() &&
           sumsAreSafe(low(), high());
  }
  /// True if the step handles all products between these bounds.
  constexpr bool admits(Magnitudes<T> products) const {
    int32_t from = roundsWords() ? words().low() : leastProduct();
    int32_t to = roundsWords() ? words().high() : high();
    return products.least >= power(from) && products.most < power(to);
  }

  /// Numbers are prepared times 2^scale.
  constexpr int32_t scaleOfC() const {
    if (roundsWords())
      return words().scale();
    int32_t scale = Traits::format.maxExponent() + 2 - q - high();
    if (!looksUp())
      return scale;
    // Exponents count from a regime, and zero is none of those that are used.
    scale -= (Traits::bias + scale) & ((1 << format.es) - 1);
    int32_t ofZero = regimeOf(0, Traits::bias + scale);
    bool isFree = ofZero < -2 - mostRegime() || ofZero > mostRegime() + 1;
    return isFree ? scale : scale - ((mostRegime() + 2 - ofZero) << format.es);
  }
  constexpr int32_t scaleOfB() const { return scaleOfC() / 2; }
  constexpr int32_t scaleOfA() const { return scaleOfC() - scaleOfB(); }

  constexpr T first(T a) const { return a * power(scaleOfA()); }
  /// One prepared form is enough.
  constexpr T second(T) const { return 0; }
  constexpr T prepared(T b) const { return b * power(scaleOfB()); }
  /// NaN for a value outside the regimes.
  constexpr T start(T c) const {
    T magnitude = c < 0 ? -c : c;
    bool isWithin = c == 0 || (magnitude >= power(leastProduct()) &&
                               magnitude < power(high()));
    isWithin |= form == StepForm::AnySum && c == c;
    return isWithin ? c * power(scaleOfC()) : Traits::value(Traits::nan);
  }
  /// The value of the format that c stands for; NaN if there is none.
  constexpr T result(T c) const { return c * power(-scaleOfC()) + (c - c); }

  /// One step on prepared numbers. V is T or a vector of T; T where words are
  /// rounded.
  template <typename V> constexpr V operator()(V c, V first, V, V b) const {
    if constexpr (sizeof(V) == sizeof(float)) {
      if (roundsWords()) {
        V sum = c + RegimeRounding{format, 2}.round(first * b);
        return form == StepForm::AnySum ? words().round(sum) : rounded(sum);
      }
    }
    return rounded(c + product(first, b));
  }

  /// 2^D for a prepared number.
  template <typename V> constexpr V shiftOf(V x) const {
    if constexpr (sizeof(V) == sizeof(T))
      if (looksUp())
        return lane::lookup(
            static_cast<uint32_t>(Traits::bits(x) >> (q - 1 + format.es)) & 31,
            [this](uint32_t index) { return shiftAt(index); });
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
  constexpr bool roundsWords() const {
    return form == StepForm::AnyProduct || form == StepForm::AnySum;
  }
  constexpr RegimeRounding words() const { return {format}; }

  /// Five bits of the exponent tell the regimes apart: those that a step takes
  /// care of, 2 on each side, and zero's. Where there are more, the table is of
  /// use as long as small products have room.
  constexpr bool looksUp() const {
    return q + 4 + format.es < Traits::width &&
           (lastRegime() <= room || (format.es >= 2 && format.bits <= 32));
  }
  static constexpr int32_t room = 13;

  /// Of numbers whose exponents count from `bias`.
  constexpr int32_t regimeOf(uint32_t index, int32_t bias) const {
    auto offset = static_cast<uint32_t>(bias >> format.es);
    return static_cast<int32_t>((index - offset + 16) % 32) - 16;
  }
  /// 0 for zero, whose product with it is none; infinite for regimes that are
  /// not taken care of. Sums get one regime further.
  constexpr T shiftAt(uint32_t index) const {
    using Word = typename Traits::Word;
    if (index == 0)
      return 0;
    int32_t regime = regimeOf(index, bias());
    int32_t beyond = roundsWords() ? 1 : 2;
    bool isKnown = regime >= -beyond - mostRegime() && regime <= mostRegime();
    // NaNs, each of its own: of a single one LLVM would make a default, and
    // comparisons of the rest, where a table is wanted. Those of doubles differ
    // in their first 16 bits, of which a table in f64 is made.
    int32_t shift = sizeof(T) == sizeof(float) ? 0 : q - 1 - 4;
    Word kind = static_cast<Word>(shift == 0 ? index : index & 7) << shift;
    return isKnown ? power(q - 1 - fractionOf(regime))
                   : Traits::value(Traits::nan | kind);
  }

  /// Of the exponents of prepared numbers.
  constexpr int32_t bias() const { return Traits::bias + scaleOfC(); }
  constexpr int32_t fractionOf(int32_t regime) const {
    return format.bits - 3 - format.es - (regime < 0 ? ~regime : regime);
  }
  constexpr int32_t fractionAt(int32_t exponent) const {
    return fractionOf(exponent >> format.es);
  }
  /// The last with a bit of fraction; the last that is taken care of.
  constexpr int32_t lastRegime() const { return format.bits - 4 - format.es; }
  constexpr int32_t mostRegime() const {
    return looksUp() && lastRegime() > room ? room : lastRegime();
  }
  constexpr int32_t high() const {
    return (mostRegime() + 1) * (1 << format.es);
  }
  constexpr int32_t low() const { return -high(); }
  /// The least power of two, of those that begin a regime, whose last bit is
  /// not below 2^(low-1): low, but for regimes r that the table has no room
  /// for. There 2^es r - F(r), with F(r) = bits - 2 - es + r, has to reach low
  /// - 1. No loop: vectors of steps would not be made of it.
  constexpr int32_t leastProduct() const {
    if (mostRegime() == lastRegime())
      return low();
    int32_t size = 1 << format.es;
    return (low() - 1 + format.bits - 2 - format.es) / (size - 1) * size;
  }

  /// Of all operands from 2^least to 2^most.
  constexpr bool sumsAreSafe(int32_t least, int32_t most) const {
    // Where the exponent is cut, values lie further apart.
    auto fraction = [this](int32_t exponent) {
      int32_t bits = fractionAt(exponent);
      return bits < -1 ? -1 : bits;
    };
    auto lastBit = [&](int32_t exponent) {
      return fraction(exponent) > 0 ? exponent - fraction(exponent) : exponent;
    };
    // A sum that is rounded up may be 2^most.
    for (int32_t x = least; x <= most; ++x) {
      // h is 2^distance: half a unit above x, or below 2^x.
      int32_t above = x - fraction(x) - 1;
      int32_t below = x - 2 - fraction(x - 1);
      int32_t distance = x == most || below < above ? below : above;
      for (int32_t y = x; y >= least && y + 1 > distance - 1; --y) {
        // Where the sum is exact only below 2^(x + 1), it has to stay there,
        // or y below half the first boundary above that.
        int32_t spare = lastBit(y) - (x - q + 1);
        bool isSafe =
            spare > 0 || x + 1 >= most || y + 2 <= x - fraction(x + 1);
        if (spare < 0 || !isSafe)
          return false;
      }
    }
    return true;
  }

  /// A sum. What is computed instead of looked up says by an overflow of
  /// splitting where a step declines. In f64 additions are not the scarcer
  /// operations.
  template <typename V> constexpr V rounded(V sum) const {
    V shift = shiftOf(sum);
    bool shifts = looksUp() && 2 * format.precision() + 2 <= q;
    if (shifts && sizeof(T) == sizeof(float))
      return step::roundByShifting(sum, shift);
    return split(sum, shift);
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

template <typename T> struct ShortStep<T, PositFormat> : PositStep<T> {
  /// The preferred form. If few regimes have fraction bits, real data leave
  /// them: products first, and sums too in a format like posit8.
  static constexpr StepForm preferred(const PositFormat &f) {
    int32_t high = (f.bits - 3 - f.es) << f.es;
    return high > 24   ? StepForm::Gradual
           : high > 12 ? StepForm::AnyProduct
                       : StepForm::AnySum;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPPOSIT_H
