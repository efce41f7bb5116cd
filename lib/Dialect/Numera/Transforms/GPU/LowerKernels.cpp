// SPDX-License-Identifier: MIT
//
// The operations of kernels become calls of device functions. These are
// declared in the kernels' module, because the host has functions of the same
// names. They are llvm.func, because upstream would give a func.func there a C
// interface, which device code does not need.

#include "Lowering/LowerTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWERKERNELS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

static void moveBody(Block &from, Block &to) {
  to.getOperations().splice(to.end(), from.getOperations());
}

/// The same declaration, on scalars and pointers as it is.
static void redeclare(func::FuncOp function) {
  OpBuilder builder(function);
  MLIRContext *context = function.getContext();
  FunctionType type = function.getFunctionType();
  Type result = type.getNumResults() == 0 ? LLVM::LLVMVoidType::get(context)
                                          : type.getResult(0);
  auto declaration = LLVM::LLVMFuncOp::create(
      builder, function.getLoc(), function.getName(),
      LLVM::LLVMFunctionType::get(result, type.getInputs()));
  if (ArrayAttr arguments = function.getArgAttrsAttr())
    declaration.setArgAttrsAttr(arguments);
  if (ArrayAttr results = function.getResAttrsAttr())
    declaration.setResAttrsAttr(results);
  if (auto library = function->getAttr("numera.library"))
    declaration->setAttr("numera.library", library);
  function->erase();
}

/// Upstream would call libdevice for these, even as LLVM's operations.
static void replaceMath(gpu::GPUModuleOp kernels) {
  kernels.walk([](Operation *op) {
    if (!isa<math::FmaOp, math::SqrtOp, math::AbsFOp>(op))
      return;
    Type type = op->getResult(0).getType();
    StringRef name = isa<math::FmaOp>(op)    ? "llvm.fma.f"
                     : isa<math::SqrtOp>(op) ? "llvm.sqrt.f"
                                             : "llvm.fabs.f";
    OpBuilder builder(op);
    auto call = LLVM::CallIntrinsicOp::create(
        builder, op->getLoc(), type,
        builder.getStringAttr(name + Twine(type.getIntOrFloatBitWidth())),
        op->getOperands());
    op->replaceAllUsesWith(call->getResults());
    op->erase();
  });
}

/// What hands a NaN on, on the CPU with its bits: a GPU gives it others. What
/// may make one of numbers is followed by an operation of `numera`, which makes
/// it canonical on every target.
static void keepNaNs(gpu::GPUModuleOp kernels) {
  kernels.walk([](Operation *op) {
    if (!isa<arith::TruncFOp, arith::ExtFOp, arith::MinimumFOp,
             arith::MaximumFOp, math::AbsFOp>(op))
      return;
    Location loc = op->getLoc();
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Value result = op->getResult(0);
    auto type = cast<FloatType>(result.getType());
    Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                        result, result);
    Value canonical = arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(type, APFloat::getQNaN(type.getFloatSemantics())));
    auto kept = arith::SelectOp::create(builder, loc, isNaN, canonical, result);
    llvm::SmallPtrSet<Operation *, 2> own = {isNaN.getDefiningOp(), kept};
    result.replaceAllUsesExcept(kept, own);
  });
}

static void replaceFunctions(gpu::GPUModuleOp kernels) {
  kernels.walk([](func::CallOp call) {
    OpBuilder builder(call);
    auto made =
        LLVM::CallOp::create(builder, call.getLoc(), call.getResultTypes(),
                             call.getCalleeAttr(), call.getOperands());
    call.replaceAllUsesWith(made);
    call.erase();
  });
  for (auto function :
       llvm::make_early_inc_range(kernels.getOps<func::FuncOp>()))
    redeclare(function);
}

namespace {
struct LowerKernelsPass : impl::NumeraLowerKernelsBase<LowerKernelsPass> {
  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>()) {
      // Lowering works on modules; this one is a module while it takes place.
      OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.getLoc());
      moveBody(*kernels.getBody(), *module->getBody());
      LogicalResult lowered = lowerOps(*module, Target::NVPTX);
      moveBody(*module->getBody(), *kernels.getBody());
      if (failed(lowered))
        return signalPassFailure();
      keepNaNs(kernels);
      replaceMath(kernels);
      replaceFunctions(kernels);
    }
  }
};
} // namespace

} // namespace numera
