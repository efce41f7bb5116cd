// SPDX-License-Identifier: MIT
//
// Models have operations that no pass behind knows. Each becomes several that
// they know, or is an error.

#include "Decompose.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERADECOMPOSE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

LogicalResult decomposeGlobals(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](Operation *op) {
    auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op);
    if (!load) {
      if (!isa_and_nonnull<ml_program::MLProgramDialect>(op->getDialect()) ||
          isa<ml_program::GlobalOp>(op))
        return WalkResult::advance();
      op->emitError("'")
          << op->getName() << "' is no operation of a model; expected "
          << "'ml_program.global_load_const', and functions of func";
      return WalkResult::interrupt();
    }
    auto global = symbols.lookup<ml_program::GlobalOp>(
        load.getGlobal().getLeafReference());
    auto value =
        dyn_cast_or_null<TypedAttr>(global ? global.getValueAttr() : nullptr);
    if (!value || value.getType() != load.getType() ||
        !arith::ConstantOp::isBuildableWith(value, load.getType())) {
      op->emitError("'")
          << op->getName() << "' reads " << load.getGlobal()
          << ", which has no elements of type " << load.getType()
          << "; expected a global that has its elements, as in dense<...>";
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    load.replaceAllUsesWith(
        arith::ConstantOp::create(builder, op->getLoc(), value).getResult());
    op->erase();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto global :
       llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
    global.erase();
  return success();
}

namespace {
struct DecomposePass : impl::NumeraDecomposeBase<DecomposePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(decomposeGlobals(module)) ||
        failed(decomposeControlFlow(module)) ||
        failed(decomposeTensorOperations(module)) ||
        failed(decomposeComplex(module)))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
