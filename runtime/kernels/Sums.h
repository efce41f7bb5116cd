// SPDX-License-Identifier: MIT
//
// The sums of a tile between memory and registers.

#ifndef NUMERA_KERNELS_SUMS_H
#define NUMERA_KERNELS_SUMS_H

#include "Panels.h"
#include "Transpose.h"

namespace numera::kernel {

/// Where the sums of a tile lie: that of row r and column c at `rows[r] +
/// columns[c]` behind `base`. A tile has `width` elements a row, of which
/// `count` are. What is not inlined is compiled once for all widths.
class SumPlaces {
public:
  void *base;
  const int64_t *rows, *columns;
  int64_t rowCount, count;
  /// Each row is a vector of all columns.
  bool areWhole;

  /// Rows whose sums lie side by side: what is moved at a time is a column. The
  /// tile has memory for 8 rows.
  template <int height>
  [[gnu::noinline]] void loadColumns(Carrier *tile, int64_t width) const {
    alignas(64) Carrier turned[8 * lanes];
    SumPlaces own = *this; // which what is written does not change
    for (int64_t first = 0; first < own.count; first += lanes) {
      for (int64_t c = first; c < own.count && c < first + lanes; ++c)
        decodeRun<numera_hook_load, height, 1>(
            turned + (c - first) * 8, own.base, own.rows[0] + own.columns[c]);
      turnBack(tile + first, width, turned);
    }
  }
  template <int height>
  [[gnu::noinline]] void storeColumns(const Carrier *tile,
                                      int64_t width) const {
    alignas(64) Carrier turned[8 * lanes];
    SumPlaces own = *this; // which what is written does not change
    const int64_t row = rows[0];
    for (int64_t first = 0; first < own.count; first += lanes) {
      turn(turned, tile + first, width);
      for (int64_t c = first; c < own.count && c < first + lanes; ++c)
        own.storeRun<height>(row + own.columns[c], turned + (c - first) * 8);
    }
  }

protected:
  [[gnu::noinline]] void loadEach(Carrier *tile, int64_t width) const {
    bool areOneRun = isContiguous(columns, count);
    for (int64_t r = 0; r < rowCount && areOneRun; ++r, tile += width)
      decodeRun<numera_hook_load>(tile, base, rows[r] + columns[0], count, 1);
    for (int64_t r = 0; r < rowCount && !areOneRun; ++r, tile += width)
      for (int64_t c = 0; c < count; ++c)
        tile[c] = numera_hook_load(base, rows[r] + columns[c]);
  }
  [[gnu::noinline]] void storeEach(const Carrier *tile, int64_t width) const {
    bool areOneRun = isContiguous(columns, count);
    for (int64_t r = 0; r < rowCount && areOneRun; ++r, tile += width)
      storeRun(rows[r] + columns[0], tile, count);
    for (int64_t r = 0; r < rowCount && !areOneRun; ++r, tile += width)
      for (int64_t c = 0; c < count; ++c)
        numera_hook_store(base, rows[r] + columns[c], tile[c]);
  }
  void storeRun(int64_t first, const Carrier *values, int64_t length) const {
#pragma clang loop vectorize(assume_safety) vectorize_predicate(enable)
    for (int64_t i = 0; i < length; ++i)
      numera_hook_store(base, first + i, values[i]);
  }
  template <int64_t length>
  void storeRun(int64_t first, const Carrier *values) const {
#pragma clang loop vectorize(assume_safety) unroll(disable)
    for (int64_t i = 0; i < length; ++i)
      numera_hook_store(base, first + i, values[i]);
  }

private:
  /// 8 rows of a vector's columns become columns of 8. Of f32, a vector of them
  /// has two columns, that of the first eight lanes and of the others apart.
  static void turn(Carrier *out, const Carrier *tile, int64_t width) {
    Vector rows[8];
#pragma unroll
    for (int r = 0; r < 8; ++r)
      rows[r] = *reinterpret_cast<const Vector *>(tile + r * width);
    transpose(rows);
    if constexpr (lanes == 16)
      joinColumns(rows);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      *reinterpret_cast<Vector *>(out + i * lanes) = rows[i];
  }
  static void turnBack(Carrier *tile, int64_t width, const Carrier *turned) {
    Vector columns[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      columns[i] = *reinterpret_cast<const Vector *>(turned + i * lanes);
    if constexpr (lanes == 16)
      partColumns(columns);
    transpose(columns);
#pragma unroll
    for (int r = 0; r < 8; ++r)
      *reinterpret_cast<Vector *>(tile + r * width) = columns[r];
  }

  /// Columns i and 8 + i in vector i become columns 2 i and 2 i + 1.
  static void joinColumns(Vector (&vectors)[8]) {
    Vector joined[8];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Vector a = vectors[2 * i], b = vectors[2 * i + 1];
      joined[i] = joinHalves<8, 0>(a, b, AllLanes());
      joined[i + 4] = joinHalves<8, 1>(a, b, AllLanes());
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      vectors[i] = joined[i];
  }
  /// The other way round.
  static void partColumns(Vector (&vectors)[8]) {
    Vector parted[8];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Vector a = vectors[i], b = vectors[i + 4];
      parted[2 * i] = joinHalves<8, 0>(a, b, AllLanes());
      parted[2 * i + 1] = joinHalves<8, 1>(a, b, AllLanes());
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
      vectors[i] = parted[i];
  }
};

template <int64_t width> struct Sums : SumPlaces {
  /// True if the columns of all tiles with these are.
  static bool haveWhole(const int64_t *columns, int64_t count) {
    return count == width && isContiguous(columns, width);
  }

  /// The sums are seldom in a cache near by; while the tile runs, they come.
  void prefetch() const {
    for (int64_t r = 0; r < rowCount; ++r) {
      int64_t first = rows[r] + columns[0];
      for (int64_t c = 0; c < width; c += lanes)
        numera_hook_prefetch(base, first + c);
      numera_hook_prefetch(base, first + width - 1);
    }
  }

  void load(Carrier *tile) const {
    if (!areWhole)
      return loadEach(tile, width);
    for (int64_t r = 0; r < rowCount; ++r)
      decodeRun<numera_hook_load, width, 1>(tile + r * width, base,
                                            rows[r] + columns[0]);
  }
  void store(const Carrier *tile) const {
    if (!areWhole)
      return storeEach(tile, width);
    for (int64_t r = 0; r < rowCount; ++r)
      storeRun<width>(rows[r] + columns[0], tile + r * width);
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_SUMS_H
