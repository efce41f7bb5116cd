// SPDX-License-Identifier: MIT

#include "DataSet.h"

#include "NpyHeader.h"

#include "numera/Runtime/Progress.h"

#include <algorithm>
#include <cstring>

using namespace numera::host;

namespace {

/// In the order of host::DType.
constexpr int32_t dtypes[] = {NUMERA_F16,  NUMERA_F32,  NUMERA_F64, NUMERA_I8,
                              NUMERA_I16,  NUMERA_I32,  NUMERA_I64, NUMERA_U8,
                              NUMERA_U16,  NUMERA_U32,  NUMERA_U64, NUMERA_BOOL,
                              NUMERA_BF16, NUMERA_U128, NUMERA_U256};

DType dtypeOf(int32_t dtype) {
  return DType(std::ranges::find(dtypes, dtype) - dtypes);
}

/// Which inputs are sliced, and how.
struct Slicing {
  std::vector<bool> sliced; ///< one for each input
  int64_t rows = 0;         ///< of the data set
  int64_t batch = 0;        ///< rows of a slice; 0: one call for everything
  bool isFixed = false;     ///< the last slice must be full
};

bool findSlicing(const FunctionInfo &function, const std::vector<Array> &inputs,
                 Slicing &slicing, std::string &error) {
  slicing.sliced.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo &info = function.inputs[i];
    if (info.rank == 0 || int32_t(inputs[i].shape.size()) != info.rank)
      continue;
    int64_t fixed = info.shape[0], rows = inputs[i].shape[0];
    int64_t batch = fixed >= 0 ? fixed : rowsPerSlice;
    if (rows <= batch || batch == 0 || (fixed < 0 && !function.sharesBatch))
      continue;
    if (slicing.batch && (slicing.batch != batch || slicing.rows != rows)) {
      error = "input " + std::to_string(i) + " has " + std::to_string(rows) +
              " rows in slices of " + std::to_string(batch) +
              "; another input has " + std::to_string(slicing.rows) +
              " in slices of " + std::to_string(slicing.batch);
      return false;
    }
    slicing.sliced[i] = true;
    slicing.rows = rows;
    slicing.batch = batch;
    slicing.isFixed |= fixed >= 0;
  }
  return true;
}

/// `array` as an argument of the function.
numera_tensor tensorOf(const Array &array) {
  numera_tensor tensor{};
  tensor.data = array.bytes.get();
  tensor.capacity = array.byteSize;
  tensor.dtype = dtypes[size_t(array.dtype)];
  tensor.rank = int32_t(array.shape.size());
  std::ranges::copy(array.shape, tensor.shape);
  return tensor;
}

/// One run over a data set. Outputs are joined as slices come in.
class Run {
public:
  Run(const FunctionInfo &function, const std::vector<Array> &inputs,
      const Slicing &slicing, std::vector<Array> &outputs, std::string &error)
      : function(function), inputs(inputs), slicing(slicing), outputs(outputs),
        error(error), padding(inputs.size()) {}

  /// Rows `first` to `first + rows`, at most one slice.
  bool slice(int64_t first, int64_t rows, numera_options options) {
    std::vector<numera_tensor> arguments;
    for (size_t i = 0; i < inputs.size(); ++i) {
      arguments.push_back(tensorOf(inputs[i]));
      if (slicing.sliced[i] && !select(i, first, rows, arguments.back()))
        return false;
    }
    options.sample += uint64_t(first);
    std::vector<numera_tensor> results(function.outputCount);
    char message[512];
    if (numera_host_call(&function, arguments.data(), arguments.size(),
                         results.data(), results.size(), &options, message,
                         sizeof message) != 0) {
      error = message;
      return false;
    }
    bool taken = true;
    for (size_t i = 0; i < results.size(); ++i) {
      std::unique_ptr<std::byte[], FreeBytes> memory(
          static_cast<std::byte *>(results[i].data));
      taken = taken && take(i, results[i], first, rows);
    }
    return taken;
  }

private:
  /// Points `tensor` to its rows, or to a copy filled up to the batch.
  bool select(size_t i, int64_t first, int64_t rows, numera_tensor &tensor) {
    size_t rowBytes = inputs[i].byteSize / size_t(slicing.rows);
    std::byte *begin = inputs[i].bytes.get() + size_t(first) * rowBytes;
    tensor.data = begin;
    tensor.shape[0] = slicing.isFixed ? slicing.batch : rows;
    if (tensor.shape[0] == rows)
      return true;
    std::vector<int64_t> shape = inputs[i].shape;
    shape[0] = slicing.batch;
    std::optional<Array> full = makeArray(shape, inputs[i].dtype, error);
    if (!full)
      return false;
    for (int64_t row = 0; row < slicing.batch; ++row)
      std::memcpy(full->bytes.get() + size_t(row) * rowBytes,
                  begin + size_t(std::min(row, rows - 1)) * rowBytes, rowBytes);
    padding[i] = std::move(*full);
    tensor.data = padding[i].bytes.get();
    return true;
  }

  /// Adds a result's rows to its output.
  bool take(size_t i, const numera_tensor &result, int64_t first,
            int64_t rows) {
    bool joins = slicing.batch != 0;
    std::vector<int64_t> shape(result.shape, result.shape + result.rank);
    int64_t expected = slicing.isFixed ? slicing.batch : rows;
    if (joins && (shape.empty() || shape[0] != expected)) {
      error = std::string(function.name) + ": output " + std::to_string(i) +
              " has shape " + printShape(shape) + "; a data set needs " +
              std::to_string(expected) + " rows";
      return false;
    }
    if (joins)
      shape[0] = slicing.rows;
    if (first == 0) {
      std::optional<Array> output =
          makeArray(shape, dtypeOf(result.dtype), error);
      if (!output)
        return false;
      outputs[i] = std::move(*output);
    }
    Array &output = outputs[i];
    if (output.shape != shape) {
      error = std::string(function.name) + ": output " + std::to_string(i) +
              " changes its shape from " + printShape(output.shape) + " to " +
              printShape(shape);
      return false;
    }
    size_t rowBytes = joins ? output.byteSize / size_t(slicing.rows) : 0;
    size_t bytes = joins ? size_t(rows) * rowBytes : output.byteSize;
    if (bytes)
      std::memcpy(output.bytes.get() + size_t(first) * rowBytes, result.data,
                  bytes);
    return true;
  }

  const FunctionInfo &function;
  const std::vector<Array> &inputs;
  const Slicing &slicing;
  std::vector<Array> &outputs;
  std::string &error;
  std::vector<Array> padding; ///< the last slice of each input
};

} // namespace

bool numera::host::runDataSet(const FunctionInfo &function,
                              const std::vector<Array> &inputs,
                              const numera_options &options,
                              std::vector<Array> &outputs, std::string &error) {
  for (const Array &array : inputs)
    if (array.shape.size() > NUMERA_MAX_RANK) {
      error = "input has " + std::to_string(array.shape.size()) +
              " dimensions; expected at most " +
              std::to_string(NUMERA_MAX_RANK);
      return false;
    }
  Slicing slicing;
  if (!findSlicing(function, inputs, slicing, error))
    return false;
  outputs.resize(function.outputCount);
  Run run(function, inputs, slicing, outputs, error);
  if (!slicing.batch)
    return run.slice(0, 0, options);
  int64_t slices = (slicing.rows + slicing.batch - 1) / slicing.batch;
  Progress progress("running", uint64_t(slices));
  for (int64_t first = 0; first < slicing.rows; first += slicing.batch) {
    if (!run.slice(first, std::min(slicing.batch, slicing.rows - first),
                   options))
      return false;
    progress.advance();
  }
  return true;
}
