// SPDX-License-Identifier: MIT
//
// The threads of one call of a compiled function. They are made by the first
// loop that can use them, serve the loops that follow, and end with the call:
// nothing of a program runs while none of its functions does, so that a shared
// object can be closed, a program in memory freed, and a process forked. Making
// a thread takes 10 to 40 microseconds, which is what a loop worth sharing
// takes many times over.

#ifndef NUMERA_RUNTIME_HOST_TEAM_H
#define NUMERA_RUNTIME_HOST_TEAM_H

#include "Processor.h"

#include "numera/Runtime/Entry.h"

#include <atomic>
#include <pthread.h>

namespace numera::host {

/// A loop cut into chunks, which threads take one after the other. Every chunk
/// but the last has the same size, a multiple of the grain.
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
  LoopBody *const body;
  void *const context;
  const int64_t count;
  int64_t chunk, chunkCount;
  std::atomic<int64_t> next = 0; ///< chunk to be taken
  std::atomic<int64_t> limit;    ///< first chunk that is not to be taken
  Roomy<pthread_mutex_t> mutex;  ///< writing what follows
  const char *message = nullptr; ///< and `limit`
};

class Team {
public:
  /// At most `threads` of them, this one included; 0: as many as there are
  /// processors.
  explicit Team(uint32_t threads) : threads(threads) {}
  ~Team();
  Team(const Team &) = delete;

  /// Runs a loop; what numera_host_fail said in it, else null.
  const char *run(LoopBody *body, void *context, int64_t count, int64_t grain);

private:
  static void *helperMain(void *team);
  void help();
  bool isNew(uint64_t seen) const { return epoch != seen || isEnding; }
  void countThreads();
  void makeHelpers(int64_t wanted);

  uint32_t threads;
  bool isCounted = false; ///< `threads` is not 0, `spins` is set
  bool spins = false; ///< a thread looks for a while before it goes to sleep
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

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_TEAM_H
