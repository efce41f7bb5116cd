// SPDX-License-Identifier: MIT
//
// The call that runs in a thread: where numera_host_fail returns to, which
// threads a parallel loop may use, and what the caller asked for.

#ifndef NUMERA_RUNTIME_HOST_CALLCONTEXT_H
#define NUMERA_RUNTIME_HOST_CALLCONTEXT_H

#include "Memory.h"
#include "Processor.h"
#include "numera/Runtime/Entry.h"

#include <csetjmp>
#include <pthread.h>

namespace numera::host {

class Team;

/// Kept by a pthread key: thread-local variables need a loader, which a program
/// run in memory has not.
struct CallContext {
  Roomy<jmp_buf> escape;
  const char *volatile message = nullptr; ///< of numera_host_fail
  CopyResult *copy = nullptr;             ///< of numera_host_copy_with
  /// Of the call of a function, in the thread that calls; null in others.
  const numera_options *options = nullptr;
  Team *team = nullptr; ///< null: parallel loops run in this thread alone
  CallContext *outer = nullptr; ///< that this one runs in, in the same thread
  OpenBlocks memory = {};

  static CallContext *current() {
    return static_cast<CallContext *>(pthread_getspecific(key()));
  }
  static void setCurrent(CallContext *running) {
    pthread_setspecific(key(), running);
  }
  /// The message of what runs in this thread, which is over. By its pointer:
  /// nothing known of it from before setjmp holds.
  static const char *end() {
    CallContext *running = current();
    setCurrent(running->outer);
    if (running->message)
      running->memory.releaseAll();
    else
      running->memory.forget();
    return running->message;
  }

private:
  static pthread_key_t key() {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static pthread_key_t made;
    pthread_once(&once, [] { pthread_key_create(&made, nullptr); });
    return made;
  }
};

/// Ends what runs in this thread if its caller wants that.
inline void stopIfInterrupted(const CallContext &running) {
  const numera_options *options = running.options;
  if (options && options->interrupt &&
      options->interrupt(options->interrupt_context))
    numera_host_fail("interrupted");
}

/// Calls `work` in this thread; what numera_host_fail was called with, else
/// null. No object with a destructor may live in what is left that way; memory
/// that was not released is, then.
template <typename Work> const char *runWith(Team *team, const Work &work) {
  CallContext running;
  running.team = team;
  running.outer = CallContext::current();
  if (running.outer)
    running.options = running.outer->options;
  CallContext::setCurrent(&running);
  if (setjmp(running.escape.value) == 0)
    work();
  return CallContext::end();
}

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_CALLCONTEXT_H
