// SPDX-License-Identifier: MIT
//
// A contraction on the matrix instructions of a GPU (`accumulate: tensorcore`),
// as in Tiles.cpp beside it; but a warp computes a part of the tile together,
// in an order and with roundings that are the machine's.
//
// Compiled for factors of 16 bits and of 8, which NUMERA_FACTOR is; sums are
// in f32.

#include "PaddedPanel.h"

#include "Block.h"
#include "Matrix.h"

namespace numera::kernel {

/// A thread's part of its warp's sums. Warps lie 2 below each other, 4 beside
/// each other.
template <int rowCount, int columnCount, typename Matrix> class MatrixSums {
  static constexpr int warpRows = rowCount / 2, warpColumns = columnCount / 4;
  static constexpr int down = warpRows / 16, across = warpColumns / 8;
  static_assert(across % 2 == 0 && blockThreads == 8 * warpThreads);
  using RowPanel = NUMERA_SHARED Panel<rowCount>;
  using ColumnPanel = NUMERA_SHARED Panel<columnCount>;

public:
  static constexpr int rows = rowCount, columns = columnCount;
  static constexpr bool isPadded = true;

  void computeAll(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
                  const NUMERA_SHARED Extents &) {
    // One after the other where the machine turns bytes into halves first: it
    // has no registers for more of those.
#pragma unroll(sizeof(Factor) == 1 ? 1 : 2)
    for (int word = 0; word < slabWords; word += 8)
      step(rowPanel, columnPanel, word);
  }
  void compute(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
               const NUMERA_SHARED Extents &extents, int) {
    computeAll(rowPanel, columnPanel, extents);
  }

  template <typename Use> void forEach(const Use &use) {
#pragma unroll
    for (int r = 0; r < down; ++r)
#pragma unroll
      for (int c = 0; c < across; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          use(sums[r][c][i], firstRow + r * 16 + thread / 4 + i / 2 * 8,
              firstColumn + c * 8 + thread % 4 * 2 + i % 2);
  }

private:
  /// 32 bytes of each row and column.
  void step(const RowPanel &rowPanel, const ColumnPanel &columnPanel,
            int word) {
    uint32_t b[across][2];
#pragma unroll
    for (int c = 0; c < across; c += 2) {
      uint32_t two[4];
      loadMatrices(two,
                   &columnPanel.words[firstColumn + c * 8 + thread / 16 * 8 +
                                      thread % 8][word + thread / 8 % 2 * 4]);
      b[c][0] = two[0];
      b[c][1] = two[1];
      b[c + 1][0] = two[2];
      b[c + 1][1] = two[3];
    }
#pragma unroll
    for (int r = 0; r < down; ++r) {
      uint32_t a[4];
      loadMatrices(a, &rowPanel.words[firstRow + r * 16 + thread % 16]
                                     [word + thread / 16 * 4]);
#pragma unroll
      for (int c = 0; c < across; ++c)
        Matrix::step(sums[r][c], a, b[c]);
      // Which is to say: not all of them at once, with sums of their own.
      if (sizeof(Factor) == 1)
        waitForWarp();
    }
  }

  int thread = threadNumber() % warpThreads;
  int firstRow = threadNumber() / warpThreads / 4 * warpRows;
  int firstColumn = threadNumber() / warpThreads % 4 * warpColumns;
  float sums[down][across][4];
};

} // namespace numera::kernel

/// The entries of a shape of tile. Only sm_75 has no asynchronous copies.
#define NUMERA_MATRIX_TILES(name, isAsync, Matrix)                             \
  NUMERA_MATRIX_TILES_OF(128, 128, name, isAsync, Matrix)                      \
  NUMERA_MATRIX_TILES_OF(64, 64, name, isAsync, Matrix)
#define NUMERA_MATRIX_TILES_OF(rows, columns, name, isAsync, Matrix)           \
  NUMERA_TILES_ENTRY(rows##x##columns##_##name, isAsync,                       \
                     MatrixSums<rows, columns, Matrix>)

#if NUMERA_FACTOR_BITS == 16
NUMERA_MATRIX_TILES(f16, false, F16x2Pair)
NUMERA_MATRIX_TILES(f16_async, true, F16x2)
NUMERA_MATRIX_TILES(bf16_async, true, BF16x2)
#else
NUMERA_MATRIX_TILES(e4m3_e4m3_async, true, E4M3E4M3)
NUMERA_MATRIX_TILES(e4m3_e5m2_async, true, E4M3E5M2)
NUMERA_MATRIX_TILES(e5m2_e4m3_async, true, E5M2E4M3)
NUMERA_MATRIX_TILES(e5m2_e5m2_async, true, E5M2E5M2)
#endif
