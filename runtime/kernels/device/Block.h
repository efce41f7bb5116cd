// SPDX-License-Identifier: MIT
//
// What a block of threads does for its tile of sums, whatever computes them:
// while the threads compute with one slab of both operands, the elements of the
// next are on their way into the memory that they share.
//
// Panel.h or MatrixPanel.h, whichever is included before, says what a slab is.

#ifndef NUMERA_KERNELS_DEVICE_BLOCK_H
#define NUMERA_KERNELS_DEVICE_BLOCK_H

#include "Places.h"

namespace numera::kernel {

/// Two panels of each operand: one is computed with while the other is filled.
template <int rowCount, int columnCount> struct Shared {
  Panel<rowCount> rows[2];
  Panel<columnCount> columns[2];
  int64_t rowSteps[2][slabSteps], columnSteps[2][slabSteps];
  int64_t rowPlaces[rowCount], columnPlaces[columnCount];
  int64_t rowSums[rowCount], columnSums[columnCount];
};
template <int rowCount, int columnCount>
[[clang::loader_uninitialized]] NUMERA_SHARED Shared<rowCount, columnCount>
    shared;

/// `Sums` has a thread's sums of a tile of Sums::rows x Sums::columns, and
///   compute(rows, columns, count): the first `count` steps of two panels
///   computeAll(rows, columns): all of them
///   forEach(use): use(sum, row, column) for each sum, its place in the tile
template <typename Sums, bool isAsync> class TileKernel {
  using RowFilling = Filling<RowSide, Sums::rows, isAsync>;
  using ColumnFilling = Filling<ColumnSide, Sums::columns, isAsync>;

public:
  TileKernel(const Problem &problem)
      : problem(problem),
        tile(BlockTile::of(problem, Sums::rows, Sums::columns)) {}

  void run() {
    findPlaces();
    if (tile.steps > 0)
      findSteps(0);
    waitForBlock();
    load();
    int64_t slabs = (tile.steps + slabSteps - 1) / slabSteps;
    if (slabs > 0) {
      fill(0, [&] { findSteps(1); });
      for (int64_t slab = 0; slab + 1 < slabs; ++slab)
        fill(slab + 1, [&] {
          findSteps(slab + 2);
          auto &s = memory();
          sums.computeAll(s.rows[slab & 1], s.columns[slab & 1]);
        });
      int64_t last = slabs - 1;
      auto &s = memory();
      sums.compute(s.rows[last & 1], s.columns[last & 1],
                   int(tile.steps - last * slabSteps));
    }
    store();
  }

private:
  static auto &memory() { return shared<Sums::rows, Sums::columns>; }

  /// Where the tile's rows and columns lie. Those beyond the edges are computed
  /// like the last ones, and not stored.
  void findPlaces() {
    auto &s = memory();
    for (int i = threadNumber(); i < Sums::rows; i += blockThreads) {
      Place place = problem.row(tile.firstRow + inside(i, tile.rowCount));
      s.rowPlaces[i] = tile.batch.rows + place.rows;
      s.rowSums[i] = tile.batch.sums + place.sums;
    }
    for (int i = threadNumber(); i < Sums::columns; i += blockThreads) {
      Place place =
          problem.column(tile.firstColumn + inside(i, tile.columnCount));
      s.columnPlaces[i] = tile.batch.columns + place.columns;
      s.columnSums[i] = place.sums;
    }
  }

  /// What the steps of a slab add to that. After the last ones they come again.
  void findSteps(int64_t slab) {
    if (threadNumber() >= slabSteps)
      return;
    int64_t index = slab * slabSteps + threadNumber();
    Place place = problem.step(inside(index, tile.steps));
    memory().rowSteps[slab & 1][threadNumber()] = place.rows;
    memory().columnSteps[slab & 1][threadNumber()] = place.columns;
  }

  /// Fills the panels of a slab; `meanwhile` is what can be done until the
  /// elements are there.
  template <typename Meanwhile>
  void fill(int64_t slab, const Meanwhile &meanwhile) {
    auto &s = memory();
    int half = slab & 1;
    int64_t left = tile.steps - slab * slabSteps;
    RowFilling rows;
    ColumnFilling columns;
    rows.start(s.rows[half], problem.rows, s.rowPlaces, s.rowSteps[half], left);
    columns.start(s.columns[half], problem.columns, s.columnPlaces,
                  s.columnSteps[half], left);
    meanwhile();
    rows.finish(s.rows[half], left);
    columns.finish(s.columns[half], left);
    waitForBlock();
  }

  /// Calls use(sum, place) for the thread's sums that there are.
  template <typename Use> void forEachSum(const Use &use) {
    auto &s = memory();
    sums.forEach([&](Carrier &sum, int i, int j) {
      if (i < tile.rowCount && j < tile.columnCount)
        use(sum, s.rowSums[i] + s.columnSums[j]);
    });
  }
  void load() {
    Carrier start = problem.initial ? numera_hook_load(problem.initial, 0) : 0;
    sums.forEach([&](Carrier &sum, int, int) { sum = start; });
    if (!problem.initial)
      forEachSum([&](Carrier &sum, int64_t place) {
        sum = numera_hook_load(problem.sums, place);
      });
  }
  void store() {
    forEachSum([&](Carrier &sum, int64_t place) {
      numera_hook_store(problem.sums, place, sum);
    });
  }

  const Problem &problem;
  BlockTile tile;
  Sums sums;
};

} // namespace numera::kernel

/// An entry: a contraction by tiles of `Sums`.
#define NUMERA_TILES_ENTRY(name, isAsync, ...)                                 \
  extern "C" void numera_contract_##name(                                      \
      const char *rows, const char *columns, char *sums, const void *initial,  \
      const numera::kernel::Loop *loops, int32_t batchLoops, int32_t rowLoops, \
      int32_t columnLoops, int32_t stepLoops) {                                \
    using namespace numera::kernel;                                            \
    TileKernel<__VA_ARGS__, isAsync>(                                          \
        {rows,                                                                 \
         columns,                                                              \
         sums,                                                                 \
         initial,                                                              \
         loops,                                                                \
         {batchLoops, rowLoops, columnLoops, stepLoops}})                      \
        .run();                                                                \
  }

#endif // NUMERA_KERNELS_DEVICE_BLOCK_H
