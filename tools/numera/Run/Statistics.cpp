// SPDX-License-Identifier: MIT

#include "Statistics.h"

#include "numera/Runtime/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace llvm;
using namespace numera;

/// Runs a program once over the input. `take` gets the results of each slice
/// and leaves those of the model, which must have the bits of `expected`.
static Error observe(const Executable &executable, DataSet &data,
                     numera_options options, std::string_view label,
                     const std::vector<host::Array> &expected,
                     function_ref<void(std::vector<host::Array> &)> take) {
  std::vector<host::Array> outputs;
  host::Progress progress(label, data.slices());
  for (size_t slice = 0; slice < data.slices(); ++slice) {
    std::vector<host::Array> results;
    options.sample = uint64_t(data.firstRow(slice));
    if (Error error = executable.program->call(
            executable.function.name, data.slice(slice), results, options))
      return error;
    take(results);
    std::string error;
    if (!data.append(slice, std::move(results), outputs, error))
      return createStringError(error);
    progress.advance();
  }
  for (auto [found, wanted] : zip_equal(outputs, expected))
    if (found.byteSize != wanted.byteSize ||
        std::memcmp(found.bytes.get(), wanted.bytes.get(), found.byteSize) != 0)
      return createStringError("the program for --stats gives other bits than "
                               "the one that is measured: please report this");
  return Error::success();
}

Expected<Statistics>
numera::collectStatistics(const Executable &executable, DataSet &data,
                          numera_options options, ArrayRef<FlagCounts> rows,
                          const std::vector<host::Array> &expected,
                          const Registry &registry) {
  StatisticsCollector collector(rows);
  if (Error error = observe(executable, data, options, "counting", expected,
                            [&](std::vector<host::Array> &results) {
                              if (rows.empty())
                                return;
                              collector.add(results.back().data<int64_t>());
                              results.pop_back();
                            }))
    return std::move(error);
  return collector.finish(registry);
}

static numera_tensor tensorOf(host::Array &array) {
  numera_tensor tensor = {};
  tensor.data = array.bytes.get();
  tensor.dtype = array.dtype == host::DType::f8 ? NUMERA_F64 : NUMERA_F32;
  tensor.rank = int32_t(array.shape.size());
  llvm::copy(array.shape, tensor.shape);
  return tensor;
}

Error numera::collectLayers(const Executable &executable, DataSet &data,
                            numera_options options, LayerCollector &layers,
                            const std::vector<host::Array> &expected) {
  return observe(
      executable, data, options, "layers", expected,
      [&](std::vector<host::Array> &results) {
        auto first = results.end() -
                     ptrdiff_t(layers.getRows().size() * LayerRow::results);
        layers.add(map_to_vector(make_range(first, results.end()), tensorOf));
        results.erase(first, results.end());
      });
}

using Row = std::vector<std::string>;

/// The first `words` columns and the last are words, the others numbers.
static void printTable(ArrayRef<Row> rows, size_t words, raw_ostream &stream) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row &row : rows)
    for (auto [i, cell] : enumerate(row))
      widths[i] = std::max(widths[i], cell.size());
  for (const Row &row : rows) {
    std::string line;
    for (auto [i, cell] : enumerate(row)) {
      std::string padding(widths[i] - cell.size(), ' ');
      bool isWord = i < words || i + 1 == row.size();
      line += (i ? "  " : "") + (isWord ? cell + padding : padding + cell);
    }
    stream << StringRef(line).rtrim() << '\n';
  }
}

static std::string figure(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

static std::string share(uint64_t part, uint64_t whole) {
  return std::to_string(part) + " (" +
         figure(whole ? 100 * double(part) / double(whole) : 0) + " %)";
}

void numera::printStatistics(const Statistics &statistics,
                             raw_ostream &stream) {
  std::vector<Row> rows = {{"operation", "format", "count"}};
  for (StringRef kind : {"overflow", "underflow", "invalid", "x/0"})
    rows[0].push_back(kind.str());
  rows[0].push_back("name");
  for (const OperationStatistics &each : statistics.operations) {
    Row row = {each.operation.operation, each.operation.format,
               std::to_string(each.done)};
    for (auto [kind, count] : enumerate(each.flags))
      row.push_back(each.operation.known >> kind & 1 ? std::to_string(count)
                                                     : "?");
    row.push_back(each.operation.name);
    rows.push_back(std::move(row));
  }
  printTable(rows, 2, stream);
  if (statistics.tensors.empty())
    return;
  rows = {{"tensor", "made by", "format", "elements", "saturated", "to zero",
           "least scale", "greatest", "wasted bits", ""}};
  for (const TensorStatistics &each : statistics.tensors)
    rows.push_back({each.name, each.operation, each.format,
                    std::to_string(each.count),
                    share(each.saturated, each.count),
                    share(each.zeros, each.count), figure(each.least),
                    figure(each.greatest), figure(each.wastedBits), ""});
  printTable(rows, 3, stream);
}

/// A figure in dB; `exact` without an error.
static std::string decibels(std::optional<double> value) {
  if (!value)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", *value);
  return std::isinf(*value) ? "exact" : text;
}

void numera::printLayers(const LayerCollector &layers, raw_ostream &stream) {
  std::vector<Row> rows = {{"layer", "operation", "format", "elements", "in dB",
                            "own dB", "out dB", "own ulps", "overflow",
                            "to zero", ""}};
  for (auto [i, row] : enumerate(layers.getRows())) {
    const LayerErrors &found = layers[i];
    rows.push_back(
        {row.name, row.operation, row.format, std::to_string(found.count),
         decibels(layers.sqnrOfInputs(i)), decibels(found.own.sqnr()),
         decibels(found.all.sqnr()), figure(found.own.largestUlps),
         share(found.overflow, found.count), share(found.zeros, found.count),
         ""});
  }
  if (rows.size() > 1)
    printTable(rows, 3, stream);
}
