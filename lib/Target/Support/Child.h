// SPDX-License-Identifier: MIT
//
// Code of a library is tried in a child, which may crash.

#ifndef NUMERA_LIB_TARGET_SUPPORT_CHILD_H
#define NUMERA_LIB_TARGET_SUPPORT_CHILD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/types.h>

namespace numera {

/// In a child that `parent` has forked: it ends with its parent, leaves no core
/// file, and faults end it without a report. What it reads and prints is
/// nothing if `isQuiet`.
void prepareChild(pid_t parent, bool isQuiet);

/// What `body` returns in a quiet child. The error says how that ended:
/// `crashed (Aborted)`, `ended the process`, `did not return within 10 s`.
llvm::Expected<std::string> tryInChild(llvm::function_ref<std::string()> body);

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_CHILD_H
