// SPDX-License-Identifier: MIT
//
// What a program that counts (CompileOptions::countStatusFlags) says of its
// operations and scaled tensors (docs/Semantics/StatusFlags.md).

#ifndef NUMERA_TARGET_DRIVER_STATISTICS_H
#define NUMERA_TARGET_DRIVER_STATISTICS_H

#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"
#include "numera/Registry/Registry.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <vector>

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

/// Adds up the numbers of all rows, over the slices of a data set.
class StatisticsCollector {
public:
  explicit StatisticsCollector(llvm::ArrayRef<FlagCounts> rows)
      : rows(rows), sums(rows.size()) {}

  /// The last result of one call: FlagCounts::numbers for each row.
  void add(const int64_t *numbers);
  /// The rows that a program left to another one (FlagCounts::postponed).
  llvm::SmallVector<int64_t> postponed() const;
  /// Takes the counts of these rows from what another program counted, which
  /// was called as often.
  void replace(llvm::ArrayRef<int64_t> rows, const StatisticsCollector &other);
  /// Without operations on constants alone.
  Statistics finish(const Registry &registry) const;

private:
  using Numbers = std::array<uint64_t, FlagCounts::numbers>;
  TensorStatistics tensorOf(const FlagCounts &row, const Numbers &found,
                            const Statistics &statistics,
                            const Registry &registry) const;

  llvm::ArrayRef<FlagCounts> rows;
  std::vector<Numbers> sums;
  llvm::DenseSet<int64_t> isPostponed;
  bool isFirst = true;
};

/// The keys `stats` and, if there are scaled tensors, `scaled`.
void printStatistics(const Statistics &statistics, llvm::json::OStream &json);

} // namespace numera

#endif // NUMERA_TARGET_DRIVER_STATISTICS_H
