// SPDX-License-Identifier: MIT
//
// A contraction on a GPU with sums in quires. A thread does not have registers
// for several quires, so it computes one sum, in its local memory. A block
// shares the codes of both operands, and reads each code once.

#include "Hooks.h"
#include "Places.h"

namespace numera::kernel {

constexpr int tileSize = 16, slabSteps = 32;
static_assert(tileSize * tileSize == blockThreads);

struct Shared {
  Raw rows[tileSize][slabSteps + 1], columns[tileSize][slabSteps + 1];
};
[[clang::loader_uninitialized]] static NUMERA_SHARED Shared shared;

/// One element of a panel a thread, and one more below it.
template <auto fetch>
static void fill(NUMERA_SHARED Raw (&panel)[tileSize][slabSteps + 1],
                 const void *base, int64_t lanePlace,
                 const int64_t (&steps)[2]) {
  int lane = threadNumber() % tileSize, step = threadNumber() / tileSize;
  for (int i = 0; i < 2; ++i)
    panel[lane][step + i * tileSize] = fetch(base, lanePlace + steps[i]);
}

static void run(const Problem &problem, void *quire) {
  BlockTile tile = BlockTile::of(problem, tileSize, tileSize);
  int row = threadNumber() / tileSize, column = threadNumber() % tileSize;
  Place rowPlace = problem.row(tile.firstRow + inside(row, tile.rowCount));
  Place columnPlace =
      problem.column(tile.firstColumn + inside(column, tile.columnCount));
  // Elements are filled in the same order for both: by the thread's column.
  int64_t filledRow =
      problem.row(tile.firstRow + inside(column, tile.rowCount)).rows;
  int64_t place = tile.batch.sums + rowPlace.sums + columnPlace.sums;
  bool exists = row < tile.rowCount && column < tile.columnCount;
  numera_hook_load(problem.sums, place, quire);
  for (int64_t first = 0; first < tile.steps; first += slabSteps) {
    int64_t rowSteps[2], columnSteps[2];
    for (int i = 0; i < 2; ++i) {
      Place step = problem.step(inside(first + row + i * tileSize, tile.steps));
      rowSteps[i] = step.rows;
      columnSteps[i] = step.columns;
    }
    fill<numera_hook_fetch_row>(shared.rows, problem.rows,
                                tile.batch.rows + filledRow, rowSteps);
    fill<numera_hook_fetch_column>(shared.columns, problem.columns,
                                   tile.batch.columns + columnPlace.columns,
                                   columnSteps);
    waitForBlock();
    int64_t count =
        tile.steps - first < slabSteps ? tile.steps - first : slabSteps;
    if (exists)
      for (int64_t k = 0; k < count; ++k)
        numera_hook_mac(quire, shared.rows[row][k], shared.columns[column][k]);
    waitForBlock();
  }
  if (exists)
    numera_hook_store(problem.sums, place, quire);
}

} // namespace numera::kernel

/// `quire` is the thread's own.
extern "C" void numera_contract_16x16(const char *rows, const char *columns,
                                      char *sums, const void *initial,
                                      const numera::kernel::Loop *loops,
                                      int32_t batchLoops, int32_t rowLoops,
                                      int32_t columnLoops, int32_t stepLoops,
                                      void *quire) {
  numera::kernel::run({rows,
                       columns,
                       sums,
                       initial,
                       loops,
                       {batchLoops, rowLoops, columnLoops, stepLoops}},
                      quire);
}
