// SPDX-License-Identifier: MIT
//
// Conversions of arrays, and kernels on arrays without gaps, on memory that
// Python lends by the buffer protocol. Calls on few elements are to cost
// little: nothing is looked up or copied here.

#include "Binding.h"
#include "SignalWatch.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

namespace numera::python {

namespace {

/// Elements from which on a call lets other threads of Python run.
constexpr int64_t manyElements = 4096;

/// Memory that an object lends, for as long as this lives.
class Buffer {
public:
  Buffer(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view, flags) != 0)
      throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view); }
  Buffer(const Buffer &) = delete;

  const Py_buffer *operator->() const { return &view; }
  const Py_buffer &operator*() const { return view; }
  int64_t elements() const {
    return view.itemsize ? view.len / view.itemsize : 0;
  }

private:
  Py_buffer view;
};

bool hasOneShape(const Py_buffer &x, const Py_buffer &y) {
  return x.ndim == y.ndim && std::equal(x.shape, x.shape + x.ndim, y.shape);
}

/// Runs `function`, without the interpreter's lock if that is worth while.
template <typename Function>
auto unlockedIf(bool isLong, const Function &function) {
  if (!isLong)
    return function();
  nb::gil_scoped_release release;
  return function();
}

numera_options optionsOf(uint32_t threads, uint64_t seed, uint64_t step,
                         uint64_t sample) {
  numera_options options = NUMERA_OPTIONS;
  options.threads = threads;
  options.seed = seed;
  options.step = step;
  options.sample = sample;
  return options;
}

// ---- conversions -----------------------------------------------------------

class Cast {
public:
  Cast(const Registry &registry, const std::string &from,
       const std::optional<std::string> &through, const std::string &to,
       const std::vector<std::string> &options) {
    CompilationWatch signals;
    char *error = nullptr;
    {
      nb::gil_scoped_release release;
      cast.reset(numeraCastCreate(registry.get(), from.c_str(),
                                  through ? through->c_str() : nullptr,
                                  to.c_str(), Options(options).get(), &error));
    }
    signals.rethrow(error);
    handleSignals();
    if (!cast)
      throwError(error);
    fromSize = storageBytes(registry, from);
    toSize = storageBytes(registry, to);
  }

  void run(nb::handle from, nb::handle to, uint32_t threads, uint64_t seed,
           uint64_t step) const {
    Buffer input(from, PyBUF_STRIDES), output(to, PyBUF_STRIDED);
    if (input->itemsize != fromSize || output->itemsize != toSize)
      throw Error("elements of " + std::to_string(input->itemsize) + " and " +
                  std::to_string(output->itemsize) + " bytes, expected " +
                  std::to_string(fromSize) + " and " + std::to_string(toSize));
    if (!hasOneShape(*input, *output))
      throw Error("arrays of two shapes");
    numera_options options = optionsOf(threads, seed, step, 0);
    SignalWatch signals;
    signals.watch(options);
    char *error = nullptr;
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    auto numbers = [](const Py_ssize_t *values) {
      return reinterpret_cast<const int64_t *>(values);
    };
    int done = unlockedIf(input.elements() >= manyElements, [&] {
      return numeraCastRun(cast.get(), input->ndim, numbers(input->shape),
                           input->buf, numbers(input->strides), output->buf,
                           numbers(output->strides), &options, &error);
    });
    if (!done) {
      signals.rethrow(error);
      throwError(error);
    }
  }

private:
  static Py_ssize_t storageBytes(const Registry &registry,
                                 const std::string &format) {
    NumeraFormatInfo info = {};
    info.size = sizeof info;
    char *error = nullptr;
    if (!numeraFormatDescribe(registry.get(), format.c_str(), &info, &error))
      throwError(error);
    return Py_ssize_t(info.storage) / 8;
  }

  struct Destroy {
    void operator()(NumeraCast *cast) const { numeraCastDestroy(cast); }
  };
  std::unique_ptr<NumeraCast, Destroy> cast;
  Py_ssize_t fromSize, toSize;
};

// ---- kernels ---------------------------------------------------------------

/// The one function of a program, on arrays without gaps.
class Kernel {
public:
  Kernel(const Registry &registry, const std::string &mlir,
         const std::vector<int32_t> &inputs,
         const std::vector<int32_t> &outputs)
      : inputs(inputs), outputs(outputs) {
    CompilationWatch signals;
    char *error = nullptr;
    {
      nb::gil_scoped_release release;
      program.reset(numeraCompileText(registry.get(), mlir.c_str(), "kernel",
                                      nullptr, &error));
    }
    signals.rethrow(error);
    handleSignals();
    if (!program)
      throwError(error);
    entry = numeraProgramEntry(program.get(), nullptr);
  }

  void run(const std::vector<nb::object> &from,
           const std::vector<nb::object> &to, uint32_t threads, uint64_t seed,
           uint64_t step, uint64_t sample) const {
    Tensors arguments(from, inputs, PyBUF_ND),
        results(to, outputs, PyBUF_ND | PyBUF_WRITABLE);
    numera_options options = optionsOf(threads, seed, step, sample);
    SignalWatch signals;
    signals.watch(options);
    char message[512];
    bool isLong = arguments.elements + results.elements >= manyElements;
    int status = unlockedIf(isLong, [&] {
      return entry(arguments.list.data(), arguments.list.size(),
                   results.list.data(), results.list.size(), &options, message,
                   sizeof message);
    });
    if (status != 0) {
      signals.rethrow(/*error=*/nullptr);
      throw Error(message);
    }
  }

  /// The same of each element by itself, for arrays of one shape, which are
  /// seen as arrays of one dimension. False, and nothing done, for others.
  bool runEach(nb::tuple from, nb::handle to, uint32_t threads) const {
    constexpr size_t most = 3;
    if (from.size() != inputs.size() || from.size() > most)
      return false;
    std::array<std::optional<Buffer>, most> operands;
    std::array<numera_tensor, most> arguments;
    Buffer output(to, PyBUF_ND | PyBUF_WRITABLE);
    for (size_t i = 0; i < from.size(); ++i) {
      Buffer &operand = operands[i].emplace(from[i], PyBUF_STRIDES);
      if (!PyBuffer_IsContiguous(&*operand, 'C') ||
          !hasOneShape(*operand, *output))
        return false;
      arguments[i] = flat(operand, inputs[i]);
    }
    numera_tensor result = flat(output, outputs.front());
    int64_t count = output.elements();
    numera_options options = optionsOf(threads, 0, 0, 0);
    SignalWatch signals;
    signals.watch(options);
    char message[512];
    int status = count == 0 ? 0 : unlockedIf(count >= manyElements, [&] {
      return entry(arguments.data(), from.size(), &result, 1, &options, message,
                   sizeof message);
    });
    if (status != 0) {
      signals.rethrow(/*error=*/nullptr);
      throw Error(message);
    }
    return true;
  }

private:
  static numera_tensor flat(const Buffer &buffer, int32_t dtype) {
    numera_tensor tensor = {};
    tensor.data = buffer->buf;
    tensor.capacity = uint64_t(buffer->len);
    tensor.dtype = dtype;
    tensor.rank = 1;
    tensor.shape[0] = buffer.elements();
    return tensor;
  }

  struct Tensors {
    Tensors(const std::vector<nb::object> &arrays,
            const std::vector<int32_t> &dtypes, int flags) {
      if (arrays.size() != dtypes.size())
        throw Error(std::to_string(arrays.size()) + " arrays, expected " +
                    std::to_string(dtypes.size()));
      for (size_t i = 0; i < arrays.size(); ++i) {
        auto buffer = std::make_unique<Buffer>(arrays[i], flags);
        const Py_buffer &view = *buffer->operator->();
        if (view.ndim > NUMERA_MAX_RANK)
          throw Error(std::to_string(view.ndim) + " dimensions, expected at " +
                      "most " + std::to_string(NUMERA_MAX_RANK));
        numera_tensor &tensor = list.emplace_back();
        tensor.data = view.buf;
        tensor.capacity = uint64_t(view.len);
        tensor.dtype = dtypes[i];
        tensor.rank = view.ndim;
        for (int d = 0; d < view.ndim; ++d)
          tensor.shape[d] = view.shape[d];
        elements += buffer->elements();
        buffers.push_back(std::move(buffer));
      }
    }
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<numera_tensor> list;
    int64_t elements = 0;
  };

  struct Destroy {
    void operator()(NumeraProgram *program) const {
      numeraProgramDestroy(program);
    }
  };
  std::unique_ptr<NumeraProgram, Destroy> program;
  numera_entry *entry = nullptr;
  const std::vector<int32_t> inputs, outputs; ///< element types
};

} // namespace

void bindArrays(nb::module_ &module) {
  nb::class_<Cast>(module, "Cast", "A compiled conversion of arrays.")
      .def(nb::init<const Registry &, const std::string &,
                    const std::optional<std::string> &, const std::string &,
                    const std::vector<std::string> &>(),
           nb::arg("registry"), nb::arg("source"), nb::arg("through").none(),
           nb::arg("target"), nb::arg("options"))
      .def("run", &Cast::run, nb::arg("source"), nb::arg("target"),
           nb::arg("threads"), nb::arg("seed"), nb::arg("step"),
           "Converts one buffer, of any strides, into another.");
  nb::class_<Kernel>(module, "Kernel", "The one function of a program.")
      .def(nb::init<const Registry &, const std::string &,
                    const std::vector<int32_t> &,
                    const std::vector<int32_t> &>(),
           nb::arg("registry"), nb::arg("mlir"), nb::arg("inputs"),
           nb::arg("outputs"))
      .def("run", &Kernel::run, nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("threads"), nb::arg("seed"), nb::arg("step"),
           nb::arg("sample"),
           "Runs it on buffers without gaps, into buffers of the results.")
      .def(
          "run_each", &Kernel::runEach, nb::arg("inputs"), nb::arg("output"),
          nb::arg("threads"),
          "Runs it on each element of buffers of one shape; False for others.");
  module.def(
      "carrier",
      [](const Registry &registry, const std::string &format) {
        NumeraFormatInfo info = {};
        info.size = sizeof info;
        char *error = nullptr;
        if (!numeraFormatDescribe(registry.get(), format.c_str(), &info,
                                  &error))
          throwError(error);
        return info.carrier;
      },
      nb::arg("registry"), nb::arg("format"),
      "Bits of the least of f32 and f64 that has all values, or 0.");
  module.def(
      "accumulator",
      [](const Registry &registry, const std::string &format) {
        char *error = nullptr;
        char *text =
            numeraFormatAccumulator(registry.get(), format.c_str(), &error);
        return takeString(text, error);
      },
      nb::arg("registry"), nb::arg("format"),
      "What sums of a format add up in where nobody says.");
  module.def(
      "tensor_type",
      [](const Registry &registry, const std::string &format, int32_t rank,
         int32_t axis) {
        char *error = nullptr;
        char *text = numeraTensorType(registry.get(), format.c_str(), rank,
                                      axis, &error);
        return takeString(text, error);
      },
      nb::arg("registry"), nb::arg("format"), nb::arg("rank"),
      nb::arg("axis") = -1, "The MLIR type of a tensor of dynamic sizes.");
}

} // namespace numera::python
