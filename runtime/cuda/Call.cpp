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

void *allocateResult(int64_t bytes) {
  void *memory = std::malloc(bytes ? size_t(bytes) : 1);
  if (!memory)
    numera_cuda_fail("out of memory");
  return memory;
}

/// The results, in memory of the host that the caller will own.
void downloadResults(const DeviceFunction &function, void *results,
                     void **copies) {
  auto *words = static_cast<int64_t *>(results);
  for (uint64_t i = 0; i < function.resultCount; ++i) {
    Descriptor result{words, function.results[i]};
    int64_t bytes = result.bytes();
    copies[i] = allocateResult(bytes);
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

/// Asks the device for everything that the call does there.
void ask(const CallKey &call, Session &session, void *results) {
  uploadArguments(*call.function, call.arguments, session);
  session.isInvoking = true;
  call.function->invoke(session.arguments, results, call.seed, call.step,
                        call.sample);
  session.isInvoking = false;
  // The device copies from staging memory before it copies to it.
  session.staged = 0;
  checkAssertions(session);
  downloadDestinations(*call.function, call.arguments, session);
  downloadResults(*call.function, results, session.results);
}

bool isInHostMemory(const CallKey &call) {
  for (uint64_t i = 0; i < call.function->argumentCount; ++i) {
    Descriptor argument{static_cast<int64_t *>(call.arguments[i]),
                        call.function->arguments[i]};
    if (argument.bytes() > 0 && deviceOf(argument.data()))
      return false;
  }
  return true;
}

size_t resultWords(const DeviceFunction &function) {
  size_t words = 0;
  for (uint64_t i = 0; i < function.resultCount; ++i)
    words += Descriptor::wordsFor(function.results[i]);
  return words;
}

/// The same by the graph: where `ask` stages, so does this.
void repeat(const CallKey &call, Session &session, void *results) {
  const DeviceFunction &function = *call.function;
  for (uint64_t i = 0; i < function.inputCount; ++i) {
    Descriptor input{static_cast<int64_t *>(call.arguments[i]),
                     function.arguments[i]};
    if (int64_t bytes = input.bytes(); bytes > 0)
      std::memcpy(stage(session, size_t(bytes)), input.data(), size_t(bytes));
  }
  launchGraph(session);
  session.staged = 0;
  auto expect = [&](void *to, int64_t bytes) {
    if (bytes > 0)
      session.pending[session.pendingCount++] = {
          to, stage(session, size_t(bytes)), size_t(bytes)};
  };
  for (uint64_t i = function.inputCount; i < function.argumentCount; ++i) {
    Descriptor to{static_cast<int64_t *>(call.arguments[i]),
                  function.arguments[i]};
    expect(to.data(), to.bytes());
  }
  std::memcpy(results, session.replay->results,
              resultWords(function) * sizeof(int64_t));
  auto *words = static_cast<int64_t *>(results);
  for (uint64_t i = 0; i < function.resultCount; ++i) {
    Descriptor result{words, function.results[i]};
    session.results[i] = allocateResult(result.bytes());
    expect(session.results[i], result.bytes());
    words += Descriptor::wordsFor(result.tensor);
  }
}

void run(const CallKey &call, Session &session, void *results) {
  const DeviceFunction &function = *call.function;
  if (!allocate(function, session))
    numera_cuda_fail("out of memory");
  session.loaded = openContext(*function.program);
  void *stream = host::numera_host_stream();
  session.isCallersStream = stream;
  session.waits = !stream;
  session.profile.begin();
  bool mayRepeat =
      !stream && !session.profile.isOn() && hasGraphs() && isInHostMemory(call);
  if (mayRepeat)
    session.replay = takeReplay(*session.loaded, call);
  bool isReady = session.replay && session.replay->graph;
  session.lane = isReady ? session.replay->lane : takeLane(*session.loaded);
  session.stream = stream ? stream : session.lane->stream;
  thisThread()->loaded = session.loaded;
  host::numera_host_copy_with(copyResult);
  if (isReady) {
    repeat(call, session, results);
  } else if (session.replay) {
    beginGraph(session);
    ask(call, session, results);
    endGraph(session, static_cast<const int64_t *>(results),
             resultWords(function));
  } else {
    ask(call, session, results);
  }
  finish();
  if (mayRepeat && !session.replay && session.isRepeatable)
    remember(*session.loaded, call);
  handOver(function, results, session.results);
}

enum class Outcome { Done, Failed, NotByGraph };

Outcome attempt(const CallKey &call, void *results) {
  Thread *thread = thisThread();
  Session session, *outer = thread->session;
  session.program = call.function->program;
  thread->session = &session;
  auto outcome = Outcome::Done;
  if (setjmp(session.escape) == 0) {
    run(call, session, results);
  } else {
    outcome = session.canRetry ? Outcome::NotByGraph : Outcome::Failed;
    session.waits = true;
    for (uint64_t i = 0; session.results && i < call.function->resultCount; ++i)
      std::free(session.results[i]);
  }
  close(session);
  thread->session = outer;
  return outcome;
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
  CallKey call = {function, arguments, 0, 0, 0};
  if (function->isRandom) {
    call.seed = seed;
    call.step = step;
    call.sample = sample;
  }
  // What is no graph runs all the same.
  Outcome outcome = attempt(call, results);
  if (outcome == Outcome::NotByGraph)
    outcome = attempt(call, results);
  if (outcome != Outcome::Done)
    host::numera_host_fail(thisThread()->message);
}
