// SPDX-License-Identifier: MIT

#include "numera/Registry/Scaling/Quantize.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Scaling/ScaleSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <deque>

using namespace numera;

namespace {

/// The arithmetic of ScaleSteps on codes.
class CodeArithmetic {
public:
  struct Value {
    const Format *format = nullptr; ///< of `own`
    uint64_t code = 0;
  };

  Value of(const Format &format, uint64_t code) { return {&own(format), code}; }
  Value ofFloat(float number) {
    return {&f32, llvm::bit_cast<uint32_t>(number)};
  }
  static const Format &formatOf(const Value &x) { return *x.format; }

  Value constant(const Format &format, double number) {
    return cast(format, of(formatF64(), llvm::bit_cast<uint64_t>(number)), {});
  }
  static Value binary(OpKind operation, const Value &x, const Value &y) {
    return {x.format, evaluateOperation(operation, *x.format, {x.code, y.code},
                                        x.format->getRoundingMode())};
  }
  Value cast(const Format &to, const Value &x, const CastRules &rules) {
    const Cast &known = castOf(own(to), *x.format, rules);
    return {known.to, evaluateOperation(OpKind::Cast, known.evaluation,
                                        *x.format, x.code)};
  }
  static Value nonzero(const Value &x, const Value &other) {
    return x.format->getFamily().decode(*x.format, x.code).isZero() ? other : x;
  }

private:
  /// A tensor's formats and casts are a few: each is looked up, since copies of
  /// formats take longer than arithmetic.
  struct Cast {
    const Format *to, *from;
    CastRules rules;
    OperationRules evaluation;
  };

  const Format &own(const Format &format) {
    for (const Format &known : formats)
      if (known == format)
        return known;
    return formats.emplace_back(format);
  }
  const Cast &castOf(const Format &to, const Format &from,
                     const CastRules &rules) {
    for (const Cast &cast : casts)
      if (cast.to == &to && cast.from == &from &&
          cast.rules.rounding == rules.rounding &&
          cast.rules.overflow == rules.overflow)
        return cast;
    OperationRules evaluation = rulesOf(OpKind::Cast, to, from);
    if (rules.rounding)
      evaluation.rounding = *rules.rounding;
    if (rules.overflow)
      if (Format other = to.getFamily().withOverflow(to, *rules.overflow))
        evaluation.encoding = other;
    return casts.emplace_back(Cast{&to, &from, rules, evaluation});
  }

  std::deque<Format> formats;
  std::deque<Cast> casts;
  const Format &f32 = own(formatF32());
};

using Value = CodeArithmetic::Value;
using Steps = ScaleSteps<CodeArithmetic>;

} // namespace

ScaleGrid::ScaleGrid(const Scaling &scaling, llvm::ArrayRef<int64_t> shape,
                     int64_t axis) {
  if (axis < 0) {
    for (int64_t size : shape)
      inner *= size;
    isShared = true; // along an axis of one index
    return;
  }
  for (auto [i, size] : llvm::enumerate(shape))
    (int64_t(i) < axis ? outer : int64_t(i) == axis ? length : inner) *= size;
  isShared = scaling.block == 0;
  block = isShared ? 1 : scaling.block;
  blocks = (length + block - 1) / block;
  scaleShape = isShared ? std::vector<int64_t>{length} : shape.vec();
  if (!isShared)
    scaleShape[axis] = blocks;
}

/// The larger of two magnitudes, NaN if either is.
static float largerMagnitude(float x, float y) {
  y = std::fabs(y);
  return std::isnan(x) || x > y ? x : y;
}

static float numberOf(const Value &x) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(x.code));
}

/// Rule `min-max`.
static ScaledTensor quantizeWithZeros(const ScaledFormat &format,
                                      const ScaleGrid &grid,
                                      llvm::ArrayRef<float> values,
                                      llvm::ArrayRef<float> scales,
                                      llvm::ArrayRef<float> zeros) {
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  struct Group {
    float least = 0, most = 0; ///< both NaN where a value is
    Value scale, zero;
  };
  std::vector<Group> groups(grid.groups());
  for (auto [i, x] : llvm::enumerate(values)) {
    Group &group = groups[grid.groupOf(int64_t(i))];
    group.least = std::isnan(x) || x < group.least ? x : group.least;
    group.most = std::isnan(x) || x > group.most ? x : group.most;
  }
  ScaledTensor tensor;
  for (auto [i, group] : llvm::enumerate(groups)) {
    Value least = arithmetic.ofFloat(group.least);
    if (scales.empty()) {
      group.scale = steps.scaleOfRange(least, arithmetic.ofFloat(group.most));
      group.zero = steps.zeroPoint(least, group.scale);
    } else {
      group.scale = arithmetic.ofFloat(scales[i]);
      group.zero = steps.element(arithmetic.ofFloat(zeros[i]));
    }
    tensor.scales.push_back(group.scale.code);
    tensor.zeros.push_back(group.zero.code);
  }
  for (auto [i, x] : llvm::enumerate(values)) {
    const Group &group = groups[grid.groupOf(int64_t(i))];
    tensor.data.push_back(
        steps.quantize(arithmetic.ofFloat(x), group.scale, group.zero).code);
  }
  return tensor;
}

ScaledTensor numera::quantize(const ScaledFormat &format, const ScaleGrid &grid,
                              llvm::ArrayRef<float> values,
                              llvm::ArrayRef<float> scales,
                              llvm::ArrayRef<float> zeros) {
  if (format.hasZeroPoint())
    return quantizeWithZeros(format, grid, values, scales, zeros);
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  ScaledTensor tensor;
  std::vector<float> largest(grid.groups(), 0);
  float largestOfAll = 0;
  for (auto [i, x] : llvm::enumerate(values)) {
    float &amax = largest[grid.groupOf(int64_t(i))];
    amax = largerMagnitude(amax, x);
    largestOfAll = largerMagnitude(largestOfAll, x);
  }
  std::optional<Value> tensorScale;
  if (format.scaling.hasTensorScale) {
    tensorScale = steps.tensorScale(arithmetic.ofFloat(largestOfAll));
    tensor.tensorScale = numberOf(*tensorScale);
  }
  std::vector<Value> divisors;
  for (auto [i, amax] : llvm::enumerate(largest)) {
    Value scale = scales.empty()
                      ? steps.scale(arithmetic.ofFloat(amax), tensorScale)
                      : arithmetic.cast(format.scaling.scale,
                                        arithmetic.ofFloat(scales[i]), {});
    tensor.scales.push_back(scale.code);
    divisors.push_back(steps.divisor(scale, tensorScale));
  }
  tensor.data.reserve(values.size());
  for (auto [i, x] : llvm::enumerate(values))
    tensor.data.push_back(
        steps
            .quantize(arithmetic.ofFloat(x), divisors[grid.groupOf(int64_t(i))])
            .code);
  return tensor;
}

float numera::scaleOf(const ScaledFormat &format, float amax) {
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  return numberOf(steps.divisor(steps.scale(arithmetic.ofFloat(amax))));
}

ScaleAndZero numera::scaleOfRange(const ScaledFormat &format, float least,
                                  float most) {
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  Value low = arithmetic.ofFloat(least);
  Value scale = steps.scaleOfRange(low, arithmetic.ofFloat(most));
  Value zero = steps.zeroPoint(low, scale);
  return {numberOf(scale), numberOf(arithmetic.cast(formatF32(), zero, {}))};
}

std::vector<float> numera::dequantize(const ScaledFormat &format,
                                      const ScaleGrid &grid,
                                      const ScaledTensor &tensor) {
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  std::optional<Value> tensorScale;
  if (tensor.tensorScale)
    tensorScale = arithmetic.ofFloat(*tensor.tensorScale);
  std::vector<Value> divisors;
  for (uint64_t scale : tensor.scales)
    divisors.push_back(
        steps.divisor(arithmetic.of(format.scaling.scale, scale), tensorScale));
  std::vector<float> values;
  values.reserve(tensor.data.size());
  for (auto [i, data] : llvm::enumerate(tensor.data)) {
    int64_t group = grid.groupOf(int64_t(i));
    std::optional<Value> zero;
    if (format.hasZeroPoint())
      zero = arithmetic.of(format.element, tensor.zeros[group]);
    values.push_back(numberOf(steps.dequantize(
        arithmetic.of(format.element, data), divisors[group], zero)));
  }
  return values;
}
