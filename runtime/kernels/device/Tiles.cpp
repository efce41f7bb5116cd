// SPDX-License-Identifier: MIT
//
// A contraction on a GPU. A block computes a tile of sums, a thread a part of
// it in registers. Elements of a slab of steps are fetched, decoded, and put
// into memory that the block shares, each once; while the threads compute with
// one slab, the elements of the next are on their way. Every sum runs through
// its steps in written order: its bits are those of the CPU, whatever the tile.
//
// Compiled once for each carrier, and by lib/Target/Kernels.cpp linked once for
// each kind of contraction in a program, with its hooks. NUMERA_FLOATS is the
// bits of a carrier that is a machine float, else 0.

#include "Panel.h"
#include "Places.h"

namespace numera::kernel {

/// A tile of `rows` x `columns`, of which a thread has `threadRows` x
/// `threadColumns`. Of a slab, `unrolled` steps follow each other without a
/// branch.
template <int rowCount, int columnCount, int ownRows, int ownColumns,
          int unrolledSteps>
struct Shape {
  static constexpr int rows = rowCount, columns = columnCount;
  static constexpr int threadRows = ownRows, threadColumns = ownColumns;
  static constexpr int unrolled = unrolledSteps;
  static constexpr int across = columns / threadColumns; ///< threads
  static constexpr int down = rows / threadRows;
  static_assert(across * down == blockThreads);
};

/// Lanes that a thread has of a panel: vectors of up to 16 bytes, which lie as
/// far apart as all threads' vectors are long. So neighbouring threads read
/// neighbouring ones.
template <int width, int threads> struct Lanes {
  static constexpr int count = width / threads;
  static constexpr int most = 16 / int(sizeof(Carrier));
  static constexpr int size = count < most ? count : most;

  static int lane(int thread, int i) {
    return i / size * (threads * size) + thread * size + i % size;
  }
  static void read(Carrier (&values)[count], const NUMERA_SHARED Carrier *panel,
                   int thread) {
    typedef Carrier Vector __attribute__((ext_vector_type(size)));
#pragma unroll
    for (int i = 0; i < count; i += size) {
      Vector vector = *(const NUMERA_SHARED Vector *)(panel + lane(thread, i));
#pragma unroll
      for (int j = 0; j < size; ++j)
        values[i + j] = vector[j];
    }
  }
};

/// Two panels of each operand: one is computed with while the other is filled.
template <typename Shape> struct Shared {
  Panel<Shape::rows> rows[2];
  Panel<Shape::columns> columns[2];
  int64_t rowSteps[2][slabSteps], columnSteps[2][slabSteps];
  int64_t rowPlaces[Shape::rows], columnPlaces[Shape::columns];
  int64_t rowSums[Shape::rows], columnSums[Shape::columns];
};
template <typename Shape>
[[clang::loader_uninitialized]] NUMERA_SHARED Shared<Shape> shared;

template <typename Shape, bool isAsync> class TileKernel {
  using RowLanes = Lanes<Shape::rows, Shape::down>;
  using ColumnLanes = Lanes<Shape::columns, Shape::across>;
  using RowFilling = Filling<RowSide, Shape::rows, isAsync>;
  using ColumnFilling = Filling<ColumnSide, Shape::columns, isAsync>;

public:
  TileKernel(const Problem &problem)
      : problem(problem),
        tile(BlockTile::of(problem, Shape::rows, Shape::columns)),
        row(threadNumber() / Shape::across),
        column(threadNumber() % Shape::across) {}

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
          compute(slab);
        });
      computeLast(slabs - 1);
    }
    store();
  }

private:
  /// Where the tile's rows and columns lie. Those beyond the edges are computed
  /// like the last ones, and not stored.
  void findPlaces() {
    auto &s = shared<Shape>;
    for (int i = threadNumber(); i < Shape::rows; i += blockThreads) {
      Place place = problem.row(tile.firstRow + inside(i, tile.rowCount));
      s.rowPlaces[i] = tile.batch.rows + place.rows;
      s.rowSums[i] = tile.batch.sums + place.sums;
    }
    for (int i = threadNumber(); i < Shape::columns; i += blockThreads) {
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
    shared<Shape>.rowSteps[slab & 1][threadNumber()] = place.rows;
    shared<Shape>.columnSteps[slab & 1][threadNumber()] = place.columns;
  }

  /// Fills the panels of a slab; `meanwhile` is what can be done until the
  /// elements are there.
  template <typename Meanwhile>
  void fill(int64_t slab, const Meanwhile &meanwhile) {
    auto &s = shared<Shape>;
    int half = slab & 1;
    RowFilling rows;
    ColumnFilling columns;
    rows.start(s.rows[half], problem.rows, s.rowPlaces, s.rowSteps[half]);
    columns.start(s.columns[half], problem.columns, s.columnPlaces,
                  s.columnSteps[half]);
    meanwhile();
    rows.finish(s.rows[half]);
    columns.finish(s.columns[half]);
    waitForBlock();
  }

  void step(const Panel<Shape::rows> NUMERA_SHARED &rows,
            const Panel<Shape::columns> NUMERA_SHARED &columns, int k) {
    Carrier own[Shape::threadRows], others[Shape::threadColumns];
    RowLanes::read(own, rows.values[k], row);
    ColumnLanes::read(others, columns.values[k], column);
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c)
        sums[r][c] = numera_hook_step(sums[r][c], own[r], others[c]);
  }

  void compute(int64_t slab) {
    auto &s = shared<Shape>;
#pragma unroll(Shape::unrolled)
    for (int k = 0; k < slabSteps; ++k)
      step(s.rows[slab & 1], s.columns[slab & 1], k);
  }

  void computeLast(int64_t slab) {
    auto &s = shared<Shape>;
    int count = int(tile.steps - slab * slabSteps);
#pragma unroll 1
    for (int k = 0; k < count; ++k)
      step(s.rows[slab & 1], s.columns[slab & 1], k);
  }

  /// Calls use(sum, place) for the thread's sums that there are.
  template <typename Use> void forEachSum(const Use &use) {
    auto &s = shared<Shape>;
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c) {
        int i = RowLanes::lane(row, r), j = ColumnLanes::lane(column, c);
        if (i < tile.rowCount && j < tile.columnCount)
          use(sums[r][c], s.rowSums[i] + s.columnSums[j]);
      }
  }
  void load() {
    Carrier start = problem.initial ? numera_hook_load(problem.initial, 0) : 0;
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c)
        sums[r][c] = start;
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
  int row, column;
  Carrier sums[Shape::threadRows][Shape::threadColumns];
};

} // namespace numera::kernel

/// The entries of a shape of tile, for any GPU and for those with asynchronous
/// copies. lib/Dialect/Numera/Transforms/TileContractions.cpp has their names.
#define NUMERA_TILES(rows, columns, threadRows, threadColumns, unrolled)       \
  NUMERA_TILES_ENTRY(rows##x##columns, false, rows, columns, threadRows,       \
                     threadColumns, unrolled)                                  \
  NUMERA_TILES_ENTRY(rows##x##columns##_async, true, rows, columns,            \
                     threadRows, threadColumns, unrolled)
#define NUMERA_TILES_ENTRY(name, isAsync, ...)                                 \
  extern "C" void numera_contract_##name(                                      \
      const char *rows, const char *columns, char *sums, const void *initial,  \
      const numera::kernel::Loop *loops, int32_t batchLoops, int32_t rowLoops, \
      int32_t columnLoops, int32_t stepLoops) {                                \
    using namespace numera::kernel;                                            \
    TileKernel<Shape<__VA_ARGS__>, isAsync>(                                   \
        {rows,                                                                 \
         columns,                                                              \
         sums,                                                                 \
         initial,                                                              \
         loops,                                                                \
         {batchLoops, rowLoops, columnLoops, stepLoops}})                      \
        .run();                                                                \
  }

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
