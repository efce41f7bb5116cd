// SPDX-License-Identifier: MIT

#include "numera/Target/Driver/Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace numera;

/// In JSON, in the order of their bits.
static constexpr StringLiteral kinds[FlagCounts::kinds] = {
    "overflow", "underflow", "invalid", "division_by_zero"};

/// log2 r of Z13, or log2 log2 r where elements have an exponent.
static double wastedBits(const ScaledFormat &format, float largest) {
  if (largest == 0)
    return INFINITY;
  double bits = std::log2(format.fullScale() / double(largest));
  if (!format.element.getFamily().isEvenlySpaced())
    bits = bits > 1 ? std::log2(bits) : 0;
  return std::max(bits, 0.0);
}

/// Whether what was counted has run: a tensor has elements then, or results.
static bool hasRun(bool isTensor, ArrayRef<uint64_t> numbers) {
  return any_of(isTensor ? numbers.take_front(2) : numbers,
                [](uint64_t number) { return number != 0; });
}

void StatisticsCollector::add(const int64_t *numbers) {
  for (auto [place, row, each] : enumerate(rows, sums)) {
    // The same in every call in which it runs: branches are not always taken.
    bool isNew = isFirst;
    if (row.isConstant && !isFirst) {
      ArrayRef<uint64_t> given(reinterpret_cast<const uint64_t *>(numbers),
                               FlagCounts::numbers);
      if (hasRun(row.isTensor, each) || !hasRun(row.isTensor, given)) {
        numbers += FlagCounts::numbers;
        continue;
      }
      each.fill(0);
      isNew = true;
    }
    for (auto [i, sum] : enumerate(each)) {
      auto number = uint64_t(*numbers++);
      if (!row.isTensor && number == uint64_t(FlagCounts::postponed))
        isPostponed.insert(int64_t(place));
      else if (!row.isTensor || i < 2 || isNew)
        sum += number;
      else // least, greatest and largest, as bits
        sum = i == 2 ? std::min(sum, number) : std::max(sum, number);
    }
  }
  isFirst = false;
}

SmallVector<int64_t> StatisticsCollector::postponed() const {
  SmallVector<int64_t> found(isPostponed.begin(), isPostponed.end());
  sort(found);
  return found;
}

void StatisticsCollector::replace(ArrayRef<int64_t> rows,
                                  const StatisticsCollector &other) {
  for (int64_t row : rows) {
    sums[size_t(row)] = other.sums[size_t(row)];
    isPostponed.erase(row);
  }
}

TensorStatistics StatisticsCollector::tensorOf(const FlagCounts &row,
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

Statistics StatisticsCollector::finish(const Registry &registry) const {
  Statistics statistics;
  for (auto [row, found] : zip_equal(rows, sums))
    if (!row.isTensor) {
      OperationStatistics &operation = statistics.operations.emplace_back();
      operation.operation = row;
      operation.done = found[0];
      std::copy(found.begin() + 1, found.end(), operation.flags.begin());
    }
  for (auto [row, found] : zip_equal(rows, sums))
    if (row.isTensor)
      statistics.tensors.push_back(tensorOf(row, found, statistics, registry));
  // That of constants was needed for the tensors.
  erase_if(statistics.operations, [](const OperationStatistics &each) {
    return each.operation.isConstant;
  });
  return statistics;
}

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
    json.attribute(kinds[kind], each.operation.known >> kind & 1
                                    ? json::Value(count)
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
