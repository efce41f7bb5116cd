// SPDX-License-Identifier: MIT
//
// GPU features that C++ cannot express: thread indices, shared memory of a
// block, barriers, asynchronous copies.

#ifndef NUMERA_KERNELS_DEVICE_MACHINE_H
#define NUMERA_KERNELS_DEVICE_MACHINE_H

#include <stdint.h>

/// Memory of a block, with nothing in it at first.
#define NUMERA_SHARED __attribute__((address_space(3)))
#define NUMERA_GLOBAL __attribute__((address_space(1)))

namespace numera::kernel {

/// Threads of a block, in one dimension.
constexpr int blockThreads = 256;

inline int threadNumber() { return __nvvm_read_ptx_sreg_tid_x(); }
inline int64_t blockNumber() {
  return uint32_t(__nvvm_read_ptx_sreg_ctaid_x());
}
/// Until all threads of the block are here, and see what the others wrote.
inline void waitForBlock() { __syncthreads(); }

// By the names of LLVM's intrinsics: clang has them for sm_80 and later alone,
// and this is compiled once for all GPUs.
extern "C" {
void numera_copy4(NUMERA_SHARED void *to,
                  const NUMERA_GLOBAL void
                      *from) __asm__("llvm.nvvm.cp.async.ca.shared.global.4");
void numera_copy8(NUMERA_SHARED void *to,
                  const NUMERA_GLOBAL void
                      *from) __asm__("llvm.nvvm.cp.async.ca.shared.global.8");
void numera_copy16(NUMERA_SHARED void *to,
                   const NUMERA_GLOBAL void
                       *from) __asm__("llvm.nvvm.cp.async.cg.shared.global.16");
void numera_copies_done() __asm__("llvm.nvvm.cp.async.wait.all");
}

/// Starts a copy of `size` bytes, 4, 8 or 16, that waitForCopies() waits for.
template <int size>
inline void startCopy(NUMERA_SHARED void *to, const void *from) {
  auto *global = (const NUMERA_GLOBAL void *)from;
  if constexpr (size == 4)
    numera_copy4(to, global);
  else if constexpr (size == 8)
    numera_copy8(to, global);
  else
    numera_copy16(to, global);
}
/// Until the copies that this thread has started are done.
inline void waitForCopies() { numera_copies_done(); }

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_MACHINE_H
