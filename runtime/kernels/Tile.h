// SPDX-License-Identifier: MIT
//
// The micro-kernel: a tile of sums stays in registers through all steps of a
// block, every sum in written order.

#ifndef NUMERA_KERNELS_TILE_H
#define NUMERA_KERNELS_TILE_H

#include "Hooks.h"

namespace numera::kernel {

/// The contraction's own step.
struct WholeStep {
  static constexpr int rowForms = 1;
  static Vector next(Vector sum, const Vector (&row)[1], Vector column) {
    return numera_hook_step(sum, row[0], column);
  }
};

#if NUMERA_SHORT_STEPS
/// Its short form, on prepared values.
struct ShortStep {
  static constexpr int rowForms = 2;
  static Vector next(Vector sum, const Vector (&row)[2], Vector column) {
    return numera_hook_short(sum, row[0], row[1], column);
  }
};
/// And that of products with which no sum grows too large.
struct ConfinedStep {
  static constexpr int rowForms = 2;
  static Vector next(Vector sum, const Vector (&row)[2], Vector column) {
    return numera_hook_confined(sum, row[0], row[1], column);
  }
};
#endif

/// A tile has `tileRows` rows of `tileVectors` vectors. A row's panel has
/// `rowPitch` elements a row, and after all rows those of its next form; a
/// column panel has `tileVectors` vectors a step.
template <int tileRows, int tileVectors, int64_t rowPitch> struct Tile {
  static constexpr int columns = tileVectors * lanes;
  static constexpr int size = tileRows * columns;

  /// `sums` is tileRows x columns, updated in place.
  template <typename Step>
  static void run(Carrier *sums, const Carrier *rows, const Carrier *columnsOf,
                  int64_t steps) {
    Vector tile[tileRows][tileVectors];
#pragma unroll
    for (int r = 0; r < tileRows; ++r)
#pragma unroll
      for (int v = 0; v < tileVectors; ++v)
        tile[r][v] = vectorAt(sums + r * columns + v * lanes);
    for (int64_t k = 0; k < steps; ++k) {
      Vector column[tileVectors];
#pragma unroll
      for (int v = 0; v < tileVectors; ++v)
        column[v] = vectorAt(columnsOf + k * columns + v * lanes);
#pragma unroll
      for (int r = 0; r < tileRows; ++r) {
        Vector row[Step::rowForms];
#pragma unroll
        for (int form = 0; form < Step::rowForms; ++form)
          row[form] = rows[(form * tileRows + r) * rowPitch + k];
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

private:
  static Vector &vectorAt(Carrier *place) {
    return *reinterpret_cast<Vector *>(place);
  }
  static const Vector &vectorAt(const Carrier *place) {
    return *reinterpret_cast<const Vector *>(place);
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_TILE_H
