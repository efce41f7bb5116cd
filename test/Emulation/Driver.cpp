// SPDX-License-Identifier: MIT
//
// A libcuda.so.1 without a GPU, for tests: memory of the device is the host's,
// and a kernel's PTX is translated to C (ptx2c.py), compiled, and run thread by
// thread. Programs load it as they load NVIDIA's. Streams do everything at
// once.
//
// What a real device would not forgive is an error here: memory of the host in
// a copy that wants the device's, a kernel's arguments outside of it, leaks.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace {

enum : int {
  success = 0,
  invalidValue = 1,
  noBinary = 209,
  invalidImage = 200,
  notFound = 500,
};

std::mutex lock;
/// Sizes of what is allocated, by address.
std::map<uintptr_t, size_t> memory;

bool isOnDevice(uint64_t address, size_t size) {
  std::lock_guard guard(lock);
  auto next = memory.upper_bound(address);
  if (next == memory.begin())
    return false;
  auto [begin, bytes] = *std::prev(next);
  return address + size <= begin + bytes;
}

int allocate(uint64_t *address, size_t size) {
  // Memory that was never written is not zero on a device.
  void *block = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(block, 0xa5, size);
  *address = reinterpret_cast<uint64_t>(block);
  std::lock_guard guard(lock);
  memory[*address] = size;
  return success;
}

int release(uint64_t address) {
  {
    std::lock_guard guard(lock);
    if (memory.erase(address) == 0)
      return invalidValue;
  }
  std::free(reinterpret_cast<void *>(address));
  return success;
}

// ---- modules

/// As ptx2c.py declares it.
struct Thread {
  uint32_t tid[3], ctaid[3], ntid[3], nctaid[3];
  unsigned char *shared;
  void (*barrier)(Thread *), (*exit)(Thread *);
  void (*copy)(Thread *, void *to, const void *from, uint64_t size);
  void (*wait)(Thread *);
  std::vector<struct Copy> *copies;
  uint32_t (*(*exchange)(Thread *, const uint32_t *words, int count))[8];
};
using Entry = void(Thread *, void **parameters);

struct Module {
  void *handle;
};
struct Function {
  Entry *entry;
  bool hasBarriers;
  size_t sharedSize;
};

uint64_t hash(const char *text, uint64_t value = 1469598103934665603u) {
  for (; *text; ++text)
    value = (value ^ static_cast<unsigned char>(*text)) * 1099511628211u;
  return value;
}

/// Of the translator: what another one made of the same PTX is not wanted.
uint64_t hashOfTranslator() {
  uint64_t value = hash(CLANG);
  for (const char *name :
       {"ptx2c.py", "ptx_instructions.py", "ptx_matrix.py"}) {
    std::ifstream file(std::string(PTX2C_FOLDER "/") + name);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    value = hash(text.c_str(), value);
  }
  return value;
}

/// PTX compiled for this machine, kept for the next process that wants it.
void *compile(const char *ptx) {
  const char *temporary = getenv("TMPDIR");
  std::string folder = std::string(temporary ? temporary : "/tmp") +
                       "/numera-emulation-" + std::to_string(getuid());
  mkdir(folder.c_str(), 0700);
  char name[32];
  std::snprintf(name, sizeof name, "/%016lx", hash(ptx, hashOfTranslator()));
  std::string stem = folder + name,
              mine = stem + "." + std::to_string(getpid());
  if (access((stem + ".so").c_str(), R_OK) != 0) {
    std::ofstream(mine + ".ptx") << ptx;
    std::string command = "python3 -B " PTX2C_FOLDER "/ptx2c.py " + mine +
                          ".ptx " + mine +
                          ".c && " CLANG " -O1 -w -ffp-contract=off "
                          "-fno-strict-aliasing -fPIC -shared " +
                          mine + ".c -o " + mine + ".so -lm";
    if (std::system(command.c_str()) != 0)
      return nullptr;
    std::rename((mine + ".so").c_str(), (stem + ".so").c_str());
    unlink((mine + ".c").c_str());
    unlink((mine + ".ptx").c_str());
  }
  return dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

// ---- copies into shared memory

/// One that has been asked for. It is made as late as can be, and what is read
/// before is wrong.
struct Copy {
  void *to;
  const void *from;
  uint64_t size;
};

void startCopy(Thread *thread, void *to, const void *from, uint64_t size) {
  if (reinterpret_cast<uintptr_t>(to) % size != 0 ||
      reinterpret_cast<uintptr_t>(from) % size != 0) {
    std::fprintf(stderr, "emulated GPU: a copy is not aligned\n");
    std::abort();
  }
  std::memset(to, 0xa5, size);
  thread->copies->push_back({to, from, size});
}
void waitForCopies(Thread *thread) {
  for (const Copy &copy : *thread->copies)
    std::memcpy(copy.to, copy.from, copy.size);
  thread->copies->clear();
}

// ---- threads of a block

/// What the threads of a warp show each other: the one table is read while the
/// next is written.
struct Warp {
  uint32_t words[2][32][8];
};

enum class State { Ready, AtBarrier, AtExchange, Done };

/// A thread of a block with barriers has a stack of its own, and goes on when
/// all others, or those of its warp, have come as far.
struct Fiber {
  Thread thread;
  ucontext_t context;
  std::vector<char> stack;
  std::vector<Copy> copies;
  Warp *warp = nullptr;
  unsigned exchanges = 0;
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
    fiber.stack.resize(1 << 16);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
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
  std::vector<unsigned char> shared(function.sharedSize + sharedSize + 16);
  uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
  for (uint64_t b = 0; b < blocks; ++b) {
    std::memset(shared.data(), 0xa5, shared.size());
    for (size_t t = 0; t < threads; ++t) {
      Fiber &fiber = fibers[function.hasBarriers ? t : 0];
      Thread &thread = fiber.thread;
      thread = {{unsigned(t % block[0]), unsigned(t / block[0] % block[1]),
                 unsigned(t / block[0] / block[1])},
                {unsigned(b % grid[0]), unsigned(b / grid[0] % grid[1]),
                 unsigned(b / grid[0] / grid[1])},
                {block[0], block[1], block[2]},
                {grid[0], grid[1], grid[2]},
                shared.data(),
                waitForOthers,
                leave,
                startCopy,
                waitForCopies,
                &fiber.copies,
                exchange};
      if (!function.hasBarriers)
        runAlone(function, thread, parameters);
    }
    if (function.hasBarriers)
      runWithBarriers(function, fibers, parameters);
  }
}

} // namespace

// ---- the driver's interface

#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cuInit(unsigned) { return success; }
EXPORT cuGetErrorString(int result, const char **text) {
  *text = result == invalidValue   ? "invalid argument"
          : result == noBinary     ? "no kernel image is available"
          : result == invalidImage ? "device kernel image is invalid"
          : result == notFound     ? "named symbol not found"
                                   : "unknown error";
  return success;
}
EXPORT cuDeviceGet(int *device, int) {
  *device = 0;
  return success;
}
EXPORT cuDeviceGetAttribute(int *value, int, int) {
  *value = 1;
  return success;
}
EXPORT cuDeviceGetDefaultMemPool(void **pool, int) {
  *pool = &memory;
  return success;
}
EXPORT cuMemPoolSetAttribute(void *, int, void *) { return success; }
EXPORT cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &lock;
  return success;
}
EXPORT cuCtxPushCurrent_v2(void *) { return success; }
EXPORT cuCtxPopCurrent_v2(void **context) {
  *context = &lock;
  return success;
}
EXPORT cuStreamCreate(void **stream, unsigned) {
  *stream = std::malloc(1);
  return success;
}
EXPORT cuStreamSynchronize(void *) { return success; }
EXPORT cuStreamDestroy_v2(void *stream) {
  std::free(stream);
  return success;
}
EXPORT cuEventCreate(void **event, unsigned) {
  *event = new double(-1);
  return success;
}
EXPORT cuEventDestroy_v2(void *event) {
  delete static_cast<double *>(event);
  return success;
}
EXPORT cuEventRecord(void *event, void *) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  *static_cast<double *>(event) =
      std::chrono::duration<double, std::milli>(now).count();
  return success;
}
EXPORT cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  double from = *static_cast<double *>(begin), to = *static_cast<double *>(end);
  *milliseconds = float(to - from);
  return from < 0 || to < 0 ? invalidValue : success;
}
EXPORT cuMemAllocAsync(uint64_t *address, size_t size, void *) {
  return size ? allocate(address, size) : invalidValue;
}
EXPORT cuMemAlloc_v2(uint64_t *address, size_t size) {
  return size ? allocate(address, size) : invalidValue;
}
EXPORT cuMemFreeAsync(uint64_t address, void *) { return release(address); }
EXPORT cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size,
                            void *) {
  if (!isOnDevice(to, size) ||
      isOnDevice(reinterpret_cast<uint64_t>(from), size))
    return invalidValue;
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return success;
}
EXPORT cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *) {
  if (!isOnDevice(from, size) ||
      isOnDevice(reinterpret_cast<uint64_t>(to), size))
    return invalidValue;
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return success;
}
EXPORT cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *) {
  if (!isOnDevice(to, size) || !isOnDevice(from, size))
    return invalidValue;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
               size);
  return success;
}
EXPORT cuModuleLoadData(void **module, const void *image) {
  const char *text = static_cast<const char *>(image);
  if (std::memcmp(text, "\177ELF", 4) == 0)
    return noBinary; // a cubin: the PTX comes after it
  void *handle = compile(text);
  if (!handle)
    return invalidImage;
  *module = new Module{handle};
  return success;
}
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
  void *handle = static_cast<Module *>(module)->handle;
  auto about = [&](const char *what) {
    return dlsym(handle, (std::string("emulated_") + what + name).c_str());
  };
  void *entry = about("function_");
  auto *barriers = static_cast<const int *>(about("barriers_"));
  auto *shared = static_cast<const uint64_t *>(about("shared_"));
  if (!entry || !barriers || !shared)
    return notFound;
  *function = new Function{reinterpret_cast<Entry *>(entry), *barriers != 0,
                           size_t(*shared)};
  return success;
}
EXPORT cuFuncSetAttribute(void *, int, int) { return success; }
EXPORT cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedSize, void *,
                      void **parameters, void **) {
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  if (!gridX || !gridY || !gridZ || !threads || threads > 1024 ||
      gridY > 65535 || gridZ > 65535)
    return invalidValue;
  const unsigned grid[3] = {gridX, gridY, gridZ};
  const unsigned block[3] = {blockX, blockY, blockZ};
  runGrid(*static_cast<Function *>(function), grid, block, sharedSize,
          parameters);
  return success;
}
