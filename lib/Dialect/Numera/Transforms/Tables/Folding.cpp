// SPDX-License-Identifier: MIT

#include "Folding.h"

using namespace mlir;

namespace numera {

FormatFamily::Effort effortOf(FormatOpInterface op) {
  auto effort = [&](const ElementKind &kind) {
    bool isMachine =
        !kind.isFormat() || kind.format.getFamily().machineWidth(kind.format);
    return isMachine ? FormatFamily::Effort::Short
                     : kind.format.getFamily().effort(op.getFormatOperation(),
                                                      kind.format);
  };
  return std::max(effort(op.getResultElement()),
                  effort(op.getOperandElement(0)));
}

Attribute splatOf(Value value) {
  Attribute constant = valueOfConstant(value);
  if (isa_and_nonnull<IntegerAttr>(constant))
    return constant;
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(constant);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>()
                                  : Attribute();
}

RankedTensorType typeOfCodes(Value value, int64_t count) {
  return RankedTensorType::get(count, numera::elementType(value.getType()));
}

DenseElementsAttr foldOn(Operation *op, ArrayRef<Attribute> operands,
                         int64_t count) {
  // The operation, on tensors: it stands nowhere.
  Block block;
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(
        block.addArgument(typeOfCodes(operand, count), op->getLoc()));
  state.addTypes(typeOfCodes(op->getResult(0), count));
  state.addAttributes(op->getAttrs());
  Operation *copy = Operation::create(state);
  SmallVector<OpFoldResult> results;
  bool isFolded = succeeded(copy->fold(operands, results)) && !results.empty();
  copy->destroy();
  if (!isFolded)
    return {};
  // An operand is a result, too.
  auto value = dyn_cast<Value>(results.front());
  Attribute result = value ? operands[cast<BlockArgument>(value).getArgNumber()]
                           : cast<Attribute>(results.front());
  return dyn_cast<DenseElementsAttr>(result);
}

void appendTo(std::vector<char> &bytes, DenseElementsAttr elements) {
  ArrayRef<char> raw = elements.getRawData();
  int64_t times = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < times; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

} // namespace numera
