// SPDX-License-Identifier: MIT
//
// Code of a library is tried in a child, which may crash.

#ifndef NUMERA_LIB_TARGET_CHILD_H
#define NUMERA_LIB_TARGET_CHILD_H

#include <sys/types.h>

namespace numera {

/// In a child that `parent` has forked: it ends with its parent, leaves no core
/// file, and faults end it without a report. What it reads and prints is
/// nothing if `isQuiet`.
void prepareChild(pid_t parent, bool isQuiet);

} // namespace numera

#endif // NUMERA_LIB_TARGET_CHILD_H
