// SPDX-License-Identifier: MIT
//
// What stands between a C caller and a compiled function: everything the caller
// can get wrong is checked here, the floating-point environment is made the
// default one, and results change hands. Linked as bitcode into every program,
// so it needs the C library and nothing else.

#include "Processor.h"
#include "Running.h"
#include "Team.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace numera::host;

namespace {

/// A line in the caller's buffer, cut off where the buffer ends.
class Message {
public:
  Message(char *text, size_t size) : text(text), size(text ? size : 0) {}

  /// Appends. Always false, so that a check can end in `return fault().add(…)`.
  __attribute__((format(printf, 2, 3))) bool add(const char *format, ...) {
    Roomy<va_list> arguments;
    va_start(arguments.value, format);
    if (used < size) {
      int length =
          std::vsnprintf(text + used, size - used, format, arguments.value);
      used += length > 0 ? size_t(length) : 0;
    }
    va_end(arguments.value);
    return false;
  }

  /// `(2, 3)`; a dynamic dimension is `?`.
  bool addShape(const int64_t *shape, int32_t rank) {
    add("(");
    for (int32_t i = 0; i < rank; ++i)
      if (shape[i] < 0)
        add(i ? ", ?" : "?");
      else
        add("%s%lld", i ? ", " : "", static_cast<long long>(shape[i]));
    return add(")");
  }

private:
  char *text;
  size_t size;
  size_t used = 0;
};

const char *nameOfDType(int32_t dtype) {
  static const char *const names[] = {"f32", "f64", "i8",  "i16", "i32", "i64",
                                      "u8",  "u16", "u32", "u64", "bool"};
  return dtype >= 1 && dtype <= NUMERA_BOOL ? names[dtype - 1] : "unknown";
}

/// The first of some features.
const char *nameOfFeature(uint64_t features) {
  static const char *const names[] = {
#define NUMERA_X86_FEATURE(name, leaf, subleaf, reg, bit, state) name,
#include "numera/Runtime/X86Features.def"
  };
  constexpr int count = int(sizeof names / sizeof names[0]);
  int first = __builtin_ctzll(features);
  return first < count ? names[first] : "such feature";
}

/// A memref descriptor, where it lies.
class Descriptor {
public:
  Descriptor(void *words, int32_t rank)
      : words(static_cast<int64_t *>(words)), rank(rank) {}
  static size_t wordsFor(int32_t rank) { return 3 + 2 * size_t(rank); }

  void set(const numera_tensor &tensor) {
    words[0] = words[1] = reinterpret_cast<int64_t>(tensor.data);
    words[2] = 0;
    int64_t stride = 1;
    for (int32_t i = rank; i-- > 0;) {
      words[3 + i] = tensor.shape[i];
      words[3 + rank + i] = stride;
      // Of an empty tensor no stride is ever used.
      stride = int64_t(uint64_t(stride) * uint64_t(tensor.shape[i]));
    }
  }
  void *allocated() const { return reinterpret_cast<void *>(words[0]); }
  char *data(uint64_t elementSize) const {
    return reinterpret_cast<char *>(words[1]) + words[2] * int64_t(elementSize);
  }
  const int64_t *shape() const { return words + 3; }
  uint64_t elements() const {
    uint64_t product = 1;
    for (int32_t i = 0; i < rank; ++i)
      product *= uint64_t(words[3 + i]);
    return product;
  }

private:
  int64_t *words;
  int32_t rank;
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
    if (const char *failure = invoke())
      return fault().add("%s", failure);
    for (size_t i = 0; i < function.outputCount; ++i)
      owned[i] = isOwned(i) ? result(i).allocated() : nullptr;
    // Nothing is handed over unless everything can be.
    for (size_t i = 0; i < function.outputCount; ++i)
      if (!prepare(i)) {
        discard();
        return false;
      }
    for (size_t i = 0; i < function.outputCount; ++i)
      deliver(i);
    discard();
    return true;
  }

private:
  /// Runs the function; what numera_host_fail was called with, else null.
  const char *invoke() {
    DefaultFloatingPoint scope;
    Team team(options.threads);
    return runWith(&team, [this] {
      version->invoke(arguments, results, options.seed, options.step,
                      options.sample);
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
      message.addShape(tensor.shape, tensor.rank);
      message.add("; expected ");
      return message.addShape(info.shape, info.rank);
    }
    if (!tensor.data && !empty) {
      begin("input", i, info);
      return message.add("data is NULL");
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

  /// One block: the pointers to the inputs' descriptors, these, the results'
  /// descriptors, and what becomes of each result.
  bool allocate() {
    size_t words = function.inputCount + 2 * function.outputCount;
    for (size_t i = 0; i < function.inputCount; ++i)
      words += Descriptor::wordsFor(function.inputs[i].rank);
    for (size_t i = 0; i < function.outputCount; ++i)
      words += Descriptor::wordsFor(function.outputs[i].rank);
    memory = static_cast<int64_t *>(std::calloc(words + 1, sizeof(int64_t)));
    if (!memory)
      return false;
    arguments = reinterpret_cast<void **>(memory);
    buffers = arguments + function.inputCount;
    owned = buffers + function.outputCount;
    int64_t *next = reinterpret_cast<int64_t *>(owned + function.outputCount);
    for (size_t i = 0; i < function.inputCount; ++i) {
      int32_t rank = function.inputs[i].rank;
      arguments[i] = next;
      Descriptor(next, rank).set(inputs[i]);
      next += Descriptor::wordsFor(rank);
    }
    results = next;
    return true;
  }

  Descriptor result(size_t index) const {
    int64_t *words = results;
    for (size_t i = 0; i < index; ++i)
      words += Descriptor::wordsFor(function.outputs[i].rank);
    return {words, function.outputs[index].rank};
  }

  /// The memory of a result is the program's own unless the function returns
  /// an input, a constant (MLIR marks it), or one result twice.
  bool isOwned(size_t index) const {
    constexpr int64_t markOfConstant = 0xdeadbeef;
    void *block = result(index).allocated();
    if (!block || reinterpret_cast<int64_t>(block) == markOfConstant)
      return false;
    for (size_t i = 0; i < function.inputCount; ++i)
      if (block == inputs[i].data)
        return false;
    for (size_t i = 0; i < index; ++i)
      if (block == owned[i])
        return false;
    return true;
  }

  /// Finds the room for a result: the caller's, the result's own memory if it
  /// may be given away, or new.
  bool prepare(size_t i) {
    const TensorInfo &info = function.outputs[i];
    Descriptor descriptor = result(i);
    uint64_t bytes = descriptor.elements() * sizeOfDType(info.dtype);
    buffers[i] = outputs[i].data;
    if (buffers[i]) {
      if (outputs[i].capacity >= bytes)
        return true;
      begin("output", i, info);
      message.add("capacity of %llu bytes; shape ",
                  (unsigned long long)outputs[i].capacity);
      message.addShape(descriptor.shape(), info.rank);
      return message.add(" of %s takes %llu", nameOfDType(info.dtype),
                         (unsigned long long)bytes);
    }
    if (owned[i] && owned[i] == descriptor.data(sizeOfDType(info.dtype))) {
      buffers[i] = owned[i];
      return true;
    }
    buffers[i] = std::malloc(bytes ? bytes : 1);
    return buffers[i] || fault().add("out of memory");
  }

  void deliver(size_t i) {
    const TensorInfo &info = function.outputs[i];
    numera_tensor &output = outputs[i];
    Descriptor descriptor = result(i);
    uint64_t elementSize = sizeOfDType(info.dtype);
    uint64_t bytes = descriptor.elements() * elementSize;
    if (buffers[i] == owned[i])
      owned[i] = nullptr; // given away
    else if (bytes)
      std::memmove(buffers[i], descriptor.data(elementSize), bytes);
    if (!output.data)
      output.capacity = bytes;
    output.data = buffers[i];
    buffers[i] = nullptr;
    output.dtype = info.dtype;
    output.rank = info.rank;
    if (info.rank)
      std::memcpy(output.shape, descriptor.shape(),
                  size_t(info.rank) * sizeof(int64_t));
  }

  /// Frees what was not given away.
  void discard() {
    for (size_t i = 0; i < function.outputCount; ++i) {
      if (buffers[i] && buffers[i] != outputs[i].data && buffers[i] != owned[i])
        std::free(buffers[i]);
      std::free(owned[i]);
      buffers[i] = owned[i] = nullptr;
    }
  }

  const FunctionInfo &function;
  const numera_tensor *inputs;
  numera_tensor *outputs;
  Message &message;
  numera_options options = NUMERA_OPTIONS;
  const Version *version = nullptr;

  int64_t *memory = nullptr;
  void **arguments = nullptr;
  int64_t *results = nullptr;
  void **buffers = nullptr; ///< where each result goes
  void **owned = nullptr;   ///< each result's memory, while it is ours
};

} // namespace

extern "C" void numera::host::numera_host_fail(const char *message) {
  Running *running = Running::current();
  running->message = message;
  longjmp(running->escape.value, 1);
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
