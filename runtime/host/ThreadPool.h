// SPDX-License-Identifier: MIT
//
// The threads that work on a call of a compiled function. The first loop that
// can use them starts them, and they serve later loops and later calls.
// Starting a thread takes 10 to 40 microseconds, waking one almost as much, and
// a small model runs in a hundred. Between calls the threads poll for the next
// call for a while, then sleep. They end when the shared object is closed, the
// program in memory is freed, or the process ends. A forked process starts its
// own.

#ifndef NUMERA_RUNTIME_HOST_THREADPOOL_H
#define NUMERA_RUNTIME_HOST_THREADPOOL_H

#include "Processor.h"

#include "numera/Runtime/Entry.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

namespace numera::host {

/// A loop cut into chunks, which threads take one after the other. Chunks
/// differ by a grain at most.
class Loop {
public:
  Loop(LoopBody *body, void *context, int64_t count, int64_t grain,
       uint32_t threads);

  /// Takes chunks until there are none. One that fails ends the loop.
  void work();
  int64_t chunks() const { return chunkCount; }
  /// What the first of the chunks that failed said, in the order of the
  /// iterations: what the loop in one thread would have said. Else null.
  const char *failure() const { return message; }

private:
  int64_t beginOf(int64_t index) const;

  LoopBody *const body;
  void *const context;
  const int64_t count;
  const int64_t grain;
  int64_t grains, chunkCount;
  std::atomic<int64_t> next = 0; ///< chunk to be taken
  std::atomic<int64_t> limit;    ///< first chunk that is not to be taken
  Roomy<pthread_mutex_t> mutex;  ///< writing what follows
  const char *message = nullptr; ///< and `limit`
};

/// A thread that calls, and others that help it.
class ThreadPool {
public:
  /// Those that rest since the last call, if they are as many as are wanted and
  /// may run where this thread may; else new ones. Null: there is no memory.
  /// \p wanted counts this thread; 0: as many as there are processors.
  static ThreadPool *take(uint32_t wanted);
  /// The call is over. One pool rests; the helpers of others end.
  static void leave(ThreadPool *pool);
  /// Ends the helpers of the pool that rests.
  static void endRest();

  /// Runs a loop; what numera_host_fail said in it, else null.
  const char *run(LoopBody *body, void *context, int64_t count, int64_t grain);

private:
  /// Where a thread may run.
  struct Processors {
    Processors();
    uint32_t count() const;
    cpu_set_t set;
  };

  explicit ThreadPool(uint32_t wanted);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;

  static void disband(ThreadPool *pool);
  static void *helperMain(void *pool);
  void help();
  bool isNew(uint64_t seen) const { return epoch != seen || isEnding; }
  void makeHelpers(int64_t most);

  /// What the next call must agree with.
  const uint32_t wanted;
  const pid_t process;
  const Processors processors;

  const uint32_t threads; ///< that may work, the caller's included
  const bool spins; ///< a thread looks for a while before it goes to sleep
  pthread_t *helpers = nullptr;
  uint32_t helperCount = 0;

  Roomy<pthread_mutex_t> mutex;
  Roomy<pthread_cond_t> changed; ///< `epoch`, `isEnding`
  Roomy<pthread_cond_t> idle;    ///< `active` is 0
  // Written under the mutex.
  std::atomic<uint64_t> epoch = 0; ///< loops so far
  std::atomic<bool> isEnding = false;
  std::atomic<uint32_t> active = 0; ///< helpers inside the loop
  Loop *loop = nullptr;             ///< null: helpers may not enter it
};

/// The pool of one call, from its first loop on.
class Team {
public:
  /// At most `threads`, this one included; 0: as many as there are processors.
  explicit Team(uint32_t threads) : threads(threads) {}
  ~Team() {
    if (pool)
      ThreadPool::leave(pool);
  }
  Team(const Team &) = delete;

  /// Runs a loop; what numera_host_fail said in it, else null.
  const char *run(LoopBody *body, void *context, int64_t count, int64_t grain);

private:
  const uint32_t threads;
  ThreadPool *pool = nullptr;
};

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_THREADPOOL_H
