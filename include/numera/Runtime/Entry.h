// SPDX-License-Identifier: MIT
//
// The seam between a compiled function and runtime/host: the compiler emits a
// FunctionInfo for every public function (lib/Target/Link/EntryPoints.cpp
// mirrors these structs in LLVM IR), and an entry that passes it to
// numera_host_call. Both come from one build, so nothing here is an ABI.

#ifndef NUMERA_RUNTIME_ENTRY_H
#define NUMERA_RUNTIME_ENTRY_H

#include "numera/Runtime/numera.h"

namespace numera::host {

/// The dimension of an input that a dynamic size of an output is.
struct SizeSource {
  int32_t input;
  int32_t dimension;
};

struct TensorInfo {
  const char *name;
  const int64_t *shape; ///< -1: dynamic
  /// Of an output whose memory the function is given (a destination): one a
  /// dimension. Else null.
  const SizeSource *sources;
  int32_t dtype; ///< a numera_dtype
  int32_t rank;
};

/// A call of the function itself. `arguments` points to one memref descriptor
/// each: those of the inputs, then those of the destinations. `results` is room
/// for the other results' descriptors, one after the other. A descriptor is
/// {allocated, aligned, offset, sizes…, strides…}.
using Invoke = void(void *const *arguments, void *results, uint64_t seed,
                    uint64_t step, uint64_t sample);

/// The iterations `begin` to `end` of a parallel loop.
using LoopBody = void(void *context, int64_t begin, int64_t end);

/// The function compiled for one kind of CPU.
struct Version {
  const char *cpu;   ///< as it was given to the compiler
  uint64_t features; ///< what it needs, as numera_processor_features gives it
  Invoke *invoke;
};

struct FunctionInfo {
  const char *name;
  const TensorInfo *inputs;
  const TensorInfo *outputs;
  uint64_t inputCount;
  uint64_t outputCount;
  uint64_t sharesBatch;    ///< 1: dynamic first dimensions of inputs are equal
  uint64_t seed;           ///< where the caller gives no options
  const Version *versions; ///< the more a CPU must have, the later
  uint64_t versionCount;   ///< at least 1
};

static_assert(sizeof(TensorInfo) == 32 && sizeof(Version) == 24 &&
              sizeof(FunctionInfo) == 72);

/// The number of bytes of one element; 0 for what is no numera_dtype.
constexpr uint64_t sizeOfDType(int32_t dtype) {
  switch (dtype) {
  case NUMERA_I8:
  case NUMERA_U8:
  case NUMERA_BOOL:
    return 1;
  case NUMERA_I16:
  case NUMERA_U16:
  case NUMERA_F16:
  case NUMERA_BF16:
    return 2;
  case NUMERA_F32:
  case NUMERA_I32:
  case NUMERA_U32:
    return 4;
  case NUMERA_F64:
  case NUMERA_I64:
  case NUMERA_U64:
    return 8;
  case NUMERA_U128:
    return 16;
  case NUMERA_U256:
    return 32;
  }
  return 0;
}

/// Copies a result of a call to memory that the caller gave, if that is not the
/// host's.
enum class CopyOutcome : int { HostMemory, Copied, Failed };
using CopyResult = CopyOutcome(void *to, const void *from, uint64_t bytes);

extern "C" {
/// Checks the arguments of an entry, calls the function, and hands over the
/// results: what numera_entry promises.
int numera_host_call(const FunctionInfo *function, const numera_tensor *inputs,
                     size_t inputCount, numera_tensor *outputs,
                     size_t outputCount, const numera_options *options,
                     char *error, size_t errorSize);

/// Ends the call that is running in this thread with a message: the function
/// found that its arguments do not go together. Does not return; what the
/// function had allocated is lost. In a parallel loop, it ends the call that
/// runs the loop.
[[noreturn]] void numera_host_fail(const char *message);

/// Results of the call that is running in this thread are handed over by
/// `copy`.
void numera_host_copy_with(CopyResult *copy);

/// `stream` of the options of the call that is running in this thread.
void *numera_host_stream();

/// Hands a row of a layer to `show_row` of the options of the call that is
/// running in this thread: `count` elements of each of its tensors.
void numera_host_show_row(uint32_t row, int64_t count, int32_t dtype,
                          void *value, void *own, int32_t referenceDtype,
                          void *reference);

/// Runs a loop of `count` iterations that do not depend on each other. Each is
/// part of one call of `body`, in this thread or in another of those that the
/// options of the call allow; calls begin at multiples of `grain` (at least 1),
/// which is worth a thread's while, and end at such or at `count`. With one
/// thread, in a parallel loop, or up to `grain` iterations, it is one call in
/// this thread. Returns when all are done. Bodies run in the default
/// floating-point environment. Before the loop, and
/// between the calls in this thread, the caller may end it.
void numera_host_parallel(LoopBody *body, void *context, int64_t count,
                          int64_t grain);

/// Memory, from malloc: a caller may be given it, and frees it. Its contents
/// are any. `alignment` is a power of two, `bytes` a multiple of it. Null if
/// there is none.
void *numera_host_try_allocate(uint64_t alignment, uint64_t bytes);
/// The same for a function's tensors: ends the call if there is none.
void *numera_host_allocate(uint64_t alignment, uint64_t bytes);
/// For memory of malloc that nothing uses any more, or null.
void numera_host_release(void *memory);
/// Gives back what calls have left to the next: memory and threads. A program
/// does so when it is unloaded.
void numera_host_end();

/// The function that an executable runs. The compiler defines it.
extern const FunctionInfo *const numera_main_function;
}

} // namespace numera::host

#endif // NUMERA_RUNTIME_ENTRY_H
