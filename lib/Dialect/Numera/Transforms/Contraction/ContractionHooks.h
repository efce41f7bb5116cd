// SPDX-License-Identifier: MIT
//
// The hooks of a kernel of runtime/kernels: the functions that it calls.

#ifndef NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONHOOKS_H
#define NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONHOOKS_H

#include "ContractionWork.h"
#include "Lowering/Lowerings.h"

namespace numera {

class HookBuilder {
public:
  /// Hooks go to the end of `module`.
  HookBuilder(mlir::ModuleOp module, const Registry &registry, Target target)
      : module(module), builder(module.getContext()),
        lowerings(module, registry, target),
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

  /// `value` as an element of kind `to`, which `type` stores.
  mlir::Value cast(mlir::Location loc, mlir::Value value, mlir::Type type,
                   const ElementKind &from, const ElementKind &to);

  /// carrier f(ptr base, i64 index): the element there as a value.
  void addReader(const llvm::Twine &name, const StoredKind &from,
                 mlir::Type carrier, const ElementKind &value);
  /// void f(ptr base, i64 index, carrier)
  void addWriter(const llvm::Twine &name, const StoredKind &to,
                 mlir::Type carrier, const ElementKind &value);
  /// A hook that is an entry of the runtime for the format's family.
  void addEntry(const llvm::Twine &name, const PackedContraction &contraction,
                llvm::StringRef entry, llvm::ArrayRef<mlir::Type> arguments,
                mlir::Type result, llvm::ArrayRef<int32_t> trailing);
  /// A hook that is an entry with one trailing argument or another, as the CPU
  /// answers `question` (Registry/Symbols/Tuning.h).
  void addEitherEntry(const llvm::Twine &name,
                      const PackedContraction &contraction,
                      llvm::StringRef entry,
                      llvm::ArrayRef<mlir::Type> arguments, mlir::Type result,
                      llvm::StringRef question, int32_t ifTrue,
                      int32_t ifFalse);
  /// type f(type sum, type row, type column): the step with both roundings in
  /// the carrier or a vector of it.
  void addCarriedStep(const llvm::Twine &name,
                      const PackedContraction &contraction, mlir::Type type);
  /// type f(type sum, type row, type column): the numera.mac, on the carrier or
  /// a vector of it.
  void addStep(const llvm::Twine &name, const PackedContraction &contraction,
               mlir::Type type);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  Lowerings lowerings;
  mlir::LLVM::LLVMPointerType pointer;

private:
  mlir::Value callEntry(const PackedContraction &contraction,
                        llvm::StringRef entry, mlir::ValueRange arguments,
                        mlir::Type result, llvm::ArrayRef<int32_t> trailing);
  void addQuireReader(const llvm::Twine &name, const Format &format,
                      mlir::Type storage);
  mlir::Value codeAt(mlir::Value base, mlir::Value index, mlir::Type storage);
};

} // namespace numera

#endif // NUMERA_LIB_DIALECT_NUMERA_TRANSFORMS_CONTRACTION_CONTRACTIONHOOKS_H
