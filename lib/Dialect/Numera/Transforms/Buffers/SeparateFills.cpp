// SPDX-License-Identifier: MIT
//
// Sums that start from the same filled tensor would each copy it, and it would
// stay in memory from the first to the last. To fill memory costs half as much,
// and nothing where the kernel of a contraction takes the value instead. And
// new tensors that have become one, being alike, are several again.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERASEPARATEFILLS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// What writes to the fill's result gets one of its own.
static void separate(linalg::FillOp fill) {
  auto empty = fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>();
  if (!empty || !fill.hasPureTensorSemantics() || fill->hasOneUse())
    return;
  SmallVector<OpOperand *> written;
  for (OpOperand &use : fill->getUses()) {
    auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    if (user && user.isDpsInit(&use))
      written.push_back(&use);
  }
  for (OpOperand *use : written) {
    OpBuilder builder(use->getOwner());
    Operation *memory = builder.clone(*empty);
    IRMapping mapping;
    mapping.map(empty->getResult(0), memory->getResult(0));
    use->set(builder.clone(*fill, mapping)->getResult(0));
  }
}

/// One for so many operations: bufferization compares each of them with each
/// other, and those that are near have the same memory one after the other.
static void divide(tensor::EmptyOp empty) {
  constexpr size_t most = 16;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : empty->getUses())
    if (use.getOwner()->getBlock() == empty->getBlock())
      uses.push_back(&use);
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner()
               ? a->getOperandNumber() < b->getOperandNumber()
               : a->getOwner()->isBeforeInBlock(b->getOwner());
  });
  Operation *memory = empty;
  for (auto [i, use] : llvm::enumerate(uses)) {
    if (i > 0 && i % most == 0)
      memory = OpBuilder(use->getOwner()).clone(*empty);
    use->set(memory->getResult(0));
  }
}

namespace {
struct SeparateFillsPass : impl::NumeraSeparateFillsBase<SeparateFillsPass> {
  void runOnOperation() override {
    getOperation()->walk(separate);
    getOperation()->walk(divide);
  }
};
} // namespace

} // namespace numera
