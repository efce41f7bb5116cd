// SPDX-License-Identifier: MIT
//
// Compiled programs, and their calls on memory that Python's arrays own.

#include "Binding.h"
#include "ElementTypes.h"
#include "SignalWatch.h"
#include <algorithm>
#include <cstdlib>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <span>

namespace numera::python {

namespace {

class Program {
public:
  explicit Program(NumeraProgram *program) : program(program) {}
  const NumeraProgram *get() const { return program.get(); }
  const char *metadata() const { return numeraProgramMetadata(get()); }
  const char *warnings() const { return numeraProgramWarnings(get()); }

private:
  struct Destroy {
    void operator()(NumeraProgram *program) const {
      numeraProgramDestroy(program);
    }
  };
  std::unique_ptr<NumeraProgram, Destroy> program;
};

using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::c_contig, nb::device::cpu>;

} // namespace

/// Runs what may take long without the interpreter's lock.
template <typename Function> static auto unlocked(Function function) {
  auto result = [&] {
    nb::gil_scoped_release release;
    return function();
  }();
  return result;
}

// ---- compiling -------------------------------------------------------------

static Program *own(NumeraProgram *program, char *error,
                    const CompilationWatch &signals) {
  auto owned = std::make_unique<Program>(program);
  signals.rethrow(error);
  handleSignals();
  if (!program)
    throwError(error);
  return owned.release();
}

static Program *compileFile(const Registry &registry, const std::string &model,
                            const std::vector<std::string> &options) {
  CompilationWatch signals;
  char *error = nullptr;
  NumeraProgram *program = unlocked([&] {
    return numeraCompileFile(registry.get(), model.c_str(),
                             Options(options).get(), &error);
  });
  return own(program, error, signals);
}

static Program *compileText(const Registry &registry, const std::string &mlir,
                            const std::string &name,
                            const std::vector<std::string> &options) {
  CompilationWatch signals;
  char *error = nullptr;
  NumeraProgram *program = unlocked([&] {
    return numeraCompileText(registry.get(), mlir.c_str(), name.c_str(),
                             Options(options).get(), &error);
  });
  return own(program, error, signals);
}

/// With `mlir`, of that text under the name; else of the file.
static void compileToFile(const Registry &registry, const std::string &name,
                          const std::optional<std::string> &mlir,
                          const std::vector<std::string> &options,
                          const std::string &emit, const std::string &output) {
  CompilationWatch signals;
  char *error = nullptr;
  int done = unlocked([&] {
    Options list(options);
    return mlir ? numeraCompileTextToFile(registry.get(), mlir->c_str(),
                                          name.c_str(), list.get(),
                                          emit.c_str(), output.c_str(), &error)
                : numeraCompileToFile(registry.get(), name.c_str(), list.get(),
                                      emit.c_str(), output.c_str(), &error);
  });
  signals.rethrow(error);
  handleSignals();
  if (!done)
    throwError(error);
}

static std::string printModel(const Registry &registry, const std::string &name,
                              const std::optional<std::string> &mlir,
                              const std::vector<std::string> &options,
                              const std::string &stage) {
  CompilationWatch signals;
  char *error = nullptr;
  char *text = unlocked([&] {
    Options list(options);
    return mlir ? numeraPrintText(registry.get(), mlir->c_str(), name.c_str(),
                                  list.get(), stage.c_str(), &error)
                : numeraPrintFile(registry.get(), name.c_str(), list.get(),
                                  stage.c_str(), &error);
  });
  if (!text)
    signals.rethrow(error);
  return takeString(text, error);
}

static Program *openProgram(const std::string &path) {
  char *error = nullptr;
  NumeraProgram *program =
      unlocked([&] { return numeraProgramOpen(path.c_str(), &error); });
  std::unique_ptr<Program> owned(new Program(program));
  handleSignals();
  if (!program)
    throwError(error);
  return owned.release();
}

// ---- calls -----------------------------------------------------------------

template <typename Array>
static numera_tensor tensorOf(const Array &array, size_t place) {
  numera_tensor tensor = {
      .data = const_cast<void *>(static_cast<const void *>(array.data())),
      .capacity = array.nbytes(),
      .dtype = dtypeOf(array.dtype()),
      .rank = int32_t(array.ndim()),
      .shape = {}};
  if (tensor.dtype == 0)
    throw Error("array " + std::to_string(place) +
                " has an element type that no program has");
  if (array.ndim() > NUMERA_MAX_RANK)
    throw Error("array " + std::to_string(place) + " has " +
                std::to_string(array.ndim()) +
                " dimensions, expected at most " +
                std::to_string(NUMERA_MAX_RANK));
  for (size_t i = 0; i < array.ndim(); ++i)
    tensor.shape[i] = int64_t(array.shape(i));
  return tensor;
}

/// A NumPy array of memory that a program allocated.
static nb::object arrayOf(const numera_tensor &tensor) {
  nb::capsule owner(tensor.data, [](void *data) noexcept { free(data); });
  std::vector<size_t> shape(tensor.shape, tensor.shape + tensor.rank);
  if (int64_t words = wordsOf(tensor.dtype))
    shape.push_back(size_t(words));
  return nb::cast(nb::ndarray<nb::numpy>(tensor.data, shape.size(),
                                         shape.data(), owner, nullptr,
                                         dtypeOf(tensor.dtype)));
}

static std::string printShape(const int64_t *sizes, size_t rank) {
  std::string text;
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(sizes[i]);
  return "[" + text + "]";
}

/// A result that fits in the memory of an array may have another shape.
static void checkShape(std::span<const int64_t> sizes,
                       const numera_tensor &result, size_t place) {
  if (!std::equal(sizes.begin(), sizes.end(), result.shape,
                  result.shape + result.rank))
    throw Error("out " + std::to_string(place) + " has shape " +
                printShape(sizes.data(), sizes.size()) + ", the result " +
                printShape(result.shape, size_t(result.rank)));
}

/// Says what integers are that stand for types which NumPy does not lend: bf16,
/// and codes of more than 64 bits, whose words are a last dimension.
static void setTypes(std::vector<numera_tensor> &tensors,
                     const std::vector<int32_t> &types) {
  for (size_t i = 0; i < std::min(tensors.size(), types.size()); ++i) {
    numera_tensor &tensor = tensors[i];
    if (types[i] == 0)
      continue;
    if (int64_t words = wordsOf(types[i])) {
      if (tensor.rank == 0 || tensor.shape[tensor.rank - 1] != words ||
          tensor.dtype != NUMERA_U64)
        throw Error("array " + std::to_string(i) +
                    " has no words of wide codes in its last dimension");
      --tensor.rank;
    }
    tensor.dtype = types[i];
  }
}

/// What calls of a function show of its layers.
class Layers {
public:
  Layers(const Program &program, const Registry &registry,
         const std::string &function, uint32_t threads) {
    char *error = nullptr;
    layers = numeraLayersCreate(program.get(), registry.get(), function.c_str(),
                                threads, &error);
    if (!layers)
      throwError(error);
  }
  Layers(const Layers &) = delete;
  ~Layers() { numeraLayersDestroy(layers); }

  void collect(numera_options &options) {
    numeraLayersCollect(layers, &options);
  }
  std::string print() const {
    return takeString(numeraLayersPrint(layers), /*error=*/nullptr);
  }

private:
  NumeraLayers *layers;
};

/// The results of a function, which `outputs` has memory for, unless it is
/// empty. `types` has the numbers of types that NumPy lends as integers, or 0,
/// for inputs and for outputs; or nothing. `layers` collects, unless it is
/// null.
static nb::list call(const Program &program, const std::string &function,
                     const std::vector<Input> &inputs,
                     const std::vector<Output> &outputs, size_t outputCount,
                     const std::vector<std::vector<int32_t>> &types,
                     uint32_t threads, uint64_t seed, uint64_t step,
                     uint64_t sample, Layers *layers) {
  std::vector<numera_tensor> arguments, results;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(tensorOf(inputs[i], i));
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(tensorOf(outputs[i], i));
  if (types.size() == 2) {
    setTypes(arguments, types[0]);
    setTypes(results, types[1]);
  }
  if (outputs.empty())
    results.resize(outputCount, numera_tensor{});
  numera_options options = NUMERA_OPTIONS;
  options.threads = threads;
  options.seed = seed;
  options.step = step;
  options.sample = sample;
  if (layers)
    layers->collect(options);
  SignalWatch signals;
  signals.watch(options);
  char *error = nullptr;
  bool done = unlocked([&] {
    return numeraProgramRun(program.get(), function.c_str(), arguments.data(),
                            arguments.size(), results.data(), results.size(),
                            &options, &error);
  });
  if (!done) {
    signals.rethrow(error);
    throwError(error);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t *sizes = outputs[i].shape_ptr();
    size_t words = wordsOf(results[i].dtype) ? 1 : 0;
    checkShape({sizes, outputs[i].ndim() - words}, results[i], i);
  }
  nb::list list;
  if (outputs.empty())
    for (const numera_tensor &result : results)
      list.append(arrayOf(result));
  handleSignals();
  return list;
}

/// Calls of one function on memory whose sizes never change: addresses alone
/// are handed over. Whoever calls keeps the memory alive, dense, and of the
/// function's element types.
class Call {
public:
  Call(const Program &program, std::string function,
       const std::vector<std::pair<int32_t, std::vector<int64_t>>> &inputs,
       const std::vector<std::pair<int32_t, std::vector<int64_t>>> &outputs)
      : program(program), function(std::move(function)),
        inputCount(inputs.size()) {
    for (const auto *list : {&inputs, &outputs})
      for (const auto &[dtype, shape] : *list)
        tensors.push_back(tensorOf(dtype, shape, tensors.size()));
  }

  /// The addresses of the inputs, then those of the outputs. Returns arrays
  /// with the outputs whose address is 0.
  nb::list run(const std::vector<uintptr_t> &addresses, uint32_t threads,
               uint64_t seed, uint64_t step, uint64_t sample,
               uintptr_t stream) const {
    if (addresses.size() != tensors.size())
      throw Error("'" + function + "' takes " + std::to_string(tensors.size()) +
                  " addresses, found " + std::to_string(addresses.size()));
    std::vector<numera_tensor> list(tensors); // threads may call at once
    for (size_t i = 0; i < list.size(); ++i)
      list[i].data = reinterpret_cast<void *>(addresses[i]);
    numera_options options = NUMERA_OPTIONS;
    options.threads = threads;
    options.seed = seed;
    options.step = step;
    options.sample = sample;
    options.stream = reinterpret_cast<void *>(stream);
    SignalWatch signals;
    signals.watch(options);
    char *error = nullptr;
    bool done = unlocked([&] {
      return numeraProgramRun(program.get(), function.c_str(), list.data(),
                              inputCount, list.data() + inputCount,
                              list.size() - inputCount, &options, &error);
    });
    if (!done) {
      signals.rethrow(error);
      throwError(error);
    }
    nb::list made;
    for (size_t i = inputCount; i < list.size(); ++i)
      if (!addresses[i])
        made.append(arrayOf(list[i]));
      else
        checkShape({tensors[i].shape, size_t(tensors[i].rank)}, list[i],
                   i - inputCount);
    handleSignals();
    return made;
  }

private:
  static numera_tensor
  tensorOf(int32_t dtype, const std::vector<int64_t> &shape, size_t place) {
    uint64_t bytes = bytesOf(dtype);
    if (bytes == 0)
      throw Error("tensor " + std::to_string(place) +
                  " has an element type that no program has");
    if (shape.size() > NUMERA_MAX_RANK)
      throw Error("tensor " + std::to_string(place) + " has " +
                  std::to_string(shape.size()) +
                  " dimensions, expected at most " +
                  std::to_string(NUMERA_MAX_RANK));
    numera_tensor tensor = {.data = nullptr,
                            .capacity = bytes,
                            .dtype = dtype,
                            .rank = int32_t(shape.size()),
                            .shape = {}};
    for (size_t i = 0; i < shape.size(); ++i) {
      tensor.shape[i] = shape[i];
      tensor.capacity *= uint64_t(shape[i]);
    }
    return tensor;
  }

  const Program &program;
  std::string function;
  size_t inputCount;
  std::vector<numera_tensor> tensors;
};

using Numbers = nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>;

static std::string statistics(const Program &program, const Registry &registry,
                              const std::string &function,
                              const Numbers &numbers) {
  char *error = nullptr;
  char *text = numeraProgramStatistics(
      program.get(), registry.get(), function.c_str(), numbers.data(), &error);
  return takeString(text, error);
}

static std::string postponed(const Program &program,
                             const std::string &function,
                             const Numbers &numbers) {
  char *error = nullptr;
  char *text = numeraProgramPostponed(program.get(), function.c_str(),
                                      numbers.data(), &error);
  return takeString(text, error);
}

/// `results` are those of a call.
static std::string layers(const Program &program, const Registry &registry,
                          const std::string &function,
                          const std::vector<Input> &results) {
  std::vector<numera_tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i)
    tensors.push_back(tensorOf(results[i], i));
  char *error = nullptr;
  char *text = unlocked([&] {
    return numeraProgramLayers(program.get(), registry.get(), function.c_str(),
                               tensors.data(), tensors.size(), &error);
  });
  return takeString(text, error);
}

void bindPrograms(nb::module_ &module) {
  nb::class_<Program>(module, "Program", "A compiled program.")
      .def_static("compile_file", &compileFile, nb::arg("registry"),
                  nb::arg("model"), nb::arg("options"))
      .def_static("compile_text", &compileText, nb::arg("registry"),
                  nb::arg("mlir"), nb::arg("name"), nb::arg("options"))
      .def_static("open", &openProgram, nb::arg("path"))
      .def_prop_ro("metadata", &Program::metadata, "JSON.")
      .def("statistics", &statistics, nb::arg("registry"), nb::arg("function"),
           nb::arg("numbers"), "What a function counted, JSON.")
      .def("postponed", &postponed, nb::arg("function"), nb::arg("numbers"),
           "The rows that a call left uncounted, as in 0,2.")
      .def("layers", &layers, nb::arg("registry"), nb::arg("function"),
           nb::arg("results"), "The errors of a function's layers, JSON.")
      .def_prop_ro("warnings", &Program::warnings, "A line each.")
      .def("call", &call, nb::arg("function"), nb::arg("inputs"),
           nb::arg("outputs"), nb::arg("output_count"), nb::arg("types"),
           nb::arg("threads"), nb::arg("seed"), nb::arg("step"),
           nb::arg("sample"), nb::arg("layers").none() = nb::none());
  nb::class_<Layers>(module, "Layers", "What calls show of layers.")
      .def(nb::init<const Program &, const Registry &, const std::string &,
                    uint32_t>(),
           nb::arg("program"), nb::arg("registry"), nb::arg("function"),
           nb::arg("threads"), nb::keep_alive<1, 2>())
      .def("print", &Layers::print, "The errors of all calls together, JSON.");
  nb::class_<Call>(module, "Call", "Calls of a function by addresses.")
      .def(nb::init<
               const Program &, std::string,
               const std::vector<std::pair<int32_t, std::vector<int64_t>>> &,
               const std::vector<std::pair<int32_t, std::vector<int64_t>>> &>(),
           nb::arg("program"), nb::arg("function"), nb::arg("inputs"),
           nb::arg("outputs"), nb::keep_alive<1, 2>())
      .def("run", &Call::run, nb::arg("addresses"), nb::arg("threads"),
           nb::arg("seed"), nb::arg("step"), nb::arg("sample"),
           nb::arg("stream") = 0);
  module.def("compile_to_file", &compileToFile, nb::arg("registry"),
             nb::arg("name"), nb::arg("mlir").none(), nb::arg("options"),
             nb::arg("emit"), nb::arg("output"));
  module.def("print_model", &printModel, nb::arg("registry"), nb::arg("name"),
             nb::arg("mlir").none(), nb::arg("options"), nb::arg("stage"));
}

} // namespace numera::python
