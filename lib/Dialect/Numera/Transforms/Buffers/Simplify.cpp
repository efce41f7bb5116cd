// SPDX-License-Identifier: MIT
//
// Casts that change nothing disappear. Folding constants is the greedy
// driver's: every operation has its folder.

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERASIMPLIFY
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// cast B→C (cast A→B x) is cast A→C x where every value of A is one of B: the
/// inner cast is then exact. With C = A nothing is left, except on f32 and f64,
/// where the cast keeps making NaNs canonical.
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
    if (!known(from) || !known(through) || !known(to) ||
        !isExactCast(from.format, in.getRules()))
      return failure();
    if (from == to && inner.getOperand().getType() == outer.getType() &&
        isExactCast(to.format, out.getRules()) &&
        !isa<FloatType>(numera::elementType(outer.getType()))) {
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
    else if (outer.getFormatAttr())
      outer.setOperandFormatsAttr(rewriter.getArrayAttr(
          FormatAttr::get(rewriter.getContext(), from.format)));
    return success();
  }
};

struct SimplifyPass : impl::NumeraSimplifyBase<SimplifyPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ComposeCasts>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace numera
