// SPDX-License-Identifier: MIT

#include "ThreadPool.h"

#include "CallContext.h"

#include <cstdlib>
#include <new>
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

/// Looks at a condition for about a millisecond, within which the next loop of
/// a model mostly comes, and the next call of a program that makes one after
/// the other: a processor that sleeps takes up to as long to wake.
template <typename Condition> void spin(const Condition &holds) {
  for (int i = 0; i < 20000 && !holds(); ++i)
    numera_processor_relax();
}

} // namespace

// ---- a loop

Loop::Loop(LoopBody *body, void *context, int64_t count, int64_t grain,
           uint32_t threads)
    : body(body), context(context), count(count), grain(grain) {
  // Several for each thread: one that is late, or has the dear part, keeps the
  // others waiting for a chunk at most. As many for each, and of one size as
  // far as that goes: none is left over that one thread alone would have.
  constexpr int64_t chunksPerThread = 4;
  int64_t most = chunksPerThread * int64_t(threads);
  grains = count / grain + (count % grain != 0);
  chunkCount = grains < most ? grains : most;
  limit = chunkCount;
}

// Where a chunk begins, and the one before it ends.
int64_t Loop::beginOf(int64_t index) const {
  if (index == chunkCount)
    return count;
  // Without the product of two large numbers.
  int64_t each = grains / chunkCount, rest = grains % chunkCount;
  return (index * each + index * rest / chunkCount) * grain;
}

void Loop::work() {
  for (;;) {
    int64_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index >= limit.load(std::memory_order_relaxed))
      return;
    int64_t begin = beginOf(index), end = beginOf(index + 1);
    // Loops inside this one run in this thread alone.
    const char *said = runWith(/*team=*/nullptr, [this, begin, end] {
      stopIfInterrupted(*CallContext::current());
      body(context, begin, end);
      if (const char *other = findOtherEnvironment())
        numera_host_fail(other);
    });
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

ThreadPool::Processors::Processors() {
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
}

uint32_t ThreadPool::Processors::count() const {
  if (int known = CPU_COUNT(&set))
    return uint32_t(known);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 1 ? uint32_t(online) : 1;
}

ThreadPool::ThreadPool(uint32_t wanted)
    : wanted(wanted), process(getpid()),
      threads(wanted ? wanted : processors.count()),
      // Where threads take turns, one that looks keeps another from working.
      spins(threads <= processors.count()) {}

/// What one call leaves to the next.
static std::atomic<ThreadPool *> atRest = nullptr;

ThreadPool *ThreadPool::take(uint32_t wanted) {
  if (ThreadPool *pool = atRest.exchange(nullptr)) {
    Processors ours;
    if (pool->wanted == wanted && pool->process == getpid() &&
        CPU_EQUAL(&pool->processors.set, &ours.set))
      return pool;
    disband(pool);
  }
  void *memory = std::malloc(sizeof(ThreadPool));
  return memory ? new (memory) ThreadPool(wanted) : nullptr;
}

void ThreadPool::leave(ThreadPool *pool) {
  ThreadPool *none = nullptr;
  if (!atRest.compare_exchange_strong(none, pool))
    disband(pool);
}

void ThreadPool::endRest() {
  if (ThreadPool *pool = atRest.exchange(nullptr))
    disband(pool);
}

void ThreadPool::disband(ThreadPool *pool) {
  // A fork leaves the helpers behind, and the mutex as they had it.
  if (pool->process != getpid())
    return;
  pool->~ThreadPool();
  std::free(pool);
}

__attribute__((destructor)) static void endThreads() { ThreadPool::endRest(); }

const char *ThreadPool::run(LoopBody *body, void *context, int64_t count,
                            int64_t grain) {
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

/// As many as the loop can use. Where the system has no more, fewer do.
void ThreadPool::makeHelpers(int64_t most) {
  if (most > int64_t(threads) - 1)
    most = int64_t(threads) - 1;
  if (most <= int64_t(helperCount))
    return;
  auto *larger = static_cast<pthread_t *>(
      std::realloc(helpers, size_t(most) * sizeof(pthread_t)));
  if (!larger)
    return;
  helpers = larger;
  // Signals are the caller's threads' concern.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  while (int64_t(helperCount) < most &&
         pthread_create(helpers + helperCount, nullptr, helperMain, this) == 0)
    ++helperCount;
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

ThreadPool::~ThreadPool() {
  {
    Locked lock(mutex);
    isEnding = true;
  }
  pthread_cond_broadcast(&changed.value);
  for (uint32_t i = 0; i < helperCount; ++i)
    pthread_join(helpers[i], nullptr);
  std::free(helpers);
}

void *ThreadPool::helperMain(void *pool) {
  DefaultFloatingPoint scope;
  static_cast<ThreadPool *>(pool)->help();
  return nullptr;
}

void ThreadPool::help() {
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

const char *Team::run(LoopBody *body, void *context, int64_t count,
                      int64_t grain) {
  if (!pool && threads != 1)
    pool = ThreadPool::take(threads);
  if (pool)
    return pool->run(body, context, count, grain);
  body(context, 0, count);
  return nullptr;
}

// ---- the entry

extern "C" void numera::host::numera_host_parallel(LoopBody *body,
                                                   void *context, int64_t count,
                                                   int64_t grain) {
  if (count <= 0)
    return;
  CallContext *running = CallContext::current();
  if (running)
    stopIfInterrupted(*running);
  if (!running || !running->team || count <= grain)
    return body(context, 0, count);
  const char *failure =
      running->team->run(body, context, count, grain > 1 ? grain : 1);
  if (failure)
    numera_host_fail(failure);
}
