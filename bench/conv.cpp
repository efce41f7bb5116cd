// SPDX-License-Identifier: MIT
//
// A convolution with constant weights and f32 accumulation, as a model has it,
// f32 in and out, against sgemm of the same size: as many rows as channels out,
// as many columns as pixels, as deep as channels in times the window.

#include "Comparison.h"
#include "Program.h"
#include "Sgemm.h"

#include <cmath>
#include <fstream>
#include <optional>

using namespace numera::bench;

namespace {

struct Shape {
  explicit Shape(const Row &row)
      : in(row.number("in")), out(row.number("out")), size(row.number("size")),
        window(row.number("window")), stride(row.number("stride")),
        pad(window / 2), result((size + 2 * pad - window) / stride + 1) {}
  int64_t in, out;      ///< channels
  int64_t size, window; ///< of a square image and a square kernel
  int64_t stride, pad, result;
};

/// One element of the result: channel, kernel row, kernel column ascending,
/// and the padding multiplied.
/// Without a scalar, in f32.
float reference(const Shape &s, const std::optional<Scalar> &scalar,
                const float *image, const float *weights, int64_t o, int64_t y,
                int64_t x) {
  auto rounded = [&](float v) {
    return scalar ? scalar->decode(scalar->encode(v)) : v;
  };
  float sum = 0;
  for (int64_t c = 0; c < s.in; ++c)
    for (int64_t i = 0; i < s.window; ++i)
      for (int64_t j = 0; j < s.window; ++j) {
        int64_t row = y * s.stride + i - s.pad, col = x * s.stride + j - s.pad;
        bool isInside = row >= 0 && row < s.size && col >= 0 && col < s.size;
        float pixel =
            isInside ? rounded(image[(c * s.size + row) * s.size + col]) : 0;
        float weight =
            rounded(weights[((o * s.in + c) * s.window + i) * s.window + j]);
        sum = std::fma(pixel, weight, sum);
      }
  return rounded(sum);
}

} // namespace

void numera::bench::conv(benchmark::State &state, const Row &row) {
  std::optional<Scalar> scalar;
  if (row.has("scalar"))
    scalar.emplace(row);
  Shape s(row);
  Array image(NUMERA_F32, {1, s.in, s.size, s.size});
  Array weights(NUMERA_F32, {s.out, s.in, s.window, s.window});
  Array result(NUMERA_F32, {1, s.out, s.result, s.result});
  fillNormal(image, 1);
  std::ifstream(row.text("weights"), std::ios::binary)
      .read(weights.as<char>(), std::streamsize(weights.bytes()));

  Program program(row.text("program"), {&image}, result);
  program.run();
  for (int64_t sample = 0; sample < 64; ++sample) {
    int64_t o = sample * 37 % s.out, y = sample * 5 % s.result,
            x = sample * 11 % s.result;
    float expected =
        reference(s, scalar, image.as<float>(), weights.as<float>(), o, y, x);
    size_t place = size_t((o * s.result + y) * s.result + x);
    if (result.code(place) != std::bit_cast<uint32_t>(expected)) {
      fail(state, row, place, result.code(place),
           std::bit_cast<uint32_t>(expected));
      return;
    }
  }
  Sgemm sgemm(s.out, s.result * s.result, s.in * s.window * s.window);
  contest(state, row, {[&] { program.run(); }}, {[&] { sgemm.run(); }});
}
