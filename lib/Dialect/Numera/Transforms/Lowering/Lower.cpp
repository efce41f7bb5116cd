// SPDX-License-Identifier: MIT
//
// Lowers types and operations in one pass.

#include "LowerTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWER
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {
struct LowerPass : impl::NumeraLowerBase<LowerPass> {
  using NumeraLowerBase::NumeraLowerBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Target> parsed = parseTarget(module, target);
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    if (failed(parsed) ||
        failed(applyPatternsGreedily(module, std::move(patterns))) ||
        failed(lowerTypes(module)) || failed(lowerOps(module, *parsed)))
      return signalPassFailure();
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<NumeraDialect>(op->getDialect()) || mentionsNum(op)) {
        op->emitError("'") << op->getName()
                           << "' is left: numera-lower has no pattern for it";
        signalPassFailure();
      }
    });
  }
};
} // namespace

} // namespace numera
