// SPDX-License-Identifier: MIT
//
// BatchAnalysis says where the sample changes. Rows are independent where each
// operation goes through the batch with all that it reads in step, whole, and
// adds nothing up along it, and where no value is made of the batch's size or
// of a sample's number.

#include "numera/Dialect/Numera/Transforms/IndependentRows.h"
#include "BatchAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace numera {

namespace {
class RowCheck {
public:
  explicit RowCheck(ModuleOp module) : batch(module) {}

  bool check(func::FuncOp function);
  BatchPlace placeOf(Value value) const { return batch.placeOf(value); }

private:
  bool check(Operation *op);
  bool checkLinalg(linalg::LinalgOp op);
  bool checkSlice(BatchPlace place, ArrayRef<OpFoldResult> sizes);
  bool checkPad(tensor::PadOp pad);
  bool isOfBatch(Value number) const;

  BatchAnalysis batch;
  llvm::DenseSet<Operation *> seen; ///< functions
};
} // namespace

/// A number outside of tensors that the size of the batch, or an element of it,
/// goes into.
bool RowCheck::isOfBatch(Value number) const {
  Operation *op = number.getDefiningOp();
  if (!op)
    return false;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    BatchPlace place = batch.placeOf(dim.getSource());
    std::optional<int64_t> index = getConstantIntValue(dim.getIndex());
    return !index || (place.dims >> *index & 1);
  }
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<TensorType>(operand.getType()) ? !batch.placeOf(operand).isNone()
                                              : isOfBatch(operand);
  });
}

bool RowCheck::checkLinalg(linalg::LinalgOp op) {
  BatchPlace place = batch.loopsOf(op);
  if (place.isNone())
    return true;
  if (!place.isKnown() ||
      op.getIteratorTypesArray()[place.dim()] != utils::IteratorType::parallel)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    BatchPlace own = batch.placeOf(operand.get());
    if (own.isNone())
      continue;
    auto loop = dyn_cast<AffineDimExpr>(
        op.getMatchingIndexingMap(&operand).getResult(own.dim()));
    if (!own.isKnown() || !own.agrees(place) || !loop ||
        loop.getPosition() != place.dim())
      return false;
  }
  WalkResult inBody = op->walk([&](linalg::IndexOp index) {
    if (index.getDim() != place.dim())
      return WalkResult::advance();
    // A sample's number tells where to read, and nothing else.
    for (OpOperand &use : index->getUses()) {
      auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
      BatchPlace from =
          extract ? batch.placeOf(extract.getTensor()) : BatchPlace();
      if (!from.isKnown() || !from.agrees(place) ||
          use.getOperandNumber() != from.dim() + 1)
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (inBody.wasInterrupted())
    return false;
  return !op->walk([&](tensor::ExtractOp extract) {
              BatchPlace from = batch.placeOf(extract.getTensor());
              if (from.isNone())
                return WalkResult::advance();
              auto index = from.isKnown()
                               ? extract.getIndices()[from.dim()]
                                     .getDefiningOp<linalg::IndexOp>()
                               : linalg::IndexOp();
              return index && index.getDim() == place.dim()
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            }).wasInterrupted();
}

/// A slice has all samples.
bool RowCheck::checkSlice(BatchPlace place, ArrayRef<OpFoldResult> sizes) {
  if (place.isNone())
    return true;
  auto size = place.isKnown() ? dyn_cast<Value>(sizes[place.dim()]) : Value();
  return size && place.outer == 1 && batch.samplesOf(size) == place.inner;
}

bool RowCheck::checkPad(tensor::PadOp pad) {
  BatchPlace place = batch.placeOf(pad.getSource());
  return place.isNone() || (isZeroInteger(pad.getMixedLowPad()[place.dim()]) &&
                            isZeroInteger(pad.getMixedHighPad()[place.dim()]));
}

bool RowCheck::check(Operation *op) {
  for (Value result : op->getResults()) {
    BatchPlace place = batch.placeOf(result);
    if (!place.isNone() && !place.isKnown())
      return false;
  }
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return checkLinalg(linalg);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return checkSlice(batch.placeOf(slice.getSource()), slice.getMixedSizes());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return !slice.getDroppedDims().any() &&
           checkSlice(batch.placeOf(slice.getResult()), slice.getMixedSizes());
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return checkPad(pad);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    return callee && !callee.isExternal() && !batch.isAmbiguous(callee) &&
           check(callee);
  }
  if (isa<scf::ForOp, scf::IfOp>(op))
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return !isa<TensorType>(operand.getType()) && isOfBatch(operand);
    });
  // How often it turns may depend on other rows, and on their number.
  if (isa<scf::WhileOp>(op))
    return !op->walk([&](Operation *inner) {
                return llvm::any_of(inner->getOperands(),
                                    [&](Value operand) {
                                      return !batch.placeOf(operand).isNone() ||
                                             isOfBatch(operand);
                                    })
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              }).wasInterrupted();
  if (isa<tensor::ExtractOp>(op) && op->getParentOfType<linalg::LinalgOp>())
    return true; // checkLinalg
  // What is made of numbers outside of tensors.
  if (isa<tensor::FromElementsOp, tensor::SplatOp, tensor::GenerateOp,
          tensor::InsertOp, tensor::ExtractOp, arith::IndexCastOp,
          arith::IndexCastUIOp>(op))
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return isa<TensorType>(operand.getType())
                 ? !batch.placeOf(operand).isNone()
                 : isOfBatch(operand);
    });
  return true;
}

bool RowCheck::check(func::FuncOp function) {
  if (!seen.insert(function).second)
    return true;
  WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    return check(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

bool hasIndependentRows(ModuleOp module, func::FuncOp function) {
  RowCheck check(module);
  if (!check.check(function))
    return false;
  return !function
              .walk([&](func::ReturnOp exit) {
                for (Value result : exit.getOperands())
                  if (check.placeOf(result) != BatchPlace::at(0))
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

} // namespace numera
