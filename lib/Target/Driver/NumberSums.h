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
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>

namespace numera::layers {

inline constexpr size_t lanes = 8;
/// Numbers that are taken at once.
inline constexpr size_t block = 512;
/// One place more, for infinities and NaN.
inline constexpr int exponents = 1025 - LayerErrors::firstExponent;

/// Vectors of `lanes` numbers.
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Words __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(64)));

template <typename T, typename S>
[[gnu::always_inline]] inline T load(const S *from) {
  T vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// The greatest values and the sums of `NumberErrors`, by lane.
struct ErrorSums {
  double signal[lanes] = {}, noise[lanes] = {}, largest[lanes] = {};
  double ulps[lanes] = {}, largestUlps[lanes] = {};
  uint64_t compared[lanes] = {};

  [[gnu::always_inline]] void add(size_t lane, double value, double reference,
                                  double perUlp) {
    double error = std::abs(value - reference);
    bool isFinite = error < INFINITY;
    error = isFinite ? error : 0;
    double x = isFinite ? reference : 0;
    compared[lane] += isFinite;
    signal[lane] += x * x;
    noise[lane] += error * error;
    largest[lane] = std::max(largest[lane], error);
    ulps[lane] += error * perUlp;
    largestUlps[lane] = std::max(largestUlps[lane], error * perUlp);
  }

  /// A block in which all is finite.
  [[gnu::always_inline]] void
  addFinite(const float *value, const float *reference, const double *perUlp) {
    auto signals = load<Doubles>(signal), noises = load<Doubles>(noise);
    auto most = load<Doubles>(largest), mostUlps = load<Doubles>(largestUlps);
    auto sum = load<Doubles>(ulps);
    for (size_t i = 0; i < block; i += lanes) {
      auto x = __builtin_convertvector(load<Floats>(reference + i), Doubles);
      auto y = __builtin_convertvector(load<Floats>(value + i), Doubles);
      Doubles error = y - x;
      error = error < 0 ? -error : error;
      Doubles inUlps = error * load<Doubles>(perUlp + i);
      signals += x * x;
      noises += error * error;
      most = most < error ? error : most;
      sum += inUlps;
      mostUlps = mostUlps < inUlps ? inUlps : mostUlps;
    }
    std::memcpy(signal, &signals, sizeof signal);
    std::memcpy(noise, &noises, sizeof noise);
    std::memcpy(largest, &most, sizeof largest);
    std::memcpy(ulps, &sum, sizeof ulps);
    std::memcpy(largestUlps, &mostUlps, sizeof largestUlps);
    for (uint64_t &count : compared)
      count += block / lanes;
  }

  NumberErrors sum() const {
    NumberErrors errors;
    for (size_t i = 0; i < lanes; ++i)
      errors += {signal[i],      noise[i], largest[i],
                 largestUlps[i], ulps[i],  compared[i]};
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
                                  double largest, double leastNormal) {
    double magnitude = std::abs(reference);
    bool isNumber = magnitude > 0 && magnitude < INFINITY;
    bool isBeyond = isNumber && magnitude > largest;
    greatest[lane] = std::max(greatest[lane], isNumber ? magnitude : 0.0);
    overflow[lane] += isBeyond;
    saturated[lane] += isBeyond && std::abs(value) == largest;
    underflow[lane] += isNumber && magnitude < leastNormal;
    zeros[lane] += isNumber && value == 0;
    nan[lane] += value != value && magnitude == magnitude;
    finite[lane] += magnitude < INFINITY;
  }

  /// A block in which all is finite.
  [[gnu::always_inline]] void addFinite(const float *value,
                                        const float *reference,
                                        const FloatLimits &limits) {
    Words beyond = {}, held = {}, small = {}, lost = {};
    Floats most = {};
    for (size_t i = 0; i < block; i += lanes) {
      auto x = load<Floats>(reference + i), y = load<Floats>(value + i);
      Floats magnitude = x < 0 ? -x : x, is = y < 0 ? -y : y;
      Words isNumber = magnitude > 0;
      Words isBeyond = isNumber & (magnitude > limits.largest);
      most = most < magnitude ? magnitude : most;
      beyond -= isBeyond; // true is -1
      held -= isBeyond & (is == limits.held);
      small -= isNumber & (magnitude < limits.leastNormal);
      lost -= isNumber & (y == 0);
    }
    for (size_t i = 0; i < lanes; ++i) {
      overflow[i] += uint64_t(beyond[i]);
      saturated[i] += uint64_t(held[i]);
      underflow[i] += uint64_t(small[i]);
      zeros[i] += uint64_t(lost[i]);
      finite[i] += block / lanes;
      greatest[i] = std::max(greatest[i], double(most[i]));
    }
  }

  static uint64_t sum(const uint64_t (&counts)[lanes]) {
    return std::accumulate(std::begin(counts), std::end(counts), uint64_t(0));
  }
};

/// Numbers of the reference by the exponent's field of an f32. Neighbours often
/// have one exponent: several counters of it need not wait for each other.
struct Binades {
  static constexpr size_t counters = 4;
  uint32_t fields[256][counters] = {};

  /// Adds to the counts from `LayerErrors::firstExponent` on; for several
  /// threads at once.
  static void add(std::vector<uint64_t> &counts, int place, uint64_t count) {
    std::atomic_ref(counts[size_t(place)])
        .fetch_add(count, std::memory_order_relaxed);
  }
  /// Those of numbers that are normal in f32.
  void addTo(std::vector<uint64_t> &counts) const {
    for (int field = 1; field < 255; ++field) {
      uint64_t count = 0;
      for (uint32_t each : fields[field])
        count += each;
      if (count)
        add(counts, field + firstPlace, count);
    }
  }
  /// The place of a field's exponent.
  static constexpr int firstPlace = -127 - LayerErrors::firstExponent;
};

/// Marks what occurs, a bit for each place; for several threads at once. Nearly
/// all places are marked already, and reading waits for no other thread.
[[gnu::always_inline]] inline void mark(uint64_t *used, uint32_t place) {
  std::atomic_ref word(used[place / 64]);
  uint64_t bit = uint64_t(1) << place % 64;
  if ((word.load(std::memory_order_relaxed) & bit) == 0) [[unlikely]]
    word.fetch_or(bit, std::memory_order_relaxed);
}

/// True for a block of finite numbers, of which none of the reference is
/// subnormal.
[[gnu::always_inline]] inline bool isPlain(const float *value, const float *own,
                                           const float *reference) {
  Words found = {};
  for (size_t i = 0; i < block; i += lanes) {
    auto x = load<Words>(reference + i), y = load<Words>(value + i);
    auto z = load<Words>(own + i);
    constexpr int32_t field = 0x7f800000;
    found |= (x & field) == field | (y & field) == field | (z & field) == field;
    found |= ((x & field) == 0) & ((x & 0x7fffffff) != 0);
  }
  bool isPlain = true;
  for (size_t i = 0; i < lanes; ++i)
    isPlain &= found[i] == 0;
  return isPlain;
}

} // namespace numera::layers

#endif // NUMERA_LIB_TARGET_DRIVER_NUMBERSUMS_H
