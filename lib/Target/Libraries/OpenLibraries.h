// SPDX-License-Identifier: MIT
//
// The libraries of a registry, each opened when a function of it is first
// needed.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_OPENLIBRARIES_H
#define NUMERA_LIB_TARGET_LIBRARIES_OPENLIBRARIES_H

#include "LibraryFile.h"
#include "LibrarySignature.h"
#include <map>

namespace numera {

class OpenLibraries {
public:
  OpenLibraries(const Registry &registry, llvm::LLVMContext &context)
      : registry(registry), context(context) {}

  llvm::Expected<LibraryFile &> open(const Library &library);

  /// The library that defines what `lowering` calls: the one named `library`,
  /// else the lowering's own, else the only one that has the symbol. Its
  /// function is what the lowering says, as far as that can be seen.
  llvm::Expected<LibraryFile &> find(const Lowering &lowering,
                                     llvm::StringRef library = "");

private:
  llvm::Expected<LibraryFile &> findFile(const Lowering &lowering,
                                         llvm::StringRef library);
  llvm::Expected<LibraryFile &> findOnly(const Lowering &lowering);
  llvm::Error check(const LibraryFile &file, const Lowering &lowering) const;
  /// What a function of bitcode calls is defined somewhere, as far as that can
  /// be seen.
  llvm::Error checkCalls(const LibraryFile &file, const Lowering &lowering);

  const Registry &registry;
  llvm::LLVMContext &context;
  std::map<const Library *, LibraryFile> files;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_OPENLIBRARIES_H
