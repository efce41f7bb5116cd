// SPDX-License-Identifier: MIT
//
// The micro-kernel: a tile of sums stays in registers through all steps of a
// block, every sum in written order.

#ifndef NUMERA_KERNELS_TILE_H
#define NUMERA_KERNELS_TILE_H

#include "Hooks.h"

#include <type_traits>

namespace numera::kernel {

/// The contraction's own step.
struct WholeStep {
  using Lanes = Vector;
  static constexpr int rowForms = 1;
  static constexpr bool fetches = !NUMERA_SHORT_STEPS;
  static Vector spread(Carrier value) { return value; }
  static Vector next(Vector sum, const Vector (&row)[1], Vector column) {
    return numera_hook_step(sum, row[0], column);
  }
};

#if NUMERA_SHORT_STEPS
/// Its short form, on prepared values.
struct ShortStep {
  using Lanes = PreparedVector;
  static constexpr int rowForms = 2;
  static constexpr bool fetches = false;
  static Lanes spread(RowValue value) { return kernel::spread(value); }
  static Lanes next(Lanes sum, const Lanes (&row)[2], Lanes column) {
    return numera_hook_short(sum, row[0], row[1], column);
  }
};
/// And that of products with which no sum grows too large.
struct ConfinedStep {
  using Lanes = PreparedVector;
  static constexpr int rowForms = 2;
  static constexpr bool fetches = false;
  static Lanes spread(RowValue value) { return kernel::spread(value); }
  static Lanes next(Lanes sum, const Lanes (&row)[2], Lanes column) {
    return numera_hook_confined(sum, row[0], row[1], column);
  }
};
#endif

/// A tile has `tileRows` rows of `columns` elements. A row's panel has
/// `rowPitch` elements a row, and after all rows those of its next form; a
/// column panel has `columns` a step.
template <int tileRows, int columns, int64_t rowPitch> struct Tile {
  static constexpr int size = tileRows * columns;

  /// What a step fetches: a line of the first-level cache.
  static constexpr int fetched = 64;

  /// `sums` is tileRows x columns, updated in place. The elements are those of
  /// the step's vectors. Each step fetches a line from `next` on into the
  /// second-level cache, if the step is of a kind that takes its panels fast
  /// enough for that to count.
  template <typename Step, typename Element, typename RowElement>
  static void run(Element *sums, const RowElement *rows,
                  const Element *columnsOf, int64_t steps,
                  const char *next = nullptr) {
    using Vector = Step::Lanes;
    constexpr int lanes = sizeof(Vector) / sizeof(Element);
    constexpr int tileVectors = columns / lanes;
    auto vectorAt = [](auto *place) -> auto & {
      using Place = std::remove_pointer_t<decltype(place)>;
      using At =
          std::conditional_t<std::is_const_v<Place>, const Vector, Vector>;
      return *reinterpret_cast<At *>(place);
    };
    Vector tile[tileRows][tileVectors];
#pragma unroll
    for (int r = 0; r < tileRows; ++r)
#pragma unroll
      for (int v = 0; v < tileVectors; ++v)
        tile[r][v] = vectorAt(sums + r * columns + v * lanes);
    for (int64_t k = 0; k < steps; ++k) {
      if constexpr (Step::fetches)
        __builtin_prefetch(next + k * fetched, /*rw=*/0, /*locality=*/2);
      Vector column[tileVectors];
#pragma unroll
      for (int v = 0; v < tileVectors; ++v)
        column[v] = vectorAt(columnsOf + k * columns + v * lanes);
#pragma unroll
      for (int r = 0; r < tileRows; ++r) {
        Vector row[Step::rowForms];
#pragma unroll
        for (int form = 0; form < Step::rowForms; ++form)
          row[form] = Step::spread(rows[(form * tileRows + r) * rowPitch + k]);
#pragma unroll
        for (int v = 0; v < tileVectors; ++v)
          tile[r][v] = Step::next(tile[r][v], row, column[v]);
      }
    }
#pragma unroll
    for (int r = 0; r < tileRows; ++r)
#pragma unroll
      for (int v = 0; v < tileVectors; ++v)
        vectorAt(sums + r * columns + v * lanes) = tile[r][v];
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_TILE_H
