// SPDX-License-Identifier: MIT
//
// What a kernel of runtime/kernels asks of the host, for the one source file of
// a test that links it.

#ifndef NUMERA_TEST_UNIT_KERNELHOST_H
#define NUMERA_TEST_UNIT_KERNELHOST_H

#include "gtest/gtest.h"

#include <cstdlib>

extern "C" void numera_host_fail(const char *message) { FAIL() << message; }
/// In pieces, the last one first.
extern "C" void numera_host_parallel(void (*body)(void *, int64_t, int64_t),
                                     void *context, int64_t count, int64_t) {
  for (int64_t end = count; end > 0; end -= 3)
    body(context, end > 3 ? end - 3 : 0, end);
}
extern "C" void *numera_host_try_allocate(uint64_t alignment, uint64_t bytes) {
  return std::aligned_alloc(alignment, bytes);
}
extern "C" void numera_host_release(void *memory) { std::free(memory); }

#endif // NUMERA_TEST_UNIT_KERNELHOST_H
