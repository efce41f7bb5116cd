// SPDX-License-Identifier: MIT
//
// How threads share a contraction.

#ifndef NUMERA_KERNELS_SHARING_H
#define NUMERA_KERNELS_SHARING_H

#include "Problem.h"
#if NUMERA_SHORT_STEPS
#include "Bounds.h"
#endif

#include <atomic>

namespace numera::kernel {

/// A block of steps: what each of them adds to the places of both operands.
struct Steps {
  int64_t count;
  const int64_t *rows, *columns;
  bool areFirst, areLast; ///< of the contraction
  bool rowsAreContiguous, columnsAreContiguous;

  Steps(const int64_t *rows, const int64_t *columns, int64_t count,
        bool areFirst, bool areLast)
      : count(count), rows(rows), columns(columns), areFirst(areFirst),
        areLast(areLast), rowsAreContiguous(isContiguous(rows, count)),
        columnsAreContiguous(isContiguous(columns, count)) {}
};

/// Consecutive rows or columns, with panels for one block of steps.
struct Block {
  int64_t first, count;
  int64_t *places; ///< of each, in its operand
  int64_t *sums;   ///< and in the sums
  Prepared *panels;
#if NUMERA_SHORT_STEPS
  PanelMagnitudes *magnitudes; ///< one a panel
#endif
};

/// A contraction in blocks of steps.
struct Blocks {
  Contraction problem;
  int64_t rowCount, columnCount, stepCount;
  int64_t stepBlocks, blockSteps;
  Carrier start; ///< the initial value of sums that have one

  Blocks(const Contraction &problem, int64_t mostSteps)
      : problem(problem),
        rowCount(problem.extentOf(problem.firstRow(), problem.counts.rows)),
        columnCount(problem.columnCount()),
        stepCount(problem.extentOf(problem.firstStep(), problem.counts.steps)),
        start(problem.initial ? numera_hook_load(problem.initial, 0) : 0) {
    // Of one size, as far as it goes: a short block is a slow one. The last
    // one has some steps: with n blocks of at most m, either n <= m, and the
    // others have less than stepCount / n + 1 each, n - 1 of them less than
    // stepCount - (m - n); or stepCount / n > m - 1, and they have m each. A
    // block without steps still gives sums their initial value.
    stepBlocks = stepCount > 0 ? (stepCount - 1) / mostSteps + 1 : 1;
    blockSteps = (stepCount + stepBlocks - 1) / stepBlocks;
  }

  /// `body`, of a loop over batches, gets this as its context. Threads share
  /// out batches if there are many, else the work in each.
  void shareBatches(void (*body)(void *context, int64_t begin, int64_t end)) {
    if (rowCount * columnCount == 0)
      return;
    constexpr int64_t many = 16;
    int64_t batches = problem.extentOf(0, problem.counts.batch);
    host::numera_host_parallel(body, this, batches,
                               /*grain=*/batches < many ? many : 1);
  }

  void findRowPlaces(const Walk &batch, int64_t first,
                     const Block &block) const {
    Walk row(problem.loops + problem.firstRow(), problem.counts.rows, first);
    for (int64_t i = 0; i < block.count; ++i, row.next()) {
      block.places[i] = batch.rows + row.rows;
      block.sums[i] = row.sums;
    }
  }
  void findColumnPlaces(const Walk &batch, int64_t first,
                        const Block &block) const {
    Walk column(problem.loops + problem.firstColumn(), problem.counts.columns,
                first);
    for (int64_t i = 0; i < block.count; ++i, column.next()) {
      block.places[i] = batch.columns + column.columns;
      block.sums[i] = batch.sums + column.sums;
    }
  }
};

/// How many panels a number of rows or columns makes.
template <typename Side> int64_t panelsOf(const auto &kernel, int64_t count) {
  int64_t width = Side::width(kernel);
  return (count + width - 1) / width;
}
/// The arrays of a block, with panels for `blocks` blocks of steps.
template <typename Side>
void layOut(const auto &take, Block &block, const auto &kernel, int64_t count,
            int64_t blocks) {
  int64_t panels = panelsOf<Side>(kernel, count) * blocks;
  take(block.places, count);
  take(block.sums, count);
  take(block.panels, panels * Side::panelSize(kernel));
#if NUMERA_SHORT_STEPS
  take(block.magnitudes, panels);
#endif
}

/// How threads share a product: they pack one side together, as much of it as
/// the last-level cache holds, each panel once; then every one packs its own
/// part of the other side, and runs its tiles.
template <typename Kernel, typename Common, typename Own> class Sharing {
  static constexpr int64_t mostElements = 1023;
  static constexpr int64_t mostBytes = 8 << 20;
  /// Elements to pack, steps to take: what handing them to a thread is worth.
  static constexpr int64_t packingOfChunk = 1 << 17, stepsOfChunk = 1 << 21;

public:
  /// What many columns have in common are the rows, and the other way round. Of
  /// as many, threads share out the rows, whose panels are the narrower: here
  /// `Common` is the rows.
  static void runEither(const Kernel &kernel, int64_t begin, int64_t end) {
    bool succeeded =
        kernel.columnCount > kernel.rowCount
            ? run(kernel, begin, end)
            : Sharing<Kernel, Own, Common>::run(kernel, begin, end);
    if (!succeeded)
      host::numera_host_fail("out of memory");
  }

  /// False if there is not enough memory.
  static bool run(const Kernel &kernel, int64_t begin, int64_t end) {
    Sharing sharing(kernel);
    for (int64_t batch = begin;
         batch < end && sharing.memory.isAvailable() && !sharing.hasFailed;
         ++batch)
      sharing.runBatch(batch);
    return sharing.memory.isAvailable() && !sharing.hasFailed;
  }

private:
  explicit Sharing(const Kernel &kernel)
      : kernel(kernel), mostInCommon(evenShare(Common::count(kernel))),
        mostBlocks(blocksAtOnce()), memory([this](const auto &take) {
          layOut<Common>(take, common, this->kernel, mostInCommon, mostBlocks);
          take(rowSteps, mostBlocks * this->kernel.blockSteps);
          take(columnSteps, mostBlocks * this->kernel.blockSteps);
        }) {}

  /// The other side is packed once for each of these shares: the fewer, the
  /// better, and none is much smaller than another.
  int64_t evenShare(int64_t count) const {
    int64_t panels = panelsOf<Common>(kernel, count);
    int64_t mostPanels = panelsOf<Common>(kernel, mostElements);
    int64_t shares = (panels + mostPanels - 1) / mostPanels;
    return least((panels + shares - 1) / (shares + !shares) *
                     Common::width(kernel),
                 count);
  }

  int64_t blocksAtOnce() const {
    int64_t bytes = panelsOf<Common>(kernel, mostInCommon) *
                        Common::panelSize(kernel) * int64_t(sizeof(Prepared)) +
                    2 * kernel.blockSteps * int64_t(sizeof(int64_t));
    return least(kernel.stepBlocks, mostBytes / (bytes + 1) + 1);
  }

  void runBatch(int64_t index) {
    const Contraction &problem = kernel.problem;
    batch = Walk(problem.loops, problem.counts.batch, index);
    int64_t count = Common::count(kernel);
    for (int64_t first = 0; first < count; first += mostInCommon) {
      common.first = first;
      common.count = least(mostInCommon, count - first);
      Common::findPlaces(kernel, batch, first, common);
      for (int64_t i = 0; i < kernel.stepBlocks; i += mostBlocks)
        runBlocks(i, least(mostBlocks, kernel.stepBlocks - i));
    }
  }

  void runBlocks(int64_t first, int64_t count) {
    firstBlock = first, blockCount = count;
    findSteps();
    int64_t panelSize = Common::panelSize(kernel);
    host::numera_host_parallel(pack, this, panels() * blockCount,
                               packingOfChunk / (panelSize + 1) + 1);
    int64_t stepsOfPanel =
        Own::width(kernel) * common.count * kernel.blockSteps * blockCount;
    host::numera_host_parallel(runPanels, this,
                               panelsOf<Own>(kernel, Own::count(kernel)),
                               stepsOfChunk / (stepsOfPanel + 1) + 1);
  }

  void findSteps() {
    int64_t first = firstBlock * kernel.blockSteps;
    int64_t count =
        least(blockCount * kernel.blockSteps, kernel.stepCount - first);
    if (count == 0)
      return;
    const Contraction &problem = kernel.problem;
    Walk step(problem.loops + problem.firstStep(), problem.counts.steps, first);
    for (int64_t i = 0; i < count; ++i, step.next()) {
      rowSteps[i] = step.rows;
      columnSteps[i] = step.columns;
    }
  }

  int64_t panels() const { return panelsOf<Common>(kernel, common.count); }
  Steps stepsOf(int64_t block) const {
    int64_t index = firstBlock + block, size = kernel.blockSteps;
    return {rowSteps + block * size, columnSteps + block * size,
            least(size, kernel.stepCount - index * size), index == 0,
            index + 1 == kernel.stepBlocks};
  }
  Block commonOf(int64_t block) const {
    Block found = common;
    found.panels += block * panels() * Common::panelSize(kernel);
#if NUMERA_SHORT_STEPS
    found.magnitudes += block * panels();
#endif
    return found;
  }

  /// The body of a loop over the panels of all blocks of steps.
  [[gnu::noinline]] static void pack(void *context, int64_t begin,
                                     int64_t end) {
    const auto &sharing = *static_cast<const Sharing *>(context);
    int64_t panels = sharing.panels();
    while (begin < end) {
      int64_t block = begin / panels;
      int64_t last = least((block + 1) * panels, end);
      Block common = sharing.commonOf(block);
      Steps steps = sharing.stepsOf(block);
      for (; begin < last; ++begin)
        Common::pack(sharing.kernel, common, begin % panels, steps);
    }
  }

  /// The body of a loop over panels of the other side.
  [[gnu::noinline]] static void runPanels(void *context, int64_t begin,
                                          int64_t end) {
    auto &sharing = *static_cast<Sharing *>(context);
    typename Kernel::template Workspace<Own> space(sharing.kernel);
    if (!space.memory.isAvailable()) {
      sharing.hasFailed = true;
      return;
    }
    for (int64_t i = begin; i < end; i += Own::panelsInBlock)
      sharing.runBlock(space, i * Own::width(sharing.kernel),
                       least(Own::panelsInBlock, end - i));
  }

  void runBlock(typename Kernel::template Workspace<Own> &space, int64_t first,
                int64_t panels) const {
    Block &own = space.own;
    own.first = first;
    own.count = least(panels * Own::width(kernel), Own::count(kernel) - first);
    Own::findPlaces(kernel, batch, first, own);
    for (int64_t block = 0; block < blockCount; ++block) {
      Steps steps = stepsOf(block);
      for (int64_t i = 0; i < panels; ++i)
        Own::pack(kernel, own, i, steps);
      Block other = commonOf(block);
      if constexpr (std::is_same_v<Own, typename Kernel::Columns>)
        kernel.runTiles(space, other, own, steps);
      else
        kernel.runTiles(space, own, other, steps);
    }
  }

  const Kernel &kernel;
  int64_t mostInCommon;            ///< rows or columns
  int64_t mostBlocks;              ///< of steps
  int64_t *rowSteps, *columnSteps; ///< of all these blocks
  Block common;                    ///< and panels for them
  Memory memory;
  std::atomic<bool> hasFailed = false;

  Walk batch{nullptr, 0, 0}; ///< at hand
  int64_t firstBlock;        ///< at hand
  int64_t blockCount;
};

} // namespace numera::kernel

#endif // NUMERA_KERNELS_SHARING_H
