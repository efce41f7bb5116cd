// SPDX-License-Identifier: MIT
//
// Upstream's verification at run time, without what upstream's pass takes most
// of its time for: it prints the operation into each message, and looks at
// structured operations whose sizes are all known.

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

/// True for what the verifier of operations has checked.
static bool isVerified(Operation *op) {
  return isa<linalg::LinalgOp>(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto shaped = dyn_cast<ShapedType>(type);
           return !shaped || shaped.hasStaticShape();
         });
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
