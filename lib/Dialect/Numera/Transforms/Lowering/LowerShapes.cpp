// SPDX-License-Identifier: MIT
//
// A dimension that is split into several whose sizes are not known. Upstream's
// memref-expand-strided-metadata computes one size of a group from the others,
// and takes no group with two (LLVM 22): here sizes and strides are written
// out. So are those of a memref that is reshaped to sizes of type index, of
// which upstream's lowering to LLVM's dialect leaves a cast.
//
// Upstream multiplies the sizes of a buffer in 64 bits, come what may. Where
// that overflows, a size is asked for that no memory has.

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

/// True if the new sizes are of type index, and as many as the type has.
static bool hasIndices(memref::ReshapeOp op) {
  return cast<MemRefType>(op.getShape().getType()).getElementType().isIndex() &&
         isa<MemRefType>(op.getType());
}

/// A memref that is reshaped has no gaps and no offset, nor has what it
/// becomes.
static void lower(IRRewriter &rewriter, memref::ReshapeOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto result = cast<MemRefType>(op.getType());
  SmallVector<OpFoldResult> sizes, strides(size_t(result.getRank()));
  for (auto [i, size] : llvm::enumerate(result.getShape()))
    if (ShapedType::isDynamic(size)) {
      Value at = arith::ConstantIndexOp::create(rewriter, loc, int64_t(i));
      sizes.push_back(
          memref::LoadOp::create(rewriter, loc, op.getShape(), at).getResult());
    } else {
      sizes.push_back(rewriter.getIndexAttr(size));
    }
  auto [known, offset] = result.getStridesAndOffset();
  Value current;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = ShapedType::isDynamic(known[i])
                     ? OpFoldResult(current)
                     : rewriter.getIndexAttr(known[i]);
    if (i == 0 || !ShapedType::isDynamic(known[i - 1]))
      continue;
    current = arith::MulIOp::create(
        rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, sizes[i]),
        getValueOrCreateConstantIndexOp(rewriter, loc, strides[i]));
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, result, op.getSource(), rewriter.getIndexAttr(offset), sizes,
      strides);
}

/// Keeps the product of sizes from overflowing: of such a buffer, more is asked
/// for than there is.
static void limit(IRRewriter &rewriter, memref::AllocOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                        value);
  };
  auto either = [&](Value x, Value y) -> Value {
    return rewriter.createOrFold<arith::OrIOp>(loc, x, y);
  };
  // With elements of at most 256 bits, their bytes are below 2^63.
  constexpr int64_t most = int64_t{1} << 55;
  int64_t known = 1;
  for (int64_t size : op.getType().getShape())
    known *= ShapedType::isDynamic(size) ? 1 : size;
  if (known == 0)
    return;
  Value product = constant(known), zero = constant(0);
  Value isTooMuch, isNothing;
  for (Value size : op.getDynamicSizes()) {
    Value factor =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), size);
    auto wide = arith::MulUIExtendedOp::create(rewriter, loc, product, factor);
    product = wide.getLow();
    Value overflows = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ne, wide.getHigh(), zero);
    Value isNone = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::sle, factor, zero);
    isTooMuch = isTooMuch ? either(isTooMuch, overflows) : overflows;
    isNothing = isNothing ? either(isNothing, isNone) : isNone;
  }
  isTooMuch = either(isTooMuch, arith::CmpIOp::create(rewriter, loc,
                                                      arith::CmpIPredicate::ugt,
                                                      product, constant(most)));
  for (auto [i, operand] : llvm::enumerate(op.getDynamicSizesMutable())) {
    Value asked = arith::ConstantIndexOp::create(
        rewriter, loc, i == 0 ? std::max(most / known, int64_t{1}) : 1);
    Value size =
        arith::SelectOp::create(rewriter, loc, isTooMuch, asked, operand.get());
    // Nothing is written where a size is 0 or negative.
    size =
        arith::SelectOp::create(rewriter, loc, isNothing, operand.get(), size);
    operand.set(size);
  }
}

namespace {
struct LowerShapesPass : impl::NumeraLowerShapesBase<LowerShapesPass> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> splits;
    SmallVector<memref::ReshapeOp> reshapes;
    SmallVector<memref::AllocOp> buffers;
    getOperation()->walk([&](Operation *op) {
      if (auto split = dyn_cast<memref::ExpandShapeOp>(op);
          split && splitsUnknown(split))
        splits.push_back(split);
      else if (auto reshape = dyn_cast<memref::ReshapeOp>(op);
               reshape && hasIndices(reshape))
        reshapes.push_back(reshape);
      else if (auto buffer = dyn_cast<memref::AllocOp>(op);
               buffer && !buffer.getDynamicSizes().empty())
        buffers.push_back(buffer);
    });
    IRRewriter rewriter(&getContext());
    for (memref::ExpandShapeOp op : splits)
      lower(rewriter, op);
    for (memref::ReshapeOp op : reshapes)
      lower(rewriter, op);
    for (memref::AllocOp op : buffers)
      limit(rewriter, op);
  }
};
} // namespace

} // namespace numera
