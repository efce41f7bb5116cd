// SPDX-License-Identifier: MIT
//
// Makes a program from a module in the LLVM dialect. The program is run in this
// process, or written as LLVM IR, assembly, an object, a shared object or an
// executable, all from the same optimised LLVM module.

#ifndef NUMERA_TARGET_PROGRAM_PROGRAM_H
#define NUMERA_TARGET_PROGRAM_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/Registry.h"
#include "numera/Runtime/Npy.h"
#include "numera/Target/Codegen/CPUOptions.h"
#include "numera/Target/Interface/Metadata.h"
#include "numera/Target/Interface/Signature.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace numera {

/// A program that can be called in this process.
class Program {
public:
  /// Compiles a module in the LLVM dialect, in memory. Every function in
  /// `functions` has the attribute `llvm.emit_c_interface`. Registered
  /// libraries are found through the registry.
  static llvm::Expected<std::unique_ptr<Program>>
  compile(mlir::ModuleOp lowered, llvm::ArrayRef<FunctionSignature> functions,
          const Registry &registry, const CPUOptions &options);

  /// Opens a shared object that `emitSharedObject` wrote.
  static llvm::Expected<std::unique_ptr<Program>>
  open(llvm::StringRef sharedObjectPath);

  virtual ~Program();

  llvm::ArrayRef<FunctionSignature> functions() const { return info.functions; }
  const Metadata &metadata() const { return info; }
  /// The function of that name, or null.
  const FunctionSignature *find(llvm::StringRef function) const;

  /// Calls a function. The program checks shapes and element types, and its
  /// message becomes the error. `outputs` is replaced; results of known sizes
  /// go where it holds those of an earlier call.
  llvm::Error call(llvm::StringRef function,
                   llvm::ArrayRef<const host::Array *> inputs,
                   std::vector<host::Array> &outputs,
                   const numera_options &options) const;

  /// The C entry of a function, or null: for callers that keep their buffers.
  numera_entry *entry(llvm::StringRef function) const;

protected:
  Program() = default;

  Metadata info;
  std::vector<numera_entry *> entries; ///< as `info.functions`
};

/// Each writes one file, completely or not at all. `-` is standard output for
/// text.
llvm::Error emitLLVM(mlir::ModuleOp lowered,
                     llvm::ArrayRef<FunctionSignature> functions,
                     const Registry &registry, const CPUOptions &options,
                     llvm::StringRef path);
llvm::Error emitAssembly(mlir::ModuleOp lowered,
                         llvm::ArrayRef<FunctionSignature> functions,
                         const Registry &registry, const CPUOptions &options,
                         llvm::StringRef path);
llvm::Error emitObject(mlir::ModuleOp lowered,
                       llvm::ArrayRef<FunctionSignature> functions,
                       const Registry &registry, const CPUOptions &options,
                       llvm::StringRef path);
/// Writes a self-contained shared object, for C programs and `Program::open`.
/// `beforeLinking` is called when all but the linker's work is done.
llvm::Error emitSharedObject(mlir::ModuleOp lowered,
                             llvm::ArrayRef<FunctionSignature> functions,
                             const Registry &registry,
                             const CPUOptions &options, llvm::StringRef path,
                             llvm::function_ref<void()> beforeLinking = {});
/// Writes an executable that reads and writes .npy files (runtime/README.md)
/// and runs the first function.
llvm::Error emitExecutable(mlir::ModuleOp lowered,
                           llvm::ArrayRef<FunctionSignature> functions,
                           const Registry &registry, const CPUOptions &options,
                           llvm::StringRef path);

/// NumPy's element types and the program's.
numera_dtype dtypeOf(host::DType dtype);
host::DType dtypeOf(numera_dtype dtype);

} // namespace numera

#endif // NUMERA_TARGET_PROGRAM_PROGRAM_H
