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

/// What a loop computes of one element is cloned whenever it grows: a chain of
/// ten thousand operations takes a tenth of a second in loops of this many, and
/// minutes in one.
constexpr size_t mostOperations = 128;

static size_t operationsOf(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic ? generic.getBody()->getOperations().size() : 0;
}

struct FusePass : impl::NumeraFuseBase<FusePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *operand) {
          auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
          Operation *producer = operand->get().getDefiningOp();
          return consumer && consumer.getNumReductionLoops() == 0 && producer &&
                 producer->hasOneUse() &&
                 operationsOf(consumer) + operationsOf(producer) <=
                     mostOperations &&
                 !isComputedOnce(operand, consumer, producer);
        });
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
