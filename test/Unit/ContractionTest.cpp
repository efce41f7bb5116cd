// SPDX-License-Identifier: MIT
//
// The kernels of contractions against the loops that they stand for:
// Contraction.cpp and DirectContraction.cpp, each in a program of its own. The
// step here multiplies and adds in f32, which shows the order of steps.

#include "numera/Runtime/Contraction.h"
#include "Hooks.h"
#include "KernelHost.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

using namespace numera::kernel;

// ---- hooks -----------------------------------------------------------------

static float at(const void *base, int64_t index) {
  return static_cast<const float *>(base)[index];
}
float numera::kernel::numera_hook_row(const void *base, int64_t index) {
  return at(base, index);
}
float numera::kernel::numera_hook_column(const void *base, int64_t index) {
  return at(base, index);
}
float numera::kernel::numera_hook_load(const void *base, int64_t index) {
  return at(base, index);
}
void numera::kernel::numera_hook_store(void *base, int64_t index, float value) {
  static_cast<float *>(base)[index] = value;
}
void numera::kernel::numera_hook_prefetch(const void *, int64_t) {}
Vector numera::kernel::numera_hook_step(Vector sum, Vector row, Vector column) {
  return sum + row * column;
}

// ---- the reference ---------------------------------------------------------

namespace {

using Entry = void(const void *, const void *, void *, const void *,
                   const void *const *, const Loop *, int32_t, int32_t, int32_t,
                   int32_t, int32_t);
extern "C" Entry numera_contract_8x3, numera_contract_8x2, numera_contract_8x1,
    numera_contract_6x1, numera_contract_3x1;

struct Problem {
  std::vector<Loop> loops;
  LoopCounts counts;
  int32_t missingColumns = 0;

  /// Elements of an operand: one more than its last place.
  size_t size(int64_t Loop::*stride) const {
    int64_t last = 0;
    for (const Loop &loop : loops)
      last += (loop.extent - 1) * loop.*stride;
    return size_t(last + 1);
  }

  void run(Entry *entry, const float *rows, const float *columns, float *sums,
           const float *initial = nullptr,
           const void *const *finish = nullptr) const {
    entry(rows, columns, sums, initial, finish, loops.data(), counts.batch,
          counts.rows, counts.columns, counts.steps, missingColumns);
  }

  void reference(const float *rows, const float *columns, float *sums,
                 size_t depth = 0, int64_t column = 0,
                 int64_t columnCount = 1) const {
    if (depth == loops.size()) {
      if (column < columnCount - missingColumns)
        *sums = *sums + *rows * *columns;
      return;
    }
    const Loop &loop = loops[depth];
    size_t first = size_t(counts.batch + counts.rows);
    bool isOfColumns = depth >= first && depth < first + size_t(counts.columns);
    int64_t count = isOfColumns ? loop.extent : 1;
    for (int64_t i = 0; i < loop.extent; ++i)
      reference(rows + i * loop.rows, columns + i * loop.columns,
                sums + i * loop.sums, depth + 1,
                isOfColumns ? column * count + i : column, columnCount * count);
  }
};

/// Values that begin at a multiple of a vector's size.
class Aligned {
public:
  explicit Aligned(const std::vector<float> &values)
      : memory(values.size() + lanes) {
    void *place = memory.data();
    size_t size = memory.size() * sizeof(float);
    aligned = static_cast<float *>(
        std::align(sizeof(Vector), sizeof(float), place, size));
    std::copy(values.begin(), values.end(), aligned);
  }
  const float *data() const { return aligned; }

private:
  std::vector<float> memory;
  float *aligned;
};

class Contraction : public testing::TestWithParam<Entry *> {
protected:
  void check(const Problem &problem) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> value(-1, 1);
    auto fill = [&](size_t size) {
      std::vector<float> values(size);
      for (float &x : values)
        x = value(random);
      return values;
    };
    auto rows = fill(problem.size(&Loop::rows));
    Aligned columns(fill(problem.size(&Loop::columns)));
    auto sums = fill(problem.size(&Loop::sums)), expected = sums;
    problem.reference(rows.data(), columns.data(), expected.data());
    problem.run(GetParam(), rows.data(), columns.data(), sums.data());
    EXPECT_EQ(sums, expected);
    // With a value to start with, what lies in the sums is not read.
    float initial = 0.75f;
    std::fill(expected.begin(), expected.end(), initial);
    problem.reference(rows.data(), columns.data(), expected.data());
    bool areAllWritten = problem.missingColumns == 0;
    std::fill(sums.begin(), sums.end(),
              areAllWritten ? std::nanf("") : initial);
    problem.run(GetParam(), rows.data(), columns.data(), sums.data(), &initial);
    EXPECT_EQ(sums, expected);
  }

  /// Rows m x k, columns k x n, each perhaps transposed.
  static Problem product(int64_t m, int64_t n, int64_t k, bool rowsTransposed,
                         bool columnsTransposed, bool sumsTransposed) {
    return {{{m, rowsTransposed ? 1 : k, 0, sumsTransposed ? 1 : n},
             {n, 0, columnsTransposed ? k : 1, sumsTransposed ? m : 1},
             {k, rowsTransposed ? m : 1, columnsTransposed ? 1 : n, 0}},
            {0, 1, 1, 1}};
  }
};

TEST_P(Contraction, matrix_products_of_any_size_and_layout) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {8, 32, 16},
                         {7, 33, 17},
                         {130, 65, 519},
                         {17, 1060, 70},
                         {260, 31, 1030},
                         {1090, 1100, 2}}) // more than are packed at a time
    for (int layout = 0; layout < 8; ++layout)
      check(product(m, n, k, layout & 1, layout & 2, layout & 4));
}

TEST_P(Contraction, nothing_to_do) {
  check(product(4, 4, 1, false, false, false));
  check(product(9, 144, 0, false, false, false));
  Problem empty = product(0, 4, 4, false, false, false);
  float unused = 0;
  empty.run(GetParam(), &unused, &unused, &unused);
  Problem noSteps = product(4, 4, 0, false, false, false);
  std::vector<float> sums(16, 1.5f);
  noSteps.run(GetParam(), &unused, &unused, sums.data());
  EXPECT_EQ(sums, std::vector<float>(16, 1.5f));
  float initial = 0.5f;
  noSteps.run(GetParam(), &unused, &unused, sums.data(), &initial);
  EXPECT_EQ(sums, std::vector<float>(16, initial));
}

TEST_P(Contraction, batches) {
  Problem problem = product(9, 40, 11, false, false, false);
  problem.loops.insert(problem.loops.begin(), {{3, 99, 440, 360}});
  problem.counts.batch = 1;
  check(problem);
  // The same columns in every batch.
  problem.loops[0].columns = 0;
  check(problem);
}

/// Images n x c x h x h, filters f x c x s x s, results n x f x y x y.
static Problem convolution(int64_t n, int64_t c, int64_t h, int64_t f,
                           int64_t s, int64_t stride, int64_t dilation) {
  int64_t y = (h - (s - 1) * dilation - 1) / stride + 1;
  return {{{f, c * s * s, 0, y * y},
           {n, 0, c * h * h, f * y * y},
           {y, 0, h * stride, y},
           {y, 0, stride, 1},
           {c, s * s, h * h, 0},
           {s, s, h * dilation, 0},
           {s, 1, dilation, 0}},
          {0, 1, 3, 3}};
}

TEST_P(Contraction, convolutions) {
  check(convolution(2, 3, 9, 10, 3, 1, 1));
  check(convolution(1, 4, 40, 9, 3, 2, 1));
  check(convolution(3, 2, 16, 17, 3, 1, 2));
  check(convolution(2, 70, 6, 5, 1, 1, 1));
}

TEST_P(Contraction, columns_may_be_the_filters) {
  Problem problem = convolution(2, 3, 9, 10, 3, 1, 1);
  for (Loop &loop : problem.loops)
    std::swap(loop.rows, loop.columns);
  std::rotate(problem.loops.begin(), problem.loops.begin() + 1,
              problem.loops.begin() + 4);
  problem.counts.rows = 3;
  problem.counts.columns = 1;
  check(problem);
}

/// Columns in panels of `width`, of k steps each; the sums of a row lie side by
/// side, or those of a column.
static Problem inPanels(int64_t m, int64_t panels, int64_t width, int64_t k,
                        bool sumsTransposed) {
  int64_t n = panels * width;
  int64_t across = sumsTransposed ? m : 1;
  return {{{m, k, 0, sumsTransposed ? 1 : n},
           {panels, 0, width * k, width * across},
           {width, 0, 1, across},
           {k, 1, width, 0}},
          {0, 1, 2, 1}};
}

TEST_P(Contraction, columns_in_panels) {
  for (int64_t width : {16, 32, 48, 24, 80})
    for (bool sumsTransposed : {false, true}) {
      check(inPanels(1, 3, width, 7, sumsTransposed));
      check(inPanels(13, 2, width, 530, sumsTransposed));
      check(inPanels(141, 2, width, 5, sumsTransposed));
    }
  // The last panel has fewer columns.
  for (int32_t missing : {1, 8, 15})
    for (int64_t width : {16, 32, 48}) {
      Problem problem = inPanels(13, 2, width, 530, missing == 15);
      problem.missingColumns = missing;
      check(problem);
    }
  // A batch of them, and steps of two loops, of which the outer one does not go
  // on where the inner one ends.
  Problem problem = inPanels(9, 2, 32, 12, true);
  problem.loops.insert(problem.loops.begin(), {3, 108, 768, 576});
  problem.counts.batch = 1;
  check(problem);
  problem.loops.back() = {5, 1, 64, 0};
  problem.loops.insert(problem.loops.end() - 1, {2, 6, 32, 0});
  problem.counts.steps = 2;
  check(problem);
}

/// Results of y x x pixels: 3 x 3 steps in some channels of an image that has
/// `pitch` of them, the last in memory; filters in panels of 16, or not.
static Problem channelsLast(int64_t y, int64_t x, int64_t channels,
                            int64_t pitch, int64_t filters, bool inPanels) {
  int64_t steps = channels * 9, line = (x + 2) * pitch;
  Problem problem = {{{y, line, 0, x * filters},
                      {x, pitch, 0, filters},
                      {filters, 0, inPanels ? 1 : steps, 1},
                      {channels, 1, 9, 0},
                      {3, line, 3, 0},
                      {3, pitch, 1, 0}},
                     {0, 2, 1, 3}};
  if (!inPanels)
    return problem;
  for (int i = 3; i < 6; ++i)
    problem.loops[i].columns *= 16;
  problem.loops[2].extent = 16;
  problem.loops.insert(problem.loops.begin() + 2,
                       {filters / 16, 0, steps * 16, 16});
  problem.counts.columns = 2;
  return problem;
}

TEST_P(Contraction, rows_that_meet_in_a_cache_set) {
  for (bool inPanels : {false, true}) {
    check(channelsLast(7, 7, 5, 1024, 144, inPanels));
    check(channelsLast(9, 14, 60, 512, 128, inPanels)); // two blocks of steps
    check(channelsLast(7, 7, 5, 528, 144, inPanels));   // that do not
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, Contraction,
                         testing::Values(numera_contract_8x3,
                                         numera_contract_8x2,
                                         numera_contract_8x1,
                                         numera_contract_6x1,
                                         numera_contract_3x1));

} // namespace
