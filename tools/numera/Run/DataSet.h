// SPDX-License-Identifier: MIT
//
// Arrays cut to what a function takes. An array with more rows than the
// function's batch (the first dimension of its input) is a data set: it is fed
// slice by slice, and the results are put together again.
//
//   batch 8, 20 rows:   0-7   8-15   16-19 and row 19 four times more,
//                                    whose results are dropped
//   batch ?, 100 rows:  0-63  64-99
//
// Every other array goes whole with each slice.

#ifndef NUMERA_TOOLS_RUN_DATASET_H
#define NUMERA_TOOLS_RUN_DATASET_H

#include "numera/Runtime/Npy.h"
#include "numera/Target/Interface/Signature.h"

namespace numera {

class DataSet {
public:
  /// Rows of a slice where the batch is dynamic.
  static constexpr int64_t dynamicSlice = 64;
  /// Where every layer's numbers are measured, which are to be in the cache.
  static constexpr int64_t measuredSlice = 4;

  /// An array and where it came from, for messages.
  struct Input {
    host::Array array;
    std::string path;
  };

  /// Checks arrays, in the order of the function's inputs, against their
  /// element types and shapes. On failure says in `error` what was found, what
  /// was expected, and what to do. A dynamic batch has at most `rowsOfSlice`.
  static std::optional<DataSet> make(const FunctionSignature &function,
                                     std::vector<Input> inputs,
                                     std::string &error,
                                     int64_t rowsOfSlice = dynamicSlice);

  size_t slices() const {
    return rows == 0 ? 1 : size_t((rows + batch - 1) / batch);
  }
  /// The index of the first row of a slice.
  int64_t firstRow(size_t slice) const { return int64_t(slice) * batch; }

  /// The arrays of a slice, valid until the next call.
  std::vector<const host::Array *> slice(size_t slice);

  /// Appends the results of a slice to `whole`, which is empty before the
  /// first.
  bool append(size_t slice, std::vector<host::Array> results,
              std::vector<host::Array> &whole, std::string &error) const;

private:
  struct Source {
    host::Array array;
    bool isSliced;
    host::Array staged; ///< the slice
  };

  bool addInput(const TensorSignature &wanted, const std::string &name,
                bool hasBatch, Input input, std::string &error);
  bool joinDataSet(const Input &input, int64_t inputBatch, std::string &error);
  /// Rows of a slice that come from the data set, and rows it is fed with.
  int64_t rowsOf(size_t slice) const;
  int64_t rowsFed(size_t slice) const;
  void stage(Source &source, size_t slice) const;
  bool appendTo(host::Array &whole, const host::Array &result, size_t slice,
                std::string &error) const;

  std::vector<Source> sources;
  int64_t rows = 0;  ///< of the data set; 0: there is none, or it has no rows
  int64_t batch = 1; ///< rows of a slice
  int64_t rowsOfSlice = dynamicSlice;
  bool isDynamic = false;
  std::string rowsFrom; ///< the array that gave `rows`; empty: no data set
};

/// `(3, ?)`: a shape in messages, -1 as a question mark.
std::string printDimensions(const std::vector<int64_t> &shape);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_DATASET_H
