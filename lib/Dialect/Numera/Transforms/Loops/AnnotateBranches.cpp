// SPDX-License-Identifier: MIT

#include "Buffers/BufferUses.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAANNOTATEBRANCHES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {
/// The attribute may come from a file: each number has to be a pointer's.
LogicalResult markApart(LLVM::LLVMFuncOp function) {
  auto pointers = function->getAttrOfType<DenseI64ArrayAttr>(apartAttribute);
  if (!pointers)
    return success();
  unsigned count = function.getNumArguments();
  for (int64_t pointer : pointers.asArrayRef()) {
    bool isPointer =
        pointer >= 0 && pointer < count &&
        isa<LLVM::LLVMPointerType>(function.getArgumentTypes()[pointer]);
    if (!isPointer)
      return function.emitError("'")
             << apartAttribute << "' of function '" << function.getName()
             << "' names argument " << pointer << " of " << count
             << "; expected that of a pointer";
    function.setArgAttr(unsigned(pointer),
                        LLVM::LLVMDialect::getNoAliasAttrName(),
                        UnitAttr::get(function.getContext()));
  }
  function->removeAttr(apartAttribute);
  return success();
}

struct AnnotateBranchesPass
    : impl::NumeraAnnotateBranchesBase<AnnotateBranchesPass> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::BrOp branch) {
      constexpr llvm::StringLiteral name = "llvm.loop_annotation";
      if (auto annotation =
              branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
        branch.setLoopAnnotationAttr(annotation);
        branch->removeAttr(name);
      }
    });
    getOperation()->walk([&](LLVM::LLVMFuncOp function) {
      if (failed(markApart(function)))
        signalPassFailure();
    });
  }
};
} // namespace

} // namespace numera
