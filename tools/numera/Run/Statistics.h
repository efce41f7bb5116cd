// SPDX-License-Identifier: MIT
//
// `numera run --stats`: how often the operations of a model overflowed,
// underflowed, were invalid or divided by zero, and what its scaled tensors
// were like (docs/Semantics/StatusFlags.md).

#ifndef NUMERA_TOOLS_RUN_STATISTICS_H
#define NUMERA_TOOLS_RUN_STATISTICS_H

#include "DataSet.h"
#include "Execute.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"
#include "llvm/Support/JSON.h"
#include <array>

namespace numera {

/// What was counted of an operation.
struct OperationStatistics {
  FlagCounts operation;
  uint64_t done = 0;
  std::array<uint64_t, FlagCounts::kinds> flags = {};
};

/// What a scaled tensor was like (N9).
struct TensorStatistics {
  std::string name, operation, format;
  uint64_t count = 0;            ///< elements
  uint64_t zeros = 0;            ///< that were numbers before they were scaled
  uint64_t saturated = 0;        ///< that lay beyond the full scale
  float least = 0, greatest = 0; ///< of what elements were divided by
  double wastedBits = 0;         ///< infinite for a tensor of zeros
};

struct Statistics {
  std::vector<OperationStatistics> operations;
  std::vector<TensorStatistics> tensors;
};

/// Runs a program whose last output has a row of numbers for each of `rows`,
/// once over the input. Its other outputs must have the bits of `expected`.
llvm::Expected<Statistics>
collectStatistics(const Executable &executable, DataSet &data,
                  numera_options options, llvm::ArrayRef<FlagCounts> rows,
                  const std::vector<host::Array> &expected,
                  const Registry &registry);

/// The keys `stats` and, if there are scaled tensors, `scaled`.
void printStatistics(const Statistics &statistics, llvm::json::OStream &json);
/// Tables, a line an operation and a line a tensor.
void printStatistics(const Statistics &statistics, llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_STATISTICS_H
