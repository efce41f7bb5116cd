// SPDX-License-Identifier: MIT

#include "Buffers/BufferUses.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAANNOTATEBRANCHES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {
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
    getOperation()->walk([](LLVM::LLVMFuncOp function) {
      auto pointers =
          function->getAttrOfType<DenseI64ArrayAttr>(apartAttribute);
      if (!pointers)
        return;
      for (int64_t pointer : pointers.asArrayRef())
        function.setArgAttr(unsigned(pointer),
                            LLVM::LLVMDialect::getNoAliasAttrName(),
                            UnitAttr::get(function.getContext()));
      function->removeAttr(apartAttribute);
    });
  }
};
} // namespace

} // namespace numera
