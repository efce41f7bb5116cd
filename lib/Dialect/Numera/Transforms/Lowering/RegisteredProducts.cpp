// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/Transforms/Lowering/RegisteredProducts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace numera {

const Lowering *registeredProduct(MacOp step) {
  FormatOpInterface op = step;
  Lowering key{};
  key.target = Target::CPU;
  key.result = op.getResultElement().format;
  key.operands = {op.getOperandElement(0).format,
                  op.getOperandElement(1).format};
  OperationRules rules = op.getRules();
  key.rounding = rules.rounding.rounding;
  auto function = step->getParentOfType<func::FuncOp>();
  bool wantsDots = function && function->hasAttr(dotsAttribute);
  for (OpKind product : {OpKind::Matmul, OpKind::Dot}) {
    if (product == OpKind::Matmul && wantsDots)
      continue;
    key.operation = product;
    const Lowering *found = registryOf(step).findLowering(key);
    // It knows no other overflow rule than its format's.
    if (found && rules.encoding == rules.result)
      return found;
  }
  return nullptr;
}

} // namespace numera
