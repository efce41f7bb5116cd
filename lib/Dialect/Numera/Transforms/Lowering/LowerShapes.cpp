// SPDX-License-Identifier: MIT
//
// A dimension that is split into several whose sizes are not known. Upstream's
// memref-expand-strided-metadata computes one size of a group from the others,
// and takes no group with two (LLVM 22): here sizes and strides are written
// out.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWERSHAPES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True if several sizes of one group are dynamic.
static bool splitsUnknown(memref::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  return llvm::any_of(op.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return ShapedType::isDynamic(shape[dim]);
                               }) > 1;
                      });
}

static void lower(IRRewriter &rewriter, memref::ExpandShapeOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  auto value = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, size);
  };
  auto [known, knownOffset] = op.getResultType().getStridesAndOffset();
  // What the type says is an attribute, all else a value.
  auto either = [&](int64_t fixed, Value computed) -> OpFoldResult {
    if (ShapedType::isDynamic(fixed))
      return computed;
    return rewriter.getIndexAttr(fixed);
  };
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  for (auto [group, stride] :
       llvm::zip_equal(op.getReassociationIndices(), metadata.getStrides())) {
    Value current = stride;
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = either(known[dim], current);
      if (dim != group.front())
        current =
            arith::MulIOp::create(rewriter, loc, value(sizes[dim]), current);
    }
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), metadata.getBaseBuffer(),
      either(knownOffset, metadata.getOffset()), sizes, strides);
}

namespace {
struct LowerShapesPass : impl::NumeraLowerShapesBase<LowerShapesPass> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> found;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (splitsUnknown(op))
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : found)
      lower(rewriter, op);
  }
};
} // namespace

} // namespace numera
