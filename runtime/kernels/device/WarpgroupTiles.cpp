// SPDX-License-Identifier: MIT
//
// A contraction on the matrix instructions of sm_90a (`accumulate:
// tensorcore`), as in TensorTiles.cpp beside it; but four warps compute a part
// of the tile together, of factors that stay in shared memory.
//
// The machine keeps fewer bits of a sum of bytes than f32 has (C10). What it
// adds up are the 64 steps of a slab; slabs are added in f32, a part of the
// columns after the other.

#include "SwizzledPanel.h"

#include "Block.h"
#include "Warpgroup.h"

namespace numera::kernel {

/// A thread's part of its warpgroup's sums. The two warpgroups lie below each
/// other if there are rows for both, else beside each other.
template <int rowCount, int columnCount, typename Matrix> class WarpgroupSums {
  static constexpr int groups = blockThreads / warpgroupThreads;
  static constexpr int down = rowCount / warpgroupRows;
  static constexpr int groupColumns = columnCount / (groups / down);
  static constexpr int across = groupColumns / 8, partWidth = 4;
  static_assert((down == 1 || down == groups) &&
                rowCount == down * warpgroupRows);
  static_assert(across % partWidth == 0);
  using RowPanel = NUMERA_SHARED Panel<rowCount>;
  using ColumnPanel = NUMERA_SHARED Panel<columnCount>;

public:
  static constexpr int rows = rowCount, columns = columnCount;
  static constexpr bool isPadded = true;

  void computeAll(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
                  const NUMERA_SHARED Extents &extents) {
    if constexpr (sizeof(Factor) == 1) {
#pragma unroll
      for (int first = 0; first < across; first += partWidth) {
        // Columns that are not there; and before a branch the assembler does
        // not multiply what is behind it: it has registers for one part.
        if (extents.columns <= firstColumn + first * 8)
          break;
        float part[partWidth][4];
        Matrix::slab(part, operands(rowPanel, columnPanel, first));
#pragma unroll
        for (int c = 0; c < partWidth; ++c)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            sums[first + c][i] += part[c][i];
      }
    } else {
      Matrix::slab(sums, operands(rowPanel, columnPanel, 0));
    }
  }
  void compute(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
               const NUMERA_SHARED Extents &extents, int) {
    computeAll(rowPanel, columnPanel, extents);
  }

  template <typename Use> void forEach(const Use &use) {
#pragma unroll
    for (int c = 0; c < across; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        use(sums[c][i], threadRow + i / 2 * 8, threadColumn + c * 8 + i % 2);
  }

private:
  /// Columns from 8 * `eights` of the warpgroup's on.
  Operands operands(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
                    int eights) const {
    uint64_t row = Panel<rowCount>::describe(rowPanel, firstRow);
    uint64_t column =
        Panel<columnCount>::describe(columnPanel, firstColumn + eights * 8);
    return {{row, Panel<rowCount>::behind(row)},
            {column, Panel<columnCount>::behind(column)}};
  }

  int group = threadNumber() / warpgroupThreads;
  int firstRow = down == 1 ? 0 : group * warpgroupRows;
  int firstColumn = down == 1 ? group * groupColumns : 0;
  int threadRow = firstRow + threadNumber() % warpgroupThreads / 32 * 16 +
                  threadNumber() % 32 / 4;
  int threadColumn = firstColumn + threadNumber() % 4 * 2;
  float sums[across][4];
};

} // namespace numera::kernel

/// The entries of a shape of tile, by the names of TensorTiles.cpp.
#define NUMERA_WARPGROUP_TILES(name, Matrix)                                   \
  NUMERA_WARPGROUP_TILES_OF(128, 128, name, Matrix)                            \
  NUMERA_WARPGROUP_TILES_OF(64, 64, name, Matrix)
#define NUMERA_WARPGROUP_TILES_OF(rows, columns, name, Matrix)                 \
  NUMERA_TILES_ENTRY(rows##x##columns##_##name##_async, true,                  \
                     WarpgroupSums<rows, columns, Matrix>)

#if NUMERA_FACTOR_BITS == 16
NUMERA_WARPGROUP_TILES(f16, WideF16x2)
NUMERA_WARPGROUP_TILES(bf16, WideBF16x2)
#else
NUMERA_WARPGROUP_TILES(e4m3_e4m3, WideE4M3E4M3)
NUMERA_WARPGROUP_TILES(e4m3_e5m2, WideE4M3E5M2)
NUMERA_WARPGROUP_TILES(e5m2_e4m3, WideE5M2E4M3)
NUMERA_WARPGROUP_TILES(e5m2_e5m2, WideE5M2E5M2)
#endif
