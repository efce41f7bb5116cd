// SPDX-License-Identifier: MIT
//
// A contraction as blocks of packed panels and tiles in registers, after Goto
// and van de Geijn (Anatomy of high-performance matrix multiplication, 2008):
// a block of rows stays in the second-level cache while the tiles go through
// the panels of a block of columns. Blocks of steps follow one another, so that
// every sum runs in written order, whatever the sizes and the number of
// threads. Compiled once for each carrier, and by lib/Target/Link/Kernels.cpp
// linked once for each kind of contraction in a program, with its hooks.

#include "Sharing.h"
#include "Sums.h"
#include "Tile.h"

namespace numera::kernel {

template <int tileRows, int tileVectors> class Kernel : Blocks {
  template <typename, typename, typename> friend class Sharing;

  static constexpr int64_t tileColumns = tileVectors * preparedLanes;
  static constexpr int64_t rowForms = NUMERA_SHORT_STEPS ? 2 : 1;
  static constexpr int64_t valuesInRow = sizeof(RowValue) / sizeof(Prepared);
  static constexpr int64_t rowsInBlock = 16 * tileRows;
  /// Panels of rows stay in the first-level cache: 16 KiB. Those of short steps
  /// come from the second one, in time for 24 or more operations a step, and a
  /// tile has 512 to pay for its beginning and its end.
  static constexpr int64_t mostSteps =
      16 * 1024 / (8 * int64_t(sizeof(Carrier)));
#if NUMERA_SHORT_STEPS
  static_assert(mostSteps <=
                PanelMagnitudes::partSteps * PanelMagnitudes::mostParts);
#endif
  /// Not a multiple of 4 KiB: rows of a panel would share a cache set.
  static constexpr int64_t rowPitch = mostSteps + 64 / sizeof(Carrier);

  explicit Kernel(const Contraction &problem) : Blocks(problem, mostSteps) {}

public:
  static void run(const Contraction &problem) {
    Kernel kernel(problem);
    kernel.shareBatches(runBatches);
  }

private:
  /// The body of the loop over batches. Not into the code that shares it out,
  /// which is made for size; so for all bodies.
  [[gnu::noinline]] static void runBatches(void *context, int64_t begin,
                                           int64_t end) {
    const auto &kernel =
        static_cast<const Kernel &>(*static_cast<const Blocks *>(context));
    Sharing<Kernel, Rows, Columns>::runEither(kernel, begin, end);
  }

  /// The two sides of a product: how wide a panel is, how many of them a thread
  /// packs at a time, and what they take.
  struct Rows {
    static constexpr int64_t panelsInBlock = rowsInBlock / tileRows;

    static int64_t width(const Kernel &) { return tileRows; }
    static int64_t panelSize(const Kernel &) {
      return rowForms * tileRows * rowPitch * valuesInRow;
    }
    static const RowValue *panel(const Block &rows, int64_t r) {
      return reinterpret_cast<const RowValue *>(rows.panels) +
             r * rowForms * rowPitch;
    }
    static int64_t count(const Kernel &kernel) { return kernel.rowCount; }
    static void pack(const Kernel &kernel, const Block &rows, int64_t index,
                     const Steps &steps) {
      kernel.packRowPanel(rows, index, steps);
    }
    static void findPlaces(const Kernel &kernel, const Walk &batch,
                           int64_t first, const Block &block) {
      kernel.findRowPlaces(batch, first, block);
    }
  };
  struct Columns {
    static constexpr int64_t panelsInBlock = 4;

    static int64_t width(const Kernel &) { return tileColumns; }
    static int64_t panelSize(const Kernel &kernel) {
      return tileColumns * kernel.blockSteps;
    }
    static int64_t count(const Kernel &kernel) { return kernel.columnCount; }
    static void pack(const Kernel &kernel, const Block &columns, int64_t index,
                     const Steps &steps) {
      kernel.packColumnPanel(columns, index, steps);
    }
    static void findPlaces(const Kernel &kernel, const Walk &batch,
                           int64_t first, const Block &block) {
      kernel.findColumnPlaces(batch, first, block);
    }
  };

  /// One panel each, for a tile done again.
  struct Again {
#if NUMERA_SHORT_STEPS
    Carrier *rowPanel, *columnPanel;
#endif
  };
  /// One thread's memory.
  template <typename Own> struct Workspace : Again {
    Block own;
    Memory memory;

    explicit Workspace(const Kernel &kernel)
        : memory([&](const auto &take) {
            layOut<Own>(take, own, kernel,
                        Own::panelsInBlock * Own::width(kernel), 1);
#if NUMERA_SHORT_STEPS
            take(this->rowPanel, tileRows * rowPitch);
            take(this->columnPanel, tileColumns * kernel.blockSteps);
#endif
          }) {
    }
  };

  void packRowPanel(const Block &rows, int64_t index,
                    const Steps &steps) const {
    Prepared *panel = rows.panels + index * Rows::panelSize(*this);
    withValues<tileRows * rowPitch>(panel, [&](Carrier *values) {
      decodeRows(values, rows, index * tileRows, steps);
#if NUMERA_SHORT_STEPS
      rows.magnitudes[index] = PanelMagnitudes::of<tileRows, rowPitch>(
          values, steps.count, PanelMagnitudes::partSteps);
      for (int64_t i = 0; i < tileRows; ++i) {
        const Carrier *row = values + i * rowPitch;
        RowValue *first = reinterpret_cast<RowValue *>(panel) + i * rowPitch;
        prepare<rowOf<numera_hook_second>>(first + tileRows * rowPitch, row,
                                           steps.count);
        prepare<rowOf<numera_hook_first>>(first, row, steps.count);
      }
#endif
    });
  }

  void packColumnPanel(const Block &columns, int64_t index,
                       const Steps &steps) const {
    Prepared *prepared = columns.panels + index * tileColumns * steps.count;
    withPanel(columns.count - index * tileColumns, [&](auto panel) {
      withValues<panel.columns * mostSteps>(prepared, [&](Carrier *values) {
        panel.decode(*this, values, columns, index * tileColumns, steps);
#if NUMERA_SHORT_STEPS
        int64_t size = panel.columns * steps.count;
        columns.magnitudes[index] = PanelMagnitudes::of<1, 0>(
            values, size, PanelMagnitudes::partSteps * panel.columns);
        prepare<numera_hook_prepared>(prepared, values, size);
#endif
      });
    });
  }

  /// Memory for a panel's values: the panel, if it is of their type.
  template <int64_t size, typename Use>
  static void withValues(Prepared *panel, const Use &use) {
    if constexpr (std::is_same_v<Prepared, Carrier>) {
      use(panel);
    } else {
      alignas(64) Carrier values[size];
      use(values);
    }
  }

  void decodeRows(Carrier *panel, const Block &rows, int64_t first,
                  const Steps &steps) const {
    int64_t count = least(tileRows, rows.count - first);
    if (count < tileRows)
      fill(panel, tileRows * rowPitch, 0);
    Packing<tileRows, rowPitch, 1, numera_hook_row>::pack(
        panel, problem.rows, rows.places + first, count, steps.rows,
        steps.count, steps.rowsAreContiguous);
  }

  /// What lies beyond the edges is computed on too.
  static void fill(Carrier *values, int64_t count, Carrier value) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = value;
  }

  /// A block of rows stays in the second-level cache, while the tiles go
  /// through all columns.
  void runTiles(const Again &space, const Block &rows, const Block &columns,
                const Steps &steps) const {
    for (int64_t first = 0; first < rows.count; first += rowsInBlock) {
      int64_t last = least(first + rowsInBlock, rows.count);
      for (int64_t c = 0; c < columns.count; c += tileColumns)
        withPanel(columns.count - c, [&](auto panel) {
          for (int64_t r = first; r < last; r += tileRows)
            panel.run(*this, space, rows, r, columns, c, steps);
        });
    }
  }

  /// A panel of columns: of all the tile's vectors, or of fewer, at the edge.
  template <int vectors> struct Panel {
    static constexpr int64_t columns = vectors * preparedLanes;
    using TheTile = Tile<tileRows, columns, rowPitch>;

    static void decode(const Kernel &kernel, Carrier *panel, const Block &block,
                       int64_t first, const Steps &steps) {
      int64_t count = least(columns, block.count - first);
      if (count < columns)
        fill(panel, columns * steps.count, 0);
      Packing<columns, 1, columns, numera_hook_column>::pack(
          panel, kernel.problem.columns, block.places + first, count,
          steps.columns, steps.count, steps.columnsAreContiguous);
    }

    /// One for both ways of sharing: a tile outweighs a call, and what is
    /// inlined twice is compiled twice.
    [[gnu::noinline]]
    static void run(const Kernel &kernel, const Again &space, const Block &rows,
                    int64_t r, const Block &block, int64_t c,
                    const Steps &steps) {
      int64_t count = least(columns, block.count - c);
      Sums<columns> sums = {{kernel.problem.sums, rows.sums + r, block.sums + c,
                             least(tileRows, rows.count - r), count,
                             Sums<columns>::haveWhole(block.sums + c, count)}};
      bool starts = steps.areFirst && kernel.problem.initial;
      if (sums.areWhole)
        sums.prefetch();
      alignas(64) Carrier tile[TheTile::size];
      if (starts || sums.rowCount < tileRows || sums.count < columns)
        fill(tile, TheTile::size, kernel.start);
      if (!starts)
        sums.load(tile);
      runSteps(kernel, space, tile, rows, r, block, c, steps);
      sums.store(tile);
    }

  private:
#if NUMERA_SHORT_STEPS
    static void runSteps(const Kernel &kernel, const Again &space,
                         Carrier *tile, const Block &rows, int64_t r,
                         const Block &block, int64_t c, const Steps &steps) {
      const PanelMagnitudes &row = rows.magnitudes[r / tileRows];
      const PanelMagnitudes &column = block.magnitudes[c / tileColumns];
      bool areFinite = row.isFinite() && column.isFinite();
      auto tryShort = [&](const Products &products) {
        return products.areAdmitted() &&
               runShort(tile, Rows::panel(rows, r),
                        block.panels + c * steps.count, steps.count,
                        products.areConfined());
      };
      auto outer = Products::of(row, column);
      if (areFinite && Products::mayBeConfined() && !outer.areConfined())
        outer = Products::ofParts(row, column, steps.count);
      if (tryShort(outer))
        return;
      kernel.decodeRows(space.rowPanel, rows, r, steps);
      decode(kernel, space.columnPanel, block, c, steps);
      if (!outer.areAdmitted() && areFinite &&
          tryShort(Products::template of<tileRows, rowPitch, columns>(
              space.rowPanel, space.columnPanel, steps.count)))
        return;
      TheTile::template run<WholeStep>(tile, space.rowPanel, space.columnPanel,
                                       steps.count);
    }

    /// False, and the tile as it was, if it cannot be done so.
    [[gnu::noinline]] static bool runShort(Carrier *tile, const RowValue *rows,
                                           const Prepared *columns,
                                           int64_t steps, bool areConfined) {
      alignas(64) Prepared sums[TheTile::size];
      prepare<numera_hook_start>(sums, tile, TheTile::size);
      if (haveNaN(sums, TheTile::size))
        return false;
      if (areConfined)
        TheTile::template run<ConfinedStep>(sums, rows, columns, steps);
      else
        TheTile::template run<ShortStep>(sums, rows, columns, steps);
      alignas(64) Carrier results[TheTile::size];
      prepare<numera_hook_result>(results, sums, TheTile::size);
      if (haveNaN(results, TheTile::size))
        return false;
      for (int64_t i = 0; i < TheTile::size; ++i)
        tile[i] = results[i];
      return true;
    }
#else
    static void runSteps(const Kernel &, const Again &, Carrier *tile,
                         const Block &rows, int64_t r, const Block &block,
                         int64_t c, const Steps &steps) {
      // The next panel of columns comes from the last-level cache: each tile
      // of a block fetches a part of it.
      int64_t after = c + tileColumns < block.count ? c + tileColumns : 0;
      const auto *next =
          reinterpret_cast<const char *>(block.panels + after * steps.count);
      next += r % rowsInBlock / tileRows * steps.count * TheTile::fetched;
      TheTile::template run<WholeStep>(tile, Rows::panel(rows, r),
                                       block.panels + c * steps.count,
                                       steps.count, next);
    }
#endif
  };

  /// Of as many vectors as the columns that are left need.
  template <int vectors = 1, typename Use>
  static void withPanel(int64_t columns, const Use &use) {
    if constexpr (vectors < tileVectors)
      if (columns > vectors * preparedLanes)
        return withPanel<vectors + 1>(columns, use);
    use(Panel<vectors>());
  }

#if NUMERA_SHORT_STEPS
  template <auto form> static RowValue rowOf(Carrier value) {
    return rowValue(form(value));
  }
  template <auto form, typename Out, typename In>
  static void prepare(Out *out, const In *values, int64_t count) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i)
      out[i] = form(values[i]);
  }
#endif
};

} // namespace numera::kernel

/// One entry a shape of tile: 32 registers of 64 bytes hold 8 x 2 vectors, and
/// 8 x 3 if a step is one instruction or two: then 11 loads serve 24 of them,
/// and not 10 loads 16. 16 registers of 32 bytes hold 6 x 2 halves, 16 of 16
/// bytes 3 x 4 quarters. Short steps use an element of a row once a tile in
/// 8 x 1: as an operand in memory.
NUMERA_CONTRACT_ENTRY(Kernel, 8, 3)
NUMERA_CONTRACT_ENTRY(Kernel, 8, 2)
NUMERA_CONTRACT_ENTRY(Kernel, 8, 1)
NUMERA_CONTRACT_ENTRY(Kernel, 6, 1)
NUMERA_CONTRACT_ENTRY(Kernel, 3, 1)
