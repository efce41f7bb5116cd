// SPDX-License-Identifier: MIT
//
// The tile of a contraction that a block computes, and the offsets of its
// elements. An offset in an operand is the sum of those of its row (or column),
// its step and its batch. Each of these is computed once for a block or for a
// step, not for each element.

#ifndef NUMERA_KERNELS_DEVICE_PLACES_H
#define NUMERA_KERNELS_DEVICE_PLACES_H

#include "Machine.h"
#include "numera/Runtime/Contraction.h"

namespace numera::kernel {

/// Where an iteration of a product of loops lies in the three operands.
struct Place {
  int64_t rows = 0, columns = 0, sums = 0;
};

/// Iteration `index` in row-major order, of loops `i` to 0. Divisions of 64
/// bits are long on a GPU, and none is needed for the outermost loop. No loop
/// in C++: once it is known how many loops there are, nothing of this is one.
template <int32_t i = maxLoops - 1>
inline Place placeOf(const Loop *loops, int32_t count, int64_t index) {
  int64_t inner = index;
  if constexpr (i > 0) {
    if (i >= count)
      return placeOf<i - 1>(loops, count, index);
    if ((index | loops[i].extent) >> 32 == 0) {
      inner = uint32_t(index) % uint32_t(loops[i].extent);
      index = uint32_t(index) / uint32_t(loops[i].extent);
    } else {
      inner = index % loops[i].extent;
      index /= loops[i].extent;
    }
  } else if (count == 0) {
    return {};
  }
  Place place;
  if constexpr (i > 0)
    place = placeOf<i - 1>(loops, count, index);
  place.rows += inner * loops[i].rows;
  place.columns += inner * loops[i].columns;
  place.sums += inner * loops[i].sums;
  return place;
}

/// How many iterations they have together.
template <int32_t i = 0>
inline int64_t extentOf(const Loop *loops, int32_t count) {
  if constexpr (i < maxLoops)
    return i < count ? loops[i].extent * extentOf<i + 1>(loops, count) : 1;
  else
    return 1;
}

/// `index`, or where there are but `count`, one of the last ones. Elements that
/// are fetched at once are as many as divide `count`, a power of two: from the
/// result, too, they are all there.
inline int64_t inside(int64_t index, int64_t count) {
  int64_t run = count & -count;
  return index < count ? index : count - run + (index & (run - 1));
}

/// Of a tile's `size` rows or columns those that there are, if `count` are
/// left.
inline int within(int64_t count, int size) {
  return count < size ? int(count) : size;
}

/// What is asked for, as on the CPU.
struct Problem {
  const char *rows, *columns;
  char *sums;
  /// What every sum starts with, an element like theirs; null: with what it is.
  const void *initial;
  const Loop *loops;
  LoopCounts counts;

  int32_t firstRow() const { return counts.batch; }
  int32_t firstColumn() const { return firstRow() + counts.rows; }
  int32_t firstStep() const { return firstColumn() + counts.columns; }
  int64_t rowCount() const { return extentOf(loops + firstRow(), counts.rows); }
  int64_t columnCount() const {
    return extentOf(loops + firstColumn(), counts.columns);
  }
  int64_t stepCount() const {
    return extentOf(loops + firstStep(), counts.steps);
  }
  Place batch(int64_t index) const {
    return placeOf(loops, counts.batch, index);
  }
  Place row(int64_t index) const {
    return placeOf(loops + firstRow(), counts.rows, index);
  }
  Place column(int64_t index) const {
    return placeOf(loops + firstColumn(), counts.columns, index);
  }
  Place step(int64_t index) const {
    return placeOf(loops + firstStep(), counts.steps, index);
  }
};

/// The tile of `tileRows` x `tileColumns` sums that this block computes. Tiles
/// beside each other have the same rows: those are in the cache then.
struct BlockTile {
  int64_t firstRow, rowCount; ///< to the end of the contraction
  int64_t firstColumn, columnCount;
  int64_t steps;
  Place batch;

  static BlockTile of(const Problem &problem, int tileRows, int tileColumns) {
    int64_t rows = problem.rowCount(), columns = problem.columnCount();
    auto across = uint32_t((columns + tileColumns - 1) / tileColumns);
    auto down = uint32_t((rows + tileRows - 1) / tileRows);
    auto number = uint32_t(blockNumber());
    int64_t row = int64_t(number / across % down) * tileRows;
    int64_t column = int64_t(number % across) * tileColumns;
    return {row,
            rows - row,
            column,
            columns - column,
            problem.stepCount(),
            problem.batch(number / across / down)};
  }
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_DEVICE_PLACES_H
