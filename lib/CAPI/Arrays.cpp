// SPDX-License-Identifier: MIT
//
// Conversions of arrays: a program for each kind of conversion, compiled once,
// and a loop around it for arrays with strides.

#include "Handles.h"
#include "Options.h"
#include "Strided.h"
#include <cstring>
#include <pthread.h>

using namespace llvm;
using namespace numera;

struct NumeraCast {
  std::shared_ptr<const NumeraProgram> program;
  numera_entry *entry;
  numera_dtype from, to;
  int64_t fromSize, toSize; ///< bytes of an element
  bool draws;
};

// ---- compiling -------------------------------------------------------------

/// The options that a conversion takes, for the compilation of its program.
static const char *const castKeys[] = {"rounding", "random-bits", "overflow",
                                       "cpu"};

static bool checkKeys(const char *const *options, char **error) {
  for (; options && *options; ++options) {
    StringRef key = StringRef(*options).split('=').first;
    if (!is_contained(castKeys, key))
      return fail(error, "option '" + key.str() +
                             "' is not for conversions of arrays, expected "
                             "rounding, random-bits, overflow or cpu"),
             false;
  }
  return true;
}

/// Compiles @cast, or finds it in the registry.
static std::shared_ptr<const NumeraProgram>
compileCast(const NumeraRegistry *registry, const CastFormats &formats,
            StringRef cpu, char **error) {
  std::string text = formats.text();
  std::string key = (cpu + "\n" + text).str();
  if (auto found = registry->casts.find(key))
    return found;
  std::string option = ("cpu=" + cpu).str();
  const char *const options[] = {option.c_str(), nullptr};
  std::shared_ptr<const NumeraProgram> made(
      numeraCompileText(registry, text.c_str(), "cast", options, error),
      numeraProgramDestroy);
  return made ? registry->casts.keep(key, std::move(made)) : nullptr;
}

NumeraCast *numeraCastCreate(const NumeraRegistry *registry, const char *from,
                             const char *through, const char *to,
                             const char *const *options, char **error) {
  clear(error);
  std::string message;
  std::optional<ModelOptions> read = readOptions(options, message);
  if (!read)
    return fail(error, message);
  if (!checkKeys(options, error))
    return nullptr;
  std::optional<CastFormats> formats =
      readCast(registry->registry, from, through, to, read->compile, message);
  if (!formats)
    return fail(error, message);
  auto program = compileCast(registry, *formats, read->compile.cpu, error);
  if (!program)
    return nullptr;
  const FunctionSignature *signature = program->program->find("cast");
  return new NumeraCast{program,
                        program->program->entry("cast"),
                        signature->inputs[0].dtype,
                        signature->outputs[0].dtype,
                        formats->from.storageBits() / 8,
                        formats->to.storageBits() / 8,
                        formats->draws()};
}

void numeraCastDestroy(NumeraCast *cast) { delete cast; }

// ---- running ---------------------------------------------------------------

/// The strides of a dense array in row-major order, in bytes.
static SmallVector<int64_t, 8> denseStrides(ArrayRef<int64_t> shape,
                                            int64_t elementSize) {
  SmallVector<int64_t, 8> strides(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = elementSize;
    elementSize *= shape[d];
  }
  return strides;
}

/// False, with a line of text, for what is no array.
static bool checkShape(ArrayRef<int64_t> shape, int64_t elementSize,
                       char **error) {
  int64_t bytes = elementSize;
  bool isEmpty = is_contained(shape, 0), isTooMuch = false;
  for (auto [d, size] : enumerate(shape)) {
    if (size < 0)
      return fail(error, "dimension " + std::to_string(d) + " has the size " +
                             std::to_string(size) + ", expected 0 or more"),
             false;
    isTooMuch |= !isEmpty && __builtin_mul_overflow(bytes, size, &bytes);
  }
  if (isTooMuch)
    fail(error, "the array has more bytes than there can be");
  return !isTooMuch;
}

/// Elements of an output that share memory have no one value.
static bool checkOutput(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                        char **error) {
  for (auto [d, size] : enumerate(shape))
    if (size > 1 && strides[d] == 0)
      return fail(error, "dimension " + std::to_string(d) +
                             " of the output has the stride 0; expected "
                             "elements with memory of their own"),
             false;
  return true;
}

namespace {
/// Calls of the program for one run of a conversion.
class Converter {
public:
  Converter(const NumeraCast &cast, const numera_options *given) : cast(cast) {
    if (given)
      memcpy(&options, given, std::min(size_t(given->size), sizeof options));
  }

  uint32_t threads() const { return options.threads; }

  bool operator()(const char *from, char *to, int64_t count, int64_t index,
                  uint32_t threads, std::string &error) const {
    numera_tensor inputs[2], output;
    set(inputs[0], const_cast<char *>(from), cast.from, count, cast.fromSize);
    set(output, to, cast.to, count, cast.toSize);
    inputs[1].data = &index;
    inputs[1].dtype = NUMERA_I64;
    inputs[1].rank = 0;
    numera_options own = options;
    own.threads = threads;
    // The caller's thread alone asks; a failure ends the others.
    if (!pthread_equal(pthread_self(), caller))
      own.interrupt = nullptr;
    char message[512];
    if (cast.entry(inputs, cast.draws ? 2 : 1, &output, 1, &own, message,
                   sizeof message) == 0)
      return true;
    error = message;
    return false;
  }

private:
  static void set(numera_tensor &tensor, char *data, numera_dtype dtype,
                  int64_t count, int64_t elementSize) {
    tensor.data = data;
    tensor.capacity = uint64_t(count * elementSize);
    tensor.dtype = dtype;
    tensor.rank = 1;
    tensor.shape[0] = count;
  }

  const NumeraCast &cast;
  numera_options options = NUMERA_OPTIONS;
  pthread_t caller = pthread_self();
};
} // namespace

int numeraCastRun(const NumeraCast *cast, int32_t rank, const int64_t *sizes,
                  const void *from, const int64_t *from_strides, void *to,
                  const int64_t *to_strides, const numera_options *options,
                  char **error) {
  clear(error);
  if (rank < 0)
    return status(
        fail(error, "rank " + std::to_string(rank) + ", expected 0 or more"));
  ArrayRef<int64_t> shape(sizes, size_t(rank));
  if (!checkShape(shape, std::max(cast->fromSize, cast->toSize), error))
    return 0;
  if (is_contained(shape, 0))
    return 1;
  if (!from || !to)
    return status(
        fail(error, from ? "the output is NULL" : "the input is NULL"));
  SmallVector<int64_t, 8> fromDense, toDense;
  if (!from_strides)
    fromDense = denseStrides(shape, cast->fromSize);
  if (!to_strides)
    toDense = denseStrides(shape, cast->toSize);
  ArrayRef<int64_t> fromStrides = fromDense, toStrides = toDense;
  if (from_strides)
    fromStrides = {from_strides, shape.size()};
  if (to_strides)
    toStrides = {to_strides, shape.size()};
  if (!checkOutput(shape, toStrides, error))
    return 0;
  auto *source = const_cast<char *>(static_cast<const char *>(from));
  StridedLoop loop(shape, {source, fromStrides, cast->fromSize},
                   {static_cast<char *>(to), toStrides, cast->toSize},
                   /*isOrdered=*/cast->draws);
  Converter convert(*cast, options);
  std::string message;
  if (!loop.run(convert, convert.threads(), message))
    return status(fail(error, message));
  return 1;
}
