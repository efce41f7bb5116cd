// SPDX-License-Identifier: MIT
//
// The arrays of a run, from and to files.

#ifndef NUMERA_TOOLS_RUN_ARRAYS_H
#define NUMERA_TOOLS_RUN_ARRAYS_H

#include "DataSet.h"

namespace numera {

/// Reads the arrays of `--input [NAME=]FILE`: those without the name of an
/// input take the inputs that are left, in order.
std::optional<DataSet> readInputs(const FunctionSignature &function,
                                  llvm::ArrayRef<std::string> arguments,
                                  std::string &error,
                                  int64_t rowsOfSlice = DataSet::dynamicSlice);

/// A name for each output, which no other has: its own, where that can name a
/// file, else `output_<index>`.
std::vector<std::string> outputNames(llvm::ArrayRef<TensorSignature> outputs);

/// Sees that the folder can be written to, or made. It is not made before there
/// are arrays for it: a run that is interrupted leaves no empty one.
bool checkOutputFolder(const std::string &folder, std::string &error);

/// Writes `FOLDER/<name>.npy` for each array, and makes the folder.
bool writeOutputs(const std::string &folder, llvm::ArrayRef<std::string> names,
                  llvm::ArrayRef<host::Array> arrays, std::string &error);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_ARRAYS_H
