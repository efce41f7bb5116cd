// SPDX-License-Identifier: MIT

#include "DataSet.h"

#include "numera/Runtime/Convert.h"

#include <algorithm>
#include <cstring>

using namespace numera;
using host::Array;
using host::DType;

std::string numera::printDimensions(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] < 0 ? "?" : std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// NumPy's name of an element type.
static DType numpyType(numera_dtype dtype) {
  constexpr DType types[] = {DType::f4,  DType::f8,  DType::i1, DType::i2,
                             DType::i4,  DType::i8,  DType::u1, DType::u2,
                             DType::u4,  DType::u8,  DType::b1, DType::f2,
                             DType::bf2, DType::v16, DType::v32};
  return types[size_t(dtype) - size_t(NUMERA_F32)];
}

static bool isSameType(DType found, DType expected) {
  auto isInteger = [](DType dtype) {
    return dtype >= DType::i1 && dtype <= DType::u8;
  };
  return found == expected || (isInteger(found) && isInteger(expected) &&
                               sizeOf(found) == sizeOf(expected));
}

static bool isFloat(DType dtype) {
  return dtype <= DType::f8 || dtype == DType::bf2;
}

/// Numbers become f32 or f64; integers may be codes, and stay what they are.
static bool convertType(const TensorSignature &wanted, const std::string &name,
                        DataSet::Input &input, std::string &error) {
  DType expected = numpyType(wanted.dtype);
  if (isSameType(input.array.dtype, expected))
    return true;
  if (host::convertsNumbers(input.array.dtype, expected)) {
    if (host::convertNumbers(input.array, expected, error))
      return true;
    error = input.path + ": " + error;
    return false;
  }
  std::string word(spelling(expected));
  error = input.path + ": elements are '" +
          std::string(spelling(input.array.dtype)) + "', expected '" + word +
          "' for " + name + "; ";
  // Where the program takes codes, converting numbers would make others.
  if (expected == DType::bf2)
    error +=
        "save numpy.load(\"" + input.path + "\").astype(ml_dtypes.bfloat16)";
  else if (isFloat(input.array.dtype) && !isFloat(expected))
    error += "numbers are not made integers or codes: save an array of '" +
             word + "'";
  else
    error += "convert with numpy.save(\"" + input.path + "\", numpy.load(\"" +
             input.path + "\").astype(\"" + word + "\"))";
  return false;
}

/// Sets `isDataSet` where the first dimension is larger than a static batch.
static bool fits(const std::vector<int64_t> &found,
                 const std::vector<int64_t> &wanted, bool &isDataSet) {
  if (found.size() != wanted.size())
    return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    bool isLarger = i == 0 && wanted[0] > 0 && found[0] > wanted[0];
    isDataSet |= isLarger;
    if (wanted[i] >= 0 && found[i] != wanted[i] && !isLarger)
      return false;
  }
  return true;
}

/// Only an importer that knows the batch names a tensor and leaves its first
/// dimension open; in an .mlir file, a `?` is any number.
static bool startsWithBatch(const TensorSignature &tensor) {
  return !tensor.shape.empty() && tensor.shape[0] < 0 && !tensor.name.empty();
}

bool DataSet::joinDataSet(const Input &input, int64_t inputBatch,
                          std::string &error) {
  int64_t found = input.array.shape[0];
  if (!rowsFrom.empty() && (rows != found || batch != inputBatch)) {
    error = input.path + ": has " + std::to_string(found) +
            " rows for a batch of " + std::to_string(inputBatch) + ", " +
            rowsFrom + " has " + std::to_string(rows) + " for one of " +
            std::to_string(batch) + "; expected the same";
    return false;
  }
  rows = found;
  batch = inputBatch;
  rowsFrom = input.path;
  return true;
}

bool DataSet::addInput(const TensorSignature &wanted, const std::string &name,
                       bool hasBatch, Input input, std::string &error) {
  if (!convertType(wanted, name, input, error))
    return false;
  bool isSliced = false;
  if (!fits(input.array.shape, wanted.shape, isSliced)) {
    error = input.path + ": shape " + printDimensions(input.array.shape) +
            ", expected " + printDimensions(wanted.shape) + " for " + name;
    return false;
  }
  bool isBatch = hasBatch && startsWithBatch(wanted);
  if ((isSliced || isBatch) &&
      !joinDataSet(input, isBatch ? rowsOfSlice : wanted.shape[0], error))
    return false;
  isDynamic |= isBatch;
  // Signless integers: the program's name for the same bits.
  input.array.dtype = numpyType(wanted.dtype);
  Source source{std::move(input.array), isSliced || isBatch, {}};
  if (source.isSliced) {
    std::vector<int64_t> shape = source.array.shape;
    shape[0] = rowsFed(0);
    std::optional<Array> staged =
        host::makeArray(shape, source.array.dtype, error);
    if (!staged)
      return false;
    source.staged = std::move(*staged);
  }
  sources.push_back(std::move(source));
  return true;
}

std::optional<DataSet> DataSet::make(const FunctionSignature &function,
                                     std::vector<Input> inputs,
                                     std::string &error, int64_t rowsOfSlice) {
  // Results without the batch (a sum over it, say) cannot be put together.
  bool hasBatch =
      function.sharesBatch && function.hasIndependentRows &&
      std::all_of(function.outputs.begin(), function.outputs.end(),
                  [](const TensorSignature &output) {
                    return !output.shape.empty() && output.shape[0] < 0;
                  });
  DataSet data;
  data.rowsOfSlice = rowsOfSlice;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSignature &wanted = function.inputs[i];
    std::string name = wanted.name.empty() ? "input " + std::to_string(i)
                                           : "input '" + wanted.name + "'";
    if (!data.addInput(wanted, name, hasBatch, std::move(inputs[i]), error))
      return std::nullopt;
  }
  return data;
}

int64_t DataSet::rowsOf(size_t slice) const {
  return std::min(batch, rows - firstRow(slice));
}

int64_t DataSet::rowsFed(size_t slice) const {
  return isDynamic ? rowsOf(slice) : batch;
}

std::vector<const Array *> DataSet::slice(size_t slice) {
  std::vector<const Array *> arrays;
  for (Source &source : sources) {
    if (source.isSliced)
      stage(source, slice);
    arrays.push_back(source.isSliced ? &source.staged : &source.array);
  }
  return arrays;
}

void DataSet::stage(Source &source, size_t slice) const {
  if (rows == 0) // of which all is staged
    return;
  size_t rowBytes = source.array.byteSize / size_t(rows);
  auto real = size_t(rowsOf(slice)), fed = size_t(rowsFed(slice));
  const std::byte *from =
      source.array.bytes.get() + size_t(firstRow(slice)) * rowBytes;
  std::byte *to = source.staged.bytes.get();
  source.staged.shape[0] = int64_t(fed);
  source.staged.byteSize = fed * rowBytes;
  if (rowBytes == 0)
    return;
  std::memcpy(to, from, real * rowBytes);
  for (size_t row = real; row < fed; ++row)
    std::memcpy(to + row * rowBytes, from + (real - 1) * rowBytes, rowBytes);
}

/// Memory for all results of an output, from those of the first slice.
static bool allocate(const Array &result, int64_t rowsEach, int64_t rows,
                     Array &whole, std::string &error) {
  std::vector<int64_t> shape = result.shape;
  shape[0] = rowsEach * rows;
  std::optional<Array> array = host::makeArray(shape, result.dtype, error);
  if (!array)
    return false;
  whole = std::move(*array);
  return true;
}

bool DataSet::appendTo(Array &whole, const Array &result, size_t slice,
                       std::string &error) const {
  int64_t fed = rowsFed(slice);
  std::string found = "a result of shape " + printDimensions(result.shape) +
                      " for " + std::to_string(fed) + " rows";
  if (result.shape.empty() || result.shape[0] % fed != 0) {
    error = found + ", so that the results of " + std::to_string(rows) +
            " rows cannot be put together; give one batch at a time";
    return false;
  }
  if (slice == 0 &&
      !allocate(result, result.shape[0] / fed, rows, whole, error))
    return false;
  size_t rowBytes = result.byteSize / size_t(fed);
  if (rowBytes != whole.byteSize / size_t(rows)) {
    error = found + ", expected rows as in the slice before";
    return false;
  }
  if (rowBytes)
    std::memcpy(whole.bytes.get() + size_t(firstRow(slice)) * rowBytes,
                result.bytes.get(), size_t(rowsOf(slice)) * rowBytes);
  return true;
}

bool DataSet::append(size_t slice, std::vector<Array> results,
                     std::vector<Array> &whole, std::string &error) const {
  if (slices() == 1) {
    whole = std::move(results);
    return true;
  }
  whole.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (!appendTo(whole[i], results[i], slice, error))
      return false;
  return true;
}
