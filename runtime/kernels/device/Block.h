// SPDX-License-Identifier: MIT
//
// What a block of threads does for its tile of sums, whatever computes them:
// while the threads compute with one slab of both operands, the elements of the
// next are on their way into the memory that they share.
//
// Panel.h, PaddedPanel.h or SwizzledPanel.h, whichever is included before, says
// what a slab is.

#ifndef NUMERA_KERNELS_DEVICE_BLOCK_H
#define NUMERA_KERNELS_DEVICE_BLOCK_H

#include "Places.h"

namespace numera::kernel {

/// What there is of a tile, and of its sums. Here it takes no registers from
/// them.
struct Extents {
  int64_t steps;
  int rows, columns;
  int missing; ///< steps of the first slab
};

/// Two panels of each operand: one is computed with while the other is filled.
template <int rowCount, int columnCount> struct Shared {
  Panel<rowCount> rows[2];
  Panel<columnCount> columns[2];
  int64_t rowSteps[2][slabSteps], columnSteps[2][slabSteps];
  int64_t rowPlaces[rowCount], columnPlaces[columnCount];
  int64_t rowSums[rowCount], columnSums[columnCount];
  Extents extents;
};
template <int rowCount, int columnCount>
[[clang::loader_uninitialized]] NUMERA_SHARED Shared<rowCount, columnCount>
    shared;

/// `Sums` has a thread's sums of a tile of Sums::rows x Sums::columns, and
///   compute(rows, columns, extents, count): the first `count` steps of two
///     panels
///   computeAll(rows, columns, extents): all of them
///   isPadded: true if the first slab may be the short one, whose panels have
///     zeros for steps that are missing; else the last one is
///   forEach(use): use(sum, row, column) for each sum, its place in the tile
template <typename Sums, bool isAsync> class TileKernel {
  using RowFilling = Filling<RowSide, Sums::rows, isAsync>;
  using ColumnFilling = Filling<ColumnSide, Sums::columns, isAsync>;

public:
  TileKernel(const Problem &problem)
      : problem(problem),
        tile(BlockTile::of(problem, Sums::rows, Sums::columns)) {}

  void run() {
    // Fewer than 2^31: no sum has 2^35 steps.
    int slabs = int((tile.steps + slabSteps - 1) / slabSteps);
    int missing = 0;
    if (Sums::isPadded)
      missing = int(int64_t(slabs) * slabSteps - tile.steps);
    findPlaces();
    if (threadNumber() == 0)
      memory().extents = {tile.steps, within(tile.rowCount, Sums::rows),
                          within(tile.columnCount, Sums::columns), missing};
    if (slabs > 0)
      findSteps(0, tile.steps, 0);
    waitForBlock();
    load();
    if (slabs > 0) {
      fill(0, slabSteps - missing, [&] { findSteps(1); });
      for (int slab = 0; slab + 1 < slabs; ++slab)
        fill(slab + 1, slabSteps, [&] {
          findSteps(slab + 2);
          auto &s = memory();
          sums.computeAll(s.rows[slab & 1], s.columns[slab & 1], s.extents);
        });
      int last = slabs - 1;
      auto &s = memory();
      sums.compute(s.rows[last & 1], s.columns[last & 1], s.extents,
                   int(s.extents.steps - int64_t(last) * slabSteps));
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
  void findSteps(int slab) {
    if (threadNumber() < slabSteps)
      findSteps(slab, memory().extents.steps, memory().extents.missing);
  }
  void findSteps(int slab, int64_t steps, int missing) {
    if (threadNumber() >= slabSteps)
      return;
    int64_t index = int64_t(slab) * slabSteps + threadNumber() - missing;
    Place place = problem.step(inside(index, steps));
    memory().rowSteps[slab & 1][threadNumber()] = place.rows;
    memory().columnSteps[slab & 1][threadNumber()] = place.columns;
  }

  /// Fills the panels of a slab, of which the first `count` steps are there;
  /// `meanwhile` is what can be done until the elements are.
  template <typename Meanwhile>
  void fill(int slab, int count, const Meanwhile &meanwhile) {
    auto &s = memory();
    int half = slab & 1;
    RowFilling rows;
    ColumnFilling columns;
    rows.start(s.rows[half], problem.rows, s.rowPlaces, s.rowSteps[half],
               count);
    columns.start(s.columns[half], problem.columns, s.columnPlaces,
                  s.columnSteps[half], count);
    meanwhile();
    rows.finish(s.rows[half], count);
    columns.finish(s.columns[half], count);
    Panel<Sums::rows>::publish();
    waitForBlock();
  }

  /// Calls use(sum, place) for the thread's sums that there are.
  template <typename Use> void forEachSum(const Use &use) {
    auto &s = memory();
    int rowCount = s.extents.rows, columnCount = s.extents.columns;
    sums.forEach([&](Carrier &sum, int i, int j) {
      if (i < rowCount && j < columnCount)
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
