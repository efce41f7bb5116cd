// SPDX-License-Identifier: MIT
//
// One call of one function: its arguments go to the device, and its results
// come back.

#include "Session.h"

#include <cstdio>
#include <cstring>
#include <optional>

using namespace numera;
using namespace numera::cuda;

namespace {

/// What a kernel's failed assertion left.
void checkAssertions(const Session &session) {
  if (!session.failure)
    return;
  const DeviceProgram &program = *session.program;
  uint32_t number = 0;
  numera_cuda_read(&number, session.failure, sizeof number);
  if (number != 0)
    numera_cuda_fail(program.failures[(number - 1) % program.failureCount]);
}

/// {allocated, aligned, offset, sizes…, strides…}
struct Descriptor {
  int64_t *words;
  DeviceTensor tensor;

  static size_t wordsFor(const DeviceTensor &tensor) {
    return 3 + 2 * size_t(tensor.rank);
  }
  int64_t bytes() const {
    int64_t product = tensor.elementSize;
    for (int32_t i = 0; i < tensor.rank; ++i)
      product *= words[3 + i];
    return product;
  }
  char *data() const {
    return reinterpret_cast<char *>(words[1]) + words[2] * tensor.elementSize;
  }
  void set(void *data) {
    words[0] = words[1] = reinterpret_cast<int64_t>(data);
    words[2] = 0;
  }
};

/// The device whose memory that is; none for the host's. A context is the
/// thread's.
std::optional<DeviceNumber> deviceOf(const void *data) {
  unsigned type = 0;
  DeviceNumber device = 0;
  int attributes[] = {memoryTypeOfPointer, deviceOfPointer};
  void *values[] = {&type, &device};
  if (driver.pointerAttributes(2, attributes, values,
                               reinterpret_cast<Address>(data)) != 0 ||
      type != deviceMemory)
    return std::nullopt;
  return device;
}

/// False for memory of the host. That of a device has to be of the call's.
bool isOnDevice(const Session &session, const void *data) {
  std::optional<DeviceNumber> device = deviceOf(data);
  if (!device)
    return false;
  if (*device != session.loaded->device) {
    Thread *thread = thisThread();
    std::snprintf(thread->message, sizeof thread->message,
                  "an argument is in memory of device %d, but the call runs on "
                  "device %d",
                  *device, session.loaded->device);
    numera_cuda_fail(thread->message);
  }
  return true;
}

/// Results that the caller wants on the device are copied there behind the
/// call, when its context is no longer the thread's.
host::CopyOutcome copyResult(void *to, const void *from, uint64_t bytes) {
  Context context = thisThread()->loaded->context;
  if (driver.contextPush(context) != 0)
    return host::CopyOutcome::Failed;
  auto outcome = host::CopyOutcome::HostMemory;
  if (deviceOf(to))
    outcome = driver.uploadNow(reinterpret_cast<Address>(to), from,
                               size_t(bytes)) == 0
                  ? host::CopyOutcome::Copied
                  : host::CopyOutcome::Failed;
  driver.contextPop(&context);
  return outcome;
}

/// Kernels read and write 16 bytes at a time.
bool isAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

/// Memory on the device for the arguments, with what the inputs hold: the
/// caller's own where that is possible.
void uploadArguments(const DeviceFunction &function, void *const *arguments,
                     Session &session) {
  bool waits = false;
  for (uint64_t i = 0; i < function.argumentCount; ++i) {
    const DeviceTensor &tensor = function.arguments[i];
    std::memcpy(session.arguments[i], arguments[i],
                Descriptor::wordsFor(tensor) * sizeof(int64_t));
    Descriptor copy{static_cast<int64_t *>(session.arguments[i]), tensor};
    char *data = copy.data();
    int64_t bytes = copy.bytes();
    bool isThere = bytes > 0 && isOnDevice(session, data);
    // What the caller has asked for, on whatever stream, is done first.
    if (isThere && !waits && !session.isCallersStream)
      check(driver.contextSynchronize(), "cuCtxSynchronize");
    waits |= isThere;
    if (isThere && isAligned(data)) {
      copy.set(data);
      continue;
    }
    void *buffer = numera_cuda_alloc(bytes);
    if (i < function.inputCount && isThere)
      numera_cuda_copy(buffer, data, bytes);
    else if (i < function.inputCount)
      numera_cuda_write(buffer, data, bytes);
    copy.set(buffer);
  }
}

void downloadDestinations(const DeviceFunction &function,
                          void *const *arguments, Session &session) {
  for (uint64_t i = function.inputCount; i < function.argumentCount; ++i) {
    Descriptor to{static_cast<int64_t *>(arguments[i]), function.arguments[i]};
    Descriptor from{static_cast<int64_t *>(session.arguments[i]),
                    function.arguments[i]};
    if (to.data() == from.data())
      continue; // written in place
    if (to.bytes() > 0 && isOnDevice(session, to.data()))
      numera_cuda_copy(to.data(), from.data(), from.bytes());
    else
      download(to.data(), from.data(), from.bytes());
  }
}

/// The results, in memory of the host that the caller will own.
void downloadResults(const DeviceFunction &function, void *results,
                     void **copies) {
  auto *words = static_cast<int64_t *>(results);
  for (uint64_t i = 0; i < function.resultCount; ++i) {
    Descriptor result{words, function.results[i]};
    int64_t bytes = result.bytes();
    copies[i] = std::malloc(bytes ? size_t(bytes) : 1);
    if (!copies[i])
      numera_cuda_fail("out of memory");
    download(copies[i], result.data(), bytes);
    words += Descriptor::wordsFor(result.tensor);
  }
}

void handOver(const DeviceFunction &function, void *results, void **copies) {
  auto *words = static_cast<int64_t *>(results);
  for (uint64_t i = 0; i < function.resultCount; ++i) {
    Descriptor{words, function.results[i]}.set(copies[i]);
    words += Descriptor::wordsFor(function.results[i]);
  }
}

/// One block for the descriptors of the arguments' copies and the arrays.
bool allocate(const DeviceFunction &function, Session &session) {
  size_t outputs =
      function.argumentCount - function.inputCount + function.resultCount;
  size_t words = function.argumentCount + function.resultCount +
                 outputs * (sizeof(Pending) / sizeof(int64_t));
  for (uint64_t i = 0; i < function.argumentCount; ++i)
    words += Descriptor::wordsFor(function.arguments[i]);
  auto *block = static_cast<int64_t *>(std::calloc(words + 1, sizeof(int64_t)));
  if (!block)
    return false;
  session.arguments = reinterpret_cast<void **>(block);
  session.results = session.arguments + function.argumentCount;
  int64_t *next = block + function.argumentCount + function.resultCount;
  for (uint64_t i = 0; i < function.argumentCount; ++i) {
    session.arguments[i] = next;
    next += Descriptor::wordsFor(function.arguments[i]);
  }
  session.pending = reinterpret_cast<Pending *>(next);
  return true;
}

void run(const DeviceFunction &function, Session &session,
         void *const *arguments, void *results, uint64_t seed, uint64_t step,
         uint64_t sample) {
  if (!allocate(function, session))
    numera_cuda_fail("out of memory");
  session.loaded = openContext(*function.program);
  session.lane = takeLane(*session.loaded);
  void *stream = host::numera_host_stream();
  session.isCallersStream = stream;
  session.waits = !stream;
  session.stream = stream ? stream : session.lane->stream;
  session.profile.begin();
  thisThread()->loaded = session.loaded;
  host::numera_host_copy_with(copyResult);
  uploadArguments(function, arguments, session);
  function.invoke(session.arguments, results, seed, step, sample);
  // The device copies from staging memory before it copies to it.
  session.staged = 0;
  checkAssertions(session);
  downloadDestinations(function, arguments, session);
  downloadResults(function, results, session.results);
  finish();
  handOver(function, results, session.results);
}

} // namespace

extern "C" void numera::cuda::numera_cuda_fail(const char *message) {
  Thread *thread = thisThread();
  if (message != thread->message)
    std::snprintf(thread->message, sizeof thread->message, "%s", message);
  longjmp(thread->session->escape, 1);
}

extern "C" void numera::cuda::numera_cuda_call(const DeviceFunction *function,
                                               void *const *arguments,
                                               void *results, uint64_t seed,
                                               uint64_t step, uint64_t sample) {
  Thread *thread = thisThread();
  Session session, *outer = thread->session;
  session.program = function->program;
  thread->session = &session;
  bool failed = false;
  if (setjmp(session.escape) == 0) {
    run(*function, session, arguments, results, seed, step, sample);
  } else {
    failed = session.waits = true;
    for (uint64_t i = 0; session.results && i < function->resultCount; ++i)
      std::free(session.results[i]);
  }
  close(session);
  thread->session = outer;
  if (failed)
    host::numera_host_fail(thread->message);
}
