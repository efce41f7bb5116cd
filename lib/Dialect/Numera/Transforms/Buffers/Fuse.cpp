// SPDX-License-Identifier: MIT
//
// Elementwise fusion, between elementwise operations only.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAFUSE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// A result is as large as the tensor it is written to. Asked there, its size
/// is no second use of the operation, which would keep it from being fused.
struct SizeOfDestination : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp dim,
                                PatternRewriter &rewriter) const override {
    auto result = dyn_cast<OpResult>(dim.getSource());
    auto producer =
        dim.getSource().getDefiningOp<DestinationStyleOpInterface>();
    if (!producer)
      return failure();
    OpOperand *destination = producer.getTiedOpOperand(result);
    rewriter.modifyOpInPlace(
        dim, [&] { dim.getSourceMutable().assign(destination->get()); });
    return success();
  }
};

/// True if the consumer would compute what it reads again and again: it has
/// more loops than the producer, which does more than move elements.
static bool isComputedOnce(OpOperand *operand, linalg::GenericOp consumer,
                           Operation *producer) {
  auto generic = dyn_cast<linalg::GenericOp>(producer);
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return generic && !map.isPermutation() &&
         !llvm::hasSingleElement(generic.getBody()->getOperations());
}

/// True if the operands of the consumer with which it reads the producer's
/// result have, together, at most as many elements as that: halves, say, that
/// lie `2 i` and `2 i + 1`.
static bool isReadOnce(OpOperand *operand, linalg::GenericOp consumer,
                       linalg::GenericOp producer) {
  Value result = operand->get();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (!type || producer.getNumReductionLoops() != 0 ||
      map.getNumResults() != consumer.getNumLoops() ||
      llvm::any_of(result.getUsers(),
                   [&](Operation *user) { return user != consumer; }))
    return false;
  SmallVector<int64_t> ranges = consumer.getStaticLoopRanges();
  int64_t read = llvm::range_size(result.getUses()), made = 1;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    // Along a plain loop there is one for each.
    if (expr == getAffineDimExpr(unsigned(i), expr.getContext()))
      continue;
    if (type.isDynamicDim(i) || ShapedType::isDynamic(ranges[i]))
      return false;
    read *= ranges[i];
    made *= type.getDimSize(i);
  }
  return read <= made;
}

/// What a loop computes of one element is cloned whenever it grows: a chain of
/// ten thousand operations takes a tenth of a second in loops of this many, and
/// minutes in one.
constexpr size_t mostOperations = 128;

static size_t operationsOf(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic ? generic.getBody()->getOperations().size() : 0;
}

struct FusePass : impl::NumeraFuseBase<FusePass> {
  using NumeraFuseBase::NumeraFuseBase;

  bool isToFuse(OpOperand *operand) const {
    auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
    Operation *producer = operand->get().getDefiningOp();
    if (!consumer || consumer.getNumReductionLoops() != 0 || !producer ||
        operationsOf(consumer) + operationsOf(producer) > mostOperations)
      return false;
    if (producer->hasOneUse() && !isComputedOnce(operand, consumer, producer))
      return true;
    auto generic = dyn_cast<linalg::GenericOp>(producer);
    return trees && generic && isReadOnce(operand, consumer, generic);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [&](OpOperand *operand) { return isToFuse(operand); });
    patterns.add<SizeOfDestination>(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    // Each fusion leaves an operation less. A long chain, such as the random
    // bits of a model, takes more rounds than the usual limit.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
