// SPDX-License-Identifier: MIT
//
// Names of functions that programs call for themselves: neither a model nor a
// library has a function of that name.

#ifndef NUMERA_REGISTRY_SYMBOLS_RESERVEDNAMES_H
#define NUMERA_REGISTRY_SYMBOLS_RESERVEDNAMES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace numera {

/// True if the program needs the name for something else.
inline bool isReservedName(llvm::StringRef name) {
  constexpr llvm::StringLiteral names[] = {"malloc", "free",    "memcpy",
                                           "memset", "memmove", "abort",
                                           "_init",  "_fini"};
  return name.starts_with("numera_") || llvm::is_contained(names, name);
}

/// `function name 'malloc' is taken by the runtime or the C library; rename
/// it`.
inline std::string reservedNameError(llvm::StringRef name) {
  return ("function name '" + name +
          "' is taken by the runtime or the C library; rename it")
      .str();
}

} // namespace numera

#endif // NUMERA_REGISTRY_SYMBOLS_RESERVEDNAMES_H
