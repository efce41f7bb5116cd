// SPDX-License-Identifier: MIT
//
// The micro-kernel: a tile of sums stays in registers through all steps of a
// block, every sum in written order.

#ifndef NUMERA_KERNELS_TILE_H
#define NUMERA_KERNELS_TILE_H

#include "Hooks.h"

namespace numera::kernel {

/// A tile has `tileRows` rows of `tileVectors` vectors. A row's panel has one
/// element a step and `rowPitch` of them a row; a column panel has
/// `tileVectors` vectors a step.
template <int tileRows, int tileVectors, int64_t rowPitch> struct Tile {
  static constexpr int columns = tileVectors * lanes;

  /// `sums` is tileRows x columns, updated in place.
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
        Vector row = rows[r * rowPitch + k];
#pragma unroll
        for (int v = 0; v < tileVectors; ++v)
          tile[r][v] = numera_hook_step(tile[r][v], row, column[v]);
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
