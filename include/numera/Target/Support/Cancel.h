// SPDX-License-Identifier: MIT
//
// Compilations that someone gives up.

#ifndef NUMERA_TARGET_SUPPORT_CANCEL_H
#define NUMERA_TARGET_SUPPORT_CANCEL_H

#include "llvm/Support/Error.h"

namespace numera {

/// What this thread's compilations ask between their steps: a number other than
/// 0 ends them, and is the last answer that is asked for. Null, the default,
/// never does. A thread that works for another one has a question of its own.
void askToCancel(int (*isOver)(void *context), void *context);

/// True if this thread has a question to ask.
bool mayBeCancelled();

/// Asks. Who finds that it is true returns cancelled(), and keeps nothing: what
/// could be left out was left out since.
bool isCancelled();

/// The error "interrupted".
llvm::Error cancelled();

} // namespace numera

#endif // NUMERA_TARGET_SUPPORT_CANCEL_H
