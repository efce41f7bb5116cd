// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LIBRARIES_LINKLIBRARIES_H
#define NUMERA_LIB_TARGET_LIBRARIES_LINKLIBRARIES_H

#include "numera/Registry/Registry.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// The library that the lowered module names for a symbol (`numera.library`).
using NamedLibraries = llvm::StringMap<std::string>;

/// Links the registered libraries that define what `module` calls. Those in
/// machine code are named in the result.
llvm::Expected<std::vector<std::string>>
linkLibraries(llvm::Module &module, const Registry &registry,
              const NamedLibraries &named, const llvm::TargetMachine &machine);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_LINKLIBRARIES_H
