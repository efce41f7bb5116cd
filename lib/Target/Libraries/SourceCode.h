// SPDX-License-Identifier: MIT
//
// C and C++ sources of libraries as bitcode. Compiling a library of a hundred
// files, or the header of a template library, takes seconds, and every command
// that reads a configuration needs it. So bitcode is cached in
// $XDG_CACHE_HOME/numera/bitcode, with a hash of each file that it was compiled
// from.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_SOURCECODE_H
#define NUMERA_LIB_TARGET_LIBRARIES_SOURCECODE_H

#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

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

/// Compiles the sources of a library with what it says, several at a time; what
/// did not change since the last time is read. The error is the first file's.
llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileSources(const Library &library, llvm::ArrayRef<std::string> paths);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_SOURCECODE_H
