// SPDX-License-Identifier: MIT

#include "ConstantWork.h"
#include "CarriedRows.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace numera {

llvm::DenseSet<Operation *> computedFromConstants(func::FuncOp function) {
  llvm::DenseSet<Operation *> found;
  auto isFound = [&](Value value) {
    return found.contains(value.getDefiningOp());
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function || canCarryRows(op))
      return WalkResult::advance();
    llvm::SetVector<Value> above;
    getUsedValuesDefinedAbove(op->getRegions(), above);
    if (op->getNumResults() && isMemoryEffectFree(op) &&
        llvm::all_of(op->getOperands(), isFound) &&
        llvm::all_of(above, isFound))
      found.insert(op);
    return WalkResult::skip();
  });
  return found;
}

} // namespace numera
