// SPDX-License-Identifier: MIT
//
// Elementwise operations overwrite an operand. Fresh memory for a result costs
// a page fault for every 4 KiB, and space in the caches.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAWRITEINPLACE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True if the operand is read element by element, in the order of the loops,
/// and its memory is nobody else's: what an operation of linalg has just
/// written.
static bool isSpent(linalg::GenericOp generic, OpOperand *input) {
  auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
  return producer && producer->getBlock() == generic->getBlock() &&
         input->get().hasOneUse() &&
         generic.getMatchingIndexingMap(input).isIdentity();
}

/// True if the operation writes all elements of a new tensor, in the order of
/// the loops.
static bool isNew(linalg::GenericOp generic, OpOperand *init) {
  return init->get().getDefiningOp<tensor::EmptyOp>() &&
         !generic.payloadUsesValueFromOperand(init) &&
         generic.getMatchingIndexingMap(init).isIdentity();
}

static void writeInPlace(linalg::GenericOp generic) {
  if (!generic.hasPureTensorSemantics() ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return;
  for (OpOperand &init : generic.getDpsInitsMutable())
    for (OpOperand *input : generic.getDpsInputOperands())
      if (isNew(generic, &init) && isSpent(generic, input) &&
          input->get().getType() == init.get().getType())
        init.set(input->get());
}

namespace {
struct WriteInPlacePass : impl::NumeraWriteInPlaceBase<WriteInPlacePass> {
  void runOnOperation() override { getOperation()->walk(writeInPlace); }
};
} // namespace

} // namespace numera
