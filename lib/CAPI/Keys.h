// SPDX-License-Identifier: MIT
//
// What a program follows from, for the cache of programs.

#ifndef NUMERA_LIB_CAPI_KEYS_H
#define NUMERA_LIB_CAPI_KEYS_H

#include "Handles.h"
#include "numera/Target/Driver/Compiler.h"
#include "numera/Target/Program/ProgramCache.h"

namespace numera {

/// A file, or MLIR in memory.
struct Model {
  llvm::StringRef name;
  llvm::StringRef text = {};
  bool isText = false;
};

/// Adds the model, the options as they were given, `list`, and the registry.
/// False: the program is not one to be found again, since more goes into it
/// than is known before it is compiled.
bool addTo(ProgramCache &cache, const NumeraRegistry &registry,
           const Model &model, const char *const *list,
           const CompileOptions &options);

} // namespace numera

#endif // NUMERA_LIB_CAPI_KEYS_H
