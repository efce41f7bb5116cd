// SPDX-License-Identifier: MIT
//
// Scales from what tensors were seen to hold.

#ifndef NUMERA_TOOLS_RUN_CALIBRATION_H
#define NUMERA_TOOLS_RUN_CALIBRATION_H

#include "numera/Registry/Scaling/Quantize.h"

namespace numera {

/// How what a scale is for is chosen.
enum class CalibrationMethod {
  Absmax,     ///< all that was seen
  Percentile, ///< a share of what was seen, without the largest
  LeastError, ///< the one with the least mean square error
};

/// The numbers that a scale is for: from `least`, at most 0, to `most`. Without
/// zero points they are magnitudes, and `least` is 0.
struct Span {
  float least = 0, most = 0;

  Span operator*(float factor) const { return {least * factor, most * factor}; }
};

/// The scale for a span and, where the format has them, its zero point.
ScaleAndZero scaleOf(const ScaledFormat &format, Span span);

/// What was seen of one tensor, in two passes over the same values: the first
/// finds the span, the second how many there are of each size.
class Observation {
public:
  /// For scales of `format`.
  explicit Observation(const ScaledFormat &format) : format(format) {}

  /// False for a value that is NaN or infinite.
  bool see(llvm::ArrayRef<float> values);
  void count(llvm::ArrayRef<float> values);

  /// The numbers that scales are to hold. `percentile` is in percent.
  Span choose(CalibrationMethod method, double percentile) const;

private:
  static constexpr size_t bins = 4096;
  /// What is told apart of a value.
  float sizeOf(float value) const;
  /// The number `bin` bins above the least.
  float at(float bin) const {
    return all.least + (all.most - all.least) * bin / bins;
  }
  Span percentileOf(double percentile) const;
  double errorOf(Span span) const;

  const ScaledFormat &format;
  Span all;
  std::vector<uint64_t> counts = std::vector<uint64_t>(bins);
};

} // namespace numera

#endif // NUMERA_TOOLS_RUN_CALIBRATION_H
