// SPDX-License-Identifier: MIT

#include "TextPlot.h"

#include "Precision.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace numera;

namespace {
/// Columns of equal parts of the exponents [low, high].
struct Columns {
  double low, high;
  size_t count;
  double begin(size_t column) const {
    return low + (high - low) * double(column) / double(count);
  }
};
} // namespace

static constexpr size_t mostColumns = 72, mostRows = 12, labelWidth = 6;

/// The most bits that numbers of this column have; none without a number.
static std::optional<double> bitsIn(ArrayRef<PrecisionStep> steps,
                                    const Columns &columns, size_t column) {
  double from = columns.begin(column), to = columns.begin(column + 1);
  std::optional<double> bits;
  for (const PrecisionStep &step : steps)
    if (step.from < to && step.to >= from)
      bits = std::max(bits.value_or(0), step.bits);
  return bits;
}

static void draw(const PlottedFormat &plotted, ArrayRef<PrecisionStep> steps,
                 const Columns &columns, raw_ostream &stream) {
  std::vector<std::optional<double>> bits;
  double most = 0;
  for (size_t column = 0; column < columns.count; ++column) {
    bits.push_back(bitsIn(steps, columns, column));
    most = std::max(most, bits.back().value_or(0));
  }
  stream << plotted.label() << ": significant bits\n";
  auto top = size_t(std::lround(most));
  size_t step = std::max<size_t>(1, (top + mostRows - 1) / mostRows);
  for (size_t level = top; level > 0; level -= std::min(level, step)) {
    stream << right_justify(std::to_string(level), labelWidth - 2) << " |";
    std::string row;
    for (std::optional<double> each : bits)
      row += each && *each > double(level) - 0.5 ? '#' : ' ';
    stream << StringRef(row).rtrim() << '\n';
  }
  // Numbers of less than one bit, far from each other, are a line alone.
  std::string row;
  for (std::optional<double> each : bits)
    row += each ? '-' : ' ';
  stream << right_justify("+", labelWidth) << StringRef(row).rtrim() << '\n';
}

void numera::printTextPlot(ArrayRef<PlottedFormat> formats,
                           raw_ostream &stream) {
  std::vector<std::vector<PrecisionStep>> steps;
  Columns columns = {0, 1, 0};
  for (const PlottedFormat &plotted : formats) {
    steps.push_back(precisionSteps(plotted.format));
    if (steps.back().empty())
      continue;
    columns.low = std::min(columns.low, std::floor(steps.back().front().from));
    columns.high = std::max(columns.high, std::ceil(steps.back().back().to));
  }
  auto span = size_t(columns.high - columns.low);
  // A whole number of binades a column, or of columns a binade.
  size_t stride = (span + mostColumns - 1) / mostColumns;
  columns.count = (span + stride - 1) / stride;
  columns.high = columns.low + double(columns.count * stride);
  if (stride == 1)
    columns.count *= std::max<size_t>(1, mostColumns / columns.count);
  for (auto [plotted, each] : zip_equal(formats, steps))
    draw(plotted, each, columns, stream);
  // The ends, and 1 where both leave room for it.
  std::string axis(labelWidth + columns.count + 8, ' ');
  auto write = [&](double exponent, bool isEnd) {
    std::string label = "2^" + std::to_string(int64_t(exponent));
    auto place = labelWidth +
                 size_t((exponent - columns.low) /
                        (columns.high - columns.low) * double(columns.count));
    if (isEnd)
      place -= std::min(place, label.size());
    size_t from = place == 0 ? 0 : place - 1;
    if (StringRef(axis).substr(from, label.size() + 2).trim().empty())
      axis.replace(place, label.size(), label);
  };
  write(columns.low, false);
  write(columns.high, true);
  write(0, false);
  stream << StringRef(axis).rtrim() << '\n';
}
