// SPDX-License-Identifier: MIT
//
// Sums of products of slices against quires, word for word, and against GMP's
// integers.

#include "numera/Numerics/MultiplyAdd/Slices.h"
#include "ExactSum.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace numera;
using namespace numera::test;

namespace {

/// True if every value is a number of T.
template <typename T, typename F> bool embeds(const F &f) {
  constexpr FloatFormat carrier = Carrier<T>::format;
  return f.precision() <= carrier.precision() &&
         leastWeight(f) >= carrier.leastExponent() &&
         f.maxExponent() <= carrier.maxExponent();
}

template <typename T> Magnitudes<T> magnitudesOf(const std::vector<T> &values) {
  T infinity = std::numeric_limits<T>::infinity();
  Magnitudes<T> found = {infinity, 0};
  for (T value : values) {
    T magnitude = std::isfinite(value) ? std::abs(value) : infinity;
    if (magnitude != 0)
      found.least = std::min(found.least, magnitude);
    found.most = std::max(found.most, magnitude);
  }
  return found;
}

/// Codes of numbers that spread over `binades`, some of them zero.
template <typename F>
std::vector<uint64_t> draw(const F &f, std::mt19937_64 &engine, size_t count,
                           int binades) {
  std::vector<uint64_t> codes;
  std::normal_distribution<double> normal;
  int32_t center = (f.maxExponent() + f.leastExponent()) / 4 +
                   static_cast<int32_t>(engine() % 9) - 4;
  while (codes.size() < count) {
    int shift = center + static_cast<int>(engine() % (binades + 1u));
    uint64_t code = encodeFrom<double>(f, std::ldexp(normal(engine), shift),
                                       Rounding::NearestEven);
    if (engine() % 16 == 0)
      code = f.encode(Unpacked::zero(engine() & 1), Rounding::NearestEven);
    if (f.decode(code).kind < Kind::Infinite)
      codes.push_back(code);
  }
  return codes;
}

/// One sum: a row and a column of codes.
template <typename T, typename F> class Block {
public:
  Block(const F &f, std::vector<uint64_t> rows, std::vector<uint64_t> columns)
      : f(f), rows(std::move(rows)), columns(std::move(columns)),
        products(
            SliceProducts<T>::of(spanOf(f, magnitudesOf(values(this->rows))),
                                 spanOf(f, magnitudesOf(values(this->columns))),
                                 static_cast<int64_t>(this->rows.size()))) {}

  std::vector<T> sums() const {
    std::vector<T> sums(static_cast<size_t>(products.count()));
    for (size_t k = 0; k < rows.size(); ++k)
      for (int i = 0; i < products.rows.count; ++i)
        for (int j = 0; j < products.columns.count; ++j) {
          T &sum = sums[static_cast<size_t>(i * products.columns.count + j)];
          sum = step::fma(products.rows.slice(value(rows[k]), i),
                          products.columns.slice(value(columns[k]), j), sum);
        }
    return sums;
  }

  const F f;
  const std::vector<uint64_t> rows, columns;
  const SliceProducts<T> products;

private:
  T value(uint64_t code) const { return decodeTo<T>(f, code); }
  std::vector<T> values(const std::vector<uint64_t> &codes) const {
    std::vector<T> result;
    for (uint64_t code : codes)
      result.push_back(value(code));
    return result;
  }
};

template <typename T, typename F>
void checkBlock(Tally &tally, const char *name, const Block<T, F> &block,
                const oracle::Oracle &truth) {
  const F &f = block.f;
  int32_t count = block.products.count();
  auto words = static_cast<size_t>(quireLayout(f).words());
  std::vector<uint64_t> ours(words), theirs(words);
  Quire<F> windowed(f, ours.data()), quire(f, theirs.data());
  ExactSum exact(truth);
  for (size_t k = 0; k < block.rows.size(); ++k) {
    quire.mac(block.rows[k], block.columns[k]);
    exact.mac(block.rows[k], block.columns[k]);
  }
  std::vector<T> sums = block.sums();
  addSliceProducts(windowed, sums.data(), count);
  for (size_t i = 0; i < words; ++i)
    tally.check(ours[i], theirs[i], name, " word", i);
  for (Rounding mode : modes)
    tally.check(quire.round(f, ours.data(), mode), exact.round(mode), name,
                mode);
}

/// Checks `formats` formats or more; returns the numbers of sums that
/// occurred.
template <typename T>
std::set<int32_t> checkSliceProducts(Tally &tally, std::span<const Case> cases,
                                     int formats) {
  std::set<int32_t> counts;
  for (const Case &c : cases)
    std::visit(
        [&](const auto &f) {
          if (!embeds<T>(f) || quireLayout(f).bits > mostQuireBits)
            return;
          --formats;
          oracle::Oracle truth(describe(f));
          std::mt19937_64 engine(53);
          for (uint64_t i = 0; i < samples(300); ++i) {
            auto steps = static_cast<size_t>(1 + engine() % (i % 8 ? 40 : 600));
            int rowSpread = static_cast<int>(engine() % (i % 16 ? 32 : 64));
            int columnSpread = static_cast<int>(engine() % (i % 16 ? 32 : 64));
            auto rows = draw(f, engine, steps, rowSpread);
            auto columns = draw(f, engine, steps, columnSpread);
            Block<T, std::remove_cvref_t<decltype(f)>> block(f, rows, columns);
            counts.insert(block.products.count());
            if (block.products.exist())
              checkBlock(tally, c.name, block, truth);
          }
        },
        c.format);
  EXPECT_LE(formats, 0);
  return counts;
}

TEST(Slices, HoldTheQuiresOfSmallFormats) {
  Tally tally;
  EXPECT_TRUE(
      checkSliceProducts<double>(tally, smallFormats(), 60).contains(1));
  EXPECT_TRUE(checkSliceProducts<float>(tally, tinyFormats(), 24).contains(1));
}
TEST(Slices, HoldTheQuiresOfSixteenBits) {
  Tally tally;
  EXPECT_EQ(checkSliceProducts<double>(tally, sixteenBitFormats(), 9),
            (std::set<int32_t>{0, 1, 2, 3, 4}));
}
TEST(Slices, HoldTheQuiresOfWideFormats) {
  Tally tally;
  checkSliceProducts<double>(tally, wideFormats(), 6);
}

TEST(Slices, AreAsFewAsTheSpanAllows) {
  auto count = [](int32_t rows, int32_t columns, int64_t steps) {
    return SliceProducts<double>::of({-rows, 0}, {-columns, 0}, steps).count();
  };
  EXPECT_EQ(count(18, 18, 1 << 17), 1); // 18 + 18 + 17 = 53
  EXPECT_EQ(count(18, 18, (1 << 17) + 1), 2);
  EXPECT_EQ(count(24, 24, 256), 2);
  EXPECT_EQ(count(44, 1, 256), 1);
  EXPECT_EQ(count(45, 45, 256), 4);
  EXPECT_EQ(count(46, 46, 256), 0);
  EXPECT_EQ(count(300, 300, 1), 0);
}

/// Numbers of a posit16 from 2^-13 up, as a layer's weights have them.
TEST(Slices, CutFactorsExactly) {
  Tally tally;
  constexpr PositFormat f{{16}, 2};
  Span span = spanOf(f, Magnitudes<double>{0x1p-13, 255});
  EXPECT_EQ(span, (Span{-21, 8}));
  for (int32_t count = 1; count <= 4; ++count) {
    Slices<double> slices = Slices<double>::of(span, count);
    for (uint64_t code = 0; code <= f.mask(); ++code) {
      double x = decodeTo<double>(f, code);
      if (!(std::abs(x) < 256) || (x != 0 && std::abs(x) < 0x1p-13))
        continue;
      double rest = x;
      int32_t top = slices.high;
      for (int32_t i = 0; i < count; ++i) {
        double slice = slices.slice(x, i);
        rest -= slice;
        int32_t low = std::max(top - slices.width, span.low);
        tally.check(std::abs(slice) <= std::ldexp(1.0, top), 1, "top", code, i);
        tally.check(std::fmod(slice, std::ldexp(1.0, low)) == 0, 1, "unit",
                    code, i);
        top -= slices.width + 1;
      }
      tally.check(rest == 0, 1, "sum of slices", code, count);
    }
  }
}

} // namespace
