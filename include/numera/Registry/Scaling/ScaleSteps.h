// SPDX-License-Identifier: MIT
//
// The steps that compute scales and scaled elements. They are written once:
// `Arithmetic` computes them on codes (Quantize.h) or emits them as IR. Every
// step is one operation of the dialect, rounded once. docs/Semantics/Scaling.md
// lists them.
//
// An Arithmetic has a type Value, a number of some format, and
//
//   Value constant(const Format &, double);      the nearest value
//   Value binary(Operation, Value, Value);       in the format of both
//   Value cast(const Format &, Value, CastRules);
//   Value nonzero(Value x, Value other);         x, or `other` if x is 0
//   Format formatOf(Value);

#ifndef NUMERA_REGISTRY_SCALING_SCALESTEPS_H
#define NUMERA_REGISTRY_SCALING_SCALESTEPS_H

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Scaling/Scaling.h"
#include <cmath>

namespace numera {

/// Rules of a cast that override those of its format.
struct CastRules {
  std::optional<Rounding> rounding = std::nullopt;
  std::optional<Overflow> overflow = std::nullopt;
};

/// f32, or f64 if `isWide`, with the significand of `element`, for rule `even`.
Format exponentsWithPrecisionOf(const Format &element, bool isWide);
/// Integers of 20 bits.
Format integerBeyondElements();
/// The saturating rule, if the format has a choice of rules.
std::optional<Overflow> saturating(const Format &format);
/// The least positive number of a format of scales.
double smallestScale(const Format &scale);

template <typename A> class ScaleSteps {
public:
  using Value = typename A::Value;

  ScaleSteps(A &arithmetic, const ScaledFormat &format)
      : a(arithmetic), format(format), scaling(format.scaling) {}

  /// The scale for elements whose largest magnitude is `amax`, an f32.
  /// `tensorScale`, an f32, is given if block scales are relative to one.
  Value scale(Value amax, std::optional<Value> tensorScale = std::nullopt) {
    switch (scaling.rule) {
    case ScaleRule::Floor:
    case ScaleRule::Ceil:
    case ScaleRule::Even:
      return power(amax);
    case ScaleRule::RoundUpCeil:
      return stored(toPower(orForZero(byFullScale(amax), 1), Rounding::Up));
    case ScaleRule::Absmax:
      // Else a scale would be subnormal, and elements divided by it infinite.
      if (scaling.scale == formatF32() && full() >= 0x1p127)
        return a.constant(formatF32(), 1);
      return positive(relative(byFullScale(amax), tensorScale));
    case ScaleRule::Range:
      return a.nonzero(amax, a.constant(formatF32(), 1));
    case ScaleRule::MinMax:
      break; // of two numbers
    }
    return amax;
  }

  /// Rule `min-max`: the scale for elements from `least` to `most`, f32, with 0
  /// among them.
  Value scaleOfRange(Value least, Value most) {
    Value steps = a.constant(formatF32(), highest() - lowest());
    Value range = a.binary(OpKind::Sub, most, least);
    return a.nonzero(a.binary(OpKind::Div, range, steps),
                     a.constant(formatF32(), 1));
  }
  /// The zero point for that scale: the element that 0 becomes.
  Value zeroPoint(Value least, Value scale) {
    Value below = a.binary(OpKind::Div, least, scale);
    return element(
        a.binary(OpKind::Sub, a.constant(formatF32(), lowest()), below));
  }

  /// The tensor scale, to which the scales of blocks are relative. With it, the
  /// largest of these becomes the largest number of its format.
  Value tensorScale(Value amax) {
    Value share = quotient(amax, full() * fullScale(scaling.scale));
    return a.nonzero(share, a.constant(formatF32(), 1));
  }

  /// The divisor of elements, an f32: the scale as a number, times the tensor
  /// scale.
  Value divisor(Value scale, std::optional<Value> tensorScale = std::nullopt) {
    Value number = wide(scale);
    return tensorScale ? a.binary(OpKind::Mul, *tensorScale, number) : number;
  }

  /// The element for x, an f32.
  Value quantize(Value x, Value divisor,
                 std::optional<Value> zero = std::nullopt) {
    Value data = a.binary(OpKind::Div, x, divisor);
    if (zero) {
      // To an integer, saturating far outside, then moved: exact in f32.
      Value integer = a.cast(integerBeyondElements(), data, {});
      return element(a.binary(OpKind::Add, wide(integer), wide(*zero)));
    }
    if (scaling.rule == ScaleRule::Range)
      data = a.binary(OpKind::Mul, data, a.constant(formatF32(), full()));
    return element(data);
  }
  /// The same if 1 / divisor is exact.
  Value quantizeByReciprocal(Value x, Value reciprocal) {
    return element(a.binary(OpKind::Mul, x, reciprocal));
  }
  /// An f32 rounded to an element, saturating.
  Value element(Value number) {
    if (format.element.isOpaque())
      number = withinFullScale(number);
    return a.cast(format.element, number, {{}, saturating(format.element)});
  }

  /// The value of an element, an f32.
  Value dequantize(Value data, Value divisor,
                   std::optional<Value> zero = std::nullopt) {
    Value number = wide(data);
    if (zero)
      number = a.binary(OpKind::Sub, number, wide(*zero));
    Value value = a.binary(OpKind::Mul, number, divisor);
    if (scaling.rule == ScaleRule::Range)
      value = a.binary(OpKind::Mul, value, baseScale());
    return value;
  }

  /// 1 / full scale, an f32.
  Value baseScale() { return a.constant(formatF32(), 1 / full()); }

private:
  double full() const { return format.fullScale(); }
  double highest() const { return std::ldexp(1.0, integerBits()) - 1; }
  /// Of an integer element: -2^n, or 0.
  double lowest() const {
    bool isSigned = int32_t(format.element.width()) != integerBits();
    return isSigned ? -highest() - 1 : 0;
  }
  int32_t integerBits() const {
    return format.element.getFamily().range(format.element).precision;
  }
  Value withinFullScale(Value number) {
    Value least = a.constant(formatF32(), -full());
    return a.binary(
        OpKind::Max, least,
        a.binary(OpKind::Min, number, a.constant(formatF32(), full())));
  }
  Value wide(Value x) {
    return a.formatOf(x) == formatF32() ? x : a.cast(formatF32(), x, {});
  }
  Value byFullScale(Value amax) { return quotient(amax, full()); }

  /// amax / divisor in f32. One that is beyond f32 is f32's largest number, but
  /// for infinities: rounding f64's quotient rounds as dividing in f32 does.
  Value quotient(Value amax, double divisor) {
    if (divisor >= 1)
      return a.binary(OpKind::Div, amax, a.constant(formatF32(), divisor));
    Value by = a.constant(formatF64(), float(divisor));
    Value wide = a.binary(OpKind::Div, a.cast(formatF64(), amax, {}), by);
    return a.cast(formatF32(), wide, {{}, Overflow::Propagate});
  }

  int32_t emax() const { return std::ilogb(full()); }

  /// 2^(log2 amax - emax), where the rule makes log2 amax an integer.
  Value power(Value amax) {
    amax = orForZero(amax, std::ldexp(1.0, emax()));
    Rounding rounding =
        scaling.rule == ScaleRule::Ceil ? Rounding::Up : Rounding::Down;
    bool isEven = scaling.rule == ScaleRule::Even;
    // Else the exponent of amax, a subnormal, is needed, or the bits that it
    // has lost.
    if (emax() < 0 || (isEven && emax() == 0)) {
      Value ratio = a.binary(OpKind::Mul, a.cast(formatF64(), amax, {}),
                             a.constant(formatF64(), std::ldexp(1, -emax())));
      return stored(toPower(inPrecision(ratio, /*isWide=*/true), rounding));
    }
    // What may round up to 2^128, which f32 and the scales lack, is halved
    // before. What this costs a subnormal amax is far below the scales. Where
    // emax is 0 the power is beyond them anyway, and saturates.
    bool halves = emax() > 0 && scaling.rule != ScaleRule::Floor;
    if (halves)
      amax = a.binary(OpKind::Mul, amax, a.constant(formatF32(), 0.5));
    Value exponent = toPower(inPrecision(amax, /*isWide=*/false), rounding);
    Value shift =
        a.constant(powersOfTwo(), std::ldexp(1.0, int(halves) - emax()));
    return stored(a.binary(OpKind::Mul, exponent, shift));
  }
  /// With rule `even`, x in the element's precision.
  Value inPrecision(Value x, bool isWide) {
    return scaling.rule == ScaleRule::Even
               ? a.cast(exponentsWithPrecisionOf(format.element, isWide), x,
                        {Rounding::NearestAway, Overflow::Propagate})
               : x;
  }
  /// The least power for 0; NaN for infinities and NaN.
  Value toPower(Value x, Rounding rounding) {
    return a.cast(powersOfTwo(), x, {rounding, Overflow::Propagate});
  }
  /// A power of two as the format of scales has it.
  Value stored(Value power) {
    return scaling.scale == powersOfTwo() ? power : positive(wide(power));
  }
  /// Scales in f32 have a number for 0.
  Value orForZero(Value x, double number) {
    return scaling.scale == formatF32()
               ? a.nonzero(x, a.constant(formatF32(), number))
               : x;
  }
  Value relative(Value number, std::optional<Value> tensorScale) {
    return tensorScale ? a.binary(OpKind::Div, number, *tensorScale) : number;
  }
  /// A number rounded to a scale that is not 0.
  Value positive(Value number) {
    if (scaling.scale == formatF32())
      return a.nonzero(number, a.constant(formatF32(), 1));
    Value least = a.constant(scaling.scale, smallestScale(scaling.scale));
    return a.binary(OpKind::Max,
                    a.cast(scaling.scale, number, {{}, Overflow::Propagate}),
                    least);
  }

  A &a;
  const ScaledFormat &format;
  const Scaling &scaling;
};

} // namespace numera

#endif // NUMERA_REGISTRY_SCALING_SCALESTEPS_H
