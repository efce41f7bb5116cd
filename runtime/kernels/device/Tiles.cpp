// SPDX-License-Identifier: MIT
//
// A contraction on a GPU. A block computes a tile of sums, a thread a part of
// it in registers. Elements of a slab of steps are fetched, decoded, and put
// into memory that the block shares, each once; while the threads compute with
// one slab, the elements of the next are on their way. Every sum runs through
// its steps in written order: its bits are those of the CPU, whatever the tile.
//
// Compiled once for each carrier, and by lib/Target/Link/Kernels.cpp linked
// once for each kind of contraction in a program, with its hooks. NUMERA_FLOATS
// is the bits of a carrier that is a machine float; codes have none.

#include "Panel.h"

#include "Block.h"
#include "Shape.h"

namespace numera::kernel {

/// A thread's sums, each step by step.
template <typename Shape> class StepSums {
  using RowLanes = Lanes<Shape::rows, Shape::down>;
  using ColumnLanes = Lanes<Shape::columns, Shape::across>;
  using RowPanel = NUMERA_SHARED Panel<Shape::rows>;
  using ColumnPanel = NUMERA_SHARED Panel<Shape::columns>;

public:
  static constexpr int rows = Shape::rows, columns = Shape::columns;
  static constexpr bool isPadded = false;

  void computeAll(const RowPanel &rows, const ColumnPanel &columns,
                  const NUMERA_SHARED Extents &) {
#pragma unroll(Shape::unrolled)
    for (int k = 0; k < slabSteps; ++k)
      step(rows, columns, k);
  }

  void compute(const RowPanel &rows, const ColumnPanel &columns,
               const NUMERA_SHARED Extents &, int count) {
#pragma unroll 1
    for (int k = 0; k < count; ++k)
      step(rows, columns, k);
  }

  template <typename Use> void forEach(const Use &use) {
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c)
        use(sums[r][c], RowLanes::lane(row, r), ColumnLanes::lane(column, c));
  }

private:
  void step(const RowPanel &rows, const ColumnPanel &columns, int k) {
    Carrier own[Shape::threadRows], others[Shape::threadColumns];
    RowLanes::read(own, rows.values[k], row);
    ColumnLanes::read(others, columns.values[k], column);
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c)
        sums[r][c] = numera_hook_step(sums[r][c], own[r], others[c]);
  }

  int row = threadNumber() / Shape::across;
  int column = threadNumber() % Shape::across;
  Carrier sums[Shape::threadRows][Shape::threadColumns];
};

} // namespace numera::kernel

/// The entries of a shape of tile, for any GPU and for those with asynchronous
/// copies. lib/Dialect/Numera/Transforms/GPU/TileContractions.cpp has their
/// names.
#define NUMERA_TILES(rows, columns, ...)                                       \
  NUMERA_TILES_ENTRY(rows##x##columns, false,                                  \
                     StepSums<Shape<rows, columns, __VA_ARGS__>>)              \
  NUMERA_TILES_ENTRY(rows##x##columns##_async, true,                           \
                     StepSums<Shape<rows, columns, __VA_ARGS__>>)

/// A step of one instruction wants as many sums as the registers hold: of a
/// slab's values each is read but once for all of them. Steps of many
/// instructions, unrolled, would not fit into the cache of instructions.
NUMERA_TILES(32, 32, 2, 2, 1)
#if NUMERA_FLOATS
NUMERA_TILES(64, 64, 4, 4, 1)
NUMERA_TILES(16, 256, 4, 4, 1)
#if NUMERA_FLOATS == 32
NUMERA_TILES(128, 128, 8, 8, 4)
#endif
#endif
