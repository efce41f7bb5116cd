// SPDX-License-Identifier: MIT
//
// The code between a C caller and a compiled function. It checks the caller's
// arguments, sets the default floating-point environment, and passes results to
// the caller. It is part of every program, so it uses only the C library.

#include "CallContext.h"
#include "Descriptor.h"
#include "Memory.h"
#include "Message.h"
#include "Processor.h"
#include "ThreadPool.h"

#include <cstdlib>
#include <cstring>

using namespace numera::host;

namespace {

/// What a tensor of that shape takes; all ones if that is too much.
uint64_t bytesOf(const int64_t *shape, int32_t rank, int32_t dtype) {
  uint64_t product = sizeOfDType(dtype);
  bool isTooMuch = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (shape[i] == 0)
      return 0;
    isTooMuch |= __builtin_mul_overflow(product, uint64_t(shape[i]), &product);
  }
  return isTooMuch ? ~uint64_t{0} : product;
}

/// Whether elements can be read there: compilers take wide ones to be aligned.
bool isAligned(const void *data, int32_t dtype) {
  return sizeOfDType(dtype) <= sizeof(uint64_t) ||
         reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

/// What becomes of a result.
struct Result {
  int64_t *words; ///< its descriptor
  void *owned;    ///< its memory, while it is ours
  void *buffer;   ///< where it goes
};

/// One call of one function.
class Call {
public:
  Call(const FunctionInfo &function, const numera_tensor *inputs,
       numera_tensor *outputs, Message &message)
      : function(function), inputs(inputs), outputs(outputs), message(message) {
  }
  ~Call() { std::free(memory); }

  bool check(size_t inputCount, size_t outputCount) {
    if (inputCount != function.inputCount ||
        outputCount != function.outputCount)
      return fault().add(
          "takes %llu inputs and %llu outputs; got %llu and %llu",
          (unsigned long long)function.inputCount,
          (unsigned long long)function.outputCount,
          (unsigned long long)inputCount, (unsigned long long)outputCount);
    if ((!inputs && inputCount) || (!outputs && outputCount))
      return fault().add("%s is NULL",
                         outputs || !outputCount ? "inputs" : "outputs");
    for (size_t i = 0; i < inputCount; ++i)
      if (!checkInput(i))
        return false;
    return checkBatch();
  }

  bool readOptions(const numera_options *given) {
    // The fields that the caller's header knows; the others keep defaults.
    options.seed = function.seed;
    if (!given)
      return true;
    if (given->size < offsetof(numera_options, sample) + sizeof(uint64_t))
      return fault().add(
          "options.size is %u; expected sizeof(numera_options), %u",
          given->size, unsigned(sizeof options));
    std::memcpy(&options, given,
                given->size < sizeof options ? given->size : sizeof options);
    return true;
  }

  /// The last version that this processor can run: they come in the order of
  /// what they need.
  bool chooseVersion() {
    uint64_t features = numera_processor_features();
    for (uint64_t i = function.versionCount; i-- > 0 && !version;)
      if ((function.versions[i].features & ~features) == 0)
        version = &function.versions[i];
    if (version)
      return true;
    const Version &least = function.versions[0];
    return fault().add("compiled for the CPU %s; this one has no %s", least.cpu,
                       nameOfFeature(least.features & ~features));
  }

  bool run() {
    if (!allocate())
      return fault().add("out of memory");
    bool succeeded = produce();
    for (size_t i = 0; succeeded && i < function.outputCount; ++i)
      succeeded = deliver(i);
    discard();
    trimMemory();
    return succeeded;
  }

private:
  /// Nothing is handed over unless everything can be.
  bool produce() {
    for (size_t i = 0, next = function.inputCount; i < function.outputCount;
         ++i)
      if (isDestination(i)) {
        if (!place(i))
          return false;
        arguments[next++] = results[i].words;
      }
    if (const char *failure = invoke())
      return fault().add("%s", failure);
    for (size_t i = 0; i < function.outputCount; ++i)
      if (!isDestination(i))
        results[i].owned = isOwned(i) ? descriptor(i).allocated() : nullptr;
    for (size_t i = 0; i < function.outputCount; ++i)
      if (!prepare(i))
        return false;
    return true;
  }

  /// Runs the function; what numera_host_fail was called with, else null.
  const char *invoke() {
    DefaultFloatingPoint scope;
    Team team(options.threads);
    return runWith(&team, [this] {
      CallContext::current()->options = &options;
      version->invoke(arguments, returned, options.seed, options.step,
                      options.sample);
      copy = CallContext::current()->copy;
      if (const char *other = findOtherEnvironment())
        numera_host_fail(other);
    });
  }

  /// The message, begun with the function's name.
  Message &fault() {
    message.add("%s: ", function.name);
    return message;
  }

  void begin(const char *what, size_t index, const TensorInfo &info) {
    fault().add("%s %llu", what, (unsigned long long)index);
    if (info.name[0])
      message.add(" '%s'", info.name);
    message.add(": ");
  }

  bool checkInput(size_t i) {
    const TensorInfo &info = function.inputs[i];
    const numera_tensor &tensor = inputs[i];
    if (tensor.dtype != info.dtype) {
      begin("input", i, info);
      return message.add("dtype %s (%d); expected %s",
                         nameOfDType(tensor.dtype), tensor.dtype,
                         nameOfDType(info.dtype));
    }
    if (tensor.rank != info.rank) {
      begin("input", i, info);
      message.add("rank %d; expected %d, shape ", tensor.rank, info.rank);
      return message.addShape(info.shape, info.rank);
    }
    bool matches = true, empty = false;
    for (int32_t d = 0; d < info.rank; ++d) {
      matches &= info.shape[d] < 0 ? tensor.shape[d] >= 0
                                   : tensor.shape[d] == info.shape[d];
      empty |= tensor.shape[d] == 0;
    }
    if (!matches) {
      begin("input", i, info);
      message.add("shape ");
      message.addShape(tensor.shape, tensor.rank, /*isOfType=*/false);
      message.add("; expected ");
      return message.addShape(info.shape, info.rank);
    }
    if (!tensor.data && !empty) {
      begin("input", i, info);
      return message.add("data is NULL");
    }
    if (!isAligned(tensor.data, info.dtype)) {
      begin("input", i, info);
      return message.add("data is not aligned to 16 bytes");
    }
    return true;
  }

  bool checkBatch() {
    size_t first = function.inputCount;
    for (size_t i = 0; function.sharesBatch && i < function.inputCount; ++i) {
      const TensorInfo &info = function.inputs[i];
      if (info.rank == 0 || info.shape[0] >= 0)
        continue;
      if (first == function.inputCount)
        first = i;
      if (inputs[i].shape[0] == inputs[first].shape[0])
        continue;
      begin("input", i, info);
      return message.add(
          "batch of %lld; input %llu has %lld", (long long)inputs[i].shape[0],
          (unsigned long long)first, (long long)inputs[first].shape[0]);
    }
    return true;
  }

  /// One block: the pointers to the arguments' descriptors, what becomes of
  /// each result, and the descriptors. Those that the function fills come one
  /// after the other.
  bool allocate() {
    constexpr size_t wordsOfResult = sizeof(Result) / sizeof(int64_t);
    size_t words =
        function.inputCount + (1 + wordsOfResult) * function.outputCount;
    for (size_t i = 0; i < function.inputCount; ++i)
      words += Descriptor::wordsFor(function.inputs[i].rank);
    for (size_t i = 0; i < function.outputCount; ++i)
      words += Descriptor::wordsFor(function.outputs[i].rank);
    memory = static_cast<int64_t *>(std::calloc(words + 1, sizeof(int64_t)));
    if (!memory)
      return false;
    arguments = reinterpret_cast<void **>(memory);
    int64_t *next = memory + function.inputCount + function.outputCount;
    results = reinterpret_cast<Result *>(next);
    next += wordsOfResult * function.outputCount;
    for (size_t i = 0; i < function.inputCount; ++i) {
      int32_t rank = function.inputs[i].rank;
      arguments[i] = next;
      Descriptor(next, rank).set(inputs[i]);
      next += Descriptor::wordsFor(rank);
    }
    returned = next;
    for (bool wanted : {false, true})
      for (size_t i = 0; i < function.outputCount; ++i)
        if (isDestination(i) == wanted) {
          results[i].words = next;
          next += Descriptor::wordsFor(function.outputs[i].rank);
        }
    return true;
  }

  bool isDestination(size_t index) const {
    return function.outputs[index].sources;
  }
  Descriptor descriptor(size_t index) const {
    return {results[index].words, function.outputs[index].rank};
  }

  /// Finds the memory of a destination: the caller's if nothing else lies
  /// there, else new.
  bool place(size_t i) {
    const TensorInfo &info = function.outputs[i];
    numera_tensor tensor;
    for (int32_t d = 0; d < info.rank; ++d) {
      SizeSource source = info.sources[d];
      tensor.shape[d] = source.input < 0
                            ? info.shape[d]
                            : inputs[source.input].shape[source.dimension];
    }
    uint64_t bytes = bytesOf(tensor.shape, info.rank, info.dtype);
    if (!checkCapacity(i, tensor.shape, bytes))
      return false;
    tensor.data = outputs[i].data;
    if (!tensor.data || !isAligned(tensor.data, info.dtype) ||
        overlaps(i, bytes)) {
      tensor.data = results[i].owned =
          numera_host_try_allocate(alignof(max_align_t), bytes ? bytes : 1);
      if (!tensor.data)
        return fault().add("out of memory");
    }
    descriptor(i).set(tensor);
    return true;
  }

  /// True if the caller's buffer of an output may share memory with an input or
  /// with another output.
  bool overlaps(size_t index, uint64_t bytes) const {
    auto meets = [&](const void *data, uint64_t size) {
      auto a = reinterpret_cast<uintptr_t>(outputs[index].data);
      auto b = reinterpret_cast<uintptr_t>(data);
      return data && (a < b ? b - a < bytes : a - b < size);
    };
    for (size_t i = 0; i < function.inputCount; ++i)
      if (meets(inputs[i].data,
                bytesOf(inputs[i].shape, inputs[i].rank, inputs[i].dtype)))
        return true;
    for (size_t i = 0; i < function.outputCount; ++i)
      if (i != index && meets(outputs[i].data, outputs[i].capacity))
        return true;
    return false;
  }

  bool checkCapacity(size_t i, const int64_t *shape, uint64_t bytes) {
    const TensorInfo &info = function.outputs[i];
    if (!outputs[i].data || outputs[i].capacity >= bytes)
      return true;
    begin("output", i, info);
    message.add("capacity of %llu bytes; shape ",
                (unsigned long long)outputs[i].capacity);
    message.addShape(shape, info.rank);
    return message.add(" of %s takes %llu", nameOfDType(info.dtype),
                       (unsigned long long)bytes);
  }

  /// The memory of a result that the function returns is the program's own
  /// unless that is an input, a constant (MLIR marks it), or another result.
  bool isOwned(size_t index) const {
    constexpr int64_t markOfConstant = 0xdeadbeef;
    void *block = descriptor(index).allocated();
    if (!block || reinterpret_cast<int64_t>(block) == markOfConstant)
      return false;
    for (size_t i = 0; i < function.inputCount; ++i)
      if (block == inputs[i].data)
        return false;
    for (size_t i = 0; i < index; ++i)
      if (block == results[i].owned)
        return false;
    return true;
  }

  /// Finds the room for a result: the caller's, the result's own memory if it
  /// may be given away, or new.
  bool prepare(size_t i) {
    const TensorInfo &info = function.outputs[i];
    Result &result = results[i];
    const int64_t *shape = descriptor(i).shape();
    for (int32_t d = 0; d < info.rank; ++d)
      if (shape[d] < 0) {
        begin("output", i, info);
        return message.add("dimension %d has size %lld; expected 0 or more", d,
                           (long long)shape[d]);
      }
    uint64_t bytes = bytesOf(shape, info.rank, info.dtype);
    if (!checkCapacity(i, shape, bytes))
      return false;
    result.buffer = outputs[i].data;
    if (result.buffer)
      return true;
    if (result.owned &&
        result.owned == descriptor(i).data(sizeOfDType(info.dtype)) &&
        mayBeGiven(result.owned, bytes)) {
      result.buffer = result.owned;
      return true;
    }
    result.buffer = std::malloc(bytes ? bytes : 1);
    return result.buffer || fault().add("out of memory");
  }

  /// Copies a result, to a device where the caller wants it there.
  bool move(void *to, const void *from, uint64_t bytes) const {
    if (CopyOutcome outcome =
            copy ? copy(to, from, bytes) : CopyOutcome::HostMemory;
        outcome != CopyOutcome::HostMemory)
      return outcome == CopyOutcome::Copied;
    std::memmove(to, from, bytes);
    return true;
  }

  bool deliver(size_t i) {
    const TensorInfo &info = function.outputs[i];
    numera_tensor &output = outputs[i];
    Result &result = results[i];
    const int64_t *shape = descriptor(i).shape();
    const void *data = descriptor(i).data(sizeOfDType(info.dtype));
    uint64_t bytes = bytesOf(shape, info.rank, info.dtype);
    if (result.buffer == result.owned)
      result.owned = nullptr; // given away
    else if (bytes && result.buffer != data &&
             !move(result.buffer, data, bytes))
      return fault().add("output %llu cannot be copied to the device",
                         (unsigned long long)i);
    if (!output.data)
      output.capacity = bytes;
    output.data = result.buffer;
    result.buffer = nullptr;
    output.dtype = info.dtype;
    output.rank = info.rank;
    if (info.rank)
      std::memcpy(output.shape, shape, size_t(info.rank) * sizeof(int64_t));
    return true;
  }

  /// Frees what was not given away.
  void discard() {
    for (size_t i = 0; i < function.outputCount; ++i) {
      Result &result = results[i];
      if (result.buffer && result.buffer != outputs[i].data &&
          result.buffer != result.owned)
        std::free(result.buffer);
      numera_host_release(result.owned);
      result.buffer = result.owned = nullptr;
    }
  }

  const FunctionInfo &function;
  const numera_tensor *inputs;
  numera_tensor *outputs;
  Message &message;
  numera_options options = NUMERA_OPTIONS;
  const Version *version = nullptr;
  CopyResult *copy = nullptr; ///< null: every output is the host's memory

  int64_t *memory = nullptr;
  void **arguments = nullptr;
  void *returned = nullptr; ///< the descriptors that the function fills
  Result *results = nullptr;
};

} // namespace

extern "C" void numera::host::numera_host_end() {
  ThreadPool::endRest();
  clearMemory();
}

extern "C" int numera::host::numera_host_call(
    const FunctionInfo *function, const numera_tensor *inputs,
    size_t inputCount, numera_tensor *outputs, size_t outputCount,
    const numera_options *options, char *error, size_t errorSize) {
  if (error && errorSize)
    error[0] = '\0';
  Message message(error, errorSize);
  Call call(*function, inputs, outputs, message);
  return call.check(inputCount, outputCount) && call.readOptions(options) &&
                 call.chooseVersion() && call.run()
             ? 0
             : 1;
}
