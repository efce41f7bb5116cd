// SPDX-License-Identifier: MIT
//
// Upstream's verification at run time, without what upstream's pass takes most
// of its time for: it prints the operation into each message, and asks at run
// time for sizes that are known.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAVERIFYSHAPES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True for a structured operation whose sizes are all known, and agree: each
/// dimension of an operand that one loop goes through is as long as it. (What
/// was right with an unknown size may have become wrong when it was found out.)
static bool isVerified(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  SmallVector<int64_t> ranges = structured.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    auto shaped = dyn_cast<ShapedType>(operand.get().getType());
    if (!shaped)
      continue;
    AffineMap map = structured.getMatchingIndexingMap(&operand);
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), shaped.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (ShapedType::isDynamic(size) || !dim ||
          ranges[dim.getPosition()] != size)
        return false;
    }
  }
  return true;
}

static std::string messageFor(Operation *, StringRef fault) {
  return ("the shapes do not agree: " + fault).str();
}

namespace {
struct VerifyShapesPass : impl::NumeraVerifyShapesBase<VerifyShapesPass> {
  void runOnOperation() override {
    SmallVector<RuntimeVerifiableOpInterface> work;
    getOperation()->walk([&](RuntimeVerifiableOpInterface op) {
      if (!isVerified(op))
        work.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (RuntimeVerifiableOpInterface op : work) {
      builder.setInsertionPoint(op);
      op.generateRuntimeVerification(builder, op.getLoc(), messageFor);
    }
  }
};
} // namespace

} // namespace numera
