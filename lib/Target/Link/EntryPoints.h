// SPDX-License-Identifier: MIT

#ifndef NUMERA_LIB_TARGET_LINK_ENTRYPOINTS_H
#define NUMERA_LIB_TARGET_LINK_ENTRYPOINTS_H

#include "Codegen/Machines.h"
#include "numera/Target/Interface/Metadata.h"
#include "llvm/IR/Module.h"

namespace numera {

/// Who calls the program: it decides which symbols are visible.
enum class Caller {
  Library,    ///< C programs: entries and metadata
  Process,    ///< this process: entries; runtime/host is the process's own
  Executable, ///< the main of executables
};

/// Makes everything in the module of a version internal, and adds for every
/// function what Entry.h calls Invoke.
llvm::Error addInvokes(llvm::Module &module,
                       llvm::ArrayRef<FunctionSignature> functions,
                       unsigned version, Caller caller);
/// Adds the C entry of every function, `numera_metadata`, and what Entry.h asks
/// of the compiler.
llvm::Error addEntryPoints(llvm::Module &module, const Metadata &metadata,
                           llvm::ArrayRef<VersionInfo> versions, Caller caller);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LINK_ENTRYPOINTS_H
