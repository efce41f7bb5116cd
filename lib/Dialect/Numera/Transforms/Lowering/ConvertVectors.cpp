// SPDX-License-Identifier: MIT

#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACONVERTVECTORS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// True for an operation of the dialect vector, or one whose result is a
/// vector.
static bool isOfVectors(Operation *op) {
  return isa_and_nonnull<vector::VectorDialect>(op->getDialect()) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
}

namespace {
struct ConvertVectorsPass : impl::NumeraConvertVectorsBase<ConvertVectorsPass> {
  using NumeraConvertVectorsBase::NumeraConvertVectorsBase;

  std::unique_ptr<Pass> createUpstream() const {
    return to == "llvm" ? createConvertVectorToLLVMPass()
                        : createConvertVectorToSCFPass();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    createConvertVectorToSCFPass()->getDependentDialects(registry);
    createConvertVectorToLLVMPass()->getDependentDialects(registry);
  }

  void runOnOperation() override {
    WalkResult found = getOperation()->walk([](Operation *op) {
      return isOfVectors(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    OpPassManager passes(getOperation()->getName());
    passes.addPass(createUpstream());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
