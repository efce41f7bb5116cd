// SPDX-License-Identifier: MIT
//
// The libraries of a configuration, before the first program.

#ifndef NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H
#define NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H

#include "numera/Registry/Registry.h"

namespace numera {

/// Compiles the sources of every library once, for all programs to come, and
/// holds each registered function against its lowering: that there is one of
/// that name, and, where it is source or bitcode, of that type. What is wrong
/// goes to `errors`, a line `place: error: …` each, and the result is false. To
/// be called before the registry is shared; without it, each program opens the
/// libraries that it calls. With `misfits`, a function that is not there or
/// does not fit is a line as well, and the place of its lowering one of those,
/// but no failure.
bool openLibraries(Registry &registry, llvm::raw_ostream &errors,
                   std::vector<std::string> *misfits = nullptr);

/// Runs what has to be known of libraries before programs are compiled, as
/// openLibraries does too: functions that give the codes of identities, which
/// it keeps, and every `round_to` that is stated to be a format's rounding, on
/// all numbers. False with a line in `errors` for one that gives no code or
/// rounds otherwise. Those whose places are `misfits` are left out.
bool examineLibraries(Registry &registry, llvm::raw_ostream &errors,
                      llvm::ArrayRef<std::string> misfits = {});

} // namespace numera

#endif // NUMERA_TARGET_LIBRARIES_EXAMINE_LIBRARIES_H
