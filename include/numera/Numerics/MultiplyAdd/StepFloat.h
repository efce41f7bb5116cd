// SPDX-License-Identifier: MIT
//
// The multiply-add step of a contraction with `accumulate: same`,
//
//     c <- round(c + round(a * b))       both to the format, nearest-even,
//
// for floats in the fewest machine operations: 5 to 8 on whole vectors of
// scaled carriers. The result shows whether it is correct: a case that a step
// does not handle (an overflow, an infinity, NaN, a start at -0) makes c
// infinite or NaN, and c stays so through all later steps. So a block runs
// without tests. If its final c is finite, it is the c of the exact steps. If
// not, the block is computed again with fullStep (Step.h).
//
// Notation: p the format's precision, q the carrier's, D = q - p bits to drop;
// 2^g the format's least value, 2^emin its least normal number, 2^emax the
// power of two below its largest. Units below are those of a q-bit M with
// 2^(q-1) <= M < 2^q that stands for the number to round; R(M) is M rounded to
// a multiple of 2^D, ties to even. StepTest tries every M for every D of f32.
//
//  split   t = M * (2^D + 1);  R(M) = t - (t - M)                   (Veltkamp)
//          The unit of t is 2^D and 2^D M a multiple of it, so t is
//          2^D M + R(M); a tie goes to even because M is even then. t - M
//          rounds to 2^D M in the same way, and the rest is exact. Where
//          M = 2^q - d is so large that t passes 2^(q+D), t's unit is 2^(D+1)
//          and t = 2^(q+D) - d 2^D + 2^q - d + e with |e| <= 2^D; as t is a
//          multiple of 2^D, e = d mod 2^D. t - M rounds to 2^(q+D) - d 2^D + e'
//          with e' the multiple of 2^D nearest to e, and t less that is
//          2^q - d + (e - e'), the multiple of 2^D nearest to M; in a tie d is
//          even, e' is 0 and e = d less a multiple of 2^(D+1): even.
//  above   t = RN(M * (2^D + 1));  R(M) = t - 2^D M, for D >= p + 2 and an
//          even M. Exact as before; past 2^(q+D) (there d < 2^(D-1), and R(M)
//          is 2^q) t is 2^(q+D) - d 2^D + 2^q, since d 2^D is a multiple of
//          2^(D+1) and d less than half of that.
//  below   u = RN(2^D M - M);  R(M) = 2^D M - u, for D >= p + 2. Exact as
//          above; where M = 2^(q-1) + d is so small that u's unit is 2^(D-1),
//          d <= 2^(p-1) < 2^(D-2), so u is 2^D M - 2^(q-1) and R(M) 2^(q-1).
//
// A product of two p-bit numbers has 2p <= q - 2 bits: as an M it is exact and
// even. A sum is rounded to q bits first, which changes nothing
// (DoubleRounding.h) as q >= 2p + 2. All this holds at any scale: a multiple of
// the carrier's least number that is subnormal has fewer bits, and every step
// but the product is exact on it, as it would be with an unbounded exponent.
//
// Subnormal products: |z| < 1.5 * 2^emin is rounded to a multiple of 2^g by
// u = RN(m - z), m - u with m = 1.5 * 2^(g+q-1), whose unit is 2^g and whose
// place among the units is even. For |z| >= 1.5 * 2^emin, 2^D |z| >= m: so
// m = 2^D z with its magnitude raised to 1.5 * 2^(g+q-1) serves both, and the
// two agree where both apply. Sums need no such care: c and the product are
// multiples of 2^g, and so is their sum, which below 2^emin is a value already.
//
// Overflow: c is held times s = 2^(E + 1 - D - emax), where 2^(E+1) is the
// carrier's infinity. So t and u overflow if |c| passes 2^emax, up to which
// every p-bit number is a value, and the result is infinite or NaN. The same
// happens to products.
//
// Overflowing: the last x that is rounded to the largest value v is a unit 2^g
// below the middle between v and 2^(emax+1), as sums are multiples of 2^g. With
// u for that x as a bound of u, sums up to there are rounded as ever, and
// others become 2^D x - u >= v + 2^D 2^g, which is far beyond: where that is at
// least 2^(emax+2), and products are not above v, the next sum is so too, and
// so on. c grows to infinity, which then stays: u = (2^D - 1) x is infinite
// too, but its bound is not. As u is one product here, it is as in `below`:
// (2^D - 1) x and 2^D x - x are one number.
//
// Confined: in the top binade, from 2^emax on, a step of values is
// 2^(emax + 1 - p). A product below half of that leaves any c there which it
// would raise, as c is the nearest value to the sum; and from below 2^emax no
// sum is rounded to more than that. So |c| never passes the larger of 2^emax
// and its start, and nothing has to look after it.
//
// Zeros: c is never -0 unless it starts so (nearest sums that cancel are +0),
// and to any other c it is the same whether +0 or -0 is added.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPFLOAT_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPFLOAT_H

#include "numera/Numerics/MultiplyAdd/Step.h"

namespace numera {

/// The step of one float format in carrier T. The operands are prepared once
/// (`first`, `second`, `prepared`, `start`), then the step runs on
/// prepared carriers or on vectors of them.
template <typename T> struct FloatStep {
  using Traits = Carrier<T>;
  static constexpr int32_t q = Traits::format.precision();

  FloatFormat format;
  StepForm form;

  /// True if the steps of this format and form are exact.
  constexpr bool exists() const {
    if (form == StepForm::Confined)
      return FloatStep{format, StepForm::Saturating}.exists() ||
             FloatStep{format, StepForm::Overflowing}.exists();
    if (form > StepForm::Saturating && form != StepForm::Overflowing &&
        form != StepForm::Fused)
      return false; // a posit's
    // With one significant bit, ties would go by the exponent. Without
    // subnormals, sums would need care too.
    if (format.mantissaBits < 1 || !format.hasSubnormals || !format.hasZero())
      return false;
    // The magic number of subnormals has to be finite.
    if (format.maxExponent() <= format.minExponent())
      return false;
    if (form == StepForm::Saturating &&
        format.codeOfOverflow() != format.maxCode())
      return false;
    int32_t least = format.leastExponent();
    if (form == StepForm::Overflowing &&
        (!format.hasInfinity() || format.maxCode() % 2 == 0 ||
         format.codeOfOverflow() != format.infinityCode() ||
         cut() + least < format.maxExponent() + 2))
      return false;
    return 2 * format.precision() + 2 <= q && format.maxExponent() < ceiling &&
           scaleOfC() <= ceiling - 2 && least + scaleOfC() >= floor &&
           least + scaleOfB() >= floor && least + scaleOfA() - cut() >= floor;
  }
  /// True if the form handles all products between these bounds. Otherwise a
  /// finite result may be wrong.
  constexpr bool admits(Magnitudes<T> products) const {
    if (productsAreNormal()) {
      int32_t least = format.minExponent(),
              normal = Traits::format.minExponent();
      return products.least >= power(least < normal ? normal : least);
    }
    if (form == StepForm::Confined)
      return products.most <= lastToConfine();
    if (form == StepForm::Saturating)
      return products.most <= largest();
    return form != StepForm::Overflowing || products.most <= lastToLargest();
  }

  /// True if the form `other` may use numbers that are prepared for this form.
  constexpr bool preparesFor(StepForm other) const {
    FloatStep that{format, other};
    return headroom() == that.headroom() &&
           productsAreNormal() == that.productsAreNormal();
  }

  /// Numbers are prepared times 2^scale.
  constexpr int32_t scaleOfC() const { return headroom() - cut(); }
  constexpr int32_t scaleOfB() const { return headroom() / 2; }
  constexpr int32_t scaleOfA() const { return headroom() - scaleOfB(); }

  /// The first factor's two prepared forms, exact or infinite.
  constexpr T first(T a) const {
    if (!productsAreNormal())
      return a * power(scaleOfA());
    // p + D bits
    return a * power(scaleOfA() - cut()) * (power(cut()) + 1);
  }
  constexpr T second(T a) const {
    if (!productsAreNormal())
      return -a * power(scaleOfA() - cut());
    return -a * power(scaleOfA());
  }
  constexpr T prepared(T b) const { return b * power(scaleOfB()); }
  /// NaN for a value from which steps must not start: -0, and an infinity that
  /// would be lost.
  constexpr T start(T c) const {
    bool isLost = Traits::bits(c) == Traits::sign ||
                  (form == StepForm::Saturating && c - c != 0);
    return isLost ? Traits::value(Traits::nan) : c * power(scaleOfC());
  }
  /// The value of the format that c stands for; NaN if there is none.
  constexpr T result(T c) const {
    T value = c * power(-scaleOfC());
    T magnitude = value < 0 ? -value : value;
    if (magnitude <= largest())
      return value;
    bool overflows = form == StepForm::Overflowing && magnitude == magnitude;
    T infinity = Traits::value(Traits::infinity);
    return overflows ? (value < 0 ? -infinity : infinity)
                     : Traits::value(Traits::nan);
  }

  /// One step on prepared numbers. V is T or a vector of T.
  template <typename V>
  constexpr V operator()(V c, V first, V second, V b) const {
    if (productsAreNormal()) {
      V above = first * b;
      V sum = c + step::fma(second, b, above);
      if (form == StepForm::Fused)
        return step::roundByShifting(sum, static_cast<V>(power(cut())));
      return step::roundBySplitting(sum, power(cut()) + 1);
    }
    T magic = power(format.leastExponent() + scaleOfC() + q - 1) * T{1.5};
    V shifted = step::atLeast(first * b, magic);
    V below = step::fma(second, b, shifted);
    V sum = c + (shifted - below);
    if (form == StepForm::Saturating)
      sum = step::atMost(sum, largest() * power(scaleOfC()));
    if (form == StepForm::Overflowing) {
      T times = power(cut()) - 1;
      T bound = lastToLargest() * power(scaleOfC()) * times;
      return step::fma(sum, static_cast<V>(power(cut())),
                       step::atMost(sum * -times, bound));
    }
    // Where additions are the scarcer operations, a product serves better.
    return step::roundByShifting(sum, static_cast<V>(power(cut())));
  }

private:
  /// The carrier's infinity is 2^ceiling, its least number 2^floor.
  static constexpr int32_t ceiling = Traits::format.maxExponent() + 1;
  static constexpr int32_t floor = Traits::format.leastExponent();

  constexpr int32_t cut() const { return q - format.precision(); }
  constexpr bool productsAreNormal() const {
    return form == StepForm::Normal || form == StepForm::Fused;
  }
  /// How far below the carrier's infinity 2^emax is; for sums that pass it,
  /// 2^(emax + 1).
  constexpr int32_t headroom() const {
    bool passes = form == StepForm::Saturating ||
                  form == StepForm::Overflowing || form == StepForm::Confined;
    return ceiling - format.maxExponent() - passes;
  }
  constexpr T largest() const { return decodeTo<T>(format, format.maxCode()); }
  /// The last multiple of 2^g that is rounded to the largest value.
  constexpr T lastToLargest() const {
    return largest() + power(format.maxExponent() - format.precision()) -
           power(format.leastExponent());
  }
  /// The last value below half a step of the top binade; negative for none.
  constexpr T lastToConfine() const {
    int32_t half = format.maxExponent() - format.precision();
    int32_t unit = half - format.precision(), least = format.leastExponent();
    return power(half) - power(unit > least ? unit : least);
  }
  /// 2^exponent, a normal number.
  static constexpr T power(int32_t exponent) {
    return Traits::value(Traits::powerBits(exponent));
  }
};

template <typename T> struct ShortStep<T, FloatFormat> : FloatStep<T> {
  /// The preferred form. The cheapest form does not handle products below the
  /// least normal number. It suits formats in which that number is far below
  /// any data. In formats whose largest number is not far above the data, sums
  /// exceed it.
  static constexpr StepForm preferred(const FloatFormat &f) {
    if (f.minExponent() < -48)
      return StepForm::Normal;
    if (f.maxExponent() > 8)
      return StepForm::Gradual;
    return f.codeOfOverflow() == f.maxCode() ? StepForm::Saturating
                                             : StepForm::Overflowing;
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPFLOAT_H
