// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_REGISTRY_CONFIGURATION_BUILTIN_H
#define NUMERA_LIB_REGISTRY_CONFIGURATION_BUILTIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace numera {

/// A file of lib/Registry/Builtin.
struct BuiltinFile {
  llvm::StringLiteral name, text;
};
llvm::ArrayRef<BuiltinFile> builtinFiles();

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_CONFIGURATION_BUILTIN_H
