// SPDX-License-Identifier: MIT
//
// Running a function over more rows than its batch holds.

#ifndef NUMERA_RUNTIME_HOST_DATASET_H
#define NUMERA_RUNTIME_HOST_DATASET_H

#include "numera/Runtime/Entry.h"
#include "numera/Runtime/Npy.h"

namespace numera::host {

/// Slices of a dynamic batch have this many rows; the last one fewer.
inline constexpr int64_t rowsPerSlice = 64;

/// Calls `function` once, or slice by slice along the first dimension of the
/// inputs that have more rows than it takes; the outputs' rows are joined. The
/// last slice of a fixed batch is filled up with its last row, and the rows
/// that come of it are dropped. On failure puts one line into `error`.
bool runDataSet(const FunctionInfo &function, const std::vector<Array> &inputs,
                const numera_options &options, std::vector<Array> &outputs,
                std::string &error);

} // namespace numera::host

#endif // NUMERA_RUNTIME_HOST_DATASET_H
