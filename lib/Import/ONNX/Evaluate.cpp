//===- Evaluate.cpp - Operations on constants -----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
//
// Exporters compute shapes with operators. What these compute from constants is
// needed when the model is imported: the body of the operation is folded for
// each element.
//
//===----------------------------------------------------------------------===//
#include "Evaluate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace numera::importer {

/// The number of times a body is folded at most.
constexpr int64_t kMaxSteps = 1 << 14;

namespace {
class Evaluation {
public:
  explicit Evaluation(linalg::GenericOp op) : op(op) {}

  std::optional<SmallVector<Attribute>> run();

private:
  bool readOperands();
  bool step(ArrayRef<int64_t> indices);
  Attribute lookUp(Value value) const;
  bool fold(Operation &inner, ArrayRef<int64_t> indices);

  linalg::GenericOp op;
  SmallVector<DenseElementsAttr> inputs;
  SmallVector<Attribute> elements;
  SmallVector<int64_t> resultStrides;
  llvm::DenseMap<Value, Attribute> known;
};
} // namespace

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

static int64_t position(ArrayRef<int64_t> indices, ArrayRef<int64_t> strides) {
  int64_t flat = 0;
  for (auto [i, stride] : llvm::zip_equal(indices, strides))
    flat += i * stride;
  return flat;
}

bool Evaluation::readOperands() {
  for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
    DenseElementsAttr elements;
    bool isRead = !op.getBody()->getArgument(i).use_empty();
    if (isRead && !matchPattern(operand, m_Constant(&elements)))
      return false;
    inputs.push_back(elements);
  }
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type.hasStaticShape() || type.getNumElements() > kMaxSteps)
    return false;
  Attribute initial;
  if (auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>())
    if (!matchPattern(fill.getInputs()[0], m_Constant(&initial)))
      return false;
  elements.assign(type.getNumElements(), initial);
  resultStrides = rowMajor(type.getShape());
  return true;
}

Attribute Evaluation::lookUp(Value value) const {
  if (Attribute found = known.lookup(value))
    return found;
  Attribute constant;
  matchPattern(value, m_Constant(&constant));
  return constant;
}

bool Evaluation::fold(Operation &inner, ArrayRef<int64_t> indices) {
  Builder builder(op.getContext());
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    known[index] = builder.getIndexAttr(indices[index.getDim()]);
    return true;
  }
  Attribute constant;
  if (matchPattern(&inner, m_Constant(&constant))) {
    known[inner.getResult(0)] = constant;
    return true;
  }
  SmallVector<Attribute> operands;
  for (Value operand : inner.getOperands()) {
    operands.push_back(lookUp(operand));
    if (!operands.back())
      return false;
  }
  SmallVector<OpFoldResult> results;
  if (inner.getNumResults() != 1 || failed(inner.fold(operands, results)) ||
      results.size() != 1)
    return false;
  auto folded = dyn_cast<Attribute>(results[0]);
  known[inner.getResult(0)] = folded ? folded : lookUp(cast<Value>(results[0]));
  return known[inner.getResult(0)] != nullptr;
}

bool Evaluation::step(ArrayRef<int64_t> indices) {
  Block *body = op.getBody();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  known.clear();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!input)
      continue;
    auto shape = cast<RankedTensorType>(input.getType()).getShape();
    int64_t flat = position(maps[i].compose(indices), rowMajor(shape));
    known[body->getArgument(i)] = input.getValues<Attribute>()[flat];
  }
  Attribute &element =
      elements[position(maps.back().compose(indices), resultStrides)];
  if (element)
    known[body->getArgument(inputs.size())] = element;
  for (Operation &inner : body->without_terminator())
    if (!fold(inner, indices))
      return false;
  element = lookUp(body->getTerminator()->getOperand(0));
  return element != nullptr;
}

std::optional<SmallVector<Attribute>> Evaluation::run() {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t steps = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range) || range > kMaxSteps)
      return std::nullopt;
    steps *= range;
    if (steps > kMaxSteps)
      return std::nullopt;
  }
  if (!readOperands())
    return std::nullopt;
  SmallVector<int64_t> indices(ranges.size(), 0);
  for (int64_t i = 0; i < steps; ++i) {
    if (!step(indices))
      return std::nullopt;
    for (size_t axis = indices.size(); axis-- > 0;) {
      if (++indices[axis] < ranges[axis])
        break;
      indices[axis] = 0;
    }
  }
  return elements;
}

std::shared_ptr<const HostData> evaluate(linalg::GenericOp op,
                                         int64_t dataType) {
  if (!isInteger(dataType) && dataType != type::Float &&
      dataType != type::Double)
    return nullptr;
  auto elements = Evaluation(op).run();
  if (!elements)
    return nullptr;
  HostData data;
  for (Attribute element : *elements) {
    if (auto integer = dyn_cast_or_null<IntegerAttr>(element)) {
      const APInt &bits = integer.getValue();
      int64_t number = isUnsigned(dataType) ? int64_t(bits.getZExtValue())
                                            : bits.getSExtValue();
      data.ints.push_back(Dim::fixed(number));
    } else if (auto number = dyn_cast_or_null<FloatAttr>(element)) {
      if (dataType == type::Double)
        data.doubles.push_back(number.getValueAsDouble());
      else
        data.floats.push_back(float(number.getValueAsDouble()));
    } else {
      return nullptr;
    }
  }
  return std::make_shared<HostData>(std::move(data));
}

} // namespace numera::importer
