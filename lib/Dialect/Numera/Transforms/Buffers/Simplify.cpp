// SPDX-License-Identifier: MIT
//
// Removes casts that change nothing. The greedy driver folds constants, because
// every operation has a folder. What a negative amount of padding cuts off is
// sliced off: buffers have no such padding.

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/CanonicalCodes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERASIMPLIFY
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The values that the elements of `value` come from, unchanged; false if that
/// is not known.
static bool traceElements(Value value, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    if (!op)
      return false;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    sources.push_back(operand->get());
    if (op.isDpsInit(operand)) // what the last step left
      sources.push_back(op.getMatchingYieldValue(operand)->get());
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    OpOperand *init =
        linalg.getDpsInitOperand(cast<OpResult>(value).getResultNumber());
    sources.push_back(linalg.getMatchingYieldValue(init)->get());
    if (linalg.getNumReductionLoops() != 0) // there may be no step
      sources.push_back(init->get());
    return true;
  }
  if (isa<tensor::EmptyOp>(op))
    return true;
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::CastOp, tensor::ExtractOp>(op)) {
    sources.push_back(op->getOperand(0));
    return true;
  }
  if (isa<tensor::InsertSliceOp, tensor::InsertOp>(op)) {
    sources.append({op->getOperand(0), op->getOperand(1)});
    return true;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    sources.push_back(pad.getSource());
    sources.push_back(pad.getBody()->getTerminator()->getOperand(0));
    return true;
  }
  return false;
}

/// True if a cast of `value`, of `type`, to its own format changes no code.
static bool needsNoCast(Value value, const Format &format, Type type) {
  return !isa<FloatType>(numera::elementType(type)) &&
         hasCanonicalCodes(value, format, traceElements);
}

namespace {

/// A cast to the operand's format that changes nothing. The folder knows fewer.
struct RemoveIdentity : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp cast,
                                PatternRewriter &rewriter) const override {
    FormatOpInterface op = cast;
    ElementKind kind = op.getResultElement();
    if (cast.getOperand().getType() != cast.getType() ||
        op.getOperandElement(0) != kind || !kind.isFormat() ||
        !isExactCast(kind.format, op.getRules()) || isOverridden(op) ||
        !needsNoCast(cast.getOperand(), kind.format, cast.getType()))
      return failure();
    rewriter.replaceOp(cast, cast.getOperand());
    return success();
  }
};

/// cast B→C (cast A→B x) is cast A→C x where every value of A is one of B: the
/// inner cast is then exact. With C = A nothing is left but a cast that makes
/// codes canonical, where they may be others.
struct ComposeCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp outer,
                                PatternRewriter &rewriter) const override {
    auto inner = outer.getOperand().getDefiningOp<CastOp>();
    if (!inner)
      return failure();
    FormatOpInterface in = inner, out = outer;
    ElementKind from = in.getOperandElement(0), through = in.getResultElement(),
                to = out.getResultElement();
    auto known = [](const ElementKind &kind) {
      return kind.isFormat() && kind.format.getFamily().hasArithmetic();
    };
    // The same bits may be read as those of another format.
    if (!known(from) || !known(through) || !known(to) ||
        out.getOperandElement(0) != through ||
        !isExactCast(from.format, in.getRules()))
      return failure();
    if (from == to && inner.getOperand().getType() == outer.getType() &&
        isExactCast(to.format, out.getRules()) &&
        needsNoCast(inner.getOperand(), to.format, outer.getType())) {
      rewriter.replaceOp(outer, inner.getOperand());
      return success();
    }
    // Bits are cut off the operand as its format has them.
    if (!out.getRules().truncation.empty())
      return failure();
    rewriter.modifyOpInPlace(
        outer, [&] { outer.getOperandMutable().assign(inner.getOperand()); });
    if (auto formats = inner.getOperandFormatsAttr())
      outer.setOperandFormatsAttr(formats);
    else if (outer.getFormatAttr() || inner.getFormatAttr())
      outer.setOperandFormatsAttr(rewriter.getArrayAttr(
          FormatAttr::get(rewriter.getContext(), from.format)));
    return success();
  }
};

/// pad x by (-2, 3) is pad (slice x from 2 on) by (0, 3). An amount that is
/// known at run time alone is split into the two.
struct SliceWhatPaddingCuts : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp pad,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> low = pad.getMixedLowPad(),
                              high = pad.getMixedHighPad();
    if (all_of(low, isPadding) && all_of(high, isPadding))
      return failure();
    Location loc = pad.getLoc();
    SmallVector<OpFoldResult> starts, sizes;
    SmallVector<OpFoldResult> lengths =
        tensor::getMixedSizes(rewriter, loc, pad.getSource());
    for (auto [before, after, length] : zip_equal(low, high, lengths)) {
      OpFoldResult cutBefore = splitOff(before, rewriter, loc),
                   cutAfter = splitOff(after, rewriter, loc);
      AffineExpr d0, d1, d2;
      bindDims(rewriter.getContext(), d0, d1, d2);
      starts.push_back(cutBefore);
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, loc, d0 - d1 - d2, {length, cutBefore, cutAfter}));
    }
    SmallVector<OpFoldResult> strides(starts.size(), rewriter.getIndexAttr(1));
    Value kept = tensor::ExtractSliceOp::create(rewriter, loc, pad.getSource(),
                                                starts, sizes, strides);
    auto made = tensor::PadOp::create(rewriter, loc, pad.getType(), kept, low,
                                      high, /*nofold=*/false);
    rewriter.inlineRegionBefore(pad.getRegion(), made.getRegion(),
                                made.getRegion().begin());
    rewriter.replaceOp(pad, made);
    return success();
  }

  /// True if an amount is not negative, as far as can be seen.
  static bool isPadding(OpFoldResult amount) {
    if (std::optional<int64_t> known = getConstantIntValue(amount))
      return *known >= 0;
    auto larger = cast<Value>(amount).getDefiningOp<arith::MaxSIOp>();
    return larger && isZeroInteger(OpFoldResult(larger.getRhs()));
  }

  /// How much `amount` cuts off. What is left of it is padding.
  static OpFoldResult splitOff(OpFoldResult &amount, PatternRewriter &rewriter,
                               Location loc) {
    if (std::optional<int64_t> known = getConstantIntValue(amount)) {
      amount = rewriter.getIndexAttr(std::max<int64_t>(*known, 0));
      return rewriter.getIndexAttr(std::max<int64_t>(-*known, 0));
    }
    if (isPadding(amount))
      return rewriter.getIndexAttr(0);
    Value given = cast<Value>(amount);
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value padding = arith::MaxSIOp::create(rewriter, loc, given, zero);
    amount = padding;
    return Value(arith::SubIOp::create(rewriter, loc, padding, given));
  }
};

/// A pad by (1, -1) keeps the type, for which it is folded as if by (0, 0).
void keepWhatMoves(tensor::PadOp pad) {
  if (pad.getSourceType() == pad.getResultType() &&
      !(pad.hasZeroLowPad() && pad.hasZeroHighPad()))
    pad.setNofold(true);
}

struct SimplifyPass : impl::NumeraSimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    getOperation()->walk(keepWhatMoves);
    RewritePatternSet patterns(&getContext());
    patterns.add<ComposeCasts, RemoveIdentity, SliceWhatPaddingCuts>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace numera
