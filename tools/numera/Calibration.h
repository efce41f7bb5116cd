// SPDX-License-Identifier: MIT
//
// Scales from what tensors were seen to hold.

#ifndef NUMERA_TOOLS_NUMERA_CALIBRATION_H
#define NUMERA_TOOLS_NUMERA_CALIBRATION_H

#include "numera/Registry/Quantize.h"

namespace numera {

/// How the largest magnitude that a scale is for is chosen.
enum class CalibrationMethod {
  Absmax,     ///< the largest that was seen
  Percentile, ///< one that a share of what was seen does not exceed
  LeastError, ///< the one with the least mean square error
};

/// What was seen of one tensor, in two passes over the same values: the first
/// finds the largest magnitude, the second how many there are of each size.
class Observation {
public:
  /// False for a value that is NaN or infinite.
  bool see(llvm::ArrayRef<float> values);
  void count(llvm::ArrayRef<float> values);

  float largest() const { return amax; }
  /// The magnitude that scales are to hold; of no tensor that was all zeros.
  /// `percentile` is in percent.
  float choose(CalibrationMethod method, double percentile,
               const ScaledFormat &format) const;

private:
  static constexpr size_t bins = 4096;
  /// The magnitude in the middle of a bin.
  float middle(size_t bin) const {
    return amax * (static_cast<float>(bin) + 0.5f) / bins;
  }
  float percentileOf(double percentile) const;
  double errorOf(const ScaledFormat &format, float scale) const;

  float amax = 0;
  std::vector<uint64_t> counts = std::vector<uint64_t>(bins);
};

} // namespace numera

#endif // NUMERA_TOOLS_NUMERA_CALIBRATION_H
