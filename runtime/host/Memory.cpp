// SPDX-License-Identifier: MIT

#include "Memory.h"

#include "CallContext.h"
#include "numera/Runtime/Entry.h"

#include <cstdlib>
#include <cstring>
#include <malloc.h>

using namespace numera::host;

namespace {

/// Less comes from malloc without a fault.
constexpr uint64_t leastKept = uint64_t(1) << 16;
/// How many times as large as a request a block for it may be: layers of a
/// model differ in size, and what lies idle of a block is not missing
/// elsewhere.
constexpr uint64_t mostSlack = 8;
/// How many times as large as its result a block may be that a caller is given.
constexpr uint64_t mostSlackGiven = 2;
/// Calls without a use for a block, after which it goes.
constexpr uint64_t callsKept = 2;

struct Block {
  void *memory;
  uint64_t size;
  uint64_t call; ///< in which it was released
};

/// Blocks that nothing uses, the oldest first.
class Store {
public:
  /// The smallest that is large enough, and not too large; null if there is
  /// none.
  void *take(uint64_t alignment, uint64_t bytes) {
    Block *best = nullptr;
    for (Block *block = blocks; block != blocks + count; ++block)
      if (block->size >= bytes && block->size / mostSlack <= bytes &&
          reinterpret_cast<uintptr_t>(block->memory) % alignment == 0 &&
          (!best || block->size < best->size))
        best = block;
    return best ? remove(best) : nullptr;
  }

  void keep(void *memory, uint64_t size) {
    if (count == capacity)
      std::free(remove(blocks));
    blocks[count++] = {memory, size, calls};
  }

  void trim() {
    ++calls;
    while (count && blocks[0].call + callsKept < calls)
      std::free(remove(blocks));
  }

  void clear() {
    while (count)
      std::free(remove(blocks));
  }

private:
  void *remove(Block *block) {
    void *memory = block->memory;
    --count;
    std::memmove(block, block + 1,
                 size_t(blocks + count - block) * sizeof(Block));
    return memory;
  }

  static constexpr size_t capacity = 64;
  Block blocks[capacity];
  size_t count;
  uint64_t calls;
};

Store store;
Roomy<pthread_mutex_t> storeMutex;

/// Does `work` with the store, unless another thread is there: to wait would
/// cost more than it is worth, and last for ever in a process that was forked
/// meanwhile. Whether it did.
template <typename Work> bool withStore(const Work &work) {
  if (pthread_mutex_trylock(&storeMutex.value) != 0)
    return false;
  work();
  pthread_mutex_unlock(&storeMutex.value);
  return true;
}

void *fromSystem(uint64_t alignment, uint64_t bytes) {
  return alignment <= alignof(max_align_t)
             ? std::malloc(bytes)
             : std::aligned_alloc(alignment, bytes);
}

/// Of what runs in this thread, and of what that runs in.
void forgetOpen(void *memory) {
  for (CallContext *running = CallContext::current(); running;
       running = running->outer)
    if (running->memory.remove(memory))
      return;
}

void release(void *memory) {
  uint64_t size = memory ? malloc_usable_size(memory) : 0;
  if (size < leastKept || !withStore([&] { store.keep(memory, size); }))
    std::free(memory);
}

} // namespace

void OpenBlocks::add(void *block) {
  if (count == capacity) {
    size_t more = capacity ? 2 * capacity : 16;
    void *grown = std::realloc(blocks, more * sizeof(void *));
    if (!grown)
      return; // lost, if there is a message
    blocks = static_cast<void **>(grown);
    capacity = more;
  }
  blocks[count++] = block;
}

bool OpenBlocks::remove(void *block) {
  // What was taken last is released first, nearly always.
  for (size_t i = count; i-- > 0;)
    if (blocks[i] == block) {
      blocks[i] = blocks[--count];
      return true;
    }
  return false;
}

void OpenBlocks::releaseAll() {
  for (size_t i = 0; i < count; ++i)
    release(blocks[i]);
  forget();
}

void OpenBlocks::forget() {
  std::free(blocks);
  blocks = nullptr;
  count = capacity = 0;
}

bool numera::host::mayBeGiven(void *memory, uint64_t bytes) {
  uint64_t size = malloc_usable_size(memory);
  return size < leastKept || size / mostSlackGiven <= bytes;
}

void numera::host::trimMemory() {
  withStore([] { store.trim(); });
}

void numera::host::clearMemory() {
  withStore([] { store.clear(); });
}

__attribute__((destructor)) static void freeStore() { clearMemory(); }

extern "C" void *numera::host::numera_host_try_allocate(uint64_t alignment,
                                                        uint64_t bytes) {
  void *memory = nullptr;
  if (bytes >= leastKept)
    withStore([&] { memory = store.take(alignment, bytes); });
  if (!memory)
    memory = fromSystem(alignment, bytes);
  if (!memory && bytes) {
    // What is kept may be what is missing.
    withStore([] { store.clear(); });
    memory = fromSystem(alignment, bytes);
  }
  if (CallContext *running = memory ? CallContext::current() : nullptr)
    running->memory.add(memory);
  return memory;
}

extern "C" void *numera::host::numera_host_allocate(uint64_t alignment,
                                                    uint64_t bytes) {
  void *memory = numera_host_try_allocate(alignment, bytes);
  if (!memory && bytes)
    numera_host_fail("out of memory");
  return memory;
}

extern "C" void numera::host::numera_host_release(void *memory) {
  if (memory)
    forgetOpen(memory);
  release(memory);
}
