// SPDX-License-Identifier: MIT
//
// The bounds of magnitudes in panels and in products of panels.

#ifndef NUMERA_KERNELS_BOUNDS_H
#define NUMERA_KERNELS_BOUNDS_H

#include "Hooks.h"

#include <type_traits>

namespace numera::kernel {

/// True if one of the values is NaN.
template <typename T> bool haveNaN(const T *values, int64_t count) {
  bool found = false;
#pragma clang loop vectorize(enable) unroll(disable)
  for (int64_t i = 0; i < count; ++i)
    found |= values[i] != values[i];
  return found;
}

/// The bounds of the magnitudes of finite, nonzero elements. They are kept as
/// the words of floats, which are in the order of their values, NaN above all.
class Magnitudes {
  using Word = std::conditional_t<sizeof(Carrier) == 4, uint32_t, uint64_t>;

public:
  /// Of `rows` times `count` elements.
  template <int rows, int64_t rowPitch>
  static Magnitudes of(const Carrier *values, int64_t count) {
    Magnitudes found;
    // Unrolled first, it would be vectorised with strides.
#pragma clang loop vectorize(enable) unroll(disable)
    for (int64_t i = 0; i < count; ++i)
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r)
        found.add(__builtin_bit_cast(Word, values[r * rowPitch + i]));
    return found;
  }
  void join(const Magnitudes &other) {
    leastLessOne =
        other.leastLessOne < leastLessOne ? other.leastLessOne : leastLessOne;
    greatest = other.greatest > greatest ? other.greatest : greatest;
  }

  bool isFinite() const { return greatest < infinity; }
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

/// Those of a panel, and of parts of it: where values are spread widely, the
/// largest of rows and the largest of columns seldom meet.
struct PanelMagnitudes : Magnitudes {
  static constexpr int64_t partSteps = 16, mostParts = 32;
  Magnitudes parts[mostParts];

  /// Of `rows` times `count` elements, a part of which has `partSize`.
  template <int rows, int64_t rowPitch>
  static PanelMagnitudes of(const Carrier *values, int64_t count,
                            int64_t partSize) {
    PanelMagnitudes found;
    for (int64_t first = 0, part = 0; first < count; first += partSize) {
      int64_t size = count - first < partSize ? count - first : partSize;
      found.parts[part] = Magnitudes::of<rows, rowPitch>(values + first, size);
      found.join(found.parts[part++]);
    }
    return found;
  }
};

/// The magnitudes of the nonzero products that a tile has, as far as the
/// carrier tells them.
struct Products {
  Carrier least, most;

  static Products of(const Magnitudes &rows, const Magnitudes &columns) {
    return {rows.least() * columns.least(), rows.most() * columns.most()};
  }
  /// Of finite panels, closer: only factors of one part meet.
  static Products ofParts(const PanelMagnitudes &rows,
                          const PanelMagnitudes &columns, int64_t steps) {
    Products found = of(rows.parts[0], columns.parts[0]);
    for (int64_t i = 1; i * PanelMagnitudes::partSteps < steps; ++i) {
      Products part = of(rows.parts[i], columns.parts[i]);
      found.least = part.least < found.least ? part.least : found.least;
      found.most = part.most > found.most ? part.most : found.most;
    }
    return found;
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
  bool areConfined() const { return numera_hook_confines(least, most); }
  /// True if any are, in this format.
  static bool mayBeConfined() { return numera_hook_confines(0, 0); }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_BOUNDS_H
