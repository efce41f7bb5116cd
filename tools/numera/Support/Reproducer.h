// SPDX-License-Identifier: MIT
//
// Where the compiler itself fails, one file and one command that repeat it
// (docs/Debugging.md).

#ifndef NUMERA_TOOLS_SUPPORT_REPRODUCER_H
#define NUMERA_TOOLS_SUPPORT_REPRODUCER_H

#include "llvm/ADT/ArrayRef.h"

namespace numera {

/// From now on a crash or a fatal error of LLVM is one line on stderr with the
/// command that repeats it, and exit status 1. The command names a copy of the
/// model as it was read, in the folder for temporary files. `arguments` are
/// main's.
void watchForFailures(llvm::ArrayRef<const char *> arguments);

/// The same line and file where a pass has failed without saying why.
void leaveReproducer();

/// While one lives, a model's program runs, with functions of libraries: a
/// crash is not the compiler's, and ends the process as it would any.
class ProgramRuns {
public:
  ProgramRuns();
  ProgramRuns(const ProgramRuns &) = delete;
  ProgramRuns &operator=(const ProgramRuns &) = delete;
  ~ProgramRuns();
};

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_REPRODUCER_H
