// SPDX-License-Identifier: MIT
//
// A program as an LLVM module, and its code.

#ifndef NUMERA_LIB_TARGET_CODEGEN_COMPILED_H
#define NUMERA_LIB_TARGET_CODEGEN_COMPILED_H

#include "numera/Target/Interface/Metadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Memory that stays where it is, and the symbol by which code reads it.
struct CodeConstant {
  std::string symbol;
  llvm::ArrayRef<char> bytes;
  /// Keeps the bytes, which then are 64 bytes aligned; null: only the model
  /// does.
  std::shared_ptr<const char> owner = nullptr;
};

/// A module ready for code generation.
struct Compiled {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  /// Libraries in machine code that the program needs: .a, .o, .so.
  std::vector<std::string> nativeLibraries;
  /// What the module declares and its file is to define: of the model, as long
  /// as it lives.
  std::vector<CodeConstant> linked;
  Metadata metadata;
};

/// A program as objects.
struct ObjectCode {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  /// What each is kept under (CodeCache.h); empty unless all are.
  std::vector<std::string> keys;
  std::vector<std::string> nativeLibraries; ///< as Compiled has them
  /// What runs when the program is loaded in memory and when it is unloaded.
  bool hasInitializer = false, hasFinalizer = false;
  std::string entry; ///< a function of the first object; empty: there is none
  /// What the objects read by symbols of these names, 64 bytes aligned: in a
  /// program that is loaded in memory.
  std::vector<std::pair<std::string, std::unique_ptr<llvm::MemoryBuffer>>>
      constants;
  /// The same in a program that is linked: of the model, as long as it lives.
  std::vector<CodeConstant> linked;
  llvm::Triple triple;
  Metadata metadata;
};

/// An LLVMContext's handler of diagnostics. LLVM remarks on loops that it
/// leaves as they are, which is no one's concern; what it calls an error is one
/// line.
void reportErrors(const llvm::DiagnosticInfo *info, void *);

/// Writes the code of a program, an object or assembly.
llvm::Error generate(Compiled &program, llvm::CodeGenFileType type,
                     llvm::raw_pwrite_stream &stream);

/// The same as an object in memory.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
generateObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Fails where code for another architecture than this machine's would be run
/// or linked.
llvm::Error checkNative(const Compiled &program);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CODEGEN_COMPILED_H
