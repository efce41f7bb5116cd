// SPDX-License-Identifier: MIT
//
// Functions that a kernel of runtime/kernels takes for its own.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONHOOKS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONHOOKS_H

#include "ContractionLoops.h"
#include "Lowerings.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace numera {

class HookBuilder {
public:
  HookBuilder(mlir::ModuleOp module, const Registry &registry)
      : module(module), builder(module.getContext()),
        lowerings(module, registry, Target::CPU),
        pointer(mlir::LLVM::LLVMPointerType::get(module.getContext())) {}

  /// The hooks of runtime/kernels/QuireContraction.cpp: `<name>.row`,
  /// `.column`, `.span`, `.add` and `.mac`.
  void addQuireHooks(const llvm::Twine &name,
                     const PackedContraction &contraction);

protected:
  /// A declaration at the end of the module.
  mlir::LLVM::LLVMFuncOp function(const llvm::Twine &name,
                                  llvm::ArrayRef<mlir::Type> arguments,
                                  mlir::Type result);
  /// A function that is always inlined, so that nothing hangs on how values are
  /// passed. The builder goes to its body.
  mlir::Block *hook(const llvm::Twine &name,
                    llvm::ArrayRef<mlir::Type> arguments, mlir::Type result);
  mlir::Type none() {
    return mlir::LLVM::LLVMVoidType::get(module.getContext());
  }
  /// Where the element `index` places behind `base` lies.
  mlir::Value elementAt(mlir::Location loc, mlir::Value base, mlir::Value index,
                        mlir::Type storage);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  Lowerings lowerings;
  mlir::LLVM::LLVMPointerType pointer;

private:
  void addQuireReader(const llvm::Twine &name, const Format &format,
                      mlir::Type storage);
  mlir::Value codeAt(mlir::Value base, mlir::Value index, mlir::Type storage);
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTIONHOOKS_H
