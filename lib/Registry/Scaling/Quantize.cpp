// SPDX-License-Identifier: MIT

#include "numera/Registry/Scaling/Quantize.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Scaling/ScaleSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace numera;

namespace {

/// The arithmetic of ScaleSteps on codes.
struct CodeArithmetic {
  struct Value {
    Format format;
    uint64_t code = 0;
  };

  static Value ofFloat(float number) {
    return {formatF32(), llvm::bit_cast<uint32_t>(number)};
  }
  static Format formatOf(const Value &x) { return x.format; }

  static Value constant(const Format &format, double number) {
    const Format &f64 = formatF64();
    return cast(format, {f64, llvm::bit_cast<uint64_t>(number)}, {});
  }
  static Value binary(OpKind operation, const Value &x, const Value &y) {
    return {x.format, evaluateOperation(operation, x.format, {x.code, y.code},
                                        x.format.getRoundingMode())};
  }
  static Value cast(const Format &to, const Value &x, const CastRules &rules) {
    OperationRules own = rulesOf(OpKind::Cast, to, x.format);
    if (rules.rounding)
      own.rounding = *rules.rounding;
    if (rules.overflow)
      if (Format other = to.getFamily().withOverflow(to, *rules.overflow))
        own.encoding = other;
    return {to, evaluateOperation(OpKind::Cast, own, x.format, x.code)};
  }
  static Value nonzero(const Value &x, const Value &other) {
    return x.format.getFamily().decode(x.format, x.code).isZero() ? other : x;
  }
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
        steps.divisor({format.scaling.scale, scale}, tensorScale));
  std::vector<float> values;
  values.reserve(tensor.data.size());
  for (auto [i, data] : llvm::enumerate(tensor.data)) {
    int64_t group = grid.groupOf(int64_t(i));
    std::optional<Value> zero;
    if (format.hasZeroPoint())
      zero = Value{format.element, tensor.zeros[group]};
    values.push_back(numberOf(
        steps.dequantize({format.element, data}, divisors[group], zero)));
  }
  return values;
}
