// SPDX-License-Identifier: MIT
//
// The bounds of magnitudes in panels and in products of panels.

#ifndef NUMERA_KERNELS_BOUNDS_H
#define NUMERA_KERNELS_BOUNDS_H

#include "Hooks.h"

#include <type_traits>

namespace numera::kernel {

/// The bounds of the magnitudes of finite, nonzero elements. They are kept as
/// the words of floats, which are in the order of their values, NaN above all.
class Magnitudes {
  using Word = std::conditional_t<sizeof(Carrier) == 4, uint32_t, uint64_t>;

public:
  static Magnitudes of(const Carrier *values, int64_t count) {
    Magnitudes found;
    // Unrolled first, it would be vectorised with strides.
#pragma clang loop vectorize(enable) unroll(disable)
    for (int64_t i = 0; i < count; ++i)
      found.add(__builtin_bit_cast(Word, values[i]));
    return found;
  }
  void join(const Magnitudes &other) {
    leastLessOne =
        other.leastLessOne < leastLessOne ? other.leastLessOne : leastLessOne;
    greatest = other.greatest > greatest ? other.greatest : greatest;
  }

  bool isFinite() const { return greatest < infinity; }
  bool hasNaN() const { return greatest > infinity; }
  Carrier least() const { // infinity where all are zero
    return valueOf(leastLessOne >= infinity ? infinity : leastLessOne + 1);
  }
  Carrier most() const { return valueOf(isFinite() ? greatest : infinity); }

private:
  void add(Word word) {
    word &= ~Word{0} >> 1;
    // Zero becomes the largest word of all.
    leastLessOne = word - 1 < leastLessOne ? word - 1 : leastLessOne;
    greatest = word > greatest ? word : greatest;
  }
  static Carrier valueOf(Word word) {
    return __builtin_bit_cast(Carrier, word);
  }

  static constexpr Word infinity =
      __builtin_bit_cast(Word, static_cast<Carrier>(__builtin_inff()));
  Word leastLessOne = ~Word{0};
  Word greatest = 0;
};

/// The magnitudes of the nonzero products that a tile has, as far as the
/// carrier tells them.
struct Products {
  Carrier least, most;

  static Products of(const Magnitudes &rows, const Magnitudes &columns) {
    return {rows.least() * columns.least(), rows.most() * columns.most()};
  }
  /// Of finite panels: `rows` of `rowPitch` elements, and `width` elements a
  /// step. Closer, as only factors of one step meet.
  template <int tileRows, int64_t rowPitch, int64_t width>
  static Products of(const Carrier *rows, const Carrier *columns,
                     int64_t steps) {
    constexpr auto infinity = static_cast<Carrier>(__builtin_inff());
    Carrier leastOf[width], mostOf[width];
    for (int64_t i = 0; i < width; ++i)
      leastOf[i] = infinity, mostOf[i] = 0;
    for (int64_t k = 0; k < steps; ++k) {
      Carrier least = infinity, most = 0;
      for (int r = 0; r < tileRows; ++r) {
        Carrier value = __builtin_elementwise_abs(rows[r * rowPitch + k]);
        least = value > 0 && value < least ? value : least;
        most = value > most ? value : most;
      }
#pragma clang loop vectorize(enable) unroll(disable)
      for (int64_t i = 0; i < width; ++i) {
        Carrier value = __builtin_elementwise_abs(columns[k * width + i]);
        Carrier smaller = value > 0 ? value * least : infinity;
        leastOf[i] = smaller < leastOf[i] ? smaller : leastOf[i];
        mostOf[i] = value * most > mostOf[i] ? value * most : mostOf[i];
      }
    }
    Products found = {infinity, 0};
    for (int64_t i = 0; i < width; ++i) {
      found.least = leastOf[i] < found.least ? leastOf[i] : found.least;
      found.most = mostOf[i] > found.most ? mostOf[i] : found.most;
    }
    return found;
  }

  bool areAdmitted() const { return numera_hook_admits(least, most); }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_BOUNDS_H
