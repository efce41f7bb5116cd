// SPDX-License-Identifier: MIT
//
// What a command may use, for models and files from strangers
// (docs/Security.md).

#ifndef NUMERA_TOOLS_SUPPORT_LIMITS_H
#define NUMERA_TOOLS_SUPPORT_LIMITS_H

#include "CommandLine.h"

namespace numera {

struct Limits {
  std::optional<uint64_t> memory; ///< MiB that the process may write to
  std::optional<uint64_t> time;   ///< seconds by the clock
};

void addLimitFlags(CommandLine &line, Limits &limits);

/// From now on the process ends with exit status 1 and one line where it goes
/// beyond the limits. 0, or 1 after one line about their values.
int setLimits(const Limits &limits);

/// Running out of memory is one line as well, with or without a limit.
void reportMemory();
/// Ends the process with one line where no thread can be started, which may
/// have no room for its stack, or be one more than the user may have.
[[noreturn]] void endWithoutThread();

} // namespace numera

#endif // NUMERA_TOOLS_SUPPORT_LIMITS_H
