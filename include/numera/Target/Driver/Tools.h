// SPDX-License-Identifier: MIT
//
// What the compiler uses of the machine: other tools and folders. `numera
// doctor` tells users what is missing.

#ifndef NUMERA_TARGET_DRIVER_TOOLS_H
#define NUMERA_TARGET_DRIVER_TOOLS_H

#include "llvm/Support/Error.h"

namespace numera {

/// The path of the clang that compiles sources and links programs. The error
/// says what to install.
llvm::Expected<std::string> clangPath();
/// Compiles a source of a library in C or C++, as a configuration names them.
llvm::Error tryCompiler(bool cxx);
/// Links a shared object, as `numera compile` does.
llvm::Error tryLinker();
/// The path of `ptxas` or `fatbinary`, on PATH or in CUDA_HOME.
llvm::Expected<std::string> cudaToolPath(llvm::StringRef name);

/// The folders of the code cache and of proofs; empty: there is none, because
/// it is off or the environment names no place.
std::string codeCacheFolder();
std::string proofFolder();
/// Makes the folder if need be, and a file in it, which is removed.
llvm::Error tryFolder(llvm::StringRef folder);
/// Makes a temporary file, and removes it.
llvm::Error tryTemporaryFile();

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_TOOLS_H
