// SPDX-License-Identifier: MIT

#include "Statistics.h"

#include "Support/CommandLine.h"
#include "Support/Reproducer.h"

#include "numera/Runtime/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace llvm;
using namespace numera;

static numera_tensor tensorOf(host::Array &array) {
  numera_tensor tensor = {};
  tensor.data = array.bytes.get();
  tensor.dtype = array.dtype == host::DType::f8 ? NUMERA_F64 : NUMERA_F32;
  tensor.rank = int32_t(array.shape.size());
  llvm::copy(array.shape, tensor.shape);
  return tensor;
}

Error numera::observe(const Executable &executable, DataSet &data,
                      numera_options options, StringRef label,
                      const Observers &observers, Measured &out) {
  using Clock = std::chrono::steady_clock;
  Clock::duration total{};
  out.outputs.clear();
  if (observers.layers)
    observers.layers->collectFrom(options);
  ProgramRuns scope;
  host::Progress progress(std::string_view(label), data.slices());
  size_t count = executable.function.outputs.size();
  std::vector<host::Array> results; // their memory is used again
  for (size_t slice = 0; slice < data.slices(); ++slice) {
    options.sample = uint64_t(data.firstRow(slice));
    std::vector<const host::Array *> inputs = data.slice(slice);
    Clock::time_point begin = Clock::now();
    if (Error error = executable.program->call(executable.function.name, inputs,
                                               results, options))
      return error;
    total += Clock::now() - begin;
    std::vector<host::Array> own(count);
    std::swap_ranges(own.begin(), own.end(), results.begin());
    auto others = MutableArrayRef(results).drop_front(count);
    if (observers.counts) {
      observers.counts->add(others.front().data<int64_t>());
      others = others.drop_front();
    }
    if (observers.layers && !others.empty())
      observers.layers->add(map_to_vector(others, tensorOf));
    std::string error;
    if (!data.append(slice, std::move(own), out.outputs, error))
      return createStringError(error);
    progress.advance();
  }
  out.seconds = {std::chrono::duration<double>(total).count()};
  return Error::success();
}

Error numera::observe(const Executable &executable, DataSet &data,
                      numera_options options, StringRef label,
                      const Observers &observers,
                      const std::vector<host::Array> &expected) {
  Measured found;
  if (Error error = observe(executable, data, options, label, observers, found))
    return error;
  for (auto [one, other] : zip_equal(found.outputs, expected))
    if (one.byteSize != other.byteSize ||
        std::memcmp(one.bytes.get(), other.bytes.get(), one.byteSize) != 0)
      return createStringError("the program for --stats gives other bits than "
                               "the one that is measured: please report this");
  return Error::success();
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
    row.push_back(printable(each.operation.name));
    rows.push_back(std::move(row));
  }
  printTable(rows, 2, stream);
  if (statistics.tensors.empty())
    return;
  rows = {{"tensor", "made by", "format", "elements", "saturated", "to zero",
           "least scale", "greatest", "wasted bits", ""}};
  for (const TensorStatistics &each : statistics.tensors)
    rows.push_back({printable(each.name), each.operation, each.format,
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
        {printable(row.name), row.operation, row.format,
         std::to_string(found.count), decibels(layers.sqnrOfInputs(i)),
         decibels(found.own.sqnr()), decibels(found.all.sqnr()),
         figure(found.own.largestUlps), share(found.overflow, found.count),
         share(found.zeros, found.count), ""});
  }
  if (rows.size() > 1)
    printTable(rows, 3, stream);
}
