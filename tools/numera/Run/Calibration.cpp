// SPDX-License-Identifier: MIT

#include "Calibration.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace numera;

ScaleAndZero numera::scaleOf(const ScaledFormat &format, Span span) {
  return format.hasZeroPoint() ? scaleOfRange(format, span.least, span.most)
                               : ScaleAndZero{scaleOf(format, span.most), 0};
}

float Observation::sizeOf(float value) const {
  return format.hasZeroPoint() ? value : std::fabs(value);
}

bool Observation::see(llvm::ArrayRef<float> values) {
  for (float value : values) {
    if (!std::isfinite(value))
      return false;
    all.least = std::min(all.least, sizeOf(value));
    all.most = std::max(all.most, sizeOf(value));
  }
  return true;
}

void Observation::count(llvm::ArrayRef<float> values) {
  if (all.least == all.most)
    return;
  for (float value : values) {
    float place = (sizeOf(value) - all.least) / (all.most - all.least) * bins;
    ++counts[std::min(static_cast<size_t>(place), bins - 1)];
  }
}

/// The share that is left out is the one at the upper end; or half of it at
/// each, where numbers have both.
Span Observation::percentileOf(double percentile) const {
  auto seen =
      double(std::accumulate(counts.begin(), counts.end(), uint64_t(0)));
  double ends = format.hasZeroPoint() ? 2 : 1;
  double outside = seen * (1 - percentile / 100) / ends;
  size_t first = 0, last = bins;
  double below = 0, above = 0;
  while (last > 1 && above + double(counts[last - 1]) <= outside)
    above += double(counts[--last]);
  if (format.hasZeroPoint())
    while (first + 1 < last && below + double(counts[first]) <= outside)
      below += double(counts[first++]);
  return {std::min(at(float(first)), 0.0f), std::max(at(float(last)), 0.0f)};
}

double Observation::errorOf(Span span) const {
  ScaleGrid grid(format.scaling, {int64_t(bins)}, -1);
  std::vector<float> values(bins);
  for (size_t bin = 0; bin < bins; ++bin)
    values[bin] = at(float(bin) + 0.5f);
  auto [scale, zero] = scaleOf(format, span);
  std::vector<float> stored =
      dequantize(format, grid, quantize(format, grid, values, scale, zero));
  double error = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    double off = double(stored[bin]) - double(values[bin]);
    error += double(counts[bin]) * off * off;
  }
  return error;
}

Span Observation::choose(CalibrationMethod method, double percentile) const {
  if (method == CalibrationMethod::Absmax || all.least == all.most)
    return all;
  if (method == CalibrationMethod::Percentile)
    return percentileOf(percentile);
  // From an eighth of all to all of it.
  constexpr int steps = 64;
  Span best = all;
  double least = INFINITY;
  for (int step = steps / 8; step <= steps; ++step) {
    Span candidate = all * (static_cast<float>(step) / steps);
    double error = errorOf(candidate);
    if (error <= least) {
      least = error;
      best = candidate;
    }
  }
  return best;
}
