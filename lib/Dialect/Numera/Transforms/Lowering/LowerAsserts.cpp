// SPDX-License-Identifier: MIT
//
// A program must not abort the process that calls it. A failed assertion ends
// the call through the host runtime.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOWERASSERTS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

static LLVM::GlobalOp createText(OpBuilder &builder, ModuleOp module,
                                 StringRef text, unsigned index) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  std::string terminated = text.str() + std::string(1, '\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  return LLVM::GlobalOp::create(builder, module.getLoc(), type,
                                /*isConstant=*/true, LLVM::Linkage::Private,
                                "numera_assertion_" + std::to_string(index),
                                builder.getStringAttr(terminated));
}

static LLVM::LLVMFuncOp declareFail(OpBuilder &builder, ModuleOp module) {
  builder.setInsertionPointToStart(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()), pointer);
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), "numera_host_fail",
                                  type);
}

namespace {
struct LowerAssertsPass : impl::NumeraLowerAssertsBase<LowerAssertsPass> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return;
    OpBuilder builder(&getContext());
    LLVM::LLVMFuncOp fail = declareFail(builder, getOperation());
    for (auto [i, op] : llvm::enumerate(asserts)) {
      LLVM::GlobalOp text = createText(builder, getOperation(), op.getMsg(), i);
      builder.setInsertionPoint(op);
      Location loc = op.getLoc();
      Value failed = arith::XOrIOp::create(
          builder, loc, op.getArg(),
          arith::ConstantIntOp::create(builder, loc, true, 1));
      auto branch = scf::IfOp::create(builder, loc, failed);
      builder.setInsertionPointToStart(branch.thenBlock());
      Value address = LLVM::AddressOfOp::create(builder, loc, text);
      LLVM::CallOp::create(builder, loc, fail, address);
      op.erase();
    }
  }
};
} // namespace

} // namespace numera
