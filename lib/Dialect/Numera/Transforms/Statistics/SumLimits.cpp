// SPDX-License-Identifier: MIT

#include "SumLimits.h"
#include "FlagAnalysis.h"
#include "NumberBounds.h"
#include <cmath>

using namespace mlir;

namespace numera {

/// The exponent that terms of a sum stay below: of `count` ones, or of however
/// many.
static std::optional<int> limitOfTerms(const Format &sum, RoundingMode rounding,
                                       int64_t count) {
  const FormatFamily &family = sum.getFamily();
  FormatFamily::Range range = family.range(sum);
  std::optional<int> limit;
  if (range.normalExponent) {
    // Of each sum, and of the product.
    double errors = double(count + 1) * std::ldexp(1.0, 1 - range.precision) /
                    std::log(2.0);
    double growth = std::log2(double(count)) + errors;
    if (growth <= range.maxExponent)
      limit = range.maxExponent - int(std::ceil(growth));
  }
  if (rounding.rounding != Rounding::NearestEven)
    return limit;
  // Without an overflow rule, the exact sum is not to be above the largest.
  int most = range.normalExponent ? range.maxExponent : range.maxExponent - 1;
  auto precisionAt = [&](int e) { return family.precisionAt(sum, e); };
  while (most > range.leastExponent && precisionAt(most) < 2)
    --most;
  int terms = most - precisionAt(most);
  if (terms > range.normalExponent.value_or(range.leastExponent) &&
      precisionAt(terms) >= 1)
    limit = std::max(limit.value_or(terms), terms);
  return limit;
}

std::optional<SumLimits> limitsOf(MacOp step, int64_t count) {
  StepRules rules = stepRulesOf(step);
  const Format &sum = rules.sum.encoding;
  if (!knownFormat(step.getType()) || !rules.sum.truncation.empty() ||
      step.getTensorcore())
    return std::nullopt;
  FormatFamily::Range range = sum.getFamily().range(sum);
  NumberBounds bounds = boundsOf(sum);
  if (range.leastExponent != bounds.unit || !isSymmetric(sum))
    return std::nullopt;
  std::optional<int> limit = limitOfTerms(sum, rules.sum.rounding, count);
  if (!limit)
    return std::nullopt;
  SumLimits limits = {*limit, bounds.unit, std::nullopt, range.hasNaN};
  if (!rules.product)
    return limits;
  const Format &product = rules.product->encoding;
  if (product != sum || !rules.product->truncation.empty())
    return std::nullopt;
  limits.least = range.normalExponent.value_or(range.leastExponent);
  return limits;
}

} // namespace numera
