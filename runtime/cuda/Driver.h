// SPDX-License-Identifier: MIT
//
// The part of NVIDIA's driver interface that the launcher uses. It is loaded at
// run time from libcuda.so.1, so a program is compiled without CUDA, and a
// machine without a driver reports an error.

#ifndef NUMERA_RUNTIME_CUDA_DRIVER_H
#define NUMERA_RUNTIME_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace numera::cuda {

using Result = int; ///< 0 is success
using DeviceNumber = int;
using Address = uint64_t; ///< of memory on the device
using Context = void *;
using Module = void *;
using Function = void *;
using Stream = void *;
using Pool = void *;
using Event = void *;

/// Numbers of cuda.h.
enum : int {
  noBinaryForGPU = 209,       // CUDA_ERROR_NO_BINARY_FOR_GPU
  memoryPoolsSupported = 115, // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
  poolReleaseThreshold = 4,   // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
  dynamicSharedSize = 8,      // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_…
  streamNonBlocking = 1,      // CU_STREAM_NON_BLOCKING
  compilerLog = 5,            // CU_JIT_ERROR_LOG_BUFFER
  compilerLogSize = 6,        // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
};

/// name, type, symbol. The versions that a name stands for in cuda.h.
#define NUMERA_CUDA_FUNCTIONS(ENTRY)                                           \
  ENTRY(init, Result(unsigned), "cuInit")                                      \
  ENTRY(errorString, Result(Result, const char **), "cuGetErrorString")        \
  ENTRY(deviceGet, Result(DeviceNumber *, int), "cuDeviceGet")                 \
  ENTRY(deviceAttribute, Result(int *, int, DeviceNumber),                     \
        "cuDeviceGetAttribute")                                                \
  ENTRY(devicePool, Result(Pool *, DeviceNumber), "cuDeviceGetDefaultMemPool") \
  ENTRY(poolSet, Result(Pool, int, void *), "cuMemPoolSetAttribute")           \
  ENTRY(contextRetain, Result(Context *, DeviceNumber),                        \
        "cuDevicePrimaryCtxRetain")                                            \
  ENTRY(contextPush, Result(Context), "cuCtxPushCurrent_v2")                   \
  ENTRY(contextPop, Result(Context *), "cuCtxPopCurrent_v2")                   \
  ENTRY(moduleLoad, Result(Module *, const void *, unsigned, int *, void **),  \
        "cuModuleLoadDataEx")                                                  \
  ENTRY(moduleFunction, Result(Function *, Module, const char *),              \
        "cuModuleGetFunction")                                                 \
  ENTRY(functionSet, Result(Function, int, int), "cuFuncSetAttribute")         \
  ENTRY(streamCreate, Result(Stream *, unsigned), "cuStreamCreate")            \
  ENTRY(streamSynchronize, Result(Stream), "cuStreamSynchronize")              \
  ENTRY(streamDestroy, Result(Stream), "cuStreamDestroy_v2")                   \
  ENTRY(eventCreate, Result(Event *, unsigned), "cuEventCreate")               \
  ENTRY(eventDestroy, Result(Event), "cuEventDestroy_v2")                      \
  ENTRY(eventRecord, Result(Event, Stream), "cuEventRecord")                   \
  ENTRY(eventElapsed, Result(float *, Event, Event), "cuEventElapsedTime")     \
  ENTRY(allocate, Result(Address *, size_t, Stream), "cuMemAllocAsync")        \
  ENTRY(release, Result(Address, Stream), "cuMemFreeAsync")                    \
  ENTRY(allocateNow, Result(Address *, size_t), "cuMemAlloc_v2")               \
  ENTRY(upload, Result(Address, const void *, size_t, Stream),                 \
        "cuMemcpyHtoDAsync_v2")                                                \
  ENTRY(download, Result(void *, Address, size_t, Stream),                     \
        "cuMemcpyDtoHAsync_v2")                                                \
  ENTRY(copy, Result(Address, Address, size_t, Stream),                        \
        "cuMemcpyDtoDAsync_v2")                                                \
  ENTRY(launch,                                                                \
        Result(Function, unsigned, unsigned, unsigned, unsigned, unsigned,     \
               unsigned, unsigned, Stream, void **, void **),                  \
        "cuLaunchKernel")

struct Driver {
#define NUMERA_CUDA_MEMBER(name, type, symbol) std::add_pointer_t<type> name;
  NUMERA_CUDA_FUNCTIONS(NUMERA_CUDA_MEMBER)
#undef NUMERA_CUDA_MEMBER

  /// Fills the table; null, or what is wrong with this machine's driver.
  const char *load();
};

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_DRIVER_H
