// SPDX-License-Identifier: MIT
//
// What a run has to say: as lines for people or as JSON (docs/CommandLine.md).

#ifndef NUMERA_TOOLS_RUN_RUNREPORT_H
#define NUMERA_TOOLS_RUN_RUNREPORT_H

#include "KernelProfile.h"
#include "Metrics.h"
#include "Statistics.h"
#include "numera/Target/Program/Program.h"
#include "numera/Target/Support/StepTimes.h"

namespace numera {

struct OutputReport {
  std::string name;
  std::vector<int64_t> shape;
  uint64_t nan = 0;
  std::optional<Comparison> comparison; ///< with `--compare`
};

struct RunReport {
  Metadata metadata; ///< format, accumulate, rounding, overflow, target
  /// Of a model's policy: what weights, activations and outputs are stored in.
  std::vector<std::pair<std::string, std::string>> roles;
  uint64_t seed = 0;
  std::vector<OutputReport> outputs;
  std::optional<double> top1;  ///< with `--labels`
  std::vector<double> seconds; ///< of each pass, at least one
  std::optional<std::vector<KernelTime>> kernels; ///< with `--profile`
  std::optional<Statistics> statistics;           ///< `--stats`
  const LayerCollector *layers = nullptr;         ///< `--layers`
  std::optional<StepTimes> steps;                 ///< `--time`
};

void printJSON(const RunReport &report, llvm::raw_ostream &stream);
void printText(const RunReport &report, llvm::raw_ostream &stream);

/// The middle of the sorted seconds, or the mean of the two in the middle.
double median(std::vector<double> seconds);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_RUNREPORT_H
