// SPDX-License-Identifier: MIT
//
// A libcuda.so.1 without a GPU, for tests: memory of the device is the host's,
// and a kernel's PTX is translated to C (ptx2c.py), compiled, and run thread by
// thread. Programs load it as they load NVIDIA's. Streams do everything at
// once.
//
// What a real device would not forgive is an error here: memory of the host in
// a copy that wants the device's, memory or a module of another context, a
// kernel's arguments outside of it, leaks. NUMERA_EMULATED_DEVICES says how
// many devices there are, NUMERA_EMULATED_PROCESSORS how many processors each
// says it has; NUMERA_EMULATED_RECORD names a folder for what was launched
// (Record.h).

#include "Graph.h"
#include "Grid.h"
#include "Memory.h"
#include "Modules.h"
#include "Record.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

// ---- the driver's interface

EXPORT cuInit(unsigned) { return success; }
EXPORT cuGetErrorString(int result, const char **text) {
  *text = result == invalidValue     ? "invalid argument"
          : result == outOfMemory    ? "out of memory"
          : result == noBinary       ? "no kernel image is available"
          : result == invalidPTX     ? "a PTX JIT compilation failed"
          : result == invalidImage   ? "device kernel image is invalid"
          : result == notFound       ? "named symbol not found"
          : result == invalidDevice  ? "invalid device ordinal"
          : result == invalidContext ? "invalid device context"
          : result == invalidHandle  ? "invalid resource handle"
                                     : "unknown error";
  return success;
}
EXPORT cuDeviceGet(int *device, int ordinal) {
  if (ordinal < 0 || ordinal >= deviceCount())
    return invalidDevice;
  *device = ordinal;
  return success;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, int) {
  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, …_COMPUTE_CAPABILITY_MAJOR
  // and …_MINOR; else it has what it is asked for.
  const char *processors = std::getenv("NUMERA_EMULATED_PROCESSORS");
  *value = attribute == 16   ? (processors ? std::atoi(processors) : 0)
           : attribute == 75 ? 9
           : attribute == 76 ? 0
                             : 1;
  return success;
}

EXPORT cuDevicePrimaryCtxRetain(Context **context, int device) {
  if (device < 0 || device >= deviceCount())
    return invalidDevice;
  std::lock_guard guard(lock);
  Context &primary = contexts[device];
  if (!primary.id)
    primary = {device, ++lastContext, 0};
  ++primary.users;
  *context = &primary;
  return success;
}
/// All memory in it.
static void releaseAllLocked(const Context &context) {
  for (auto next = memory.begin(); next != memory.end();) {
    uint64_t address = next->first;
    bool isIn = next++->second.context == &context;
    if (isIn)
      releaseLocked(address);
  }
}
EXPORT cuDevicePrimaryCtxReset_v2(int device) {
  std::lock_guard guard(lock);
  Context &primary = contexts[device];
  releaseAllLocked(primary);
  primary.id = ++lastContext;
  primary.users = 0;
  return success;
}
EXPORT cuDevicePrimaryCtxRelease_v2(int device) {
  std::lock_guard guard(lock);
  return contexts[device].users-- > 0 ? success : invalidContext;
}
EXPORT cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *isActive) {
  std::lock_guard guard(lock);
  *flags = 0;
  *isActive = contexts[device].users > 0;
  return success;
}
EXPORT cuCtxCreate_v2(Context **context, unsigned, int device) {
  std::lock_guard guard(lock);
  *context = new Context{device, ++lastContext, 1};
  stackOfThread().push_back(*context);
  return success;
}
/// It stays, so that what comes after with it can be refused.
EXPORT cuCtxDestroy_v2(Context *context) {
  std::lock_guard guard(lock);
  releaseAllLocked(*context);
  std::erase(stackOfThread(), context);
  *context = {};
  return success;
}
/// NVIDIA's driver crashes, or finds another context there.
static void refuseDestroyed(const Context &context) {
  if (context.id)
    return;
  std::fputs("emulated driver: a context that was destroyed\n", stderr);
  std::abort();
}
EXPORT cuCtxGetId(Context *context, unsigned long long *id) {
  refuseDestroyed(*context);
  *id = context->id;
  return success;
}
EXPORT cuCtxGetCurrent(Context **context) {
  *context = current();
  return success;
}
EXPORT cuCtxGetDevice(int *device) {
  if (!current())
    return invalidContext;
  *device = current()->device;
  return success;
}
EXPORT cuCtxSynchronize() {
  countAlive("waits", 1);
  return current() ? success : invalidContext;
}
EXPORT cuCtxPushCurrent_v2(Context *context) {
  refuseDestroyed(*context);
  stackOfThread().push_back(context);
  return success;
}
EXPORT cuCtxSetCurrent(Context *context) {
  if (!stackOfThread().empty())
    stackOfThread().pop_back();
  if (context)
    stackOfThread().push_back(context);
  return success;
}
EXPORT cuCtxPopCurrent_v2(Context **context) {
  if (!current())
    return invalidContext;
  *context = current();
  stackOfThread().pop_back();
  return success;
}

EXPORT cuMemPoolCreate(Pool **pool, const int *properties) {
  // CU_MEM_ALLOCATION_TYPE_PINNED, on CU_MEM_LOCATION_TYPE_DEVICE
  if (properties[0] != 1 || properties[2] != 1)
    return invalidValue;
  *pool = new Pool{properties[3], 0};
  countAlive("pools", 1);
  return success;
}
EXPORT cuMemPoolSetAttribute(Pool *, int, void *) { return success; }
EXPORT cuMemPoolDestroy(Pool *pool) {
  if (pool->used)
    return invalidValue;
  delete pool;
  countAlive("pools", -1);
  return success;
}
EXPORT cuMemHostAlloc(void **memory, size_t size, unsigned) {
  *memory = std::malloc(size);
  countAlive("page-locked", 1);
  std::lock_guard guard(lock);
  pageLocked[reinterpret_cast<uintptr_t>(*memory)] = size;
  return success;
}
EXPORT cuMemFreeHost(void *memory) {
  {
    std::lock_guard guard(lock);
    pageLocked.erase(reinterpret_cast<uintptr_t>(memory));
  }
  std::free(memory);
  countAlive("page-locked", -1);
  return success;
}
EXPORT cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                              uint64_t address) {
  if (!current())
    return invalidContext;
  const Buffer *buffer = bufferOf(address, 1);
  for (unsigned i = 0; i < count; ++i)
    // CU_POINTER_ATTRIBUTE_MEMORY_TYPE; else …_DEVICE_ORDINAL. Nothing is known
    // of memory that the driver did not allocate.
    *static_cast<int *>(values[i]) = !buffer ? 0
                                     : attributes[i] == 2
                                         ? 2
                                         : buffer->context->device;
  return success;
}

/// What is not released yet: buffers, or what `alive` counts; and how often the
/// host waited for the device (`waits`).
EXPORT numera_emulated_alive(const char *kind) {
  std::lock_guard guard(lock);
  return std::strcmp(kind, "buffers") == 0 ? int(memory.size()) : alive[kind];
}

EXPORT cuStreamCreate(void **stream, unsigned) {
  *stream = std::malloc(1);
  countAlive("streams", 1);
  return success;
}
EXPORT cuStreamSynchronize(void *) {
  countAlive("waits", 1);
  return success;
}
EXPORT cuStreamDestroy_v2(void *stream) {
  std::free(stream);
  countAlive("streams", -1);
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
EXPORT cuEventSynchronize(void *) { return success; }
EXPORT cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  double from = *static_cast<double *>(begin), to = *static_cast<double *>(end);
  *milliseconds = float(to - from);
  return from < 0 || to < 0 ? invalidValue : success;
}
EXPORT cuMemAllocFromPoolAsync(uint64_t *address, size_t size, Pool *pool,
                               void *) {
  return size ? allocate(address, size, pool) : invalidValue;
}
EXPORT cuMemAlloc_v2(uint64_t *address, size_t size) {
  return size ? allocate(address, size) : invalidValue;
}
EXPORT cuMemFreeAsync(uint64_t address, void *) { return release(address); }
EXPORT cuMemFree_v2(uint64_t address) { return release(address); }
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
  if (getenv("NUMERA_EMULATED_FAULT")) // the lowest bit of what comes last
    static_cast<char *>(to)[size - 1] ^= 1;
  return success;
}
EXPORT cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *) {
  if (!isOnDevice(to, size) || !isOnDevice(from, size))
    return invalidValue;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
               size);
  return success;
}
EXPORT cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  return cuMemcpyHtoDAsync_v2(to, from, size, nullptr);
}
EXPORT cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                          const int *options, void **values) {
  const char *text = static_cast<const char *>(image);
  // A cubin: the PTX comes after it. One that is newer than the driver is
  // invalid to it.
  if (std::memcmp(text, "\177ELF", 4) == 0)
    return getenv("NUMERA_EMULATED_OLD_DRIVER") ? invalidImage : noBinary;
  constexpr int log = 5, logSize = 6; // CU_JIT_ERROR_LOG_BUFFER…
  if (size_t shared = sharedBytesOf(text); shared > mostShared()) {
    if (count == 2 && options[0] == log && options[1] == logSize)
      snprintf(static_cast<char *>(values[0]),
               reinterpret_cast<size_t>(values[1]),
               "error: uses too much shared data (%zu bytes, %zu max)\n",
               shared, mostShared());
    return invalidPTX;
  }
  void *handle = compile(text);
  if (!handle)
    return invalidImage;
  if (!current())
    return invalidContext;
  *module = new Module{handle, current()->id, text, {}, {}};
  countAlive("modules", 1);
  return success;
}
EXPORT cuModuleUnload(Module *module) { return destroy(module, "modules"); }
EXPORT cuModuleLoadData(void **module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
  auto &own = *static_cast<Module *>(module);
  if (!current() || own.context != current()->id)
    return invalidHandle;
  auto about = [&](const char *what) {
    return dlsym(own.handle, (std::string("emulated_") + what + name).c_str());
  };
  void *entry = about("function_");
  auto *barriers = static_cast<const int *>(about("barriers_"));
  auto *warpgroups = static_cast<const int *>(about("warpgroups_"));
  auto *shared = static_cast<const uint64_t *>(about("shared_"));
  if (!entry || !barriers || !warpgroups || !shared)
    return notFound;
  std::lock_guard guard(own.lock);
  *function = &own.functions.emplace_back(
      Loaded{{reinterpret_cast<Entry *>(entry), *barriers != 0,
              *warpgroups != 0, size_t(*shared)},
             &own,
             name});
  return success;
}
EXPORT cuFuncSetAttribute(void *, int, int) { return success; }
static std::map<void *, int> launches; ///< by stream

/// How many kernels that stream was given.
EXPORT numera_emulated_launches(void *stream) {
  std::lock_guard guard(lock);
  return launches[stream];
}

static bool isLaunchable(const unsigned (&grid)[3],
                         const unsigned (&block)[3]) {
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  return grid[0] && grid[1] && grid[2] && threads && threads <= 1024 &&
         grid[1] <= 65535 && grid[2] <= 65535;
}
static int runKernel(const Loaded &loaded, const unsigned (&grid)[3],
                     const unsigned (&block)[3], unsigned sharedSize,
                     void **parameters) {
  Record record(loaded.module->ptx, loaded.name, grid, block, parameters);
  runGrid(loaded, grid, block, sharedSize, parameters);
  record.after();
  return success;
}

EXPORT cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedSize, void *stream,
                      void **parameters, void **) {
  const unsigned grid[3] = {gridX, gridY, gridZ};
  const unsigned block[3] = {blockX, blockY, blockZ};
  if (!isLaunchable(grid, block))
    return invalidValue;
  {
    std::lock_guard guard(lock);
    ++launches[stream];
  }
  const Loaded &loaded = *static_cast<Loaded *>(function);
  if (!current() || loaded.module->context != current()->id)
    return invalidHandle;
  return runKernel(loaded, grid, block, sharedSize, parameters);
}

/// CUDA_KERNEL_NODE_PARAMS
struct KernelParameters {
  Loaded *kernel;
  unsigned grid[3], block[3], sharedSize;
  void **parameters, **extra;
};
EXPORT cuGraphAddKernelNode(uintptr_t *node, Graph *graph,
                            const uintptr_t *before, size_t count,
                            const KernelParameters *given) {
  const Loaded &loaded = *given->kernel;
  if (!isLaunchable(given->grid, given->block) || given->extra)
    return invalidValue;
  if (!current() || loaded.module->context != current()->id)
    return invalidHandle;
  // A node has the values of the parameters.
  std::vector<std::vector<char>> values;
  void **parameter = given->parameters;
  for (int bytes : parameterSizes(loaded.module->ptx, loaded.name)) {
    auto *value = static_cast<const char *>(*parameter++);
    values.emplace_back(value, value + bytes);
  }
  return graph->add(node, before, count,
                    [&loaded, given = *given, values]() mutable {
                      std::vector<void *> places;
                      for (std::vector<char> &value : values)
                        places.push_back(value.data());
                      return runKernel(loaded, given.grid, given.block,
                                       given.sharedSize, places.data());
                    });
}
