// SPDX-License-Identifier: MIT

#include "Calibration.h"
#include <algorithm>
#include <cmath>

using namespace numera;

bool Observation::see(llvm::ArrayRef<float> values) {
  for (float value : values) {
    if (!std::isfinite(value))
      return false;
    amax = std::max(amax, std::fabs(value));
  }
  return true;
}

void Observation::count(llvm::ArrayRef<float> values) {
  if (amax == 0)
    return;
  for (float value : values) {
    float place = std::fabs(value) / amax * bins;
    ++counts[std::min(static_cast<size_t>(place), bins - 1)];
  }
}

float Observation::percentileOf(double percentile) const {
  uint64_t all = 0, seen = 0;
  for (uint64_t count : counts)
    all += count;
  for (size_t bin = 0; bin < bins; ++bin) {
    seen += counts[bin];
    if (double(seen) >= double(all) * percentile / 100)
      return amax * static_cast<float>(bin + 1) / bins;
  }
  return amax;
}

double Observation::errorOf(const ScaledFormat &format, float scale) const {
  ScaleGrid grid(format.scaling, {int64_t(bins)}, -1);
  std::vector<float> values(bins);
  for (size_t bin = 0; bin < bins; ++bin)
    values[bin] = middle(bin);
  std::vector<float> stored =
      dequantize(format, grid, quantize(format, grid, values, scale));
  double error = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    double off = double(stored[bin]) - double(values[bin]);
    error += double(counts[bin]) * off * off;
  }
  return error;
}

float Observation::choose(CalibrationMethod method, double percentile,
                          const ScaledFormat &format) const {
  if (method == CalibrationMethod::Absmax || amax == 0)
    return amax;
  if (method == CalibrationMethod::Percentile)
    return percentileOf(percentile);
  // From an eighth of the largest magnitude up to all of it.
  constexpr int steps = 64;
  float best = amax;
  double least = INFINITY;
  for (int step = steps / 8; step <= steps; ++step) {
    float candidate = amax * static_cast<float>(step) / steps;
    double error = errorOf(format, scaleOf(format, candidate));
    if (error <= least) {
      least = error;
      best = candidate;
    }
  }
  return best;
}
