// SPDX-License-Identifier: MIT
//
// The sums of NumberSums.h over blocks of plain f32, which nearly all are: all
// numbers are finite, and none of the reference is subnormal.

#ifndef NUMERA_LIB_TARGET_DRIVER_PLAINSUMS_H
#define NUMERA_LIB_TARGET_DRIVER_PLAINSUMS_H

#include "NumberSums.h"

namespace numera::layers {

/// Vectors of `lanes` numbers.
typedef float Floats __attribute__((vector_size(32)));
typedef uint32_t Words __attribute__((vector_size(32)));

/// Half of the lanes: with all of them, sums of two errors would not fit into
/// 16 vectors of AVX2.
inline constexpr size_t halfLanes = lanes / 2;
typedef float HalfFloats __attribute__((vector_size(16)));
typedef double HalfDoubles __attribute__((vector_size(32)));

template <typename T, typename S>
[[gnu::always_inline]] inline T load(const S *from) {
  T vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <typename T, typename S>
[[gnu::always_inline]] inline void store(S *to, T vector) {
  std::memcpy(to, &vector, sizeof vector);
}

template <typename T>
[[gnu::always_inline]] inline HalfDoubles loadHalf(const T *from) {
  return __builtin_convertvector(load<HalfFloats>(from), HalfDoubles);
}

/// Where a block's numbers are looked up.
struct Places {
  uint32_t fields[block]; ///< of the reference's exponents
  uint32_t words[block];  ///< of the values' marks
  uint32_t bits[block];   ///< in the words
};

/// Of the errors in half of the lanes.
struct HalfSums {
  HalfDoubles noise, largest, ulps, largestUlps;

  [[gnu::always_inline]] HalfSums(const ErrorSums &from, size_t lane)
      : noise(load<HalfDoubles>(from.noise + lane)),
        largest(load<HalfDoubles>(from.largest + lane)),
        ulps(load<HalfDoubles>(from.ulps + lane)),
        largestUlps(load<HalfDoubles>(from.largestUlps + lane)) {}

  [[gnu::always_inline]] void add(HalfDoubles value, HalfDoubles reference,
                                  HalfDoubles perUlp) {
    HalfDoubles error = __builtin_elementwise_abs(value - reference);
    HalfDoubles inUlps = error * perUlp;
    noise += error * error;
    largest = largest < error ? error : largest;
    ulps += inUlps;
    largestUlps = largestUlps < inUlps ? inUlps : largestUlps;
  }

  [[gnu::always_inline]] void storeTo(ErrorSums &to, size_t lane) const {
    store(to.noise + lane, noise);
    store(to.largest + lane, largest);
    store(to.ulps + lane, ulps);
    store(to.largestUlps + lane, largestUlps);
  }
};

/// What both errors share, and what becomes of the reference's numbers.
struct PlainSums {
  double signal[lanes] = {};
  uint64_t count = 0; ///< numbers
  uint64_t rest = 0;  ///< zeros that fill up the last block
  uint64_t overflow = 0, saturated = 0, underflow = 0, zeros = 0;
  uint32_t greatest = 0; ///< magnitude of the reference

  /// Counts a block and finds its places; false, without having counted
  /// anything, if it is not plain. Magnitudes of f32 are in the order of their
  /// bits.
  [[gnu::always_inline]] bool scan(const float *value, const float *own,
                                   const float *reference,
                                   const FloatLimits &limits,
                                   unsigned spareBits, Places &places) {
    constexpr uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
    constexpr uint32_t leastNormal = 0x00800000;
    Words most = {}, mostOfOthers = {}, lost = {}, one = Words{} + 1;
    Words least = ~Words{}; // less one: of zero the greatest of all
    for (size_t i = 0; i < block; i += lanes) {
      auto x = load<Words>(reference + i) & magnitude;
      auto y = load<Words>(value + i), z = load<Words>(own + i) & magnitude;
      Words place = y >> spareBits;
      store(places.fields + i, x >> 23);
      store(places.words + i, place >> 5);
      store(places.bits + i, one << (place & 31));
      y &= magnitude;
      most = __builtin_elementwise_max(most, x);
      mostOfOthers = __builtin_elementwise_max(mostOfOthers,
                                               __builtin_elementwise_max(y, z));
      least = __builtin_elementwise_min(least, x - 1);
      lost -= Words((y == 0) & (x != 0)); // true is -1
    }
    uint32_t top = __builtin_reduce_max(most);
    uint32_t low = __builtin_reduce_min(least);
    if (std::max(top, __builtin_reduce_max(mostOfOthers)) >= infinity ||
        low < leastNormal - 1)
      return false;
    greatest = std::max(greatest, top);
    zeros += __builtin_reduce_add(lost);
    auto nearEnd = llvm::bit_cast<uint32_t>(limits.nearEnd);
    auto normal = llvm::bit_cast<uint32_t>(limits.leastNormal); // or 0
    if (top > nearEnd || low < std::max(normal, 1u) - 1)
      countOutside(value, reference, limits);
    return true;
  }

  [[gnu::always_inline]] void countOutside(const float *value,
                                           const float *reference,
                                           const FloatLimits &limits) {
    for (size_t i = 0; i < block; ++i) {
      float x = reference[i], magnitude = std::abs(x);
      bool isNegative = x < 0;
      bool isBeyond = (x > limits.largest) | (isNegative & (x < limits.lowest));
      float end = isNegative ? limits.heldLowest : limits.heldLargest;
      overflow += isBeyond;
      saturated += isBeyond & (value[i] == end);
      underflow += (magnitude > 0) & (magnitude < limits.leastNormal);
    }
  }

  /// Adds half of the lanes of a block.
  template <bool hasOwn>
  [[gnu::always_inline]] void
  add(size_t lane, const float *value, const float *own, const float *reference,
      const double *perUlp, const Places &places, Binades &binades,
      HalfSums &all, HalfSums &owns) {
    auto signals = load<HalfDoubles>(signal + lane);
    for (size_t i = lane; i < block; i += lanes) {
      const uint32_t *fields = places.fields + i;
      HalfDoubles units;
      // Zeros, too: of field 0, whose 1 / ulp is 0.
      for (size_t j = 0; j < halfLanes; ++j) {
        ++binades.fields[j][fields[j]];
        units[j] = perUlp[fields[j]];
      }
      HalfDoubles x = loadHalf(reference + i);
      signals += x * x;
      all.add(loadHalf(value + i), x, units);
      if constexpr (hasOwn)
        owns.add(loadHalf(own + i), x, units);
    }
    store(signal + lane, signals);
  }

  void addTo(ErrorSums &sums, const Binades &binades) const {
    sums.compared[0] += count;
    sums.inUlps[0] += count + rest;
    for (const auto &fields : binades.fields)
      sums.inUlps[0] -= fields[0];
    for (size_t i = 0; i < lanes; ++i)
      sums.signal[i] += signal[i];
  }

  void addTo(NumberCounts &counts) const {
    counts.overflow[0] += overflow;
    counts.saturated[0] += saturated;
    counts.underflow[0] += underflow;
    counts.zeros[0] += zeros;
    counts.finite[0] += count;
    counts.greatest[0] =
        std::max(counts.greatest[0], double(llvm::bit_cast<float>(greatest)));
  }
};
static_assert(Binades::counters == halfLanes);

/// Marks the values of a block. Most are marked already, and reading waits for
/// no earlier one.
[[gnu::always_inline]] inline void markAll(uint32_t *used, const Places &places,
                                           size_t count) {
  constexpr size_t some = 16;
  for (size_t first = 0; first < count; first += some) {
    uint32_t missing = 0;
#pragma clang loop unroll_count(4)
    for (size_t i = first; i < first + some; ++i)
      missing |= places.bits[i] & ~used[places.words[i]];
    if (missing)
      for (size_t i = first; i < std::min(first + some, count); ++i)
        used[places.words[i]] |= places.bits[i];
  }
}

} // namespace numera::layers

#endif // NUMERA_LIB_TARGET_DRIVER_PLAINSUMS_H
