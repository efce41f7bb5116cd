// SPDX-License-Identifier: MIT
//
// In a process, a symbol has one definition for all shared objects: the first
// that the dynamic loader finds. A program that is a file, and whose libraries
// are shared objects, may so call what nobody meant. `numera run` asks each
// library for its own.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_SHAREDSYMBOLS_H
#define NUMERA_LIB_TARGET_LIBRARIES_SHAREDSYMBOLS_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace numera {

/// An error where the loader would find another function than the one that was
/// registered, or that a library has for itself. `native` is what `module` is
/// linked with, and `entries` are the symbols that the program exports.
llvm::Error checkSharedSymbols(const llvm::Module &module,
                               const Registry &registry,
                               llvm::ArrayRef<std::string> native,
                               llvm::ArrayRef<std::string> entries);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_SHAREDSYMBOLS_H
