// SPDX-License-Identifier: MIT
//
// Sums over numbers beside those of the reference, in lanes, so that several
// numbers are added at once. A number is in the lane of its place modulo 8,
// and each lane adds in order: whatever vectors the machine has, bits are those
// of one number after the other.

#ifndef NUMERA_LIB_TARGET_DRIVER_NUMBERSUMS_H
#define NUMERA_LIB_TARGET_DRIVER_NUMBERSUMS_H

#include "numera/Target/Driver/LayerErrors.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace numera::layers {

inline constexpr size_t lanes = 8;
/// Numbers that are taken at once.
inline constexpr size_t block = 512;
/// One place more, for infinities and NaN.
inline constexpr int exponents = 1025 - LayerErrors::firstExponent;

/// The greatest values and the sums of `NumberErrors`, by lane.
struct ErrorSums {
  double signal[lanes] = {}, noise[lanes] = {}, largest[lanes] = {};
  double ulps[lanes] = {}, largestUlps[lanes] = {};
  uint64_t compared[lanes] = {}, inUlps[lanes] = {};

  /// `perUlp` is 0 where the reference is.
  [[gnu::always_inline]] void add(size_t lane, double value, double reference,
                                  double perUlp) {
    double error = std::abs(value - reference);
    bool isFinite = error < INFINITY;
    error = isFinite ? error : 0;
    double x = isFinite ? reference : 0;
    compared[lane] += isFinite;
    inUlps[lane] += isFinite && reference != 0;
    signal[lane] += x * x;
    noise[lane] += error * error;
    largest[lane] = std::max(largest[lane], error);
    ulps[lane] += error * perUlp;
    largestUlps[lane] = std::max(largestUlps[lane], error * perUlp);
  }

  NumberErrors sum() const {
    NumberErrors errors;
    for (size_t i = 0; i < lanes; ++i)
      errors += {signal[i], noise[i],    largest[i], largestUlps[i],
                 ulps[i],   compared[i], inUlps[i]};
    return errors;
  }
};

/// What becomes of the reference's numbers, by lane.
struct NumberCounts {
  uint64_t overflow[lanes] = {}, saturated[lanes] = {};
  uint64_t underflow[lanes] = {}, zeros[lanes] = {}, nan[lanes] = {};
  uint64_t finite[lanes] = {};
  double greatest[lanes] = {}; ///< magnitude of the reference

  [[gnu::always_inline]] void add(size_t lane, double value, double reference,
                                  double largest, double lowest,
                                  double leastNormal) {
    double magnitude = std::abs(reference);
    bool isNumber = magnitude > 0 && magnitude < INFINITY;
    bool isBeyond = isNumber & ((reference > largest) |
                                ((reference < 0) & (reference < lowest)));
    greatest[lane] = std::max(greatest[lane], isNumber ? magnitude : 0.0);
    overflow[lane] += isBeyond;
    saturated[lane] += isBeyond & (value == (reference < 0 ? lowest : largest));
    underflow[lane] += isNumber && magnitude < leastNormal;
    zeros[lane] += isNumber && value == 0;
    nan[lane] += value != value && magnitude == magnitude;
    finite[lane] += magnitude < INFINITY;
  }

  static uint64_t sum(const uint64_t (&counts)[lanes]) {
    return std::accumulate(std::begin(counts), std::end(counts), uint64_t(0));
  }
};

/// Numbers of the reference by the exponent's field of an f32. Neighbours often
/// have one exponent: several counters of it need not wait for each other.
struct Binades {
  static constexpr size_t counters = 4;
  uint32_t fields[counters][256] = {}; ///< zeros are in field 0

  /// Adds those of numbers that are normal in f32 to the counts from
  /// `LayerErrors::firstExponent` on.
  void addTo(std::vector<uint64_t> &counts) const {
    for (int field = 1; field < 255; ++field) {
      uint64_t count = 0;
      for (const auto &each : fields)
        count += each[field];
      if (count)
        counts[size_t(field + firstPlace)] += count;
    }
  }
  /// The place of a field's exponent.
  static constexpr int firstPlace = -127 - LayerErrors::firstExponent;
};

/// Marks what occurs, a bit for each place.
[[gnu::always_inline]] inline void mark(uint32_t *used, uint32_t place) {
  used[place / 32] |= uint32_t(1) << place % 32;
}

} // namespace numera::layers

#endif // NUMERA_LIB_TARGET_DRIVER_NUMBERSUMS_H
