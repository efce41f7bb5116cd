// SPDX-License-Identifier: MIT
//
// Lookups in the tables that `numera-tabulate` creates.

#ifndef NUMERA_LIB_TARGET_PEEPHOLE_LOOKUPS_H
#define NUMERA_LIB_TARGET_PEEPHOLE_LOOKUPS_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace numera {

/// Defines `numera_lookup_<place bits>_<element bits>`, where they are called:
/// as a load and, for CPUs that permute bytes, on vectors.
void defineLookups(llvm::Module &module, const llvm::TargetMachine &machine);

/// True if tables are read by calls that the vectoriser is to see.
bool hasLookups(const llvm::Module &module);

/// What is called for the sake of the vectoriser may be inlined from here on.
void releaseLookups(llvm::Module &module);

} // namespace numera

#endif // NUMERA_LIB_TARGET_PEEPHOLE_LOOKUPS_H
