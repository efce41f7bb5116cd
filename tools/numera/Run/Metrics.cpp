// SPDX-License-Identifier: MIT

#include "Metrics.h"
#include "numera/Runtime/Convert.h"

#include <algorithm>
#include <cmath>

using namespace numera;
using host::Array;
using host::DType;

/// Calls `visit` with the elements, as a pointer to their C++ type; of floats
/// of 16 bits with their numbers.
template <typename F> static auto visitElements(const Array &array, F visit) {
  switch (array.dtype) {
  case DType::f2:
  case DType::bf2: {
    std::vector<float> numbers(array.size());
    std::transform(array.data<uint16_t>(),
                   array.data<uint16_t>() + array.size(), numbers.begin(),
                   array.dtype == DType::f2 ? host::numberOfHalf
                                            : host::numberOfBFloat);
    return visit(static_cast<const float *>(numbers.data()));
  }
  case DType::f8:
    return visit(array.data<double>());
  case DType::i1:
    return visit(array.data<int8_t>());
  case DType::i2:
    return visit(array.data<int16_t>());
  case DType::i4:
    return visit(array.data<int32_t>());
  case DType::i8:
    return visit(array.data<int64_t>());
  case DType::u1:
  case DType::b1:
    return visit(array.data<uint8_t>());
  case DType::u2:
    return visit(array.data<uint16_t>());
  case DType::u4:
    return visit(array.data<uint32_t>());
  case DType::u8:
    return visit(array.data<uint64_t>());
  case DType::v16:
  case DType::v32: // codes, of which no metric knows the numbers
    return visit(array.data<uint8_t>());
  default:
    return visit(array.data<float>());
  }
}

static std::vector<double> toDoubles(const Array &array) {
  return visitElements(array, [&](const auto *elements) {
    return std::vector<double>(elements, elements + array.size());
  });
}

namespace {

struct Rows {
  size_t count, length;

  explicit Rows(const Array &array) {
    count = array.shape.size() < 2 ? 1 : size_t(array.shape[0]);
    if (array.size() == 0)
      count = 0;
    length = count ? array.size() / count : 0;
  }
};

} // namespace

static std::optional<size_t> argmax(const double *row, size_t length) {
  std::optional<size_t> best;
  for (size_t i = 0; i < length; ++i)
    if (!std::isnan(row[i]) && (!best || row[i] > row[*best]))
      best = i;
  return best;
}

/// JSON has no infinity, and a NaN here is 0/0.
static std::optional<double> ifFinite(long double value) {
  auto narrow = static_cast<double>(value);
  return std::isfinite(narrow) ? std::optional(narrow) : std::nullopt;
}

static void compareValues(const std::vector<double> &result,
                          const std::vector<double> &reference,
                          Comparison &out) {
  // The squares of f64 results overflow a double.
  long double signal = 0, noise = 0, maxAbs = 0, maxRel = 0;
  bool any = false;
  for (size_t i = 0; i < reference.size(); ++i) {
    double x = result[i], y = reference[i];
    if (!std::isfinite(x) || !std::isfinite(y)) {
      out.nonFinite += x != y && !(std::isnan(x) && std::isnan(y));
      continue;
    }
    any = true;
    long double error = std::fabs(static_cast<long double>(x) - y);
    maxAbs = std::max(maxAbs, error);
    if (y != 0)
      maxRel = std::max(maxRel, error / std::fabs(static_cast<long double>(y)));
    signal += static_cast<long double>(y) * y;
    noise += error * error;
  }
  if (!any)
    return;
  out.maxAbsError = ifFinite(maxAbs);
  out.maxRelError = ifFinite(maxRel);
  out.sqnr = ifFinite(10 * std::log10(signal / noise));
}

Comparison numera::compare(const Array &result, const Array &reference) {
  Comparison out;
  std::vector<double> x = toDoubles(result), y = toDoubles(reference);
  compareValues(x, y, out);
  Rows rows(reference);
  if (rows.count == 0)
    return out;
  size_t equal = 0;
  for (size_t row = 0; row < rows.count; ++row) {
    auto of = [&](const std::vector<double> &values) {
      return argmax(values.data() + row * rows.length, rows.length);
    };
    std::optional<size_t> expected = of(y);
    equal += expected && of(x) == expected;
  }
  out.top1Agreement = double(equal) / double(rows.count);
  return out;
}

uint64_t numera::countNaN(const Array &array) {
  return visitElements(array, [&](const auto *elements) {
    return uint64_t(std::count_if(elements, elements + array.size(),
                                  [](auto x) { return x != x; }));
  });
}

static bool checkLabels(const Array &labels, size_t rows, std::string &error) {
  if (labels.shape.size() == 1 && labels.size() == rows)
    return true;
  error =
      labels.shape.size() == 1
          ? std::to_string(labels.size()) + " labels"
          : "labels of " + std::to_string(labels.shape.size()) + " dimensions";
  error += ", expected one for each of the " + std::to_string(rows) +
           " rows of the first output";
  return false;
}

std::optional<double> numera::top1(const Array &result, const Array &labels,
                                   std::string &error) {
  Rows rows(result);
  if (!checkLabels(labels, rows.count, error) || rows.count == 0)
    return std::nullopt;
  std::vector<double> values = toDoubles(result), wanted = toDoubles(labels);
  size_t right = 0;
  for (size_t row = 0; row < rows.count; ++row) {
    double label = wanted[row];
    if (!std::isfinite(label) || label != std::trunc(label)) {
      error = "label " + std::to_string(label) + " of row " +
              std::to_string(row) + ", expected a whole number from 0 to " +
              std::to_string(rows.length - 1);
      return std::nullopt;
    }
    if (label < 0 || label >= double(rows.length)) {
      error = "label " + std::to_string(int64_t(label)) + " of row " +
              std::to_string(row) + ", expected 0 to " +
              std::to_string(rows.length - 1);
      return std::nullopt;
    }
    std::optional<size_t> found =
        argmax(values.data() + row * rows.length, rows.length);
    right += found && double(*found) == label;
  }
  return double(right) / double(rows.count);
}
