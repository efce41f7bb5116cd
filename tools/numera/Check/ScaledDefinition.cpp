// SPDX-License-Identifier: MIT
//
// Scaled values by the text of the clauses: logarithms are exponents of f64,
// and every rounding to f32 is one conversion. Nothing here is what programs
// are made of but the formats' own decode and encode.

#include "ScaledCheck.h"
#include <cfloat>
#include <cmath>
#include <cstring>

using namespace numera;

static double numberOf(const Format &format, uint64_t code) {
  Unpacked value = format.getFamily().decode(format, code);
  if (value.isNaN())
    return NAN;
  double magnitude =
      value.isZero() ? 0
      : value.isInfinite()
          ? INFINITY
          : std::ldexp(double(value.significand), value.exponent - 63);
  return value.negative ? -magnitude : magnitude;
}

static uint64_t codeOf(const Format &format, double number, Overflow overflow) {
  const FormatFamily &family = format.getFamily();
  Format rule = family.withOverflow(format, overflow);
  Unpacked value;
  value.negative = std::signbit(number);
  if (std::isnan(number)) {
    value = Unpacked::nan();
  } else if (std::isinf(number)) {
    value = Unpacked::infinity(value.negative);
  } else if (number == 0) {
    value = Unpacked::zero(value.negative);
  } else {
    int exponent;
    double fraction = std::frexp(std::fabs(number), &exponent);
    value.kind = Kind::Finite;
    value.exponent = exponent - 1;
    value.significand = uint64_t(std::ldexp(fraction, 64));
  }
  return family.encode(rule ? rule : format, value, format.getRounding());
}

float numera::largestMagnitude(llvm::ArrayRef<float> numbers) {
  float largest = 0;
  for (float number : numbers) {
    if (std::isnan(number))
      return NAN;
    largest = std::max(largest, std::fabs(number));
  }
  return largest;
}

namespace {

/// The scale of one group.
struct Definition {
  const ScaledFormat &format;
  const Scaling &scaling = format.scaling;
  double full = float(format.fullScale());
  int emax = std::ilogb(format.fullScale());

  /// floor(log2 x) and ceil(log2 x) of a positive number.
  static int floorLog2(double x) { return std::ilogb(x); }
  static int ceilLog2(double x) {
    int exponent;
    return std::frexp(x, &exponent) == 0.5 ? exponent - 1 : exponent;
  }
  /// amax rounded to the element's precision, ties away.
  double inPrecision(double amax) const {
    int bits = format.element.getFamily().range(format.element).precision;
    bits = std::min(std::max(bits, 1), 24);
    int exponent;
    double fraction = std::frexp(amax, &exponent);
    return std::ldexp(std::floor(std::ldexp(fraction, bits) + 0.5),
                      exponent - bits);
  }

  /// A power of two as the scales have it.
  double power(int exponent) const {
    return stored(std::ldexp(1.0, std::min(std::max(exponent, -127), 127)));
  }
  double stored(double scale) const {
    if (scaling.scale == formatF32())
      return scale == 0 ? 1 : float(scale);
    double number = numberOf(scaling.scale,
                             codeOf(scaling.scale, scale, Overflow::Propagate));
    return std::isnan(number) ? number : std::max(number, least());
  }
  double least() const {
    return scaling.scale == formatF32()
               ? 1
               : std::ldexp(1.0, scaling.scale.getFamily()
                                     .range(scaling.scale)
                                     .leastExponent);
  }

  /// In f32, whose largest number a finite one does not leave.
  static float quotient(float amax, float divisor) {
    float result = amax / divisor;
    return std::isinf(result) && std::isfinite(amax) ? FLT_MAX : result;
  }
  float tensorScale(float largestOfAll) const {
    float scale =
        quotient(largestOfAll, float(full * double(fullScale(scaling.scale))));
    return scale == 0 ? 1.0f : scale;
  }
  double scale(float amax, std::optional<float> tensorScale) const;
};

} // namespace

double Definition::scale(float amax, std::optional<float> tensorScale) const {
  bool isF32 = scaling.scale == formatF32();
  if (scaling.rule == ScaleRule::Range)
    return amax == 0 ? 1 : amax;
  bool isAbsmax = scaling.rule == ScaleRule::Absmax;
  if (isAbsmax && isF32 && full >= 0x1p127)
    return 1;
  if (!(isAbsmax && isF32) && !std::isfinite(amax)) {
    if (scaling.scale.getFamily().range(scaling.scale).hasNaN)
      return NAN;
    return isAbsmax && std::isinf(amax) ? stored(amax) : least();
  }
  if (amax == 0)
    return least();
  switch (scaling.rule) {
  case ScaleRule::Floor:
    return power(floorLog2(amax) - emax);
  case ScaleRule::Ceil:
    return power(ceilLog2(amax) - emax);
  case ScaleRule::Even:
    return power(floorLog2(inPrecision(amax)) - emax);
  case ScaleRule::RoundUpCeil: {
    float ratio = quotient(amax, float(full));
    return ratio == 0 ? least() : power(ceilLog2(ratio));
  }
  default: {
    float ratio = quotient(amax, float(full));
    return stored(tensorScale ? ratio / *tensorScale : ratio);
  }
  }
}

std::vector<float> numera::valuesByDefinition(const ScaledFormat &format,
                                              llvm::ArrayRef<float> group,
                                              float largestOfAll) {
  Definition definition{format};
  std::optional<float> tensorScale;
  if (format.scaling.hasTensorScale)
    tensorScale = definition.tensorScale(largestOfAll);
  auto scale = float(definition.scale(largestMagnitude(group), tensorScale));
  float divisor = tensorScale ? *tensorScale * scale : scale;
  bool isRange = format.scaling.rule == ScaleRule::Range;
  auto full = float(definition.full);
  std::vector<float> values;
  for (float number : group) {
    float quotient = number / divisor;
    if (isRange)
      quotient = quotient * full;
    double element = numberOf(
        format.element, codeOf(format.element, quotient, Overflow::Saturate));
    float value = float(element) * divisor;
    values.push_back(isRange ? value * float(1 / double(full)) : value);
  }
  return values;
}
