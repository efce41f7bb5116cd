// SPDX-License-Identifier: MIT

#include "RunReport.h"
#include "DataSet.h"
#include "Support/CommandLine.h"
#include "Support/ModelFlags.h"
#include "Support/StepReport.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace numera;

double numera::median(std::vector<double> seconds) {
  llvm::sort(seconds);
  size_t middle = seconds.size() / 2;
  return seconds.size() % 2 ? seconds[middle]
                            : (seconds[middle - 1] + seconds[middle]) / 2;
}

static json::Value orNull(const std::optional<double> &value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}

static void printOutput(const OutputReport &output, json::OStream &json) {
  json.attribute("name", json::fixUTF8(output.name));
  json.attribute("shape", json::Array(output.shape));
  if (const auto &comparison = output.comparison) {
    json.attribute("max_abs_error", orNull(comparison->maxAbsError));
    json.attribute("max_rel_error", orNull(comparison->maxRelError));
    json.attribute("sqnr_db", orNull(comparison->sqnr));
    json.attribute("top1_agreement", orNull(comparison->top1Agreement));
    json.attribute("non_finite", comparison->nonFinite);
  }
  json.attribute("nan", output.nan);
}

/// `cpu` of `cpu znver4`.
static StringRef targetOf(const numera::Metadata &metadata) {
  StringRef target = StringRef(metadata.target).split(' ').first;
  return target.empty() ? "cpu" : target;
}

void numera::printJSON(const RunReport &report, raw_ostream &stream) {
  json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("format", report.metadata.format);
    if (!report.roles.empty())
      json.attributeObject("roles", [&] {
        for (const auto &[role, format] : report.roles)
          json.attribute(role, format);
      });
    json.attribute("accumulate", report.metadata.accumulate);
    bool usesTensorCores =
        report.metadata.accumulate == "tensorcore" ||
        any_of(report.metadata.rules, [](const RuleUse &rule) {
          return rule.accumulate == "tensorcore";
        });
    if (usesTensorCores)
      json.attribute("bit_exact", false);
    if (!report.metadata.rules.empty())
      json.attribute("rules", printRules(report.metadata.rules));
    if (!report.metadata.libraryUses.empty())
      json.attribute("library_uses", printUses(report.metadata.libraryUses));
    json.attribute("rounding", report.metadata.rounding);
    json.attribute("overflow", report.metadata.overflow);
    json.attribute("seed", report.seed);
    json.attribute("target", targetOf(report.metadata));
    json.attributeArray("outputs", [&] {
      for (const OutputReport &output : report.outputs)
        json.object([&] { printOutput(output, json); });
    });
    if (report.top1)
      json.attribute("top1", *report.top1);
    json.attributeObject("seconds", [&] {
      json.attribute("min", *llvm::min_element(report.seconds));
      json.attribute("median", median(report.seconds));
      json.attribute("runs", int64_t(report.seconds.size()));
    });
    if (report.kernels)
      printKernels(*report.kernels, json);
    if (report.statistics)
      printStatistics(*report.statistics, json);
    if (report.layers)
      report.layers->print(json);
    if (report.steps)
      printSteps(*report.steps, json);
  });
  stream << '\n';
}

/// A figure, or `none` where nothing could be compared.
static std::string figure(const std::optional<double> &value,
                          const char *format) {
  if (!value)
    return "none";
  char text[64];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

/// Without a figure in dB there is no error, or none that could be compared.
static std::string printSQNR(const Comparison &comparison) {
  if (comparison.sqnr)
    return figure(comparison.sqnr, "%.2f dB");
  if (!comparison.maxAbsError)
    return "none";
  return *comparison.maxAbsError == 0 ? "infinite" : "-infinite";
}

static std::string percent(const std::optional<double> &share) {
  return share ? figure(100 * *share, "%.2f %%") : "none";
}

static void printComparison(const Comparison &comparison, raw_ostream &stream) {
  stream << "  max abs error   " << figure(comparison.maxAbsError, "%.6g")
         << "\n  max rel error   " << figure(comparison.maxRelError, "%.6g")
         << "\n  SQNR            " << printSQNR(comparison)
         << "\n  top-1 agreement " << percent(comparison.top1Agreement) << '\n';
  if (comparison.nonFinite)
    stream << "  not compared    " << comparison.nonFinite
           << ": infinite or NaN on one side\n";
}

/// `sp16 by proof as posit<16,1>: add, mul`, `sp16 by its library: sqrt`.
static void printUsesText(ArrayRef<LibraryUse> uses, raw_ostream &stream) {
  MapVector<StringRef, std::array<std::vector<std::string>, 2>> formats;
  StringMap<StringRef> equivalents;
  for (const LibraryUse &use : uses) {
    std::string text = use.operation;
    if (use.exceptions)
      text += formatv(" (but for {0} code{1})", use.exceptions,
                      use.exceptions == 1 ? "" : "s");
    formats[use.format][use.isProven].push_back(text);
    equivalents[use.format] = use.equivalent;
  }
  for (const auto &[format, lists] : formats) {
    const auto &[called, proven] = lists;
    StringRef equivalent = equivalents[format];
    if (!proven.empty())
      stream << format << " by proof as " << equivalent << ": "
             << join(proven, ", ") << '\n';
    if (!called.empty())
      stream << format << " by its library: " << join(called, ", ") << '\n';
    if (proven.empty() && !equivalent.empty())
      stream << "  numera check --prove may show once that it is " << equivalent
             << ", which takes less time\n";
  }
}

void numera::printText(const RunReport &report, raw_ostream &stream) {
  const numera::Metadata &metadata = report.metadata;
  stream << "format " << metadata.format << ", accumulating in "
         << accumulatorFor(metadata.accumulate) << '\n';
  for (const auto &[role, format] : report.roles)
    stream << role << " in " << format << '\n';
  for (const RuleUse &rule : metadata.rules)
    stream << describe(rule) << '\n';
  printUsesText(metadata.libraryUses, stream);
  for (const OutputReport &output : report.outputs) {
    stream << printable(output.name) << ' ' << printDimensions(output.shape)
           << '\n';
    if (output.comparison)
      printComparison(*output.comparison, stream);
    stream << "  NaN             " << output.nan << '\n';
  }
  if (report.top1)
    stream << "top-1 " << percent(report.top1) << '\n';
  size_t runs = report.seconds.size();
  stream << format("%.6g s", median(report.seconds));
  if (runs > 1)
    stream << format(" (median of %zu, least %.6g s)", runs,
                     *llvm::min_element(report.seconds));
  stream << '\n';
  if (report.kernels)
    printKernels(*report.kernels, stream);
  if (report.statistics)
    printStatistics(*report.statistics, stream);
  if (report.layers)
    printLayers(*report.layers, stream);
  if (report.steps)
    printSteps(*report.steps, stream);
}
