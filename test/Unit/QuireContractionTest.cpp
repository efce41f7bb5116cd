// SPDX-License-Identifier: MIT
//
// The kernel of contractions with sums in quires against a quire of its own for
// every sum, and which way tiles take: on posit16, whose NaR and whose whole
// range no sums in f64 hold.

#include "Hooks.h"
#include "KernelHost.h"
#include "numera/Numerics/Formats/Posit.h"
#include "numera/Numerics/MultiplyAdd/Slices.h"
#include "numera/Runtime/Contraction.h"
#include "gtest/gtest.h"
#include <array>
#include <random>
#include <vector>

using namespace numera;
using namespace numera::kernel;

static constexpr PositFormat posit16{{16}, 2};
using Words = std::array<uint64_t, 4>;

// ---- hooks -----------------------------------------------------------------

/// What the kernel did.
static struct {
  int64_t sums[SliceProducts<double>::most + 1]; ///< by their number
  int64_t products;                              ///< added one by one
} done;

static uint16_t codeAt(const void *base, int64_t index) {
  return static_cast<const uint16_t *>(base)[index];
}
static Quire<PositFormat> quireAt(void *base, int64_t index) {
  return {posit16, static_cast<Words *>(base)[index].data()};
}
double numera::kernel::numera_hook_row(const void *base, int64_t index) {
  return decodeTo<double>(posit16, codeAt(base, index));
}
double numera::kernel::numera_hook_column(const void *base, int64_t index) {
  return decodeTo<double>(posit16, codeAt(base, index));
}
uint64_t numera::kernel::numera_hook_span(double least, double most) {
  return spanOf<double>(posit16, {least, most}).pack();
}
void numera::kernel::numera_hook_add(void *sums, int64_t index,
                                     const double *products, int32_t count) {
  ++done.sums[count];
  addSliceProducts(quireAt(sums, index), products, count);
}
void numera::kernel::numera_hook_mac(void *sums, int64_t index,
                                     const void *rows, int64_t row,
                                     const void *columns, int64_t column) {
  ++done.products;
  quireAt(sums, index).mac(codeAt(rows, row), codeAt(columns, column));
}

// ---- products --------------------------------------------------------------

namespace {

using Entry = void(const void *, const void *, void *, const void *,
                   const void *const *, const Loop *, int32_t, int32_t, int32_t,
                   int32_t, int32_t);
extern "C" Entry numera_contract_8x2, numera_contract_6x1, numera_contract_3x1;

uint16_t codeOf(double value) {
  return static_cast<uint16_t>(
      encodeFrom<double>(posit16, value, Rounding::NearestEven));
}

class QuireContraction : public testing::TestWithParam<Entry *> {
protected:
  /// Codes of m x k and k x n.
  struct Product {
    int64_t m, n, k;
    std::vector<uint16_t> rows, columns;

    Product(int64_t m, int64_t n, int64_t k, auto next)
        : m(m), n(n), k(k), rows(size_t(m * k)), columns(size_t(k * n)) {
      for (uint16_t &code : rows)
        code = codeOf(next());
      for (uint16_t &code : columns)
        code = codeOf(next());
    }
    uint16_t &row(int64_t i, int64_t l) { return rows[size_t(i * k + l)]; }
    uint16_t &column(int64_t l, int64_t j) {
      return columns[size_t(l * n + j)];
    }
  };

  /// Every sum starts with 2^-112, the last bit of its quire.
  void check(const Product &product) {
    auto [m, n, k, rows, columns] = product;
    std::vector<Words> sums(size_t(m * n), Words{1}), expected = sums;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          quireAt(expected.data(), i * n + j)
              .mac(rows[size_t(i * k + l)], columns[size_t(l * n + j)]);
    done = {};
    Loop loops[] = {{m, k, 0, n}, {n, 0, 1, 1}, {k, 1, n, 0}};
    GetParam()(rows.data(), columns.data(), sums.data(), nullptr, nullptr,
               loops, 0, 1, 1, 1, 0);
    EXPECT_EQ(sums, expected);
  }

  double normal() { return std::normal_distribution<double>()(random); }
  std::mt19937 random{1};
};

TEST_P(QuireContraction, few_bits_are_one_window) {
  auto small = [&] { return double(random() % 64) - 32; };
  // Blocks have 512 steps.
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {17, 33, 40},
                         {70, 70, 3},
                         {9, 530, 5},
                         {5, 9, 1030}}) {
    check({m, n, k, small});
    EXPECT_EQ(done.sums[1], m * n * ((k + 511) / 512));
    EXPECT_EQ(done.products, 0);
  }
}

TEST_P(QuireContraction, more_bits_are_pieces) {
  auto spread = [&] { return normal() * std::ldexp(1, int(random() % 8) - 8); };
  check({17, 33, 300, spread});
  EXPECT_EQ(done.products, 0);
  EXPECT_GT(done.sums[2] + done.sums[3] + done.sums[4], 0);
  auto wide = [&] { return normal() * std::ldexp(1, int(random() % 22) - 18); };
  check({17, 33, 300, wide});
  EXPECT_EQ(done.products, 0);
  EXPECT_GT(done.sums[3] + done.sums[4], 0);
}

TEST_P(QuireContraction, only_sums_with_specials_leave_windows) {
  Product product(33, 70, 20, [&] { return normal(); });
  product.row(5, 3) = 0x8000; // NaR
  product.row(32, 0) = 0x8000;
  product.column(19, 69) = 0x8000;
  check(product);
  EXPECT_EQ(done.products, (33 * 70 - 31 * 69) * 20);
}

TEST_P(QuireContraction, the_whole_range_stays_in_its_tiles) {
  Product product(33, 70, 20, [&] { return normal(); });
  check(product);
  EXPECT_EQ(done.products, 0);
  product.column(19, 69) = 0x7FFF; // 2^56
  product.column(18, 69) = 0x0001; // 2^-56
  check(product);
  EXPECT_GT(done.products, 0);
  EXPECT_LE(done.products, 33 * 6 * 20);
}

/// Sums of one sign, which need all the bits that they may have.
TEST_P(QuireContraction, every_width) {
  for (int64_t k : {2, 31, 512})
    for (unsigned spread = 1; spread < 32; ++spread)
      check({9, 17, k, [&] {
               return (1 + random() % 4096 / 4096.0) *
                      std::ldexp(1, int(random() % spread) - int(spread / 2));
             }});
}

TEST_P(QuireContraction, specials_beside_the_whole_range) {
  auto wide = [&] {
    return normal() * std::ldexp(1, int(random() % 100) - 50);
  };
  Product product(17, 33, 100, wide);
  product.row(0, 3) = 0x8000;
  product.column(19, 32) = 0x8000;
  check(product);
}

TEST_P(QuireContraction, zeros) {
  check({9, 20, 7, [] { return 0.0; }});
  EXPECT_EQ(done.sums[1], 9 * 20);
}

TEST_P(QuireContraction, every_code) {
  Product product(40, 40, 33, [] { return 0.0; });
  for (std::vector<uint16_t> *codes : {&product.rows, &product.columns})
    for (uint16_t &code : *codes)
      code = static_cast<uint16_t>(random());
  check(product);
}

INSTANTIATE_TEST_SUITE_P(Tiles, QuireContraction,
                         testing::Values(numera_contract_8x2,
                                         numera_contract_6x1,
                                         numera_contract_3x1));

} // namespace
