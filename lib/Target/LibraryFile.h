// SPDX-License-Identifier: MIT
//
// A library that the configuration names, opened: C and C++ sources are
// compiled, bitcode is parsed, and of machine code the symbols are read.

#ifndef NUMERA_LIB_TARGET_LIBRARYFILE_H
#define NUMERA_LIB_TARGET_LIBRARYFILE_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace numera {

/// The flags for sources: those of the runtime, as arithmetic is arithmetic.
inline constexpr llvm::StringLiteral sourceFlags[] = {"-O2",
                                                      "-fPIC",
                                                      "-ffp-contract=off",
                                                      "-fno-exceptions",
                                                      "-fno-math-errno",
                                                      "-fno-vectorize",
                                                      "-fno-slp-vectorize",
                                                      "-emit-llvm"};

class LibraryFile {
public:
  /// Errors begin with the library's place in the configuration.
  static llvm::Expected<LibraryFile> open(const Library &library,
                                          llvm::LLVMContext &context);

  const Library &library() const { return *info; }
  /// The bitcode; null for machine code.
  std::unique_ptr<llvm::Module> module;
  bool defines(llvm::StringRef symbol) const;

private:
  explicit LibraryFile(const Library &library) : info(&library) {}
  llvm::Error openSource(llvm::LLVMContext &context);
  llvm::Error openBitcode(llvm::StringRef path, llvm::LLVMContext &context);
  llvm::Error openMachineCode();

  const Library *info;
  llvm::StringSet<> symbols; ///< of machine code
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARYFILE_H
