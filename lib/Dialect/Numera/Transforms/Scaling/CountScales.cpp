// SPDX-License-Identifier: MIT
//
// Statistics of scaled tensors, as one more result of a function: a row of
// numbers for each tensor (CounterRow.h), computed from its parts.

#include "Scaling/ExpandScales.h"
#include "Statistics/CarriedRows.h"
#include "Statistics/ConstantWork.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACOUNTSCALES
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"

/// Behind everything that makes scaled tensors.
LogicalResult
Expander::returnCounts(ArrayRef<Operation *> work,
                       const llvm::DenseSet<Operation *> &others) {
  llvm::MapVector<func::FuncOp, SmallVector<CounterRow>> rows;
  llvm::DenseMap<func::FuncOp, llvm::DenseSet<Operation *>> constant;
  for (Operation *op : work) {
    if (op->getNumResults() != 1 || !expanded.contains(op->getResult(0)) ||
        others.contains(op))
      continue;
    Operation *outside = op->getParentOp();
    while (canCarryRows(outside))
      outside = outside->getParentOp();
    auto function = dyn_cast<func::FuncOp>(outside);
    if (!function || !function.getBody().hasOneBlock())
      return op->emitError("between branches or inside of another operation, "
                           "where scales cannot be counted; expected it in a "
                           "function's only block, in scf.if, scf.for or "
                           "scf.while");
    auto known = constant.find(function);
    if (known == constant.end())
      known =
          constant.try_emplace(function, computedFromConstants(function)).first;
    Operation *exit = op->getBlock()->getTerminator();
    Operation *last = exit->getPrevNode();
    builder.setInsertionPoint(exit);
    const Parts &parts = partsOf(op->getResult(0));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto quantize = dyn_cast<QuantizeOp>(op);
    Value numbers = quantize ? quantize.getInput() : Value();
    Value read =
        parts.zeros ? valuesOf(op->getLoc(), op->getResult(0)) : parts.data;
    Value by = divisors(op->getLoc(), parts, scaledFormatOf(type),
                        /*reciprocal=*/false);
    CounterRow row = countScales(builder, op, numbers, read, parts.data, by);
    row.description.isConstant = known->second.contains(op);
    rows[function].push_back(row);
    for (Operation *made = last->getNextNode(); made != exit;
         made = made->getNextNode())
      made->walk([](FormatOpInterface own) {
        own->setAttr(uncountedAttribute, UnitAttr::get(own->getContext()));
      });
  }
  for (auto &[function, counted] : rows) {
    carryRows(function, counted);
    returnCounterRows(function, counted);
  }
  return success();
}

/// Those of `work` that rows of layers alone need.
llvm::DenseSet<Operation *> Expander::findOthers(ModuleOp module,
                                                 ArrayRef<Operation *> work) {
  llvm::DenseSet<Operation *> others;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (countLayerRows(function) == 0)
      continue;
    llvm::DenseSet<Operation *> own = computedForOwnResults(function);
    for (Operation *op : work)
      if (Operation *around = function.front().findAncestorOpInBlock(*op);
          around && !own.contains(around))
        others.insert(op);
  }
  return others;
}

/// What is counted is found by its name: where the model gives none, by a
/// number.
void Expander::nameTensors(ArrayRef<Operation *> work) {
  int64_t number = 0;
  for (Operation *op : work)
    if (op->getNumResults() == 1 && scalingOf(op->getResult(0).getType()) &&
        nodeNameOf(op->getLoc()).empty()) {
      auto name = StringAttr::get(op->getContext(),
                                  "tensor" + std::to_string(++number));
      op->setLoc(NameLoc::get(name, op->getLoc()));
    }
}

namespace {
struct CountScalesPass : impl::NumeraCountScalesBase<CountScalesPass> {
  void runOnOperation() override {
    if (failed(Expander(&getContext(), /*counts=*/true, Target::CPU)
                   .run(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
