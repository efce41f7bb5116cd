// SPDX-License-Identifier: MIT
//
// A contraction as blocks of packed panels and tiles in registers, after Goto
// and van de Geijn (Anatomy of high-performance matrix multiplication, 2008):
// a block of rows stays in the second-level cache while the tiles go through
// the panels of a block of columns. Blocks of steps follow one another, so that
// every sum runs in written order, whatever the sizes and the number of
// threads. Compiled once for each carrier, and by lib/Target/Kernels.cpp linked
// once for each kind of contraction in a program, with its hooks.

#include "Panels.h"
#include "Tile.h"
#include "numera/Runtime/Entry.h"

#include <stdlib.h>

namespace numera::kernel {

using host::numera_host_fail;
static void numera_host_parallel(void (*body)(void *, int64_t, int64_t),
                                 void *context, int64_t count, int64_t) {
  body(context, 0, count);
}

/// What is asked for.
struct Contraction {
  const void *rows;
  const void *columns;
  void *sums;
  const Loop *loops;
  LoopCounts counts;

  int64_t extentOf(int32_t first, int32_t count) const {
    int64_t product = 1;
    for (int32_t i = 0; i < count; ++i)
      product *= loops[first + i].extent;
    return product;
  }
  int32_t firstRow() const { return counts.batch; }
  int32_t firstColumn() const { return firstRow() + counts.rows; }
  int32_t firstStep() const { return firstColumn() + counts.columns; }
};

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

template <int tileRows, int tileVectors> class Kernel {
  static constexpr int64_t tileColumns = tileVectors * lanes;
  static constexpr int64_t blockRows = roundUp(120, tileRows);
  static constexpr int64_t blockColumns = 1024;
  static constexpr int64_t blockSteps = 4 * 512 / sizeof(Carrier) > 512
                                            ? 512
                                            : 4 * 512 / sizeof(Carrier);
  /// Not a multiple of 4 KiB: rows of a panel would share a cache set.
  static constexpr int64_t rowPitch = blockSteps + 64 / sizeof(Carrier);
  using TheTile = Tile<tileRows, tileVectors, rowPitch>;

public:
  /// What one thread does at a time, in rows or columns.
  static constexpr int64_t unit = 4 * tileColumns;

  explicit Kernel(const Contraction &problem) : problem(problem) {
    rowCount = problem.extentOf(problem.firstRow(), problem.counts.rows);
    columnCount =
        problem.extentOf(problem.firstColumn(), problem.counts.columns);
    stepCount = problem.extentOf(problem.firstStep(), problem.counts.steps);
    batchCount = problem.extentOf(0, problem.counts.batch);
    splitsColumns = columnCount >= rowCount;
    units = ((splitsColumns ? columnCount : rowCount) + unit - 1) / unit;
  }

  int64_t unitCount() const {
    return rowCount * columnCount == 0 ? 0 : batchCount * units;
  }

  /// Units `begin` to `end`, of all batches one after the other.
  void run(int64_t begin, int64_t end) const {
    Workspace space;
    while (begin < end) {
      int64_t batch = begin / units, first = begin % units;
      int64_t count = least(units - first, end - begin);
      Walk place(problem.loops, problem.counts.batch, batch);
      int64_t from = first * unit, to = (first + count) * unit;
      if (splitsColumns)
        runPart(space, place, 0, rowCount, from, least(to, columnCount));
      else
        runPart(space, place, from, least(to, rowCount), 0, columnCount);
      begin += count;
    }
  }

private:
  /// One thread's memory.
  struct Workspace {
    Carrier *rows;
    Carrier *columns;
    int64_t *rowPlaces, *rowSums;       ///< blockRows each
    int64_t *columnPlaces, *columnSums; ///< blockColumns each
    int64_t *rowSteps, *columnSteps;    ///< blockSteps each

    Workspace() {
      constexpr size_t rowBytes = blockRows * rowPitch * sizeof(Carrier);
      constexpr size_t columnBytes =
          roundUp(blockColumns, tileColumns) * blockSteps * sizeof(Carrier);
      constexpr size_t places = 2 * (blockRows + blockColumns + blockSteps);
      constexpr size_t bytes =
          roundUp(rowBytes + columnBytes + places * sizeof(int64_t) + 64, 64);
      memory = static_cast<char *>(aligned_alloc(64, bytes));
      if (!memory)
        numera_host_fail("out of memory");
      columns = reinterpret_cast<Carrier *>(memory);
      rows = reinterpret_cast<Carrier *>(memory + columnBytes);
      rowPlaces = reinterpret_cast<int64_t *>(
          memory + roundUp(columnBytes + rowBytes, 64));
      rowSums = rowPlaces + blockRows;
      columnPlaces = rowSums + blockRows;
      columnSums = columnPlaces + blockColumns;
      rowSteps = columnSums + blockColumns;
      columnSteps = rowSteps + blockSteps;
    }
    ~Workspace() { free(memory); }
    Workspace(const Workspace &) = delete;

  private:
    char *memory;
  };

  void runPart(Workspace &space, const Walk &batch, int64_t rowBegin,
               int64_t rowEnd, int64_t columnBegin, int64_t columnEnd) const {
    const void *rows = problem.rows;
    const void *columns = problem.columns;
    for (int64_t k = 0; k < stepCount; k += blockSteps) {
      int64_t steps = least(blockSteps, stepCount - k);
      Walk step(problem.loops + problem.firstStep(), problem.counts.steps, k);
      for (int64_t i = 0; i < steps; ++i, step.next()) {
        space.rowSteps[i] = step.rows;
        space.columnSteps[i] = step.columns;
      }
      for (int64_t c = columnBegin; c < columnEnd; c += blockColumns) {
        int64_t width = least(blockColumns, columnEnd - c);
        packColumns(space, columns, batch, c, width, steps);
        for (int64_t r = rowBegin; r < rowEnd; r += blockRows) {
          int64_t height = least(blockRows, rowEnd - r);
          packRows(space, rows, batch, r, height, steps);
          runTiles(space, height, width, steps);
        }
      }
    }
  }

  void packColumns(Workspace &space, const void *base, const Walk &batch,
                   int64_t first, int64_t width, int64_t steps) const {
    Walk column(problem.loops + problem.firstColumn(), problem.counts.columns,
                first);
    for (int64_t i = 0; i < width; ++i, column.next()) {
      space.columnPlaces[i] = batch.columns + column.columns;
      space.columnSums[i] = batch.sums + column.sums;
    }
    bool contiguous = isContiguous(space.columnSteps, steps);
    for (int64_t c = 0; c < width; c += tileColumns) {
      Carrier *panel = space.columns + c * steps;
      int64_t count = least(tileColumns, width - c);
      if (count < tileColumns)
        clear(panel, tileColumns * steps);
      Packing<tileColumns, 1, tileColumns, numera_hook_column>::pack(
          panel, base, space.columnPlaces + c, count, space.columnSteps, steps,
          contiguous);
    }
  }

  void packRows(Workspace &space, const void *base, const Walk &batch,
                int64_t first, int64_t height, int64_t steps) const {
    Walk row(problem.loops + problem.firstRow(), problem.counts.rows, first);
    for (int64_t i = 0; i < height; ++i, row.next()) {
      space.rowPlaces[i] = batch.rows + row.rows;
      space.rowSums[i] = row.sums;
    }
    bool contiguous = isContiguous(space.rowSteps, steps);
    for (int64_t r = 0; r < height; r += tileRows) {
      Carrier *panel = space.rows + r * rowPitch;
      int64_t count = least(tileRows, height - r);
      if (count < tileRows)
        clear(panel, tileRows * rowPitch);
      Packing<tileRows, rowPitch, 1, numera_hook_row>::pack(
          panel, base, space.rowPlaces + r, count, space.rowSteps, steps,
          contiguous);
    }
  }

  /// What lies beyond the edges is computed on too.
  static void clear(Carrier *panel, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      panel[i] = 0;
  }

  void runTiles(const Workspace &space, int64_t height, int64_t width,
                int64_t steps) const {
    alignas(64) Carrier tile[tileRows * tileColumns];
    for (int64_t c = 0; c < width; c += tileColumns) {
      int64_t columns = least(tileColumns, width - c);
      const int64_t *places = space.columnSums + c;
      bool whole = columns == tileColumns && isContiguous(places, tileColumns);
      for (int64_t r = 0; r < height; r += tileRows) {
        int64_t rows = least(tileRows, height - r);
        if (rows < tileRows || columns < tileColumns)
          clear(tile, tileRows * tileColumns);
        load(tile, space.rowSums + r, rows, places, columns, whole);
        TheTile::run(tile, space.rows + r * rowPitch, space.columns + c * steps,
                     steps);
        store(tile, space.rowSums + r, rows, places, columns, whole);
      }
    }
  }

  void load(Carrier *tile, const int64_t *rowPlaces, int64_t rows,
            const int64_t *places, int64_t columns, bool whole) const {
    for (int64_t r = 0; r < rows; ++r) {
      Carrier *row = tile + r * tileColumns;
      if (whole)
        decodeRun<numera_hook_load, tileColumns>(row, problem.sums,
                                                 rowPlaces[r] + places[0]);
      else
        for (int64_t c = 0; c < columns; ++c)
          row[c] = numera_hook_load(problem.sums, rowPlaces[r] + places[c]);
    }
  }

  void store(const Carrier *tile, const int64_t *rowPlaces, int64_t rows,
             const int64_t *places, int64_t columns, bool whole) const {
    for (int64_t r = 0; r < rows; ++r) {
      const Carrier *row = tile + r * tileColumns;
      if (whole) {
        int64_t first = rowPlaces[r] + places[0];
#pragma clang loop vectorize(assume_safety)
        for (int64_t c = 0; c < tileColumns; ++c)
          numera_hook_store(problem.sums, first + c, row[c]);
      } else {
        for (int64_t c = 0; c < columns; ++c)
          numera_hook_store(problem.sums, rowPlaces[r] + places[c], row[c]);
      }
    }
  }

  Contraction problem;
  int64_t batchCount, rowCount, columnCount, stepCount;
  int64_t units;
  bool splitsColumns;
};

template <int tileRows, int tileVectors>
static void contract(const Contraction &problem) {
  using TheKernel = Kernel<tileRows, tileVectors>;
  TheKernel kernel(problem);
  numera_host_parallel(
      [](void *context, int64_t begin, int64_t end) {
        static_cast<TheKernel *>(context)->run(begin, end);
      },
      &kernel, kernel.unitCount(), /*grain=*/1);
}

} // namespace numera::kernel

using numera::kernel::Loop, numera::kernel::LoopCounts;

/// One entry a shape of tile: 32 registers of 64 bytes hold 8 x 2 vectors, 16
/// of 32 bytes 6 x 2 halves, 16 of 16 bytes 3 x 4 quarters.
#define ENTRY(tileRows, tileVectors)                                           \
  extern "C" void numera_contract_##tileRows##x##tileVectors(                  \
      const void *rows, const void *columns, void *sums, const Loop *loops,    \
      int32_t batchLoops, int32_t rowLoops, int32_t columnLoops,               \
      int32_t stepLoops) {                                                     \
    LoopCounts counts{batchLoops, rowLoops, columnLoops, stepLoops};           \
    numera::kernel::contract<tileRows, tileVectors>(                           \
        {rows, columns, sums, loops, counts});                                 \
  }
ENTRY(8, 2)
ENTRY(6, 1)
ENTRY(3, 1)
