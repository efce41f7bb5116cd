// SPDX-License-Identifier: MIT
//
// The emulated devices: their contexts, and memory that knows which context it
// is in.

#ifndef NUMERA_TEST_EMULATION_MEMORY_H
#define NUMERA_TEST_EMULATION_MEMORY_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace {

enum : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  invalidDevice = 101,
  invalidContext = 201,
  invalidHandle = 400,
  noBinary = 209,
  invalidImage = 200,
  invalidPTX = 218,
  notFound = 500,
  notSupported = 801,
};

constexpr size_t page = 4096;

struct Context;
struct Pool {
  int device;
  size_t used; ///< buffers
};
struct Buffer {
  size_t size;
  Context *context;
  Pool *pool;
};

// Programs may be unloaded after this library's own destructors have run.
std::mutex &lock = *new std::mutex;
std::map<uintptr_t, Buffer> &memory = *new std::map<uintptr_t, Buffer>;

/// The primary context of a device. What was made before a reset is not there
/// any more.
struct Context {
  int device;
  unsigned long long id;
  int users;
};
constexpr int mostDevices = 8;
Context contexts[mostDevices];
unsigned long long lastContext = 0;
/// Of the calling thread. It is never destroyed: programs are unloaded after
/// the objects of their threads.
std::vector<Context *> &stackOfThread() {
  thread_local auto *made = new std::vector<Context *>;
  return *made;
}
/// Modules, streams, page-locked memory and pools that are not released yet.
std::map<std::string, int> &alive = *new std::map<std::string, int>;

int deviceCount() {
  const char *given = getenv("NUMERA_EMULATED_DEVICES");
  return given ? std::min(atoi(given), mostDevices) : 1;
}

Context *current() {
  const std::vector<Context *> &stack = stackOfThread();
  return stack.empty() ? nullptr : stack.back();
}

void countAlive(const char *kind, int more) {
  std::lock_guard guard(lock);
  alive[kind] += more;
}

template <typename T> int destroy(T *object, const char *kind) {
  delete object;
  countAlive(kind, -1);
  return success;
}

/// The buffer that has all these bytes; null if none has.
const Buffer *bufferOf(uint64_t address, size_t size) {
  std::lock_guard guard(lock);
  auto next = memory.upper_bound(address);
  if (next == memory.begin())
    return nullptr;
  const auto &[begin, buffer] = *std::prev(next);
  return address + size <= begin + buffer.size ? &buffer : nullptr;
}

bool isOnDevice(uint64_t address, size_t size) {
  const Buffer *buffer = bufferOf(address, size);
  return buffer && buffer->context == current();
}

int allocate(uint64_t *address, size_t size, Pool *pool = nullptr) {
  if (!current() || (pool && pool->device != current()->device))
    return invalidContext;
  // What is touched behind it ends the program.
  size_t taken = (size + 15) / 16 * 16, room = (taken + page - 1) / page * page;
  char *area =
      static_cast<char *>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (area == MAP_FAILED || mprotect(area + room, page, PROT_NONE) != 0)
    return outOfMemory;
  char *block = area + (room - taken);
  // Memory that was never written is not zero on a device.
  std::memset(block, 0xa5, size);
  *address = reinterpret_cast<uint64_t>(block);
  std::lock_guard guard(lock);
  memory[*address] = {size, current(), pool};
  if (pool)
    ++pool->used;
  return success;
}

/// With the lock.
int releaseLocked(uint64_t address) {
  auto found = memory.find(address);
  if (found == memory.end())
    return invalidValue;
  if (found->second.pool)
    --found->second.pool->used;
  uint64_t area = address / page * page;
  munmap(reinterpret_cast<void *>(area),
         (address - area + found->second.size + page - 1) / page * page + page);
  memory.erase(found);
  return success;
}

int release(uint64_t address) {
  std::lock_guard guard(lock);
  return releaseLocked(address);
}

} // namespace

#endif // NUMERA_TEST_EMULATION_MEMORY_H
