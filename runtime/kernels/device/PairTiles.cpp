// SPDX-License-Identifier: MIT
//
// A contraction with `accumulate: same` in binary16 or bf16, as in Tiles.cpp
// beside it; but two sums of neighbouring columns share a register, and one
// instruction rounds both:
//
//   row      a   a        columns   b1  b0        sums   c1  c0
//   products round(a b1)  round(a b0)
//   sums     round(c1 + product)  round(c0 + product)
//
// The instructions round to nearest-even, keep subnormal numbers and overflow
// to infinity (PTX ISA, "Half Precision Floating Point Instructions"), which is
// what the formats do. A NaN is the machine's while a sum is in a register.

#include "Panel.h"

#include "Block.h"
#include "Shape.h"

namespace numera::kernel {

/// Two codes, the first in the lower half.
using Pair = uint32_t;

inline Pair pairOf(Carrier low, Carrier high) {
  Pair pair;
  asm("mov.b32 %0, {%1, %2};" : "=r"(pair) : "h"(low), "h"(high));
  return pair;
}

/// binary16.
struct F16x2 {
  static constexpr Carrier infinity = 0x7c00, nan = 0x7e00;

  static Pair multiply(Pair a, Pair b) {
    Pair product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
  }
  static Pair add(Pair a, Pair b) {
    Pair sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
  }
};

/// bf16, of which sm_80 has the fused instruction alone. A product plus -0 is
/// the product, of either sign where it is zero, rounded once; 1 times a number
/// is that number. NVIDIA's assembler makes products and sums of these where a
/// machine has them.
struct BF16x2 {
  static constexpr Carrier infinity = 0x7f80, nan = 0x7fc0;

  static Pair multiply(Pair a, Pair b) { return fused(a, b, 0x80008000); }
  static Pair add(Pair a, Pair b) { return fused(a, 0x3f803f80, b); }

private:
  static Pair fused(Pair a, Pair b, Pair c) {
    Pair sum;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
  }
};

/// A thread's sums, each step by step.
template <typename Shape, typename Arithmetic> class PairSums {
  using RowLanes = Lanes<Shape::rows, Shape::down>;
  using ColumnLanes = Lanes<Shape::columns, Shape::across>;
  using RowPanel = NUMERA_SHARED Panel<Shape::rows>;
  using ColumnPanel = NUMERA_SHARED Panel<Shape::columns>;
  static constexpr int pairs = Shape::threadColumns / 2;
  static_assert(Shape::threadColumns % 2 == 0);

public:
  static constexpr int rows = Shape::rows, columns = Shape::columns;
  static constexpr bool isPadded = false;

  void computeAll(const RowPanel &rows, const ColumnPanel &columns,
                  const NUMERA_SHARED Extents &) {
#pragma unroll(Shape::unrolled)
    for (int k = 0; k < slabSteps; ++k)
      step(rows, columns, k);
  }

  void compute(const RowPanel &rows, const ColumnPanel &columns,
               const NUMERA_SHARED Extents &, int count) {
#pragma unroll 1
    for (int k = 0; k < count; ++k)
      step(rows, columns, k);
  }

  /// The sums that `use` is given have canonical NaNs.
  template <typename Use> void forEach(const Use &use) {
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < Shape::threadColumns; ++c) {
        Pair &pair = sums[r][c / 2];
        int shift = 16 * (c % 2);
        auto sum = Carrier(pair >> shift);
        if ((sum & 0x7fff) > Arithmetic::infinity)
          sum = Arithmetic::nan;
        use(sum, RowLanes::lane(row, r), ColumnLanes::lane(column, c));
        pair = (pair & ~(0xffffu << shift)) | Pair(sum) << shift;
      }
  }

private:
  void step(const RowPanel &rows, const ColumnPanel &columns, int k) {
    Carrier own[Shape::threadRows], others[Shape::threadColumns];
    RowLanes::read(own, rows.values[k], row);
    ColumnLanes::read(others, columns.values[k], column);
#pragma unroll
    for (int r = 0; r < Shape::threadRows; ++r)
#pragma unroll
      for (int c = 0; c < pairs; ++c) {
        Pair product = Arithmetic::multiply(
            pairOf(own[r], own[r]), pairOf(others[2 * c], others[2 * c + 1]));
        sums[r][c] = Arithmetic::add(sums[r][c], product);
      }
  }

  int row = threadNumber() / Shape::across;
  int column = threadNumber() % Shape::across;
  Pair sums[Shape::threadRows][pairs] = {};
};

} // namespace numera::kernel

/// The entries of a shape of tile, as in Tiles.cpp. What has no bf16 has no
/// asynchronous copies either.
#define NUMERA_PAIR_TILES(rows, columns, ...)                                  \
  NUMERA_PAIR_TILES_OF(rows##x##columns##_f16, false, F16x2, rows, columns,    \
                       __VA_ARGS__)                                            \
  NUMERA_PAIR_TILES_OF(rows##x##columns##_f16_async, true, F16x2, rows,        \
                       columns, __VA_ARGS__)                                   \
  NUMERA_PAIR_TILES_OF(rows##x##columns##_bf16_async, true, BF16x2, rows,      \
                       columns, __VA_ARGS__)
#define NUMERA_PAIR_TILES_OF(name, isAsync, Arithmetic, ...)                   \
  NUMERA_TILES_ENTRY(name, isAsync, PairSums<Shape<__VA_ARGS__>, Arithmetic>)

NUMERA_PAIR_TILES(64, 64, 4, 4, 4)
NUMERA_PAIR_TILES(16, 256, 4, 4, 4)
NUMERA_PAIR_TILES(128, 128, 8, 8, 4)
