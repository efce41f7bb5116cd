// SPDX-License-Identifier: MIT

#include "Team.h"

#include "Running.h"

#include <cstdlib>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

using namespace numera::host;

namespace {

class Locked {
public:
  explicit Locked(Roomy<pthread_mutex_t> &mutex) : mutex(mutex) {
    pthread_mutex_lock(&mutex.value);
  }
  ~Locked() { pthread_mutex_unlock(&mutex.value); }
  Locked(const Locked &) = delete;

private:
  Roomy<pthread_mutex_t> &mutex;
};

/// Those that this thread may run on.
uint32_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return uint32_t(CPU_COUNT(&set));
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 1 ? uint32_t(online) : 1;
}

/// Looks at a condition for some ten microseconds, within which the next loop
/// of a model mostly comes: waking a thread takes as long.
template <typename Condition> void spin(const Condition &holds) {
  for (int i = 0; i < 3000 && !holds(); ++i)
    numera_processor_relax();
}

} // namespace

// ---- a loop

Loop::Loop(LoopBody *body, void *context, int64_t count, int64_t grain,
           uint32_t threads)
    : body(body), context(context), count(count) {
  // Several for each thread: one that is late, or has the dear part, keeps the
  // others waiting for a chunk at most.
  constexpr int64_t chunksPerThread = 4;
  int64_t fair = count / (chunksPerThread * int64_t(threads));
  chunk = fair > grain ? fair - fair % grain : grain;
  chunkCount = count / chunk + (count % chunk != 0);
  limit = chunkCount;
}

void Loop::work() {
  for (;;) {
    int64_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index >= limit.load(std::memory_order_relaxed))
      return;
    int64_t begin = index * chunk;
    int64_t end = index == chunkCount - 1 ? count : begin + chunk;
    // Loops inside this one run in this thread alone.
    const char *said = runWith(
        /*team=*/nullptr, [this, begin, end] { body(context, begin, end); });
    if (!said)
      said = findOtherEnvironment();
    if (!said)
      continue;
    // Chunks before this one were taken earlier: they are done or will be.
    Locked lock(mutex);
    if (index < limit) {
      limit = index;
      message = said;
    }
  }
}

// ---- the threads

const char *Team::run(LoopBody *body, void *context, int64_t count,
                      int64_t grain) {
  if (!isCounted)
    countThreads();
  if (threads == 1) {
    body(context, 0, count);
    return nullptr;
  }
  Loop shared(body, context, count, grain, threads);
  {
    Locked lock(mutex);
    loop = &shared;
    ++epoch;
  }
  pthread_cond_broadcast(&changed.value);
  makeHelpers(shared.chunks() - 1);
  shared.work();
  // Helpers that have not come by now need not come.
  {
    Locked lock(mutex);
    loop = nullptr;
  }
  if (spins)
    spin([this] { return active == 0; });
  Locked lock(mutex);
  while (active != 0)
    pthread_cond_wait(&idle.value, &mutex.value);
  return shared.failure();
}

void Team::countThreads() {
  uint32_t available = processors();
  if (threads == 0)
    threads = available;
  // Where threads take turns, one that looks keeps another from working.
  spins = threads <= available;
  isCounted = true;
}

/// As many as the loop can use. Where the system has no more, fewer do.
void Team::makeHelpers(int64_t wanted) {
  if (wanted > int64_t(threads) - 1)
    wanted = int64_t(threads) - 1;
  if (wanted <= int64_t(helperCount))
    return;
  auto *larger = static_cast<pthread_t *>(
      std::realloc(helpers, size_t(wanted) * sizeof(pthread_t)));
  if (!larger)
    return;
  helpers = larger;
  // Signals are the caller's threads' concern.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  while (int64_t(helperCount) < wanted &&
         pthread_create(helpers + helperCount, nullptr, helperMain, this) == 0)
    ++helperCount;
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

Team::~Team() {
  {
    Locked lock(mutex);
    isEnding = true;
  }
  pthread_cond_broadcast(&changed.value);
  for (uint32_t i = 0; i < helperCount; ++i)
    pthread_join(helpers[i], nullptr);
  std::free(helpers);
}

void *Team::helperMain(void *team) {
  DefaultFloatingPoint scope;
  static_cast<Team *>(team)->help();
  return nullptr;
}

void Team::help() {
  for (uint64_t seen = 0;;) {
    if (spins)
      spin([this, seen] { return isNew(seen); });
    Locked lock(mutex);
    while (!isNew(seen))
      pthread_cond_wait(&changed.value, &mutex.value);
    if (isEnding)
      return;
    seen = epoch;
    if (!loop)
      continue;
    ++active;
    Loop *entered = loop;
    pthread_mutex_unlock(&mutex.value);
    entered->work();
    pthread_mutex_lock(&mutex.value);
    if (--active == 0)
      pthread_cond_signal(&idle.value);
  }
}

// ---- the entry

extern "C" void numera::host::numera_host_parallel(LoopBody *body,
                                                   void *context, int64_t count,
                                                   int64_t grain) {
  if (count <= 0)
    return;
  Running *running = Running::current();
  if (!running || !running->team || count <= grain)
    return body(context, 0, count);
  const char *failure =
      running->team->run(body, context, count, grain > 1 ? grain : 1);
  if (failure)
    numera_host_fail(failure);
}
