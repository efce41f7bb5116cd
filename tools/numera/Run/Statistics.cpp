// SPDX-License-Identifier: MIT

#include "Statistics.h"

#include "numera/Runtime/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace llvm;
using namespace numera;

Expected<Statistics>
numera::collectStatistics(const Executable &executable, DataSet &data,
                          numera_options options, ArrayRef<FlagCounts> rows,
                          const std::vector<host::Array> &expected,
                          const Registry &registry) {
  StatisticsCollector collector(rows);
  std::vector<host::Array> outputs;
  host::Progress progress("counting", data.slices());
  for (size_t slice = 0; slice < data.slices(); ++slice) {
    std::vector<host::Array> results;
    options.sample = uint64_t(data.firstRow(slice));
    if (Error error = executable.program->call(
            executable.function.name, data.slice(slice), results, options))
      return std::move(error);
    if (!rows.empty()) {
      collector.add(results.back().data<int64_t>());
      results.pop_back();
    }
    std::string error;
    if (!data.append(slice, std::move(results), outputs, error))
      return createStringError(error);
    progress.advance();
  }
  for (auto [found, wanted] : zip_equal(outputs, expected))
    if (found.byteSize != wanted.byteSize ||
        std::memcmp(found.bytes.get(), wanted.bytes.get(), found.byteSize) != 0)
      return createStringError(
          "the program that counts flags gives other bits than the one that "
          "does not: please report this");
  return collector.finish(registry);
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
