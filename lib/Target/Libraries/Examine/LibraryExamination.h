// SPDX-License-Identifier: MIT
//
// Checks of libraries before programs are compiled.

#ifndef NUMERA_LIB_TARGET_LIBRARIES_EXAMINE_LIBRARYEXAMINATION_H
#define NUMERA_LIB_TARGET_LIBRARIES_EXAMINE_LIBRARYEXAMINATION_H

#include "Libraries/LibraryFile.h"
#include "Libraries/ProofCache.h"
#include "numera/Registry/Registry.h"
#include "llvm/Support/Error.h"

namespace numera {

/// Loads the shared objects of a library in a child process, and runs the
/// constructors of its bitcode. The error says that this crashed, ended the
/// process, took too long or was refused.
llvm::Error tryToLoad(const LibraryFile &file);

/// Runs functions for identities and keeps the codes that they give.
llvm::Error findIdentities(Registry &registry,
                           llvm::ArrayRef<const Lowering *> identities);

/// Fails unless the `round_to` gives for every f32 what the format that it
/// names as its equivalent rounds that to, NaN aside, and every code is a
/// number of that format. What holds is kept in the cache.
llvm::Error proveRounding(const Registry &registry, const Lowering &roundTo,
                          ProofCache &cache);

} // namespace numera

#endif // NUMERA_LIB_TARGET_LIBRARIES_EXAMINE_LIBRARYEXAMINATION_H
