// SPDX-License-Identifier: MIT

#include "CountedBodies.h"
#include "FlagAnalysis.h"
#include "FlagSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"

using namespace mlir;

namespace numera {

/// The loops that the result goes along, as maps of linalg have them.
static AffineMap parallelMap(linalg::GenericOp generic) {
  SmallVector<unsigned> loops;
  generic.getParallelDims(loops);
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : loops)
    exprs.push_back(getAffineDimExpr(loop, generic.getContext()));
  return AffineMap::get(generic.getNumLoops(), 0, exprs, generic.getContext());
}

linalg::GenericOp withCounts(RewriterBase &rewriter, linalg::GenericOp generic,
                             ArrayRef<Operation *> operations, Target target) {
  Location loc = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  bool reduces = generic.getNumReductionLoops() != 0;
  AffineMap map = parallelMap(generic);
  SmallVector<OpFoldResult> sizes;
  auto ranges = cast<linalg::LinalgOp>(generic.getOperation())
                    .createLoopRanges(rewriter, loc);
  for (AffineExpr loop : map.getResults())
    sizes.push_back(ranges[cast<AffineDimExpr>(loop).getPosition()].size);
  SmallVector<Value> inits(generic.getOutputs());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  for (size_t i = 0; i < operations.size(); ++i)
    for (unsigned kind = 0; kind < (reduces ? FlagCounts::kinds : 1); ++kind) {
      maps.push_back(map);
      inits.push_back(
          reduces ? createZeros(rewriter, loc, sizes, rewriter.getI64Type())
                  : tensor::EmptyOp::create(rewriter, loc, sizes,
                                            rewriter.getI8Type())
                        .getResult());
    }
  auto counting = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(), generic.getInputs(), inits,
      maps, generic.getIteratorTypesArray());
  rewriter.inlineRegionBefore(generic.getRegion(), counting.getRegion(),
                              counting.getRegion().begin());
  Block &body = counting.getRegion().front();
  auto exit = cast<linalg::YieldOp>(body.getTerminator());
  SmallVector<Value> yields(exit.getOperands());
  for (Operation *op : operations) {
    rewriter.setInsertionPointAfter(op);
    Value flags = createStatusFlags(rewriter, op, *analyzeFlags(op, target));
    rewriter.setInsertionPoint(exit);
    for (unsigned kind = 0; kind < (reduces ? FlagCounts::kinds : 1); ++kind) {
      Type type = reduces ? rewriter.getI64Type() : rewriter.getI8Type();
      Value before = body.addArgument(type, loc);
      yields.push_back(
          reduces ? arith::AddIOp::create(rewriter, loc, before,
                                          hasFlag(rewriter, loc, flags, kind,
                                                  rewriter.getI64Type()))
                        .getResult()
                  : flags);
    }
  }
  rewriter.setInsertionPoint(exit);
  rewriter.replaceOpWithNewOp<linalg::YieldOp>(exit, yields);
  rewriter.replaceOp(generic,
                     counting.getResults().take_front(generic.getNumResults()));
  return counting;
}

} // namespace numera
