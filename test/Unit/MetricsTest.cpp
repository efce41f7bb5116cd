// SPDX-License-Identifier: MIT

#include "Run/Metrics.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace numera;
using host::Array;
using host::DType;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Array make(DType dtype, std::vector<int64_t> shape, std::vector<T> values) {
  std::string error;
  Array array = std::move(*host::makeArray(std::move(shape), dtype, error));
  EXPECT_EQ(array.size(), values.size());
  std::copy(values.begin(), values.end(), array.template data<T>());
  return array;
}

Array floats(std::vector<int64_t> shape, std::vector<float> values) {
  return make(DType::f4, std::move(shape), std::move(values));
}

Array labels(std::vector<int32_t> values) {
  return make(DType::i4, {int64_t(values.size())}, values);
}

std::string top1Error(const Array &result, const Array &wanted) {
  std::string error;
  EXPECT_EQ(top1(result, wanted, error), std::nullopt);
  return error;
}

double top1Share(const Array &result, const Array &wanted) {
  std::string error;
  return top1(result, wanted, error).value_or(-1);
}

TEST(Metrics, ErrorsAreOfTheWorstElement) {
  Comparison c = compare(floats({4}, {1, 2.5, -4, 8}), //
                         floats({4}, {1, 2, -5, 8}));
  EXPECT_EQ(c.maxAbsError, 1);
  EXPECT_EQ(c.maxRelError, 0.25);
  EXPECT_EQ(c.nonFinite, 0u);
}

TEST(Metrics, SQNRIsThePowerRatioInDecibels) {
  // Signal 9 + 1, noise 0.1² · 10 = 0.1: 10 log10 of 100.
  Comparison c = compare(make<double>(DType::f8, {2}, {3.3, 0.9}),
                         make<double>(DType::f8, {2}, {3, 1}));
  EXPECT_NEAR(*c.sqnr, 20, 1e-9);
}

TEST(Metrics, WithoutErrorSQNRIsInfinite) {
  Comparison c = compare(floats({2}, {1, 2}), floats({2}, {1, 2}));
  EXPECT_EQ(c.maxAbsError, 0);
  EXPECT_EQ(c.maxRelError, 0);
  EXPECT_EQ(c.sqnr, std::nullopt);
  EXPECT_EQ(c.top1Agreement, 1);
}

TEST(Metrics, AZeroReferenceHasNoRelativeError) {
  Comparison c = compare(floats({2}, {1, 2}), floats({2}, {0, 2}));
  EXPECT_EQ(c.maxAbsError, 1);
  EXPECT_EQ(c.maxRelError, 0);
}

TEST(Metrics, LeavesOutWhatIsNotFinite) {
  Comparison c = compare(floats({6}, {inf, nan, -inf, 448, 1, nan}),
                         floats({6}, {inf, nan, inf, inf, 1.5, 2}));
  EXPECT_EQ(c.nonFinite, 3u);
  EXPECT_EQ(c.maxAbsError, 0.5);
}

TEST(Metrics, HasNoFiguresWhereNothingIsFinite) {
  Comparison c = compare(floats({2}, {nan, nan}), floats({2}, {inf, 1}));
  EXPECT_EQ(c.nonFinite, 2u);
  EXPECT_EQ(c.maxAbsError, std::nullopt);
  EXPECT_EQ(c.maxRelError, std::nullopt);
  EXPECT_EQ(c.sqnr, std::nullopt);
}

TEST(Metrics, SquaresOfDoublesDoNotOverflow) {
  Comparison c = compare(make<double>(DType::f8, {1}, {1.1e300}),
                         make<double>(DType::f8, {1}, {1e300}));
  EXPECT_NEAR(*c.sqnr, 20, 1e-9);
}

TEST(Metrics, ErrorsBeyondADoubleAreNull) {
  constexpr double most = std::numeric_limits<double>::max();
  Comparison c = compare(make<double>(DType::f8, {1}, {most}),
                         make<double>(DType::f8, {1}, {-most}));
  EXPECT_EQ(c.maxAbsError, std::nullopt);
  EXPECT_EQ(c.maxRelError, 2);
}

TEST(Metrics, ArraysWithoutElementsHaveNoFigures) {
  Comparison c = compare(floats({0, 3}, {}), floats({0, 3}, {}));
  EXPECT_EQ(c.maxAbsError, std::nullopt);
  EXPECT_EQ(c.top1Agreement, std::nullopt);
  EXPECT_EQ(compare(floats({3, 0}, {}), floats({3, 0}, {})).top1Agreement,
            std::nullopt);
}

TEST(Metrics, AgreementIsTheShareOfRowsWithTheSameArgmax) {
  Comparison c = compare(floats({2, 3}, {0, 1, 2, 9, 1, 2}),
                         floats({2, 3}, {0, 5, 9, 0, 1, 2}));
  EXPECT_EQ(c.top1Agreement, 0.5);
  // Everything behind the first dimension is one row.
  c = compare(floats({2, 2, 1}, {0, 1, 2, 9}), floats({2, 2, 1}, {0, 5, 9, 0}));
  EXPECT_EQ(c.top1Agreement, 0.5);
}

TEST(Metrics, AVectorAndAScalarAreOneRow) {
  EXPECT_EQ(compare(floats({2}, {1, 2}), floats({2}, {2, 1})).top1Agreement, 0);
  EXPECT_EQ(compare(floats({}, {1}), floats({}, {2})).top1Agreement, 1);
}

TEST(Metrics, ArgmaxIsTheFirstOfEqualsAndNeverANaN) {
  // Rows: 1 at index 0 and 2, NaN before 3, -inf before NaN, NaN alone.
  Array rows =
      floats({4, 3}, {1, 0, 1, nan, 2, 3, -inf, nan, nan, nan, nan, nan});
  EXPECT_EQ(top1Share(rows, labels({0, 2, 0, 0})), 0.75);
  EXPECT_EQ(compare(rows, rows).top1Agreement, 0.75);
}

TEST(Metrics, LabelsMayBeAnyNumbersThatAreWhole) {
  Array rows = floats({2, 2}, {0, 1, 1, 0});
  EXPECT_EQ(top1Share(rows, make<uint8_t>(DType::u1, {2}, {1, 0})), 1);
  EXPECT_EQ(top1Share(rows, make<int64_t>(DType::i8, {2}, {1, 1})), 0.5);
  EXPECT_EQ(top1Share(rows, floats({2}, {1, 0})), 1);
  EXPECT_EQ(top1Share(rows, make<uint8_t>(DType::b1, {2}, {1, 0})), 1);
}

TEST(Metrics, LabelsAreOneARowAndInRange) {
  Array rows = floats({2, 2}, {0, 1, 1, 0});
  EXPECT_EQ(
      top1Error(rows, labels({1})),
      "1 labels, expected one for each of the 2 rows of the first output");
  EXPECT_EQ(top1Error(rows, make<int32_t>(DType::i4, {2, 1}, {1, 0})),
            "labels of 2 dimensions, expected one for each of the 2 rows of "
            "the first output");
  EXPECT_EQ(top1Error(rows, labels({1, 2})),
            "label 2 of row 1, expected 0 to 1");
  EXPECT_EQ(top1Error(rows, labels({-1, 0})),
            "label -1 of row 0, expected 0 to 1");
  EXPECT_EQ(top1Error(rows, floats({2}, {1, 0.5F})),
            "label 0.500000 of row 1, expected a whole number from 0 to 1");
  EXPECT_EQ(top1Error(rows, floats({2}, {nan, 0})),
            "label nan of row 0, expected a whole number from 0 to 1");
}

TEST(Metrics, CountsNaN) {
  EXPECT_EQ(countNaN(floats({4}, {1, nan, inf, nan})), 2u);
  EXPECT_EQ(countNaN(make<double>(DType::f8, {2}, {1, std::nan("")})), 1u);
  EXPECT_EQ(countNaN(labels({1, 2})), 0u);
}

} // namespace
