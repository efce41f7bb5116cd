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
using Graph = void *;
using GraphExec = void *;
using Node = void *;

/// Numbers of cuda.h.
enum : int {
  noBinaryForGPU = 209,       // CUDA_ERROR_NO_BINARY_FOR_GPU
  memoryPoolsSupported = 115, // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
  memoryTypeOfPointer = 2,    // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  deviceOfPointer = 9,        // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
  hostMemory = 1,             // CU_MEMORYTYPE_HOST
  deviceMemory = 2,           // CU_MEMORYTYPE_DEVICE
  hostPortable = 1,           // CU_MEMHOSTALLOC_PORTABLE
  poolReleaseThreshold = 4,   // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
  dynamicSharedSize = 8,      // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_…
  streamNonBlocking = 1,      // CU_STREAM_NON_BLOCKING
  compilerLog = 5,            // CU_JIT_ERROR_LOG_BUFFER
  compilerLogSize = 6,        // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
};

/// CUmemPoolProps: memory of a device, which no other process opens.
struct PoolProperties {
  int allocation = 1; // CU_MEM_ALLOCATION_TYPE_PINNED
  int handles = 0;    // CU_MEM_HANDLE_TYPE_NONE
  int location = 1;   // CU_MEM_LOCATION_TYPE_DEVICE
  DeviceNumber device;
  void *security = nullptr;
  size_t most = 0; ///< bytes; 0: as many as there are
  unsigned char reserved[56] = {};
};
static_assert(sizeof(PoolProperties) == 88);

/// name, type, symbol. The versions that a name stands for in cuda.h.
#define NUMERA_CUDA_FUNCTIONS(ENTRY)                                           \
  ENTRY(init, Result(unsigned), "cuInit")                                      \
  ENTRY(errorString, Result(Result, const char **), "cuGetErrorString")        \
  ENTRY(deviceGet, Result(DeviceNumber *, int), "cuDeviceGet")                 \
  ENTRY(deviceAttribute, Result(int *, int, DeviceNumber),                     \
        "cuDeviceGetAttribute")                                                \
  ENTRY(poolCreate, Result(Pool *, const PoolProperties *), "cuMemPoolCreate") \
  ENTRY(poolDestroy, Result(Pool), "cuMemPoolDestroy")                         \
  ENTRY(poolSet, Result(Pool, int, void *), "cuMemPoolSetAttribute")           \
  ENTRY(contextState, Result(DeviceNumber, unsigned *, int *),                 \
        "cuDevicePrimaryCtxGetState")                                          \
  ENTRY(contextRetain, Result(Context *, DeviceNumber),                        \
        "cuDevicePrimaryCtxRetain")                                            \
  ENTRY(contextRelease, Result(DeviceNumber), "cuDevicePrimaryCtxRelease_v2")  \
  ENTRY(contextCurrent, Result(Context *), "cuCtxGetCurrent")                  \
  ENTRY(contextDevice, Result(DeviceNumber *), "cuCtxGetDevice")               \
  ENTRY(contextSynchronize, Result(), "cuCtxSynchronize")                      \
  ENTRY(contextPush, Result(Context), "cuCtxPushCurrent_v2")                   \
  ENTRY(contextPop, Result(Context *), "cuCtxPopCurrent_v2")                   \
  ENTRY(moduleLoad, Result(Module *, const void *, unsigned, int *, void **),  \
        "cuModuleLoadDataEx")                                                  \
  ENTRY(moduleUnload, Result(Module), "cuModuleUnload")                        \
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
  ENTRY(pointerAttributes, Result(unsigned, int *, void **, Address),          \
        "cuPointerGetAttributes")                                              \
  ENTRY(allocate, Result(Address *, size_t, Pool, Stream),                     \
        "cuMemAllocFromPoolAsync")                                             \
  ENTRY(release, Result(Address, Stream), "cuMemFreeAsync")                    \
  ENTRY(allocateNow, Result(Address *, size_t), "cuMemAlloc_v2")               \
  ENTRY(releaseNow, Result(Address), "cuMemFree_v2")                           \
  ENTRY(allocateHost, Result(void **, size_t, unsigned), "cuMemHostAlloc")     \
  ENTRY(releaseHost, Result(void *), "cuMemFreeHost")                          \
  ENTRY(uploadNow, Result(Address, const void *, size_t), "cuMemcpyHtoD_v2")   \
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

/// CUDA_KERNEL_NODE_PARAMS of cuGraphAddKernelNode without a version.
struct KernelNode {
  Function kernel;
  unsigned grid[3], block[3], sharedBytes;
  void **arguments;
  void **extra = nullptr;
};
static_assert(sizeof(KernelNode) == 56);

/// One side of CUDA_MEMCPY3D.
struct CopySide {
  size_t x = 0, y = 0, z = 0, level = 0;
  int type; ///< hostMemory or deviceMemory
  const void *host = nullptr;
  Address device = 0;
  void *array = nullptr, *reserved = nullptr;
  size_t pitch = 0, height = 1;
};
/// CUDA_MEMCPY3D, of one row.
struct CopyNode {
  CopySide from, to;
  size_t bytes, height = 1, depth = 1;
};
static_assert(sizeof(CopyNode) == 200);

/// The same of what a driver may lack (CUDA 11.4 has all). Graphs are made node
/// by node: while a stream is captured, other threads may not wait for the
/// context.
#define NUMERA_CUDA_GRAPH_FUNCTIONS(ENTRY)                                     \
  ENTRY(graphCreate, Result(Graph *, unsigned), "cuGraphCreate")               \
  ENTRY(graphAddKernel,                                                        \
        Result(Node *, Graph, const Node *, size_t, const KernelNode *),       \
        "cuGraphAddKernelNode")                                                \
  ENTRY(                                                                       \
      graphAddCopy,                                                            \
      Result(Node *, Graph, const Node *, size_t, const CopyNode *, Context),  \
      "cuGraphAddMemcpyNode")                                                  \
  ENTRY(graphInstantiate, Result(GraphExec *, Graph, unsigned long long),      \
        "cuGraphInstantiateWithFlags")                                         \
  ENTRY(graphLaunch, Result(GraphExec, Stream), "cuGraphLaunch")               \
  ENTRY(graphDestroy, Result(Graph), "cuGraphDestroy")                         \
  ENTRY(graphDestroyExec, Result(GraphExec), "cuGraphExecDestroy")

struct Driver {
#define NUMERA_CUDA_MEMBER(name, type, symbol) std::add_pointer_t<type> name;
  NUMERA_CUDA_FUNCTIONS(NUMERA_CUDA_MEMBER)
  NUMERA_CUDA_GRAPH_FUNCTIONS(NUMERA_CUDA_MEMBER)
#undef NUMERA_CUDA_MEMBER
  /// cuCtxGetId, by which a context that was reset is another one; null before
  /// CUDA 12.
  Result (*contextId)(Context, unsigned long long *);

  /// Fills the table; null, or what is wrong with this machine's driver.
  const char *load();

  bool hasGraphs() const {
#define NUMERA_CUDA_HAS(name, type, symbol) name &&
    return NUMERA_CUDA_GRAPH_FUNCTIONS(NUMERA_CUDA_HAS) true;
#undef NUMERA_CUDA_HAS
  }
};

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_DRIVER_H
