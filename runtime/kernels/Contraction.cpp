// SPDX-License-Identifier: MIT
//
// A contraction as blocks of packed panels and tiles in registers, after Goto
// and van de Geijn (Anatomy of high-performance matrix multiplication, 2008):
// a block of rows stays in the second-level cache while the tiles go through
// the panels of a block of columns. Blocks of steps follow one another, so that
// every sum runs in written order, whatever the sizes and the number of
// threads. Compiled once for each carrier, and by lib/Target/Kernels.cpp linked
// once for each kind of contraction in a program, with its hooks.

#include "Problem.h"
#include "Tile.h"
#if NUMERA_SHORT_STEPS
#include "Bounds.h"
#endif

namespace numera::kernel {

template <int tileRows, int tileVectors> class Kernel {
  static constexpr int64_t tileColumns = tileVectors * lanes;
  static constexpr int64_t blockRows = roundUp(120, tileRows);
  static constexpr int64_t blockColumns = 1024;
  static constexpr int64_t rowForms = NUMERA_SHORT_STEPS ? 2 : 1;
  /// Panels of rows stay in the first-level cache: 16 KiB.
  static constexpr int64_t blockSteps =
      16 * 1024 / (8 * rowForms * int64_t(sizeof(Carrier)));
  /// Not a multiple of 4 KiB: rows of a panel would share a cache set.
  static constexpr int64_t rowPitch = blockSteps + 64 / sizeof(Carrier);

public:
  explicit Kernel(const Contraction &problem)
      : problem(problem), units(problem, /*unit=*/4 * tileColumns),
        stepCount(problem.extentOf(problem.firstStep(), problem.counts.steps)) {
  }

  int64_t unitCount() const { return units.count(); }

  /// The body of the parallel loop. Not into the code that shares it out, which
  /// is made for size.
  [[gnu::noinline]] static void runUnits(void *context, int64_t begin,
                                         int64_t end) {
    const auto &kernel = *static_cast<const Kernel *>(context);
    Workspace space;
    kernel.units.forEachPart(
        begin, end, [&](const Part &part) { kernel.runPart(space, part); });
  }

private:
  /// One thread's memory.
  struct Workspace {
    Carrier *rows;                ///< panels of blockRows, in all their forms
    Carrier *columns;             ///< panels of blockColumns
    int64_t *rowPlaces, *rowSums; ///< blockRows each
    int64_t *columnPlaces, *columnSums; ///< blockColumns each
    int64_t *rowSteps, *columnSteps;    ///< blockSteps each
#if NUMERA_SHORT_STEPS
    Carrier *rowPanel, *columnPanel; ///< one each, for a tile done again
    Magnitudes *rowMagnitudes, *columnMagnitudes; ///< one a panel
#endif

    Memory memory{[this](const auto &take) {
      take(columns, roundUp(blockColumns, tileColumns) * blockSteps);
      take(rows, rowForms * blockRows * rowPitch);
      take(rowPlaces, blockRows);
      take(rowSums, blockRows);
      take(columnPlaces, blockColumns);
      take(columnSums, blockColumns);
      take(rowSteps, blockSteps);
      take(columnSteps, blockSteps);
#if NUMERA_SHORT_STEPS
      take(rowPanel, tileRows * rowPitch);
      take(columnPanel, tileColumns * blockSteps);
      take(rowMagnitudes, blockRows / tileRows);
      take(columnMagnitudes, roundUp(blockColumns, tileColumns) / tileColumns);
#endif
    }};
  };

  void runPart(Workspace &space, const Part &part) const {
    Walk batch(problem.loops, problem.counts.batch, part.batch);
    for (int64_t k = 0; k < stepCount; k += blockSteps) {
      int64_t steps = least(blockSteps, stepCount - k);
      Walk step(problem.loops + problem.firstStep(), problem.counts.steps, k);
      for (int64_t i = 0; i < steps; ++i, step.next()) {
        space.rowSteps[i] = step.rows;
        space.columnSteps[i] = step.columns;
      }
      for (int64_t c = part.columnBegin; c < part.columnEnd;
           c += blockColumns) {
        int64_t width = least(blockColumns, part.columnEnd - c);
        packColumns(space, batch, c, width, steps);
        for (int64_t r = part.rowBegin; r < part.rowEnd; r += blockRows) {
          int64_t height = least(blockRows, part.rowEnd - r);
          packRows(space, batch, r, height, steps);
          runTiles(space, height, width, steps);
        }
      }
    }
  }

  void packColumns(Workspace &space, const Walk &batch, int64_t first,
                   int64_t width, int64_t steps) const {
    Walk column(problem.loops + problem.firstColumn(), problem.counts.columns,
                first);
    for (int64_t i = 0; i < width; ++i, column.next()) {
      space.columnPlaces[i] = batch.columns + column.columns;
      space.columnSums[i] = batch.sums + column.sums;
    }
    bool contiguous = isContiguous(space.columnSteps, steps);
    for (int64_t c = 0; c < width; c += tileColumns) {
      int64_t count = least(tileColumns, width - c);
      withPanel(count, [&](auto panel) {
        Carrier *values = space.columns + c * steps;
        panel.pack(*this, space, values, c, count, steps, contiguous);
#if NUMERA_SHORT_STEPS
        space.columnMagnitudes[c / tileColumns] =
            Magnitudes::of(values, panel.columns * steps);
        prepare<numera_hook_prepared>(values, values, panel.columns * steps);
#endif
      });
    }
  }

  void packRows(Workspace &space, const Walk &batch, int64_t first,
                int64_t height, int64_t steps) const {
    Walk row(problem.loops + problem.firstRow(), problem.counts.rows, first);
    for (int64_t i = 0; i < height; ++i, row.next()) {
      space.rowPlaces[i] = batch.rows + row.rows;
      space.rowSums[i] = row.sums;
    }
    bool contiguous = isContiguous(space.rowSteps, steps);
    for (int64_t r = 0; r < height; r += tileRows) {
      Carrier *panel = space.rows + r * rowForms * rowPitch;
      packRowPanel(space, panel, r, least(tileRows, height - r), steps,
                   contiguous);
#if NUMERA_SHORT_STEPS
      Magnitudes all;
      for (int64_t i = 0; i < tileRows; ++i) {
        Carrier *values = panel + i * rowPitch;
        all.join(Magnitudes::of(values, steps));
        prepare<numera_hook_second>(values + tileRows * rowPitch, values,
                                    steps);
        prepare<numera_hook_first>(values, values, steps);
      }
      space.rowMagnitudes[r / tileRows] = all;
#endif
    }
  }

  void packRowPanel(const Workspace &space, Carrier *panel, int64_t r,
                    int64_t count, int64_t steps, bool contiguous) const {
    if (count < tileRows)
      clear(panel, tileRows * rowPitch);
    Packing<tileRows, rowPitch, 1, numera_hook_row>::pack(
        panel, problem.rows, space.rowPlaces + r, count, space.rowSteps, steps,
        contiguous);
  }

  /// What lies beyond the edges is computed on too.
  static void clear(Carrier *panel, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      panel[i] = 0;
  }

  void runTiles(const Workspace &space, int64_t height, int64_t width,
                int64_t steps) const {
    for (int64_t c = 0; c < width; c += tileColumns) {
      int64_t columns = least(tileColumns, width - c);
      withPanel(columns, [&](auto panel) {
        for (int64_t r = 0; r < height; r += tileRows)
          panel.run(*this, space, r, least(tileRows, height - r), c, columns,
                    steps);
      });
    }
  }

  /// A panel of columns: of all the tile's vectors, or of one, at the edge.
  template <int vectors> struct Panel {
    using TheTile = Tile<tileRows, vectors, rowPitch>;
    static constexpr int64_t columns = vectors * lanes;

    static void pack(const Kernel &kernel, const Workspace &space,
                     Carrier *panel, int64_t c, int64_t count, int64_t steps,
                     bool contiguous) {
      if (count < columns)
        clear(panel, columns * steps);
      Packing<columns, 1, columns, numera_hook_column>::pack(
          panel, kernel.problem.columns, space.columnPlaces + c, count,
          space.columnSteps, steps, contiguous);
    }

    static void run(const Kernel &kernel, const Workspace &space, int64_t r,
                    int64_t rowCount, int64_t c, int64_t count, int64_t steps) {
      alignas(64) Carrier tile[TheTile::size];
      if (rowCount < tileRows || count < columns)
        clear(tile, TheTile::size);
      const int64_t *rowSums = space.rowSums + r, *sums = space.columnSums + c;
      bool whole = count == columns && isContiguous(sums, columns);
      load(tile, kernel.problem.sums, rowSums, rowCount, sums, count, whole);
      runSteps(kernel, space, tile, r, rowCount, c, count, steps);
      store(tile, kernel.problem.sums, rowSums, rowCount, sums, count, whole);
    }

  private:
#if NUMERA_SHORT_STEPS
    static void runSteps(const Kernel &kernel, const Workspace &space,
                         Carrier *tile, int64_t r, int64_t rowCount, int64_t c,
                         int64_t count, int64_t steps) {
      const Magnitudes &row = space.rowMagnitudes[r / tileRows];
      const Magnitudes &column = space.columnMagnitudes[c / tileColumns];
      auto tryShort = [&](const Products &products) {
        return products.areAdmitted() &&
               runShort(tile, space.rows + r * rowForms * rowPitch,
                        space.columns + c * steps, steps);
      };
      auto outer = Products::of(row, column);
      if (tryShort(outer))
        return;
      kernel.packRowPanel(space, space.rowPanel, r, rowCount, steps,
                          isContiguous(space.rowSteps, steps));
      pack(kernel, space, space.columnPanel, c, count, steps,
           isContiguous(space.columnSteps, steps));
      if (!outer.areAdmitted() && row.isFinite() && column.isFinite() &&
          tryShort(Products::template of<tileRows, rowPitch, columns>(
              space.rowPanel, space.columnPanel, steps)))
        return;
      TheTile::template run<WholeStep>(tile, space.rowPanel, space.columnPanel,
                                       steps);
    }

    /// False, and the tile as it was, if it cannot be done so.
    static bool runShort(Carrier *tile, const Carrier *rows,
                         const Carrier *columns, int64_t steps) {
      alignas(64) Carrier sums[TheTile::size];
      prepare<numera_hook_start>(sums, tile, TheTile::size);
      if (Magnitudes::of(sums, TheTile::size).hasNaN())
        return false;
      TheTile::template run<ShortStep>(sums, rows, columns, steps);
      prepare<numera_hook_result>(sums, sums, TheTile::size);
      if (Magnitudes::of(sums, TheTile::size).hasNaN())
        return false;
      for (int64_t i = 0; i < TheTile::size; ++i)
        tile[i] = sums[i];
      return true;
    }
#else
    static void runSteps(const Kernel &, const Workspace &space, Carrier *tile,
                         int64_t r, int64_t, int64_t c, int64_t,
                         int64_t steps) {
      TheTile::template run<WholeStep>(tile, space.rows + r * rowPitch,
                                       space.columns + c * steps, steps);
    }
#endif

    static void load(Carrier *tile, const void *base, const int64_t *rowPlaces,
                     int64_t rows, const int64_t *places, int64_t count,
                     bool whole) {
      for (int64_t r = 0; r < rows; ++r, tile += columns)
        if (whole)
          decodeRun<numera_hook_load, columns, 1>(tile, base,
                                                  rowPlaces[r] + places[0]);
        else
          for (int64_t c = 0; c < count; ++c)
            tile[c] = numera_hook_load(base, rowPlaces[r] + places[c]);
    }

    static void store(const Carrier *tile, void *base, const int64_t *rowPlaces,
                      int64_t rows, const int64_t *places, int64_t count,
                      bool whole) {
      for (int64_t r = 0; r < rows; ++r, tile += columns)
        if (whole) {
          int64_t first = rowPlaces[r] + places[0];
#pragma clang loop vectorize(assume_safety) unroll(disable)
          for (int64_t c = 0; c < columns; ++c)
            numera_hook_store(base, first + c, tile[c]);
        } else {
          for (int64_t c = 0; c < count; ++c)
            numera_hook_store(base, rowPlaces[r] + places[c], tile[c]);
        }
    }
  };

  template <typename Use>
  static void withPanel(int64_t columns, const Use &use) {
    if constexpr (tileVectors > 1)
      if (columns <= lanes)
        return use(Panel<1>());
    use(Panel<tileVectors>());
  }

#if NUMERA_SHORT_STEPS
  template <auto form>
  static void prepare(Carrier *out, const Carrier *values, int64_t count) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i)
      out[i] = form(values[i]);
  }
#endif

  Contraction problem;
  Units units;
  int64_t stepCount;
};

} // namespace numera::kernel

/// One entry a shape of tile: 32 registers of 64 bytes hold 8 x 2 vectors, 16
/// of 32 bytes 6 x 2 halves, 16 of 16 bytes 3 x 4 quarters. Short steps use an
/// element of a row once a tile in 8 x 1: as an operand in memory.
NUMERA_CONTRACT_ENTRY(Kernel, 8, 2)
NUMERA_CONTRACT_ENTRY(Kernel, 8, 1)
NUMERA_CONTRACT_ENTRY(Kernel, 6, 1)
NUMERA_CONTRACT_ENTRY(Kernel, 3, 1)
