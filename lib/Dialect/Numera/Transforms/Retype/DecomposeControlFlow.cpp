// SPDX-License-Identifier: MIT

#include "Decompose.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace numera {

/// True for what computes sizes, which later passes know.
static bool isOfSizes(Operation *op) {
  return isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
             affine::AffineDelinearizeIndexOp, affine::AffineLinearizeIndexOp>(
      op);
}

static LogicalResult decomposeAffine(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<affine::AffineDialect>(op->getDialect()) &&
        !isOfSizes(op))
      found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return success();
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  populateAffineToVectorConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<arith::ArithDialect, memref::MemRefDialect,
                         scf::SCFDialect, vector::VectorDialect>();
  target.addDynamicallyLegalDialect<affine::AffineDialect>(isOfSizes);
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  if (succeeded(
          applyPartialConversion(module, target, std::move(patterns), config)))
    return success();
  return failure();
}

/// True where a branch goes back, or to the block that it ends.
static bool hasLoop(Region &region) {
  SmallPtrSet<Block *, 8> seen;
  for (Block &block : region) {
    seen.insert(&block);
    for (Block *next : block.getSuccessors())
      if (seen.contains(next))
        return true;
  }
  return false;
}

static LogicalResult decomposeBranches(func::FuncOp function) {
  if (!hasLoop(function.getBody()))
    return success();
  ControlFlowToSCFTransformation transformation;
  DominanceInfo dominance(function);
  if (succeeded(
          transformCFGToSCF(function.getBody(), transformation, dominance)))
    return success();
  return function.emitError("function '")
         << function.getName()
         << "' has a loop of branches that cannot become one of scf; write it "
            "as scf.while or scf.for";
}

LogicalResult decomposeControlFlow(ModuleOp module) {
  if (failed(decomposeAffine(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(decomposeBranches(function)))
      return failure();
  return success();
}

} // namespace numera
