// SPDX-License-Identifier: MIT

#include "Statistics.h"

#include "numera/Registry/Scaling/Scaling.h"
#include "numera/Runtime/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace llvm;
using namespace numera;

namespace {

/// The kinds of flags in the order of their bits.
struct Column {
  StringLiteral key;    ///< in JSON
  StringLiteral header; ///< of the table
};
constexpr Column kinds[FlagCounts::kinds] = {
    {"overflow", "overflow"},
    {"underflow", "underflow"},
    {"invalid", "invalid"},
    {"division_by_zero", "x/0"},
};

} // namespace

static bool isKnown(const OperationStatistics &operation, size_t kind) {
  return operation.operation.known >> kind & 1;
}

/// log2 r of Z13, or log2 log2 r where elements have an exponent.
static double wastedBits(const ScaledFormat &format, float largest) {
  if (largest == 0)
    return INFINITY;
  double bits = std::log2(format.fullScale() / double(largest));
  if (!format.element.getFamily().isEvenlySpaced())
    bits = bits > 1 ? std::log2(bits) : 0;
  return std::max(bits, 0.0);
}

namespace {

/// The numbers of all rows, over the slices of a data set.
class Collector {
public:
  Collector(ArrayRef<FlagCounts> rows) : rows(rows), numbers(rows.size()) {}

  void add(const host::Array &slice);
  Statistics finish(const Registry &registry) const;

private:
  using Numbers = std::array<uint64_t, FlagCounts::numbers>;
  TensorStatistics tensorOf(const FlagCounts &row, const Numbers &found,
                            const Statistics &statistics,
                            const Registry &registry) const;

  ArrayRef<FlagCounts> rows;
  std::vector<Numbers> numbers;
  bool isFirst = true;
};

} // namespace

void Collector::add(const host::Array &slice) {
  const auto *next = slice.data<int64_t>();
  for (auto [row, sums] : zip_equal(rows, numbers))
    for (auto [i, sum] : enumerate(sums)) {
      auto number = uint64_t(*next++);
      if (!row.isTensor || i < 2 || isFirst)
        sum += number;
      else // least, greatest and largest, as bits
        sum = i == 2 ? std::min(sum, number) : std::max(sum, number);
    }
  isFirst = false;
}

TensorStatistics Collector::tensorOf(const FlagCounts &row,
                                     const Numbers &found,
                                     const Statistics &statistics,
                                     const Registry &registry) const {
  auto number = [&](size_t i) { return bit_cast<float>(uint32_t(found[i])); };
  TensorStatistics tensor{.name = row.name,
                          .operation = row.operation,
                          .format = row.format,
                          .count = found[0],
                          .zeros = found[1],
                          .least = number(2),
                          .greatest = number(3)};
  std::string error;
  ScaledFormat format = registry.lookupScaledFormat(row.format, error);
  Format element = format.element;
  tensor.wastedBits = wastedBits(format, number(4));
  // The casts to elements stand at the tensor's name. What is computed from
  // scaled tensors has scales with which nothing saturates.
  if (row.operation != "quantize")
    return tensor;
  std::string name = registry.nameOrSpelling(element);
  uint64_t done = 0;
  for (const OperationStatistics &each : statistics.operations)
    if (each.operation.name == row.name && each.operation.operation == "cast" &&
        each.operation.format == name && each.done > done) {
      done = each.done;
      tensor.saturated = each.flags[0];
    }
  return tensor;
}

Statistics Collector::finish(const Registry &registry) const {
  Statistics statistics;
  for (auto [row, found] : zip_equal(rows, numbers))
    if (!row.isTensor) {
      OperationStatistics &operation = statistics.operations.emplace_back();
      operation.operation = row;
      operation.done = found[0];
      std::copy(found.begin() + 1, found.end(), operation.flags.begin());
    }
  for (auto [row, found] : zip_equal(rows, numbers))
    if (row.isTensor)
      statistics.tensors.push_back(tensorOf(row, found, statistics, registry));
  return statistics;
}

Expected<Statistics>
numera::collectStatistics(const Executable &executable, DataSet &data,
                          numera_options options, ArrayRef<FlagCounts> rows,
                          const std::vector<host::Array> &expected,
                          const Registry &registry) {
  Collector collector(rows);
  std::vector<host::Array> outputs;
  host::Progress progress("counting", data.slices());
  for (size_t slice = 0; slice < data.slices(); ++slice) {
    std::vector<host::Array> results;
    options.sample = uint64_t(data.firstRow(slice));
    if (Error error = executable.program->call(
            executable.function.name, data.slice(slice), results, options))
      return std::move(error);
    if (!rows.empty()) {
      collector.add(results.back());
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

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// JSON has no infinity and no NaN.
static json::Value orNull(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static void print(const OperationStatistics &each, json::OStream &json) {
  json.attribute("name", json::fixUTF8(each.operation.name));
  json.attribute("operation", each.operation.operation);
  json.attribute("format", each.operation.format);
  json.attribute("count", each.done);
  for (auto [kind, count] : enumerate(each.flags))
    json.attribute(kinds[kind].key, isKnown(each, kind) ? json::Value(count)
                                                        : json::Value(nullptr));
}

static void print(const TensorStatistics &tensor, json::OStream &json) {
  json.attribute("name", json::fixUTF8(tensor.name));
  json.attribute("operation", tensor.operation);
  json.attribute("format", tensor.format);
  json.attribute("count", tensor.count);
  json.attribute("saturated", tensor.saturated);
  json.attribute("zeros", tensor.zeros);
  json.attribute("least_scale", orNull(tensor.least));
  json.attribute("greatest_scale", orNull(tensor.greatest));
  json.attribute("wasted_bits", orNull(tensor.wastedBits));
}

void numera::printStatistics(const Statistics &statistics,
                             json::OStream &json) {
  json.attributeArray("stats", [&] {
    for (const OperationStatistics &each : statistics.operations)
      json.object([&] { print(each, json); });
  });
  if (!statistics.tensors.empty())
    json.attributeArray("scaled", [&] {
      for (const TensorStatistics &each : statistics.tensors)
        json.object([&] { print(each, json); });
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
  for (const Column &kind : kinds)
    rows[0].push_back(kind.header.str());
  rows[0].push_back("name");
  for (const OperationStatistics &each : statistics.operations) {
    Row row = {each.operation.operation, each.operation.format,
               std::to_string(each.done)};
    for (auto [kind, count] : enumerate(each.flags))
      row.push_back(isKnown(each, kind) ? std::to_string(count) : "?");
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
