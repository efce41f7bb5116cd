// SPDX-License-Identifier: MIT
//
// Device operations of a running call. Each call has its own stream, so that
// threads can call at the same time, unless the caller gives one. Buffers come
// from the program's pool, which keeps freed memory. The call waits for the
// device only when it reads a value or the results; on the caller's stream, not
// at all where all of these lie on the device.

#include "Session.h"

#include <cstring>

using namespace numera;
using namespace numera::cuda;

static Address addressOf(const void *buffer) {
  return reinterpret_cast<Address>(buffer);
}

static CopySide onDevice(const void *data) {
  return {.type = deviceMemory, .device = addressOf(data)};
}
static CopySide onHost(const void *data) {
  return {.type = hostMemory, .host = data};
}

extern "C" void *numera::cuda::numera_cuda_alloc(int64_t bytes) {
  Session &session = current();
  if (session.graph)
    return reinterpret_cast<void *>(session.replay->memory.allocate(
        bytes > 0 ? size_t(bytes) : 1, session));
  Address buffer = 0;
  check(driver.allocate(&buffer, bytes > 0 ? size_t(bytes) : 1,
                        session.loaded->pool, session.stream),
        "cuMemAllocFromPoolAsync");
  if (!session.buffers.add(buffer)) {
    driver.release(buffer, session.stream);
    numera_cuda_fail("out of memory");
  }
  return reinterpret_cast<void *>(buffer);
}

extern "C" void numera::cuda::numera_cuda_free(void *buffer) {
  Session &session = current();
  if (session.graph)
    session.replay->memory.free(addressOf(buffer));
  // A constant is not a call's to free.
  else if (session.buffers.remove(addressOf(buffer)))
    check(driver.release(addressOf(buffer), session.stream), "cuMemFreeAsync");
}

extern "C" void numera::cuda::numera_cuda_copy(void *to, const void *from,
                                               int64_t bytes) {
  if (bytes <= 0)
    return;
  Session &session = current();
  if (session.graph)
    return addCopy(session, onDevice(to), onDevice(from), bytes);
  session.isRepeatable &= bytes <= INT32_MAX; // a row's most, in a graph
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
  if (current().graph)
    numera_cuda_fail("a graph reads nothing");
  current().isRepeatable = false;
  check(driver.download(to, addressOf(from), size_t(bytes), current().stream),
        "cuMemcpyDtoHAsync");
  synchronize();
}

char *numera::cuda::stagingOf(Lane &lane) {
  if (!lane.staging) {
    void *memory = nullptr;
    check(driver.allocateHost(&memory, Lane::stagingBytes, hostPortable),
          "cuMemHostAlloc");
    lane.staging = static_cast<char *>(memory);
  }
  return lane.staging;
}

char *numera::cuda::stage(Session &session, size_t bytes) {
  size_t begin = (session.staged + 15) / 16 * 16;
  if (begin + bytes > Lane::stagingBytes) {
    session.isRepeatable = false;
    return nullptr;
  }
  session.staged = begin + bytes;
  return stagingOf(*session.lane) + begin;
}

extern "C" void numera::cuda::numera_cuda_write(void *to, const void *from,
                                                int64_t bytes) {
  if (bytes <= 0)
    return;
  Session &session = current();
  session.waits = true;
  session.isRepeatable &= !session.isInvoking;
  // The caller may write to that memory again. The driver, too, copies from
  // memory that is not page-locked before it returns.
  if (char *staged = stage(session, size_t(bytes))) {
    std::memcpy(staged, from, size_t(bytes));
    from = staged;
  }
  if (session.graph)
    return addCopy(session, onDevice(to), onHost(from), bytes);
  check(driver.upload(addressOf(to), from, size_t(bytes), session.stream),
        "cuMemcpyHtoDAsync");
}

void numera::cuda::download(void *to, const void *from, int64_t bytes) {
  if (bytes <= 0)
    return;
  Session &session = current();
  session.waits = true;
  char *staged = stage(session, size_t(bytes));
  if (staged)
    session.pending[session.pendingCount++] = {to, staged, size_t(bytes)};
  if (session.graph)
    return addCopy(session, onHost(staged), onDevice(from), bytes);
  check(driver.download(staged ? staged : to, addressOf(from), size_t(bytes),
                        session.stream),
        "cuMemcpyDtoHAsync");
}

void numera::cuda::finish() {
  Session &session = current();
  if (session.profile.isOn())
    session.waits = true; // times are read at the end
  if (!session.waits)
    return;
  synchronize();
  session.waits = false;
  for (size_t i = 0; i < session.pendingCount; ++i) {
    const Pending &copy = session.pending[i];
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
  session.pendingCount = 0;
}

extern "C" void *numera::cuda::numera_cuda_constant(uint64_t *slot,
                                                    const void *data,
                                                    int64_t bytes) {
  Session &session = current();
  return reinterpret_cast<void *>(
      constantOf(*session.loaded, slot, data, bytes, session.stream));
}

extern "C" void *numera::cuda::numera_cuda_failure() {
  Session &session = current();
  session.isRepeatable = false; // the host looks at it
  if (!session.failure) {
    static const uint32_t none = 0;
    void *place = numera_cuda_alloc(sizeof none);
    numera_cuda_write(place, &none, sizeof none);
    session.failure = place;
  }
  return session.failure;
}

extern "C" void numera::cuda::numera_cuda_launch(
    uint64_t *slot, const char *name, int64_t x, int64_t y, int64_t z,
    int64_t threads, int32_t sharedBytes, void **arguments, int64_t bytes) {
  if (x <= 0 || y <= 0 || z <= 0)
    return; // nothing to compute
  if (x > INT32_MAX || y > UINT16_MAX || z > UINT16_MAX)
    numera_cuda_fail("the GPU: a tensor has too many elements for one kernel");
  Session &session = current();
  Function kernel =
      kernelOf(*session.program, *session.loaded, slot, name, sharedBytes);
  if (session.graph)
    return addKernel(session, {.kernel = kernel,
                               .grid = {unsigned(x), unsigned(y), unsigned(z)},
                               .block = {unsigned(threads), 1, 1},
                               .sharedBytes = unsigned(sharedBytes),
                               .arguments = arguments});
  session.profile.start(name, bytes, session.stream);
  check(driver.launch(kernel, unsigned(x), unsigned(y), unsigned(z),
                      unsigned(threads), 1, 1, unsigned(sharedBytes),
                      session.stream, arguments, nullptr),
        "cuLaunchKernel");
  session.profile.stop(session.stream);
}
