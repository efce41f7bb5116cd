// SPDX-License-Identifier: MIT
//
// Device operations of a running call. Each call has its own stream, so that
// threads can call at the same time. Buffers come from the driver's pool, which
// keeps freed memory. The call waits for the device only when it reads a value
// or the results.

#include "Session.h"

using namespace numera;
using namespace numera::cuda;

static Address addressOf(const void *buffer) {
  return reinterpret_cast<Address>(buffer);
}

extern "C" void *numera::cuda::numera_cuda_alloc(int64_t bytes) {
  Session &session = current();
  Address buffer = 0;
  check(driver.allocate(&buffer, bytes > 0 ? size_t(bytes) : 1, session.stream),
        "cuMemAllocAsync");
  if (!session.buffers.add(buffer)) {
    driver.release(buffer, session.stream);
    numera_cuda_fail("out of memory");
  }
  return reinterpret_cast<void *>(buffer);
}

extern "C" void numera::cuda::numera_cuda_free(void *buffer) {
  Session &session = current();
  // A constant is not a call's to free.
  if (session.buffers.remove(addressOf(buffer)))
    check(driver.release(addressOf(buffer), session.stream), "cuMemFreeAsync");
}

extern "C" void numera::cuda::numera_cuda_copy(void *to, const void *from,
                                               int64_t bytes) {
  if (bytes <= 0)
    return;
  Session &session = current();
  session.profile.start("copy", 2 * bytes, session.stream);
  check(driver.copy(addressOf(to), addressOf(from), size_t(bytes),
                    session.stream),
        "cuMemcpyDtoDAsync");
  session.profile.stop(session.stream);
}

extern "C" void numera::cuda::numera_cuda_read(void *to, const void *from,
                                               int64_t bytes) {
  if (bytes <= 0)
    return;
  check(driver.download(to, addressOf(from), size_t(bytes), current().stream),
        "cuMemcpyDtoHAsync");
  synchronize();
}

extern "C" void numera::cuda::numera_cuda_write(void *to, const void *from,
                                                int64_t bytes) {
  if (bytes <= 0)
    return;
  check(driver.upload(addressOf(to), from, size_t(bytes), current().stream),
        "cuMemcpyHtoDAsync");
  // The caller may write to that memory again.
  synchronize();
}

extern "C" void *numera::cuda::numera_cuda_constant(uint64_t *slot,
                                                    const void *data,
                                                    int64_t bytes) {
  if (uint64_t made = __atomic_load_n(slot, __ATOMIC_ACQUIRE))
    return reinterpret_cast<void *>(made);
  lockAll();
  if (*slot == 0) {
    Address buffer = 0;
    checkUnlocked(driver.allocateNow(&buffer, bytes > 0 ? size_t(bytes) : 1),
                  "cuMemAlloc");
    checkUnlocked(driver.upload(buffer, data, size_t(bytes), current().stream),
                  "cuMemcpyHtoDAsync");
    // Other calls have other streams.
    checkUnlocked(driver.streamSynchronize(current().stream),
                  "cuStreamSynchronize");
    __atomic_store_n(slot, buffer, __ATOMIC_RELEASE);
  }
  unlockAll();
  return reinterpret_cast<void *>(*slot);
}

extern "C" void *numera::cuda::numera_cuda_failure() {
  Session &session = current();
  if (!session.failure) {
    static const uint32_t none = 0;
    void *place = numera_cuda_alloc(sizeof none);
    numera_cuda_write(place, &none, sizeof none);
    session.failure = place;
  }
  return session.failure;
}

/// The kernel of that name. Finding it twice at the same time does no harm.
static Function kernelOf(uint64_t *slot, const char *name,
                         int32_t sharedBytes) {
  uint64_t kernel = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (kernel == 0) {
    DeviceProgram &program = *current().program;
    loadModule(program);
    Function found = nullptr;
    check(driver.moduleFunction(&found, program.module, name),
          "cuModuleGetFunction");
    if (sharedBytes > 0)
      check(driver.functionSet(found, dynamicSharedSize, sharedBytes),
            "cuFuncSetAttribute");
    kernel = reinterpret_cast<uint64_t>(found);
    __atomic_store_n(slot, kernel, __ATOMIC_RELEASE);
  }
  return reinterpret_cast<Function>(kernel);
}

extern "C" void numera::cuda::numera_cuda_launch(
    uint64_t *slot, const char *name, int64_t x, int64_t y, int64_t z,
    int64_t threads, int32_t sharedBytes, void **arguments, int64_t bytes) {
  if (x <= 0 || y <= 0 || z <= 0)
    return; // nothing to compute
  if (x > INT32_MAX || y > UINT16_MAX || z > UINT16_MAX)
    numera_cuda_fail("the GPU: a tensor has too many elements for one kernel");
  Session &session = current();
  Function kernel = kernelOf(slot, name, sharedBytes);
  session.profile.start(name, bytes, session.stream);
  check(driver.launch(kernel, unsigned(x), unsigned(y), unsigned(z),
                      unsigned(threads), 1, 1, unsigned(sharedBytes),
                      session.stream, arguments, nullptr),
        "cuLaunchKernel");
  session.profile.stop(session.stream);
}
