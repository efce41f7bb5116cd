// SPDX-License-Identifier: MIT
//
// The arguments of a kernel, and how threads share the work.

#ifndef NUMERA_KERNELS_PROBLEM_H
#define NUMERA_KERNELS_PROBLEM_H

#include "Panels.h"
#include "numera/Runtime/Entry.h"

#include <type_traits>

namespace numera::kernel {

constexpr int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// What is made of sums before they are written, instead of by another pass
/// over them: in place, of a tile with `pitch` elements a row, of which `count`
/// are. The sum of row r and column c lies at rows[r] + place + c in the memory
/// of the sums; the first column of the tile is the contraction's
/// `firstColumn`-th. `inputs` lies behind the function's address.
using Finish = void(const void *const *inputs, void *tile, int64_t pitch,
                    const int64_t *rows, int64_t rowCount, int64_t place,
                    int64_t firstColumn, int64_t count);

/// What is asked for.
struct Contraction {
  const void *rows;
  const void *columns;
  void *sums;
  /// What every sum starts with, an element like theirs; null: with what it is.
  const void *initial;
  /// The address of a `Finish`, and its inputs; or null. DirectContraction.cpp
  /// alone has one, of a contraction with one batch and with columns whose sums
  /// lie side by side.
  const void *const *finish;
  const Loop *loops;
  LoopCounts counts;
  /// So many of the last columns that the loops have are none: zeros lie there,
  /// where columns lie in panels.
  int32_t missingColumns;

  int64_t columnCount() const {
    return extentOf(firstColumn(), counts.columns) - missingColumns;
  }
  int64_t extentOf(int32_t first, int32_t count) const {
    int64_t product = 1;
    for (int32_t i = 0; i < count; ++i)
      product *= loops[first + i].extent;
    return product;
  }
  /// The place of the last element of an operand, behind its first; -1 where
  /// some lie in front of that.
  int64_t last(int64_t Loop::*distance) const {
    int64_t place = 0;
    for (int32_t i = 0; i < firstStep() + counts.steps; ++i) {
      if (loops[i].*distance < 0)
        return -1;
      place += (loops[i].extent - 1) * (loops[i].*distance);
    }
    return place;
  }
  int32_t firstRow() const { return counts.batch; }
  int32_t firstColumn() const { return firstRow() + counts.rows; }
  int32_t firstStep() const { return firstColumn() + counts.columns; }
};

/// Rows and columns of one batch.
struct Part {
  int64_t batch;
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

/// A contraction in units of `unit` rows or columns, of all batches one after
/// the other.
class Units {
public:
  Units(const Contraction &problem, int64_t unit)
      : rowCount(problem.extentOf(problem.firstRow(), problem.counts.rows)),
        columnCount(problem.columnCount()),
        batchCount(problem.extentOf(0, problem.counts.batch)), unit(unit) {
    splitsColumns = columnCount >= rowCount;
    inBatch = ((splitsColumns ? columnCount : rowCount) + unit - 1) / unit;
  }

  int64_t count() const {
    return rowCount * columnCount == 0 ? 0 : batchCount * inBatch;
  }

  /// Calls `use` with the parts that units `begin` to `end` are.
  template <typename Use>
  void forEachPart(int64_t begin, int64_t end, const Use &use) const {
    while (begin < end) {
      int64_t batch = begin / inBatch, first = begin % inBatch;
      int64_t found = least(inBatch - first, end - begin);
      int64_t from = first * unit, to = (first + found) * unit;
      if (splitsColumns)
        use(Part{batch, 0, rowCount, from, least(to, columnCount)});
      else
        use(Part{batch, from, least(to, rowCount), 0, columnCount});
      begin += found;
    }
  }

private:
  int64_t rowCount, columnCount, batchCount, unit;
  int64_t inBatch;
  bool splitsColumns;
};

/// Arrays at multiples of 64 bytes, in one allocation: `layOut(take)` calls
/// take(pointer, count) for each.
class Memory {
public:
  template <typename LayOut> explicit Memory(const LayOut &layOut) {
    size_t size = 0;
    auto take = [this, &size](auto *&array, int64_t count) {
      using Element = std::remove_reference_t<decltype(*array)>;
      array = memory ? reinterpret_cast<Element *>(memory + size) : nullptr;
      size += size_t(roundUp(count * int64_t(sizeof(Element)), 64));
    };
    layOut(take); // to know the size
    memory = static_cast<char *>(host::numera_host_try_allocate(64, size));
    size = 0;
    layOut(take);
  }
  ~Memory() { host::numera_host_release(memory); }
  Memory(const Memory &) = delete;

  /// Else there is not enough, and no array may be used.
  bool isAvailable() const { return memory; }

private:
  char *memory = nullptr;
};

} // namespace numera::kernel

/// The entry of a kernel with tiles of so many rows and vectors.
#define NUMERA_CONTRACT_ENTRY(Kernel, tileRows, tileVectors)                   \
  extern "C" void numera_contract_##tileRows##x##tileVectors(                  \
      const void *rows, const void *columns, void *sums, const void *initial,  \
      const void *const *finish, const numera::kernel::Loop *loops,            \
      int32_t batchLoops, int32_t rowLoops, int32_t columnLoops,               \
      int32_t stepLoops, int32_t missingColumns) {                             \
    numera::kernel::Kernel<tileRows, tileVectors>::run(                        \
        {rows,                                                                 \
         columns,                                                              \
         sums,                                                                 \
         initial,                                                              \
         finish,                                                               \
         loops,                                                                \
         {batchLoops, rowLoops, columnLoops, stepLoops},                       \
         missingColumns});                                                     \
  }

#endif // NUMERA_KERNELS_PROBLEM_H
