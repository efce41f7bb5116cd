// SPDX-License-Identifier: MIT
//
// A launch: all threads of all blocks, one after the other. Where they wait for
// each other, those of a block take turns.

#ifndef NUMERA_TEST_EMULATION_GRID_H
#define NUMERA_TEST_EMULATION_GRID_H

#include "Warpgroup.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

namespace {

/// As ptx2c.py declares it.
struct Thread {
  uint32_t tid[3], ctaid[3], ntid[3], nctaid[3];
  unsigned char *shared;
  void (*barrier)(Thread *), (*exit)(Thread *);
  void (*copy)(Thread *, void *to, const void *from, uint64_t size);
  void (*wait)(Thread *);
  std::vector<struct Copy> *copies;
  uint32_t (*(*exchange)(Thread *, const uint32_t *words, int count))[8];
  void (*wrote)(Thread *, const void *shared, uint64_t size);
  void (*fenceProxy)(Thread *);
  void (*multiply)(Thread *, const MatrixInstruction *);
  void (*waitForMatrices)(Thread *);
};
using Entry = void(Thread *, void **parameters);

struct Function {
  Entry *entry;
  bool hasBarriers;
  bool hasWarpgroups; ///< so that writes to shared memory are told
  size_t sharedSize;
};

// ---- copies into shared memory

/// One that has been asked for. It is made as late as can be, and what is read
/// before is wrong.
struct Copy {
  void *to;
  const void *from;
  uint64_t size;
};

/// The thread's, if its kernel has matrix instructions of warpgroups.
void wrote(Thread *, const void *shared, uint64_t size);

void startCopy(Thread *thread, void *to, const void *from, uint64_t size) {
  if (reinterpret_cast<uintptr_t>(to) % size != 0 ||
      reinterpret_cast<uintptr_t>(from) % size != 0) {
    std::fprintf(stderr, "emulated GPU: a copy is not aligned\n");
    std::abort();
  }
  std::memset(to, 0xa5, size);
  wrote(thread, to, size);
  thread->copies->push_back({to, from, size});
}
void waitForCopies(Thread *thread) {
  for (const Copy &copy : *thread->copies) {
    std::memcpy(copy.to, copy.from, copy.size);
    wrote(thread, copy.to, copy.size);
  }
  thread->copies->clear();
}

// ---- threads of a block

/// What the threads of a warp show each other: the one table is read while the
/// next is written.
struct Warp {
  uint32_t words[2][32][8];
};

enum class State { Ready, AtBarrier, AtExchange, Done };

/// A stack that ends in a page which nothing may touch: what a thread has of
/// its own is large where it has quires.
class Stack {
public:
  static constexpr size_t size = 1 << 20, guard = 4096;

  Stack()
      : begin(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin == MAP_FAILED || mprotect(begin, guard, PROT_NONE) != 0) {
      std::perror("emulated GPU: no stack for a thread");
      std::abort();
    }
  }
  ~Stack() { munmap(begin, size); }
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;

  void *const begin;
};

/// What a block has for matrix instructions of warpgroups.
struct Warpgroups {
  SharedWrites shared;
  std::vector<WarpgroupAgreement> agreements;
};

/// A thread of a block with barriers has a stack of its own, and goes on when
/// all others, or those of its warp, have come as far.
struct Fiber {
  Thread thread;
  ucontext_t context;
  std::unique_ptr<Stack> stack;
  std::vector<Copy> copies;
  Warp *warp = nullptr;
  unsigned exchanges = 0;
  Warpgroups *warpgroups = nullptr; ///< of the block; perhaps null
  SharedWrites::Chunks unfenced;
  MatrixWork matrices;
  size_t matrixCount = 0;
  State state = State::Ready;
};

thread_local ucontext_t scheduler;
thread_local Fiber *running = nullptr;
thread_local Entry *runningEntry = nullptr;
thread_local void **runningParameters = nullptr;
thread_local ucontext_t *escape = nullptr;

void pause(State state) {
  running->state = state;
  swapcontext(&running->context, &scheduler);
}
void waitForOthers(Thread *) { pause(State::AtBarrier); }

/// Shows the warp's other threads some words, and returns theirs.
uint32_t (*exchange(Thread *thread, const uint32_t *words, int count))[8] {
  auto &table = running->warp->words[running->exchanges++ % 2];
  std::memcpy(table[thread->tid[0] % 32], words, size_t(count) * 4);
  pause(State::AtExchange);
  return table;
}

void wrote(Thread *, const void *shared, uint64_t size) {
  if (Warpgroups *block = running ? running->warpgroups : nullptr)
    block->shared.write(running->unfenced, shared, size);
}
void fenceProxy(Thread *) {
  if (Warpgroups *block = running->warpgroups)
    block->shared.fence(running->unfenced);
}
void multiply(Thread *thread, const MatrixInstruction *instruction) {
  Warpgroups &block = *running->warpgroups;
  block.agreements.at(thread->tid[0] / 128)
      .check(running->matrixCount++, *instruction);
  running->matrices.start(block.shared, thread->tid[0], *instruction);
}
void waitForMatrices(Thread *thread) {
  running->matrices.finish(running->warpgroups->shared, thread->tid[0]);
}

void runFiber() {
  runningEntry(&running->thread, runningParameters);
  pause(State::Done);
}

/// If all fibers of the range that are not done are in `state`, they may go on.
bool release(Fiber *begin, Fiber *end, State state) {
  bool anyLeft = false;
  for (Fiber *fiber = begin; fiber != end; ++fiber) {
    if (fiber->state != state && fiber->state != State::Done)
      return false;
    anyLeft |= fiber->state == state;
  }
  for (Fiber *fiber = begin; fiber != end; ++fiber)
    if (fiber->state == state)
      fiber->state = State::Ready;
  return anyLeft;
}
void runReady(Fiber *begin, Fiber *end) {
  for (Fiber *fiber = begin; fiber != end; ++fiber)
    if (fiber->state == State::Ready) {
      running = fiber;
      swapcontext(&scheduler, &fiber->context);
    }
}

void runWithBarriers(const Function &function, std::vector<Fiber> &fibers,
                     void **parameters) {
  runningEntry = function.entry;
  runningParameters = parameters;
  std::vector<Warp> warps((fibers.size() + 31) / 32);
  for (Fiber &fiber : fibers) {
    fiber.state = State::Ready;
    fiber.warp = &warps[size_t(&fiber - fibers.data()) / 32];
    fiber.unfenced.clear();
    fiber.matrixCount = 0;
    if (!fiber.stack)
      fiber.stack = std::make_unique<Stack>();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack->begin;
    fiber.context.uc_stack.ss_size = Stack::size;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, runFiber, 0);
  }
  Fiber *begin = fibers.data(), *end = begin + fibers.size();
  do {
    for (Fiber *warp = begin; warp < end; warp += 32) {
      Fiber *last = std::min(warp + 32, end);
      do
        runReady(warp, last);
      while (release(warp, last, State::AtExchange));
    }
    if (begin->warpgroups)
      begin->warpgroups->shared.barrier();
  } while (release(begin, end, State::AtBarrier));
  for (const Fiber &fiber : fibers)
    if (fiber.state != State::Done) {
      std::fprintf(stderr, "emulated GPU: threads wait for each other\n");
      std::abort();
    }
}

/// The instruction `exit`.
void leave(Thread *) {
  if (escape)
    setcontext(escape);
  running->state = State::Done;
  setcontext(&scheduler);
}

void runAlone(const Function &function, Thread &thread, void **parameters) {
  // Where `exit` goes on. What has run is not run again.
  volatile bool hasRun = false;
  ucontext_t here;
  getcontext(&here);
  if (hasRun)
    return;
  hasRun = true;
  escape = &here;
  function.entry(&thread, parameters);
  escape = nullptr;
}

void runGrid(const Function &function, const unsigned grid[3],
             const unsigned block[3], size_t sharedSize, void **parameters) {
  size_t threads = size_t(block[0]) * block[1] * block[2];
  std::vector<Fiber> fibers(function.hasBarriers ? threads : 1);
  // Patterns of matrices begin at multiples of 1024 at most, and descriptors
  // hold 18 bits of an address, in which places must follow each other.
  constexpr size_t window = size_t{1} << 18;
  size_t bytes = (function.sharedSize + sharedSize + 1024) / 1024 * 1024;
  std::unique_ptr<unsigned char, decltype(&std::free)> shared(
      static_cast<unsigned char *>(
          std::aligned_alloc(window, (bytes + window - 1) / window * window)),
      std::free);
  Warpgroups warpgroups;
  uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
  for (uint64_t b = 0; b < blocks; ++b) {
    std::memset(shared.get(), 0xa5, bytes);
    warpgroups.shared.reset(shared.get(), bytes);
    warpgroups.agreements.assign(threads / 128, {});
    for (size_t t = 0; t < threads; ++t) {
      Fiber &fiber = fibers[function.hasBarriers ? t : 0];
      Thread &thread = fiber.thread;
      thread = {{unsigned(t % block[0]), unsigned(t / block[0] % block[1]),
                 unsigned(t / block[0] / block[1])},
                {unsigned(b % grid[0]), unsigned(b / grid[0] % grid[1]),
                 unsigned(b / grid[0] / grid[1])},
                {block[0], block[1], block[2]},
                {grid[0], grid[1], grid[2]},
                shared.get(),
                waitForOthers,
                leave,
                startCopy,
                waitForCopies,
                &fiber.copies,
                exchange,
                wrote,
                fenceProxy,
                multiply,
                waitForMatrices};
      fiber.warpgroups = function.hasWarpgroups ? &warpgroups : nullptr;
      if (!function.hasBarriers)
        runAlone(function, thread, parameters);
    }
    if (function.hasBarriers)
      runWithBarriers(function, fibers, parameters);
  }
}

} // namespace

#endif // NUMERA_TEST_EMULATION_GRID_H
