// SPDX-License-Identifier: MIT
//
// A library that the configuration names, opened: C and C++ sources are
// compiled, bitcode is parsed, and of machine code the symbols are read. The
// files of one library may call each other.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_LIBRARYFILE_H
#define NUMERA_LIB_TARGET_LIBRARIES_LIBRARYFILE_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace numera {

class LibraryFile {
public:
  /// Errors begin with the library's place in the configuration.
  static llvm::Expected<LibraryFile> open(const Library &library,
                                          llvm::LLVMContext &context);

  const Library &library() const { return *info; }
  /// What sources and bitcode define, as one; null where all is machine code.
  std::unique_ptr<llvm::Module> module;
  /// The same as bytes, which do not depend on where the files lie.
  std::string bitcode() const;
  /// What a program is linked with: files of machine code, then `-lm` and such.
  const std::vector<std::string> &native() const { return files; }

  bool defines(llvm::StringRef symbol) const {
    return definition(symbol) || symbols.contains(symbol);
  }
  /// The function in bitcode; null for one of machine code, or of none.
  llvm::Function *definition(llvm::StringRef symbol) const;
  /// The integer, or the only one of a struct, that a constant in bitcode is:
  /// `const uint16_t my_zero = 0;`. Null for anything else.
  const llvm::ConstantInt *constant(llvm::StringRef symbol) const;
  /// The functions that there are, and what they may be taken for.
  std::vector<std::string> names() const;

private:
  explicit LibraryFile(const Library &library) : info(&library) {}
  llvm::Error openAll(llvm::LLVMContext &context);
  llvm::Error openSources(llvm::LLVMContext &context);
  llvm::Error openBitcode(llvm::MemoryBufferRef buffer,
                          llvm::LLVMContext &context);
  llvm::Error openMachineCode(llvm::StringRef path);
  llvm::Error openFile(llvm::StringRef path, llvm::LLVMContext &context);

  const Library *info;
  llvm::StringSet<> symbols; ///< of machine code
  std::vector<std::string> files;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_LIBRARYFILE_H
