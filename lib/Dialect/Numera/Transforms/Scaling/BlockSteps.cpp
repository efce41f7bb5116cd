// SPDX-License-Identifier: MIT

#include "BlockSteps.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Formats/FormatFamily.h"
#include <algorithm>

namespace numera {

static constexpr int32_t mantissa = BlockSteps::mantissa,
                         bias = BlockSteps::bias,
                         leastNormal = BlockSteps::leastNormal;
static constexpr uint32_t infinity = BlockSteps::infinity,
                          magnitudes = BlockSteps::magnitudes;
static constexpr auto powerOf = BlockSteps::powerOf;

static uint32_t numberOf(const Format &format, uint64_t code) {
  OperationRules rules = rulesOf(OpKind::Cast, formatF32(), format);
  return uint32_t(evaluateOperation(OpKind::Cast, rules, format, code));
}

static std::optional<BlockSteps> stepsOfFloat(const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  int32_t count = mantissa + 1 - range.precision;
  int32_t exponent = *range.normalExponent + count;
  // Two bits more than the precision below its last, and q's that are subnormal
  // in f32 far below F's least number.
  bool hasSubnormals =
      range.leastExponent == *range.normalExponent + 1 - range.precision;
  if (!range.hasNegativeZero || !hasSubnormals || range.precision < 2 ||
      range.precision + 2 > count || range.leastExponent <= leastNormal + 2 ||
      exponent >= bias)
    return std::nullopt;
  // Codes count from zero through subnormal to normal numbers.
  if (numberOf(format, 1) != powerOf(range.leastExponent) ||
      numberOf(format, 1u << (range.precision - 1)) !=
          powerOf(*range.normalExponent))
    return std::nullopt;
  BlockSteps steps;
  steps.isFloat = true;
  steps.words = {numberOf(format, family.largest(format)),
                 powerOf(exponent) | BlockSteps::half};
  steps.count = count;
  steps.firstCode = leastNormal - *range.normalExponent + bias;
  steps.lastCode = bias - range.maxExponent - count + bias;
  return steps;
}

static std::optional<BlockSteps> stepsOfMultiples(const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  int32_t least = range.leastExponent, most = range.maxExponent;
  // All multiples, few and not too small; the lowest one negative.
  if (family.precisionAt(format, least) != 1 ||
      family.precisionAt(format, most) != most - least + 1 ||
      most - least > mantissa - 3 || least < 1 - mantissa || most > mantissa)
    return std::nullopt;
  // A sum has one zero, and its bits are those of two's complement.
  if (range.hasNegativeZero ||
      numberOf(format, ~uint64_t(0) >> (64 - format.width())) !=
          (powerOf(least) | ~magnitudes))
    return std::nullopt;
  BlockSteps steps;
  steps.isFloat = false;
  steps.words = {numberOf(format, family.largest(format)),
                 numberOf(format, family.lowest(format)),
                 powerOf(least + mantissa) | BlockSteps::half};
  if (!(steps.words[1] & ~magnitudes))
    return std::nullopt;
  steps.count = 0;
  steps.firstCode = leastNormal - most + bias;
  steps.lastCode = std::min(bias - mantissa - least, bias) + bias;
  return steps;
}

std::optional<BlockSteps> blockStepsOf(const Format &format,
                                       const OperationRules &rules) {
  if (format.isOpaque() || !format.getFamily().hasArithmetic() ||
      rules.rounding != Rounding::NearestEven || !rules.truncation.empty())
    return std::nullopt;
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  // Beyond the largest number all is the largest number.
  for (uint32_t x : {powerOf(range.maxExponent + 1), infinity})
    if (evaluateOperation(OpKind::Cast, rules, formatF32(), x) !=
        family.largest(format))
      return std::nullopt;
  auto steps =
      range.normalExponent ? stepsOfFloat(format) : stepsOfMultiples(format);
  if (!steps)
    return std::nullopt;
  steps->width = format.width();
  steps->firstCode = std::max(0, steps->firstCode);
  bool hasCodes = steps->firstCode < steps->lastCode;
  return hasCodes ? steps : std::nullopt;
}

} // namespace numera
