// SPDX-License-Identifier: MIT
//
// From a module in the LLVM dialect to a program: run here, or written as
// LLVM IR, assembly, an object, a shared object or an executable. All of them
// come from the same optimised LLVM module.

#ifndef NUMERA_TARGET_PROGRAM_H
#define NUMERA_TARGET_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "numera/Registry/LibraryUse.h"
#include "numera/Registry/Registry.h"
#include "numera/Registry/RuleUse.h"
#include "numera/Runtime/Npy.h"
#include "numera/Target/GPU.h"
#include "numera/Target/Signature.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::json {
class Array;
}

namespace numera {

/// What a compiled program says about itself (`numera_metadata`).
struct Metadata {
  std::string version; ///< of Numera
  std::string target;  ///< of the code, e.g. `cpu znver4`
  std::string format;  ///< names or spellings, as the caller writes them
  std::string accumulate;
  std::string rounding;
  std::string overflow;
  uint64_t seed = 0;
  std::vector<LibraryUse> libraryUses; ///< operations of opaque formats
  std::vector<RuleUse> rules;          ///< of the policy
  std::vector<FunctionSignature> functions;
};

/// The same as JSON, as a program has it.
std::string printMetadata(const Metadata &metadata);
llvm::json::Array printUses(llvm::ArrayRef<LibraryUse> uses);
llvm::json::Array printRules(llvm::ArrayRef<RuleUse> rules);
/// Numera's version.
llvm::StringRef version();

/// How code for the CPU is made. `metadata` holds what the caller knows:
/// format, accumulate, rounding, overflow and seed; the rest is filled in.
struct CPUOptions {
  /// `native`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, or LLVM's name of a CPU.
  std::string cpu = "native";
  /// 0 to 3, as clang's -O.
  unsigned optimization = 3;
  /// Libraries are run at compile time, for tables of what they compute.
  bool makesTables = true;
  Metadata metadata;
  /// Of a program for a GPU, whose functions launch them; else null.
  const DeviceCode *device = nullptr;
};

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

  /// Calls a function. Shapes and element types are checked by the program;
  /// its message is the error. `outputs` is replaced.
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

/// Writes text to a file, completely or not at all, or into a device or pipe;
/// `-` is standard output.
llvm::Error writeTextFile(llvm::StringRef path, llvm::StringRef text);

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
/// A shared object that stands alone, for C programs and `Program::open`.
llvm::Error emitSharedObject(mlir::ModuleOp lowered,
                             llvm::ArrayRef<FunctionSignature> functions,
                             const Registry &registry,
                             const CPUOptions &options, llvm::StringRef path);
/// A command that reads and writes .npy files (runtime/README.md) and runs the
/// first function.
llvm::Error emitExecutable(mlir::ModuleOp lowered,
                           llvm::ArrayRef<FunctionSignature> functions,
                           const Registry &registry, const CPUOptions &options,
                           llvm::StringRef path);

/// The text of a C header that declares the entries and includes numera.h's
/// text, so that it stands alone. `stem` names the include guard.
std::string renderHeader(llvm::ArrayRef<FunctionSignature> functions,
                         llvm::StringRef stem);

/// NumPy's element types and the program's. None for f2, which has no place
/// in a compiled program.
std::optional<numera_dtype> dtypeOf(host::DType dtype);
host::DType dtypeOf(numera_dtype dtype);

} // namespace numera

#endif // NUMERA_TARGET_PROGRAM_H
