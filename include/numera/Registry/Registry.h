// SPDX-License-Identifier: MIT
//
// The registry maps names to formats and (operation, target, result format,
// operand formats) to lowerings. It is built once, from the built-in files and
// the user's, and read-only from then on.

#ifndef NUMERA_REGISTRY_REGISTRY_H
#define NUMERA_REGISTRY_REGISTRY_H

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

class Registry : public RegistryEntries {
public:
  /// Makes a registry of the built-in names.
  Registry();

  /// Reads a configuration file into this registry. On failure prints one line
  /// `path:line:column: error: …` to `errors` and returns false. Call it before
  /// the registry is shared.
  bool load(llvm::StringRef path, llvm::raw_ostream &errors);
  /// The same for text in memory. Messages call it `name`. Library paths are
  /// relative to `directory`.
  bool loadText(llvm::StringRef text, llvm::StringRef name,
                llvm::StringRef directory, llvm::raw_ostream &errors);
};

} // namespace numera

#endif // NUMERA_REGISTRY_REGISTRY_H
