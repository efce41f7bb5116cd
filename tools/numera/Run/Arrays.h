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
                                  std::string &error);

/// A name for each output, which no other has: its own, where that can name a
/// file, else `output_<index>`.
std::vector<std::string> outputNames(llvm::ArrayRef<TensorSignature> outputs);

/// Creates the folder and its parents, and sees that it can be written to.
bool makeOutputFolder(const std::string &folder, std::string &error);

/// Writes `FOLDER/<name>.npy` for each array.
bool writeOutputs(const std::string &folder, llvm::ArrayRef<std::string> names,
                  llvm::ArrayRef<host::Array> arrays, std::string &error);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_ARRAYS_H
