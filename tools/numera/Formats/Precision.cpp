// SPDX-License-Identifier: MIT

#include "Precision.h"

#include "numera/Numerics/Exact/Add.h"
#include "numera/Registry/Description/FormatFacts.h"
#include <algorithm>
#include <cmath>

using namespace numera;

static double log2Of(const Unpacked &value) {
  return std::log2(std::ldexp(double(value.significand), -63)) + value.exponent;
}

/// The significant bits at 2^exponent; none where no two numbers enclose it.
static std::optional<double> bitsAt(const Format &format, int32_t exponent) {
  const FormatFamily &family = format.getFamily();
  Unpacked power = Unpacked::fromInteger(/*negative=*/false, 1, exponent);
  Unpacked low =
      family.decode(format, family.encode(format, power, Rounding::TowardZero));
  if (!low.isFinite()) // the smallest number is a little above its binade's
    low = smallestOf(format); // beginning
  std::optional<Unpacked> high = nextAbove(format, low);
  if (!high)
    return std::nullopt;
  Unpacked gap =
      exact::sub(high->operand(), low.operand(), Rounding::NearestEven);
  return std::max(0.0, 1 + log2Of(low) - log2Of(gap));
}

std::vector<PrecisionStep> numera::precisionSteps(const Format &format) {
  const FormatFamily &family = format.getFamily();
  Unpacked smallest = smallestOf(format);
  Unpacked largest = family.decode(format, family.largest(format));
  int32_t binades = largest.exponent - smallest.exponent + 1;
  int32_t stride = (binades + 2047) / 2048;
  std::vector<PrecisionStep> steps;
  for (int32_t e = smallest.exponent; e <= largest.exponent; e += stride) {
    std::optional<double> bits = bitsAt(format, e);
    if (!bits)
      break;
    if (steps.empty())
      steps.push_back({log2Of(smallest), 0, *bits});
    else if (std::abs(steps.back().bits - *bits) > 1e-6) {
      steps.back().to = e;
      steps.push_back({double(e), 0, *bits});
    }
  }
  if (!steps.empty())
    steps.back().to = log2Of(largest);
  return steps;
}

std::vector<double> numera::positiveValues(const Format &format) {
  std::vector<double> values;
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    Unpacked value = format.getFamily().decode(format, code);
    if (value.isFinite() && !value.negative)
      values.push_back(log2Of(value));
  }
  std::sort(values.begin(), values.end());
  return values;
}
