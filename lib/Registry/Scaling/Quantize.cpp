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
  /// What `cast` evaluates, as long as this lives.
  const OperationRules &evaluationOf(const Format &to, const Format &from,
                                     const CastRules &rules) {
    return castOf(own(to), own(from), rules).evaluation;
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
static ScaledTensor scalesAndZeros(const ScaledFormat &format,
                                   const ScaleGrid &grid,
                                   llvm::ArrayRef<float> values,
                                   llvm::ArrayRef<float> scales,
                                   llvm::ArrayRef<float> zeros) {
  CodeArithmetic arithmetic;
  Steps steps(arithmetic, format);
  struct Range {
    float least = 0, most = 0; ///< both NaN where a value is
  };
  std::vector<Range> ranges(grid.groups());
  for (auto [i, x] : llvm::enumerate(values)) {
    Range &range = ranges[grid.groupOf(int64_t(i))];
    range.least = std::isnan(x) || x < range.least ? x : range.least;
    range.most = std::isnan(x) || x > range.most ? x : range.most;
  }
  ScaledTensor tensor;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    if (!scales.empty()) {
      tensor.scales.push_back(arithmetic.ofFloat(scales[i]).code);
      tensor.zeros.push_back(steps.element(arithmetic.ofFloat(zeros[i])).code);
      continue;
    }
    Value least = arithmetic.ofFloat(range.least);
    Value scale = steps.scaleOfRange(least, arithmetic.ofFloat(range.most));
    tensor.scales.push_back(scale.code);
    tensor.zeros.push_back(steps.zeroPoint(least, scale).code);
  }
  return tensor;
}

ScaledTensor numera::scalesFor(const ScaledFormat &format,
                               const ScaleGrid &grid,
                               llvm::ArrayRef<float> values,
                               llvm::ArrayRef<float> scales,
                               llvm::ArrayRef<float> zeros) {
  if (format.hasZeroPoint())
    return scalesAndZeros(format, grid, values, scales, zeros);
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
  for (auto [i, amax] : llvm::enumerate(largest)) {
    Value scale = scales.empty()
                      ? steps.scale(arithmetic.ofFloat(amax), tensorScale)
                      : arithmetic.cast(format.scaling.scale,
                                        arithmetic.ofFloat(scales[i]), {});
    tensor.scales.push_back(scale.code);
  }
  return tensor;
}

struct ScaledElements::State {
  State(const ScaledFormat &format, const ScaleGrid &grid)
      : format(format), grid(grid), steps(arithmetic, this->format) {}

  ScaledFormat format;
  ScaleGrid grid;
  CodeArithmetic arithmetic;
  Steps steps;
  std::vector<Value> divisors;
  std::vector<Value> zeros; ///< none without zero points
  /// The last step of `quantize`, a cast of f32, where it is one that divides
  /// before; looked up once.
  const OperationRules *toElement = nullptr;
  /// The number of each code of elements of up to 8 bits, without zero points.
  std::vector<float> numbers;
};

ScaledElements::ScaledElements(const ScaledFormat &format,
                               const ScaleGrid &grid,
                               const ScaledTensor &scales)
    : state(std::make_unique<State>(format, grid)) {
  CodeArithmetic &arithmetic = state->arithmetic;
  std::optional<Value> tensorScale;
  if (scales.tensorScale)
    tensorScale = arithmetic.ofFloat(*scales.tensorScale);
  for (uint64_t scale : scales.scales)
    state->divisors.push_back(state->steps.divisor(
        arithmetic.of(format.scaling.scale, scale), tensorScale));
  if (format.hasZeroPoint())
    for (uint64_t zero : scales.zeros)
      state->zeros.push_back(arithmetic.of(format.element, zero));
  if (!format.hasZeroPoint() && !format.element.isOpaque())
    state->toElement = &arithmetic.evaluationOf(
        format.element, formatF32(), {{}, saturating(format.element)});
  if (state->toElement && format.element.width() <= 8)
    for (uint64_t code = 0; code >> format.element.width() == 0; ++code)
      state->numbers.push_back(numberOf(arithmetic.cast(
          formatF32(), arithmetic.of(format.element, code), {})));
}

ScaledElements::~ScaledElements() = default;

/// The zero point of a group, if there are any.
static std::optional<Value> zeroOf(llvm::ArrayRef<Value> zeros, int64_t group) {
  return zeros.empty() ? std::nullopt : std::optional(zeros[size_t(group)]);
}

uint64_t ScaledElements::quantize(int64_t index, float value) {
  int64_t group = state->grid.groupOf(index);
  // IEEE 754 defines quotients and products in f32, so that the host's are
  // those of the steps. Which NaN is a result it leaves open.
  float data = value / numberOf(state->divisors[group]);
  if (state->format.scaling.rule == ScaleRule::Range)
    data *= float(state->format.fullScale());
  if (state->toElement && !std::isnan(data))
    return evaluateOperation(OpKind::Cast, *state->toElement, formatF32(),
                             llvm::bit_cast<uint32_t>(data));
  return state->steps
      .quantize(state->arithmetic.ofFloat(value), state->divisors[group],
                zeroOf(state->zeros, group))
      .code;
}

float ScaledElements::dequantize(int64_t index, uint64_t code) {
  int64_t group = state->grid.groupOf(index);
  if (code < state->numbers.size()) {
    float value = state->numbers[code] * numberOf(state->divisors[group]);
    if (state->format.scaling.rule == ScaleRule::Range)
      value *= float(1 / state->format.fullScale());
    if (!std::isnan(value))
      return value;
  }
  return numberOf(state->steps.dequantize(
      state->arithmetic.of(state->format.element, code), state->divisors[group],
      zeroOf(state->zeros, group)));
}

ScaledTensor numera::quantize(const ScaledFormat &format, const ScaleGrid &grid,
                              llvm::ArrayRef<float> values,
                              llvm::ArrayRef<float> scales,
                              llvm::ArrayRef<float> zeros) {
  ScaledTensor tensor = scalesFor(format, grid, values, scales, zeros);
  ScaledElements elements(format, grid, tensor);
  tensor.data.reserve(values.size());
  for (auto [i, x] : llvm::enumerate(values))
    tensor.data.push_back(elements.quantize(int64_t(i), x));
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
  ScaledElements elements(format, grid, tensor);
  std::vector<float> values;
  values.reserve(tensor.data.size());
  for (auto [i, code] : llvm::enumerate(tensor.data))
    values.push_back(elements.dequantize(int64_t(i), code));
  return values;
}
