// SPDX-License-Identifier: MIT
//
// A contraction whose sums are quires, by exact sums of products of slices in
// f64 (Numerics/MultiplyAdd/Slices.h). Blocks of both operands are decoded into
// panels, as in Contraction.cpp. For each tile the spans of its two panels say
// how many sums in f64 hold its terms through a block of steps: the tile runs
// once for each, from zero, on slices of the panels, and the sums are added to
// the quires in memory. Sums of a row or column with NaN or an infinity, and
// tiles that span too many bits for that, add every product to its quire.
// All of it is exact, so that neither the order of steps nor the way that a
// tile takes is seen in the result.

#include "Problem.h"
#include "Tile.h"
#include "numera/Numerics/MultiplyAdd/Slices.h"

namespace numera::kernel {

/// A step of such a sum. The product of two slices is exact, and so is the sum:
/// with or without a fused multiply-add, which would be a call where the
/// machine has none, the result is the same.
template <bool isFused> struct SliceStep {
  using Lanes = Vector;
  static constexpr int rowForms = 1;
  static constexpr bool fetches = false;
  static Vector spread(Carrier value) { return value; }
  static Vector next(Vector sum, const Vector (&row)[1], Vector column) {
    if constexpr (isFused)
      return __builtin_elementwise_fma(row[0], column, sum);
    return sum + row[0] * column;
  }
};

/// The magnitudes of a panel's nonzero elements, as the words of floats, which
/// are in the order of their values, NaN above all.
class PanelMagnitudes {
public:
  void add(const double *values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      uint64_t word =
          __builtin_bit_cast(uint64_t, values[i]) & ~uint64_t{0} >> 1;
      // Zero becomes the largest word of all.
      leastLessOne = word - 1 < leastLessOne ? word - 1 : leastLessOne;
      greatest = word > greatest ? word : greatest;
    }
  }
  bool isFinite() const { return greatest < infinity; }
  /// Of a finite panel.
  Span span() const {
    uint64_t least = leastLessOne < infinity ? leastLessOne + 1 : infinity;
    return Span::unpack(numera_hook_span(__builtin_bit_cast(double, least),
                                         __builtin_bit_cast(double, greatest)));
  }

private:
  static constexpr uint64_t infinity = 0x7FF0000000000000;
  uint64_t leastLessOne = ~uint64_t{0};
  uint64_t greatest = 0;
};

/// What is in a panel.
struct Contents {
  Span span;        ///< of the lanes that are finite
  uint32_t special; ///< bit i: lane i has NaN or an infinity

  bool isSpecial(int64_t lane) const { return special >> lane & 1; }
};

/// Looks at a panel, and clears the lanes that are special. The value of lane l
/// in step k lies at l * lanePitch + k * stepPitch; one of the two is 1.
template <int64_t panelLanes, int64_t lanePitch, int64_t stepPitch>
static Contents inspect(double *panel, int64_t steps) {
  static_assert(panelLanes <= 32);
  auto measure = [&] {
    PanelMagnitudes found;
    if constexpr (lanePitch == 1)
      found.add(panel, panelLanes * steps);
    else
      for (int64_t lane = 0; lane < panelLanes; ++lane)
        found.add(panel + lane * lanePitch, steps);
    return found;
  };
  PanelMagnitudes magnitudes = measure();
  uint32_t special = 0;
  if (!magnitudes.isFinite()) {
    for (int64_t lane = 0; lane < panelLanes; ++lane) {
      double *values = panel + lane * lanePitch;
      bool isFinite = true;
      for (int64_t k = 0; k < steps; ++k)
        isFinite &= values[k * stepPitch] - values[k * stepPitch] == 0;
      if (isFinite)
        continue;
      special |= uint32_t{1} << lane;
      for (int64_t k = 0; k < steps; ++k)
        values[k * stepPitch] = 0;
    }
    magnitudes = measure();
  }
  return {magnitudes.span(), special};
}

template <int tileRows, int tileVectors> class QuireKernel {
  static constexpr int64_t tileColumns = tileVectors * lanes;
  static constexpr int64_t blockRows = roundUp(64, tileRows);
  static constexpr int64_t blockColumns = roundUp(512, tileColumns);
  /// Many: after each block, sums in f64 are added to quires.
  static constexpr int64_t blockSteps = 512;
  /// Not a multiple of 4 KiB: rows of a panel would share a cache set.
  static constexpr int64_t rowPitch = blockSteps + lanes;
  static constexpr int64_t rowPanelSize = tileRows * rowPitch;
  using TheTile = Tile<tileRows, tileColumns, rowPitch>;
  using TheProducts = SliceProducts<double>;
  /// The smallest tile is for machines without a fused multiply-add.
  using Step = SliceStep<(tileRows > 3)>;

  explicit QuireKernel(const Contraction &problem)
      : problem(problem), units(problem, /*unit=*/4 * tileColumns),
        stepCount(problem.extentOf(problem.firstStep(), problem.counts.steps)) {
  }

public:
  static void run(const Contraction &problem) {
    QuireKernel kernel(problem);
    host::numera_host_parallel(runUnits, &kernel, kernel.units.count(),
                               /*grain=*/1);
  }

private:
  /// The body of the parallel loop. Not into the code that shares it out, which
  /// is made for size.
  [[gnu::noinline]] static void runUnits(void *context, int64_t begin,
                                         int64_t end) {
    const auto &kernel = *static_cast<const QuireKernel *>(context);
    Workspace space;
    if (!space.memory.isAvailable())
      host::numera_host_fail("out of memory");
    kernel.units.forEachPart(
        begin, end, [&](const Part &part) { kernel.runPart(space, part); });
  }

  /// One thread's memory.
  struct Workspace {
    double *rows, *columns;                 ///< panels of a block
    double *rowSlices;                      ///< of a panel, all
    double *columnSlice;                    ///< of a panel, one at a time
    int64_t *rowPlaces, *rowSums;           ///< blockRows each
    int64_t *columnPlaces, *columnSums;     ///< blockColumns each
    int64_t *rowSteps, *columnSteps;        ///< blockSteps each
    Contents *rowContents, *columnContents; ///< one a panel

    Memory memory{[this](const auto &take) {
      take(columns, blockColumns * blockSteps);
      take(rows, blockRows * rowPitch);
      take(rowSlices, TheProducts::most * rowPanelSize);
      take(columnSlice, tileColumns * blockSteps);
      take(rowPlaces, blockRows);
      take(rowSums, blockRows);
      take(columnPlaces, blockColumns);
      take(columnSums, blockColumns);
      take(rowSteps, blockSteps);
      take(columnSteps, blockSteps);
      take(rowContents, blockRows / tileRows);
      take(columnContents, blockColumns / tileColumns);
    }};
  };

  /// A tile of a block: its first row and column, how many it has, and what its
  /// panels have.
  struct Place {
    int64_t row, rows, column, columns;
    const Contents &ofRows, &ofColumns;

    bool isSpecial(int64_t r, int64_t c) const {
      return ofRows.isSpecial(r) || ofColumns.isSpecial(c);
    }
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
          for (int64_t column = 0; column < width; column += tileColumns)
            for (int64_t row = 0; row < height; row += tileRows)
              runTile(space,
                      {row, least(tileRows, height - row), column,
                       least(tileColumns, width - column),
                       space.rowContents[row / tileRows],
                       space.columnContents[column / tileColumns]},
                      steps);
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
      double *panel = space.columns + c * steps;
      int64_t count = least(tileColumns, width - c);
      if (count < tileColumns)
        clear(panel, tileColumns * steps);
      Packing<tileColumns, 1, tileColumns, numera_hook_column>::pack(
          panel, problem.columns, space.columnPlaces + c, count,
          space.columnSteps, steps, contiguous);
      space.columnContents[c / tileColumns] =
          inspect<tileColumns, 1, tileColumns>(panel, steps);
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
      double *panel = space.rows + r * rowPitch;
      int64_t count = least(tileRows, height - r);
      if (count < tileRows)
        clear(panel, rowPanelSize);
      Packing<tileRows, rowPitch, 1, numera_hook_row>::pack(
          panel, problem.rows, space.rowPlaces + r, count, space.rowSteps,
          steps, contiguous);
      space.rowContents[r / tileRows] =
          inspect<tileRows, rowPitch, 1>(panel, steps);
    }
  }

  /// What lies beyond the edges is computed on too.
  static void clear(double *values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = 0;
  }

  void runTile(const Workspace &space, const Place &place,
               int64_t steps) const {
    auto products =
        TheProducts::of(place.ofRows.span, place.ofColumns.span, steps);
    if (products.exist())
      addSliceProducts(space, place, products, steps);
    if (!products.exist() || place.ofRows.special || place.ofColumns.special)
      addProducts(space, place, steps, /*onlySpecial=*/products.exist());
  }

  void addSliceProducts(const Workspace &space, const Place &place,
                        const TheProducts &products, int64_t steps) const {
    const double *rows = space.rows + place.row * rowPitch;
    const double *columns = space.columns + place.column * steps;
    int32_t count = products.count();
    if (products.rows.count > 1) {
      for (int32_t i = 0; i < products.rows.count; ++i)
        for (int64_t r = 0; r < tileRows; ++r)
          cut(space.rowSlices + i * rowPanelSize + r * rowPitch,
              rows + r * rowPitch, products.rows, i, steps);
      rows = space.rowSlices;
    }
    alignas(64) double sums[TheProducts::most][TheTile::size];
    double (*next)[TheTile::size] = sums;
    for (int32_t j = 0; j < products.columns.count; ++j) {
      const double *slice = columns;
      if (products.columns.count > 1) {
        cut(space.columnSlice, columns, products.columns, j,
            tileColumns * steps);
        slice = space.columnSlice;
      }
      for (int32_t i = 0; i < products.rows.count; ++i, ++next) {
        clear(*next, TheTile::size);
        TheTile::template run<Step>(*next, rows + i * rowPanelSize, slice,
                                    steps);
      }
    }
    for (int64_t r = 0; r < place.rows; ++r)
      for (int64_t c = 0; c < place.columns; ++c) {
        if (place.isSpecial(r, c))
          continue;
        double ofSum[TheProducts::most];
        for (int32_t i = 0; i < count; ++i)
          ofSum[i] = sums[i][r * tileColumns + c];
        numera_hook_add(problem.sums, sumAt(space, place, r, c), ofSum, count);
      }
  }

  /// Slice `index` of `count` elements, or of a few more, to whole vectors.
  static void cut(double *out, const double *values,
                  const Slices<double> &slices, int32_t index, int64_t count) {
    for (int64_t i = 0; i < count; i += lanes)
      *reinterpret_cast<Vector *>(out + i) =
          slices.slice(*reinterpret_cast<const Vector *>(values + i), index);
  }

  void addProducts(const Workspace &space, const Place &place, int64_t steps,
                   bool onlySpecial) const {
    for (int64_t r = 0; r < place.rows; ++r)
      for (int64_t c = 0; c < place.columns; ++c) {
        if (onlySpecial && !place.isSpecial(r, c))
          continue;
        for (int64_t k = 0; k < steps; ++k)
          numera_hook_mac(problem.sums, sumAt(space, place, r, c), problem.rows,
                          space.rowPlaces[place.row + r] + space.rowSteps[k],
                          problem.columns,
                          space.columnPlaces[place.column + c] +
                              space.columnSteps[k]);
      }
  }

  static int64_t sumAt(const Workspace &space, const Place &place, int64_t r,
                       int64_t c) {
    return space.rowSums[place.row + r] + space.columnSums[place.column + c];
  }

  Contraction problem;
  Units units;
  int64_t stepCount;
};

} // namespace numera::kernel

/// The tiles of Contraction.cpp.
NUMERA_CONTRACT_ENTRY(QuireKernel, 8, 2)
NUMERA_CONTRACT_ENTRY(QuireKernel, 6, 1)
NUMERA_CONTRACT_ENTRY(QuireKernel, 3, 1)
