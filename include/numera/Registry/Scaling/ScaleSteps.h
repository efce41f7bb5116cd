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

/// f32 with the significand of `element`, for rule `even`.
Format exponentsWithPrecisionOf(const Format &element);
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
      return power(amax, Rounding::Down, -emax());
    case ScaleRule::Ceil:
      return powerOfHalf(amax, /*isRounded=*/false);
    case ScaleRule::Even:
      return powerOfHalf(amax, /*isRounded=*/true);
    case ScaleRule::RoundUpCeil:
      return stored(a.cast(powersOfTwo(), byFullScale(amax),
                           {Rounding::Up, Overflow::Propagate}));
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
    Value all = a.constant(formatF32(), full() * fullScale(scaling.scale));
    return a.nonzero(a.binary(OpKind::Div, amax, all),
                     a.constant(formatF32(), 1));
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
  Value byFullScale(Value amax) {
    return a.binary(OpKind::Div, amax, a.constant(formatF32(), full()));
  }

  int32_t emax() const { return std::ilogb(full()); }

  /// 2^(log2 x + shift), where the rounding makes log2 x an integer. The least
  /// power for 0; NaN for infinities and NaN.
  Value power(Value x, Rounding rounding, int32_t shift) {
    Value exponent = a.cast(powersOfTwo(), x, {rounding, Overflow::Propagate});
    return stored(a.binary(OpKind::Mul, exponent,
                           a.constant(powersOfTwo(), std::ldexp(1.0, shift))));
  }
  /// The same of what may round up to 2^128, which f32 and the scales lack: of
  /// half of it. Where emax is 0 the power is beyond the scales anyway, and
  /// saturates; else what halving costs a subnormal x is far below them.
  Value powerOfHalf(Value x, bool isRounded) {
    bool halves = emax() > 0;
    if (halves)
      x = a.binary(OpKind::Mul, x, a.constant(formatF32(), 0.5));
    if (isRounded)
      x = a.cast(exponentsWithPrecisionOf(format.element), x,
                 {Rounding::NearestAway, Overflow::Propagate});
    return power(x, isRounded ? Rounding::Down : Rounding::Up, halves - emax());
  }
  /// A power of two as the format of scales has it.
  Value stored(Value power) {
    return scaling.scale == powersOfTwo() ? power
                                          : a.cast(scaling.scale, power, {});
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
