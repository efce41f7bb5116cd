// SPDX-License-Identifier: MIT
//
// A contraction of values that lie in memory as they are computed with. A step
// takes one value of each row of a tile, from wherever it lies: rows are packed
// only where a tile's would crowd each other out of a cache, and so are columns
// that do not lie in panels already, as the compiler lays out constants
// (PanelConstants.cpp). So most convolutions copy nothing: their rows are the
// places of the image, their columns the filters. Sums are written by columns,
// if those lie side by side.
//
// Blocks and tiles are otherwise those of Contraction.cpp, and so is the order
// of every sum.

#include "Sharing.h"
#include "Sums.h"

namespace numera::kernel {

/// The hook of a value that is stored as it is.
inline Carrier valueAt(const void *base, int64_t index) {
  return static_cast<const Carrier *>(base)[index];
}

/// The rows of a tile, each with all its steps: the value of row r in step k
/// lies at rows[r][steps[k]].
struct TileRows {
  const Carrier *rows[8];
  const int64_t *steps;
  const int64_t *sums;
  int64_t height;     ///< of the tile
  int64_t count;      ///< of those that are
  bool areSideBySide; ///< the sums of a column
  bool areFirst;      ///< of those that go through these panels
};

template <int tileRows, int tileVectors> class DirectKernel : Blocks {
  template <typename, typename, typename> friend class Sharing;

  static_assert(tileRows <= 8);
  static constexpr int64_t rowsInBlock = 16 * tileRows;
  static constexpr int64_t tileColumns = tileVectors * lanes;

  explicit DirectKernel(const Contraction &problem)
      : Blocks(problem, mostSteps(problem)), panelWidth(tileColumns) {
    findPanels();
    if (rowsCrowd())
      rowPitch = (roundUp(blockSteps, lanes) / lanes | 1) * lanes;
  }

  /// The rows of a tile stay in the first-level cache: 2 KiB each, or 4 where
  /// there are 6, beside whose columns there is room. A step takes a line of
  /// it, and often two, where it goes far.
  static int64_t mostSteps(const Contraction &problem) {
    constexpr int64_t bytes = (tileRows == 6 ? 4 : 2) * 1024;
    constexpr int64_t size = bytes / int64_t(sizeof(Carrier));
    int32_t last = problem.firstStep() + problem.counts.steps - 1;
    bool goFar = problem.counts.steps > 0 && problem.loops[last].rows > lanes;
    return goFar ? size / 2 : size;
  }

public:
  static void run(const Contraction &problem) {
    DirectKernel kernel(problem);
    kernel.shareBatches(runBatches);
  }

private:
  [[gnu::noinline]] static void runBatches(void *context, int64_t begin,
                                           int64_t end) {
    const auto &kernel = static_cast<const DirectKernel &>(
        *static_cast<const Blocks *>(context));
    Sharing<DirectKernel, Rows, Columns>::runEither(kernel, begin, end);
  }

  struct Rows {
    static constexpr int64_t panelsInBlock = rowsInBlock / tileRows;

    static int64_t width(const DirectKernel &) { return tileRows; }
    static int64_t panelSize(const DirectKernel &kernel) {
      return tileRows * kernel.rowPitch;
    }
    static int64_t count(const DirectKernel &kernel) { return kernel.rowCount; }
    static void pack(const DirectKernel &kernel, const Block &rows,
                     int64_t index, const Steps &steps) {
      if (kernel.rowPitch)
        kernel.packRows(rows, index, steps);
    }
    static void findPlaces(const DirectKernel &kernel, const Walk &batch,
                           int64_t first, const Block &block) {
      kernel.findRowPlaces(batch, first, block);
    }
  };
  struct Columns {
    static constexpr int64_t panelsInBlock = 4;

    static int64_t width(const DirectKernel &kernel) {
      return kernel.panelWidth;
    }
    static int64_t panelSize(const DirectKernel &kernel) {
      return kernel.panelPitch ? 0 : tileColumns * kernel.blockSteps;
    }
    static int64_t count(const DirectKernel &kernel) {
      return kernel.columnCount;
    }
    static void pack(const DirectKernel &kernel, const Block &columns,
                     int64_t index, const Steps &steps) {
      if (!kernel.panelPitch)
        kernel.packPanel(columns, index, steps);
    }
    static void findPlaces(const DirectKernel &kernel, const Walk &batch,
                           int64_t first, const Block &block) {
      kernel.findColumnPlaces(batch, first, block);
    }
  };

  /// One thread's memory.
  template <typename Own> struct Workspace {
    Block own;
    int64_t *steps; ///< of packed rows
    Memory memory;

    explicit Workspace(const DirectKernel &kernel)
        : memory([&](const auto &take) {
            layOut<Own>(take, own, kernel,
                        Own::panelsInBlock * Own::width(kernel), 1);
            take(steps, kernel.rowPitch);
          }) {
      for (int64_t k = 0; memory.isAvailable() && k < kernel.rowPitch; ++k)
        steps[k] = k;
    }
  };

  /// True if the lines of a tile's rows that the next steps come back to meet
  /// in a few sets of the first-level cache, which has 64 sets of 8 lines or
  /// more. So do the pixels of an image with 512 channels. To pack them takes
  /// as long as some ten columns.
  bool rowsCrowd() const {
    constexpr int64_t sets = 64, lineSize = 64, mostInSet = 9, mostSteps = 64;
    constexpr int64_t fewestColumns = 128;
    if (columnCount < fewestColumns || rowCount == 0 || stepCount == 0)
      return false;
    // Those of the innermost loops, as long as these go from line to line.
    int64_t count = 1;
    int32_t end = problem.firstStep() + problem.counts.steps, loop = end;
    for (; loop-- > problem.firstStep() && count < mostSteps;) {
      const Loop &step = problem.loops[loop];
      if (step.extent > 1 && step.rows > -lanes && step.rows < lanes)
        break;
      count *= step.extent;
    }
    uintptr_t lines[sets][mostInSet];
    uint8_t found[sets] = {};
    Walk row(problem.loops + problem.firstRow(), problem.counts.rows, 0);
    for (int64_t r = 0; r < least(tileRows, rowCount); ++r, row.next()) {
      Walk step(problem.loops + problem.firstStep(), problem.counts.steps, 0);
      for (int64_t k = 0; k < least(count, mostSteps); ++k, step.next()) {
        const Carrier *place =
            static_cast<const Carrier *>(problem.rows) + row.rows + step.rows;
        uintptr_t line = reinterpret_cast<uintptr_t>(place) / lineSize;
        int64_t set = line % sets, i = 0;
        while (i < found[set] && lines[set][i] != line)
          ++i;
        if (i == mostInSet)
          return true;
        if (i == found[set])
          lines[set][found[set]++] = line;
      }
    }
    return false;
  }

  /// One after the other, `rowPitch` apart: an odd number of lines, so that
  /// they do not meet in a set.
  [[gnu::noinline]] void packRows(const Block &rows, int64_t index,
                                  const Steps &steps) const {
    int64_t end = least((index + 1) * tileRows, rows.count);
    for (int64_t r = index * tileRows; r < end; ++r) {
      const Carrier *from =
          static_cast<const Carrier *>(problem.rows) + rows.places[r];
      Carrier *to = rows.panels + r * rowPitch;
      for (int64_t k = 0; k < steps.count; ++k)
        to[k] = from[steps.rows[k]];
    }
  }

  /// Columns lie in panels if the last of their loops goes through whole
  /// vectors, and all others and the steps go from vector to vector, the steps
  /// by one distance.
  void findPanels() {
    const Loop *columns = problem.loops + problem.firstColumn();
    const Loop *steps = problem.loops + problem.firstStep();
    int32_t columnLoops = problem.counts.columns, count = problem.counts.steps;
    if (columnLoops == 0 || stepCount == 0 || count == 0 ||
        reinterpret_cast<uintptr_t>(problem.columns) % sizeof(Vector) != 0)
      return;
    const Loop &last = columns[columnLoops - 1];
    int64_t pitch = steps[count - 1].columns, across = pitch % lanes;
    if (last.columns != 1 || last.extent % lanes != 0 || pitch <= 0)
      return;
    for (int32_t i = 0; i + 1 < columnLoops; ++i)
      across |= columns[i].columns % lanes;
    for (int32_t i = 0; i < problem.counts.batch; ++i)
      across |= problem.loops[i].columns % lanes;
    for (int32_t i = 0; i + 1 < count; ++i)
      across |= steps[i].columns - steps[i + 1].columns * steps[i + 1].extent;
    if (across != 0)
      return;
    while (last.extent % panelWidth != 0)
      panelWidth -= lanes;
    panelPitch = pitch;
  }

  /// In panels of one width, whatever part of it the last one fills.
  [[gnu::noinline]] void packPanel(const Block &columns, int64_t index,
                                   const Steps &steps) const {
    Carrier *panel = columns.panels + index * tileColumns * steps.count;
    int64_t first = index * tileColumns;
    int64_t count = least(tileColumns, columns.count - first);
    if (count < tileColumns)
      for (int64_t i = 0; i < tileColumns * steps.count; ++i)
        panel[i] = 0;
    Packing<tileColumns, 1, tileColumns, valueAt>::pack(
        panel, problem.columns, columns.places + first, count, steps.columns,
        steps.count, steps.columnsAreContiguous, problem.last(&Loop::columns));
  }

  /// Panels of some columns stay in the second-level cache, while the tiles go
  /// through a block of rows; and those rows in the first one, while they go
  /// through the panels.
  void runTiles(const auto &space, const Block &rows, const Block &columns,
                const Steps &steps) const {
    constexpr int64_t panelBytes = 384 * 1024;
    int64_t bytes = panelWidth * (steps.count + 1) * int64_t(sizeof(Carrier));
    int64_t width = (panelBytes / bytes + 1) * panelWidth;
    bool areOneRun = isContiguous(columns.sums, columns.count);
    // With as many tiles of a row less as it takes, if there are rows for them,
    // none goes beyond the edge.
    int64_t lower = roundUp(rows.count, tileRows) - rows.count;
    if (lower * lowRows > rows.count)
      lower = 0;
    for (int64_t first = 0; first < columns.count; first += width) {
      ColumnRange range = {columns, first, least(first + width, columns.count),
                           areOneRun};
      for (int64_t r = 0, tile = 0, height; r < rows.count; r += height) {
        height = tileRows - (tile++ < lower);
        runRows(rows, r, height, /*isFirst=*/r == 0,
                rowPitch ? space.steps : steps.rows, range, steps);
      }
    }
  }

  struct ColumnRange {
    const Block &block;
    int64_t begin, end;
    bool areOneRun; ///< the sums of a row of the block
  };

  void runRows(const Block &rows, int64_t r, int64_t height, bool isFirst,
               const int64_t *rowSteps, const ColumnRange &range,
               const Steps &steps) const {
    TileRows places;
    const auto *base = static_cast<const Carrier *>(problem.rows);
    // What lies beyond the edge is computed on too: as a row that exists.
    for (int64_t i = 0; i < height; ++i) {
      int64_t row = r + i < rows.count ? r + i : r;
      places.rows[i] =
          rowPitch ? rows.panels + row * rowPitch : base + rows.places[row];
    }
    places.steps = rowSteps;
    places.sums = rows.sums + r;
    places.height = height;
    places.count = least(height, rows.count - r);
    places.areFirst = isFirst;
    places.areSideBySide =
        places.count == height && isContiguous(places.sums, height);
    for (int64_t c = range.begin; c < range.end; c += panelWidth)
      withPanel(range.block.count - c,
                [&](auto panel) { panel.run(*this, places, range, c, steps); });
  }

  /// A panel of columns: of all the tile's vectors, or of fewer, at the edge.
  template <int vectors> struct Panel {
    static constexpr int64_t columns = vectors * lanes;

    static void run(const DirectKernel &kernel, const TileRows &rows,
                    const ColumnRange &range, int64_t c, const Steps &steps) {
      const Block &block = range.block;
      int64_t count = least(columns, block.count - c);
      Sums<columns> sums = {
          {kernel.problem.sums, rows.sums, block.sums + c, rows.count, count,
           range.areOneRun ? count == columns
                           : Sums<columns>::haveWhole(block.sums + c, count)}};
      bool starts = steps.areFirst && kernel.problem.initial;
      bool areAcross = !sums.areWhole && rows.areSideBySide;
      if (sums.areWhole)
        sums.prefetch();
      alignas(64) Carrier tile[8 * columns];
      if (!starts && (rows.count < rows.height || count < columns))
        for (int64_t i = 0; i < rows.height * columns; ++i)
          tile[i] = kernel.start;
      bool isLow = rows.height != tileRows;
      if (!starts && areAcross && isLow)
        sums.template loadColumns<lowRows>(tile, columns);
      else if (!starts && areAcross)
        sums.template loadColumns<tileRows>(tile, columns);
      else if (!starts)
        sums.load(tile);
      bool isLast = c + kernel.panelWidth >= range.end;
      const Carrier *start = starts ? &kernel.start : nullptr;
      const Carrier *panel = kernel.panelAt(block, c, steps);
      const Carrier *next = kernel.panelAt(
          block, isLast ? range.begin : c + kernel.panelWidth, steps);
      int64_t pitch = kernel.panelPitch ? kernel.panelPitch : tileColumns;
      auto *run = isLow           ? rows.areFirst ? &runSteps<lowRows, true>
                                                  : &runSteps<lowRows, false>
                  : rows.areFirst ? &runSteps<tileRows, true>
                                  : &runSteps<tileRows, false>;
      run(tile, start, rows, panel, pitch, next, steps.count);
      if (steps.areLast && kernel.problem.finish)
        kernel.finish(tile, columns, sums, block.first + c);
      if (areAcross && isLow)
        sums.template storeColumns<lowRows>(tile, columns);
      else if (areAcross)
        sums.template storeColumns<tileRows>(tile, columns);
      else
        sums.store(tile);
    }

  private:
    /// Sums begin with `start`, or where that is null with what they are. The
    /// columns of a step lie at `panel`, those of the next one `pitch`
    /// elements on; each step fetches a line from `next` on, if these panels
    /// are not in the second-level cache yet. It stands on its own, so that all
    /// places are in registers.
    template <int height, bool fetches>
    [[gnu::noinline]]
    static void runSteps(Carrier *sums, const Carrier *start,
                         const TileRows &rows, const Carrier *panel,
                         int64_t pitch, const Carrier *next, int64_t steps) {
      Vector tile[height][vectors];
      auto *places = reinterpret_cast<Vector *>(sums);
#pragma unroll
      for (int r = 0; r < height; ++r)
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          tile[r][v] = start ? Vector(*start) : places[r * vectors + v];
      const int64_t *step = rows.steps, *end = step + steps;
#pragma clang loop unroll(disable)
      for (; step != end; ++step, panel += pitch, next += lanes) {
        if constexpr (fetches)
          __builtin_prefetch(next, /*rw=*/0, /*locality=*/2);
        Vector column[vectors];
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          column[v] = reinterpret_cast<const Vector *>(panel)[v];
#pragma unroll
        for (int r = 0; r < height; ++r) {
          Vector row = rows.rows[r][*step];
#pragma unroll
          for (int v = 0; v < vectors; ++v)
            tile[r][v] = numera_hook_step(tile[r][v], row, column[v]);
        }
      }
#pragma unroll
      for (int r = 0; r < height; ++r)
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          places[r * vectors + v] = tile[r][v];
    }
  };

  void finish(Carrier *tile, int64_t pitch, const SumPlaces &sums,
              int64_t firstColumn) const {
    const void *const *finish = problem.finish;
    reinterpret_cast<Finish *>(const_cast<void *>(finish[0]))(
        finish + 1, tile, pitch, sums.rows, sums.rowCount, sums.columns[0],
        firstColumn, sums.count);
  }

  const Carrier *panelAt(const Block &block, int64_t column,
                         const Steps &steps) const {
    return panelPitch ? static_cast<const Carrier *>(problem.columns) +
                            block.places[column] + steps.columns[0]
                      : block.panels + column * steps.count;
  }

  /// The height of the lower tiles.
  static constexpr int lowRows = tileRows - 1;

  /// Of as many vectors as the columns that are left need.
  template <int vectors = 1, typename Use>
  void withPanel(int64_t columns, const Use &use) const {
    if constexpr (vectors < tileVectors)
      if (least(columns, panelWidth) > vectors * lanes)
        return withPanel<vectors + 1>(columns, use);
    use(Panel<vectors>());
  }

  int64_t panelWidth;
  /// How far panels go from step to step, if columns lie in some; else 0.
  int64_t panelPitch = 0;
  /// How far one packed row lies from the next; 0 if none are packed.
  int64_t rowPitch = 0;
};

} // namespace numera::kernel

NUMERA_CONTRACT_ENTRY(DirectKernel, 8, 3)
NUMERA_CONTRACT_ENTRY(DirectKernel, 8, 2)
NUMERA_CONTRACT_ENTRY(DirectKernel, 8, 1)
NUMERA_CONTRACT_ENTRY(DirectKernel, 6, 1)
NUMERA_CONTRACT_ENTRY(DirectKernel, 3, 1)
