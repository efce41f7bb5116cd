// SPDX-License-Identifier: MIT
//
// A whole model, f32 in and out, against itself in f32, or against sgemm of the
// sizes that its layers have.

#include "Comparison.h"
#include "Program.h"
#include "Sgemm.h"

#include <cmath>
#include <deque>

using namespace numera::bench;

/// The result is f32's, within what a format of a few digits can do: the error
/// is less than half of what there is.
static bool isClose(benchmark::State &state, const Row &row, Array &got,
                    Array &expected) {
  double error = 0, whole = 0;
  for (size_t i = 0; i < got.elements(); ++i) {
    double value = expected.as<float>()[i];
    error += std::pow(got.as<float>()[i] - value, 2);
    whole += value * value;
  }
  if (error < whole / 4)
    return true;
  state.SkipWithError((row.name() + ": far from the result in f32").c_str());
  return false;
}

/// The layers' products, one after the other.
static Contender sgemmOf(const Row &row, std::deque<Sgemm> &products) {
  std::vector<std::pair<Sgemm *, int64_t>> order;
  std::vector<int64_t> sizes = row.numbers("gemms");
  for (size_t i = 0; i + 3 < sizes.size(); i += 4)
    order.emplace_back(
        &products.emplace_back(sizes[i], sizes[i + 1], sizes[i + 2]),
        sizes[i + 3]);
  return {[order] {
    for (auto [product, count] : order)
      for (int64_t i = 0; i < count; ++i)
        product->run();
  }};
}

void numera::bench::model(benchmark::State &state, const Row &row) {
  Array image(NUMERA_F32, row.numbers("input"));
  Array result(NUMERA_F32, row.numbers("output"));
  Array expected(NUMERA_F32, row.numbers("output"));
  fillNormal(image, 1, 0.5f);
  Program program(row.text("program"), {&image}, result);
  program.run();
  if (row.has("gemms")) {
    std::deque<Sgemm> products;
    contest(state, row, {[&] { program.run(); }}, sgemmOf(row, products));
    return;
  }
  Program inF32(row.text("f32"), {&image}, expected);
  inF32.run();
  if (row.has("rough") || isClose(state, row, result, expected))
    contest(state, row, {[&] { program.run(); }}, {[&] { inF32.run(); }});
}
