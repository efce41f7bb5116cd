// SPDX-License-Identifier: MIT
//
// The step of StepFloat.h for floats of up to four significant bits, in
// binary16: machines with arithmetic in it have twice the lanes, and numbers
// below its least normal one cost them nothing. So their own rounding to those
// is what rounds products below the format's least normal number.
//
// Notation as there: p and D = 11 - p; 2^g the format's least value, 2^emin =
// 2^(g + p - 1) its least normal number, v its largest. c is held in units of
// binary16's least number, w = 2^-24: c times w / 2^g. So are z = a * b and
// what is made of it:
//
//  product  t = RN(2^D z);  u = RN(t - z), one fma;  R(z) = t - u
//           From |z| = 2^p w on, that is 2^(emin + 1), |t| >= 2^11 w: t, with
//           its 2p <= 11 bits, is exact, and this is `below` of StepFloat.h,
//           for D >= p + 2. Below that, t and u are multiples of w up to
//           2^11 w: whatever t is rounded to, u is that less z, rounded to a
//           multiple of w, and t - u is z rounded so. A tie goes to even since
//           t is even then: z is n + 1/2 units, 2^D z is exact, and an even
//           number as D >= 2. To multiples of 2^g is how the format rounds up
//           to 2^(emin + 1).
//  sum      Of multiples of w: exact, or rounded to 11 bits, which changes
//           nothing as 2p + 2 <= 11 (DoubleRounding.h). x = c + R(z) is rounded
//           as in `below`; of fewer than 2^p units it is a value, and (2^D - 1)
//           x is exact.
//
// Range: a is held times 2^D w / 2^g and times w / 2^g, b as it is. Products
// are at most v: then 2^D z < 2^(emax + 1 + D) w / 2^g, which is 2^16 at most,
// is finite, and so is 2^D c.
//
// Saturating: x beyond v becomes v first.
// Overflowing: 2^D - 1 times x may become infinite; then x is more than what is
// rounded to v, and R(x) is infinite or NaN. A sum is infinite if R(x) is not
// one of the values up to v, with the sign of x.
// Confined: as there: no sum passes v by half a step or more. So x is less than
// 2^(emax + 1) (1 - 2^-(p + 1)), and 2^D - 1 times x, as held, than
// 2^16 (1 - 2^-5), which is finite.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPHALF_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPHALF_H

#include "numera/Numerics/MultiplyAdd/StepFloat.h"

namespace numera {

/// The step of one float format in binary16. Operands, starts and results are
/// carriers of f32; prepared numbers are binary16's.
struct HalfStep {
  using Half = _Float16;

  FloatFormat format;
  StepForm form;

  /// True if the steps of this format and form are exact.
  constexpr bool exists() const {
    if (format.mantissaBits < 1 || !format.hasSubnormals || !format.hasZero() ||
        !format.isSigned || format.maxExponent() <= format.minExponent())
      return false;
    bool saturates = format.codeOfOverflow() == format.maxCode();
    bool overflows = format.hasInfinity() &&
                     format.codeOfOverflow() == format.infinityCode();
    bool suits = form == StepForm::Saturating    ? saturates
                 : form == StepForm::Overflowing ? overflows
                 : form == StepForm::Confined    ? saturates || overflows
                                                 : false;
    return suits && 2 * format.precision() + 2 <= q &&
           format.leastExponent() >= leastExponent &&
           format.maxExponent() <= greatestExponent &&
           format.maxExponent() + cut() + scale() <= greatestExponent;
  }
  /// True if the form takes care of all products between these.
  constexpr bool admits(Magnitudes<float> products) const {
    if (form == StepForm::Confined)
      return FloatStep<float>{format, form}.admits(products);
    return products.most <= largest();
  }

  /// The first factor's two prepared forms.
  constexpr Half first(float a) const { return scaled(a, cut() + scale()); }
  constexpr Half second(float a) const { return scaled(-a, scale()); }
  constexpr Half prepared(float b) const { return scaled(b, 0); }
  /// NaN for that from which steps must not start: -0, and an infinity that
  /// would be lost.
  constexpr Half start(float c) const {
    bool isLost = Carrier<float>::bits(c) == Carrier<float>::sign ||
                  (form == StepForm::Saturating && c - c != 0);
    return scaled(isLost ? Carrier<float>::value(Carrier<float>::nan) : c,
                  scale());
  }
  /// The value of the format that c stands for; NaN for none.
  constexpr float result(Half c) const {
    return static_cast<float>(c) * power(-scale());
  }

  /// One step on prepared numbers. H is Half: a template, as builtins of
  /// clang's are nothing to compilers that only read this.
  template <typename H>
  constexpr H operator()(H c, H first, H second, H b) const {
    H above = first * b;
    H sum = c + (above - step::fma(second, b, above));
    H greatest = scaled(largest(), scale());
    if (form == StepForm::Saturating) {
      sum = sum < greatest ? sum : greatest;
      sum = sum > -greatest ? sum : -greatest;
    }
    auto shift = static_cast<H>(power(cut()));
    H rounded = step::roundByShifting(sum, shift);
    if (form != StepForm::Overflowing)
      return rounded;
    return __builtin_elementwise_abs(rounded) <= greatest
               ? rounded
               : __builtin_elementwise_copysign(
                     static_cast<H>(__builtin_inff()), sum);
  }

private:
  /// Of binary16: its significand's bits, 2^leastExponent its least number.
  static constexpr int32_t q = 11, leastExponent = -24, greatestExponent = 15;

  constexpr int32_t cut() const { return q - format.precision(); }
  /// c is held times 2^scale.
  constexpr int32_t scale() const {
    return leastExponent - format.leastExponent();
  }
  constexpr float largest() const {
    return decodeTo<float>(format, format.maxCode());
  }
  static constexpr Half scaled(float x, int32_t exponent) {
    return static_cast<Half>(x * power(exponent));
  }
  static constexpr float power(int32_t exponent) {
    return Carrier<float>::value(Carrier<float>::powerBits(exponent));
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPHALF_H
