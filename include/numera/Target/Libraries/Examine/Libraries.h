// SPDX-License-Identifier: MIT
//
// Checks the libraries of a configuration before the first program is compiled.

#ifndef NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H
#define NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H

#include "numera/Registry/Registry.h"

namespace numera {

/// Compiles the sources of every library once, for all later programs, and
/// checks each registered function against its lowering: it must exist, and, in
/// source or bitcode, have the right type. Each error is a line
/// `place: error: …` in `errors`, and the result is false. Call it before the
/// registry is shared. Without this call, each program opens the libraries that
/// it calls. With `misfits`, a missing or unsuitable function is a line too,
/// but not a failure, and the location of its lowering is added to `misfits`.
bool openLibraries(Registry &registry, llvm::raw_ostream &errors,
                   std::vector<std::string> *misfits = nullptr);

/// Runs library functions whose results are needed before programs are
/// compiled, as openLibraries does too. It stores the codes that functions for
/// identities return. It runs every `round_to` that is stated to equal a
/// format's rounding, on all numbers. If a function returns no code, or rounds
/// differently, returns false with a line in `errors`. Functions whose
/// locations are in `misfits` are left out.
bool examineLibraries(Registry &registry, llvm::raw_ostream &errors,
                      llvm::ArrayRef<std::string> misfits = {});

} // namespace numera

#endif // NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H
