// SPDX-License-Identifier: MIT
//
// The interface between a program for a GPU and its launcher. The compiler
// emits a DeviceFunction for every public function (lib/Target/NVPTX/Host.cpp
// mirrors these structs in LLVM IR) and calls of numera_cuda_…. Both come from
// one build, so this is not a stable ABI.

#ifndef NUMERA_RUNTIME_CUDA_DEVICE_H
#define NUMERA_RUNTIME_CUDA_DEVICE_H

#include "numera/Runtime/Entry.h"

namespace numera::cuda {

/// What a program has in a context of the driver (Loaded.h).
struct Loaded;

/// The kernels of a program and what the launcher made of them.
struct DeviceProgram {
  /// PTX, ending in a zero, or a cubin; the one to be tried first comes first.
  const void *const *images;
  uint64_t imageCount;
  /// The messages of failed assertions: a kernel leaves the number of one, from
  /// 1, where numera_cuda_failure says.
  const char *const *failures;
  uint64_t failureCount;
  Loaded *loaded; ///< on each device; null until the first call
};

/// The rank of a tensor, and the bytes of one of its elements.
struct DeviceTensor {
  int32_t rank;
  int32_t elementSize;
};

/// A function whose buffers lie on the device.
struct DeviceFunction {
  DeviceProgram *program;
  host::Invoke *invoke;
  /// The inputs, then the destinations: outputs whose memory it is given.
  const DeviceTensor *arguments;
  uint64_t inputCount;
  uint64_t argumentCount;
  const DeviceTensor *results; ///< the other outputs
  uint64_t resultCount;
  uint64_t isRandom; ///< not 0: it reads the seed, the step and the sample
};

static_assert(sizeof(DeviceProgram) == 40 && sizeof(DeviceFunction) == 64);

extern "C" {
/// Calls `function` in the caller's current context or, where it has none, in
/// the primary context of the first device that it can see. Arguments in memory
/// of that device are used where they are; others are copied there, and
/// destinations back. Results are in memory of malloc. What is wrong goes to
/// numera_host_fail.
void numera_cuda_call(const DeviceFunction *function, void *const *arguments,
                      void *results, uint64_t seed, uint64_t step,
                      uint64_t sample);

/// Ends the call that is running in this thread with a message.
[[noreturn]] void numera_cuda_fail(const char *message);

// What a function does in such a call. Everything but `read` may return before
// it is done; it is done in the order of the calls.

/// Memory of the device, until it is freed or the call ends.
void *numera_cuda_alloc(int64_t bytes);
void numera_cuda_free(void *buffer);
/// Between places on the device.
void numera_cuda_copy(void *to, const void *from, int64_t bytes);
/// From the device to the host, and from the host to the device.
void numera_cuda_read(void *to, const void *from, int64_t bytes);
void numera_cuda_write(void *to, const void *from, int64_t bytes);
/// The copy on the device of a constant of the program, made once; `slot` is
/// what it is known by.
void *numera_cuda_constant(uint64_t *slot, const void *data, int64_t bytes);
/// A word on the device for this call, at first 0.
void *numera_cuda_failure();
/// `threads` threads in each of x·y·z blocks of the kernel of that name, which
/// is known by `slot`. `arguments` points to the arguments' addresses; the
/// buffers among them have `bytes` together.
void numera_cuda_launch(uint64_t *slot, const char *name, int64_t x, int64_t y,
                        int64_t z, int64_t threads, int32_t sharedBytes,
                        void **arguments, int64_t bytes);
}

} // namespace numera::cuda

#endif // NUMERA_RUNTIME_CUDA_DEVICE_H
