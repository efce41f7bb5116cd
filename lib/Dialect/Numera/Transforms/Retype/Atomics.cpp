// SPDX-License-Identifier: MIT
//
// memref.atomic_rmw and memref.generic_atomic_rmw are loads, operations and
// stores. Their result is what was in memory before, as in MLIR's lowering.

#include "Retype.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace numera {

static Value combine(OpBuilder &b, Location loc, arith::AtomicRMWKind kind,
                     Value old, Value value) {
  switch (kind) {
  case arith::AtomicRMWKind::addf:
    return arith::AddFOp::create(b, loc, old, value);
  case arith::AtomicRMWKind::mulf:
    return arith::MulFOp::create(b, loc, old, value);
  case arith::AtomicRMWKind::maximumf:
    return arith::MaximumFOp::create(b, loc, old, value);
  case arith::AtomicRMWKind::maxnumf:
    return arith::MaxNumFOp::create(b, loc, old, value);
  case arith::AtomicRMWKind::minimumf:
    return arith::MinimumFOp::create(b, loc, old, value);
  case arith::AtomicRMWKind::minnumf:
    return arith::MinNumFOp::create(b, loc, old, value);
  default:
    return value; // assign: the others are of integers
  }
}

void replaceAtomics(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](memref::AtomicRMWOp op) {
    if (!isa<FloatType>(op.getValue().getType()))
      return;
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    Value old =
        memref::LoadOp::create(rewriter, loc, op.getMemref(), op.getIndices());
    Value changed = combine(rewriter, loc, op.getKind(), old, op.getValue());
    memref::StoreOp::create(rewriter, loc, changed, op.getMemref(),
                            op.getIndices());
    rewriter.replaceOp(op, old);
  });
  module.walk([&](memref::GenericAtomicRMWOp op) {
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    Value old =
        memref::LoadOp::create(rewriter, loc, op.getMemref(), op.getIndices());
    auto yield = cast<memref::AtomicYieldOp>(op.getBody()->getTerminator());
    Value changed =
        yield.getResult() == op.getCurrentValue() ? old : yield.getResult();
    rewriter.inlineBlockBefore(op.getBody(), op, old);
    rewriter.setInsertionPoint(op);
    memref::StoreOp::create(rewriter, loc, changed, op.getMemref(),
                            op.getIndices());
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, old);
  });
}

} // namespace numera
