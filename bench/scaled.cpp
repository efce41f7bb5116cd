// SPDX-License-Identifier: MIT
//
// Scaled tensors: f32 in, f32 out, or codes and scales. Against a memcpy of
// what is quantized, OpenBLAS sgemm of the same size, or the same program
// without packed storage.

#include "Comparison.h"
#include "Program.h"
#include "Sgemm.h"

#include <cmath>

using namespace numera::bench;

namespace {

/// What an MX format makes of a row: blocks of 32 that share a power of two,
/// rule `floor`, elements by the row's opaque library.
class Blocks {
public:
  explicit Blocks(const Row &row)
      : scalar(row), largest(scalar.decode(uint32_t(row.number("largest")))),
        emax(std::ilogb(largest)) {}

  int exponentAt(const float *row, size_t index) const {
    size_t first = index / 32 * 32;
    float most = 0;
    for (size_t i = first; i < first + 32; ++i)
      most = std::max(most, std::fabs(row[i]));
    return std::ilogb(most) - emax;
  }
  uint32_t codeAt(const float *row, size_t index) const {
    float scale = std::ldexp(1.0f, exponentAt(row, index));
    return scalar.encode(std::clamp(row[index] / scale, -largest, largest));
  }
  float at(const float *row, size_t index) const {
    return std::ldexp(scalar.decode(codeAt(row, index)),
                      exponentAt(row, index));
  }

private:
  Scalar scalar;
  float largest;
  int emax;
};

Contender copyOf(Array &x, Array &z) {
  return {[&] {
    std::memcpy(z.as<void>(), x.as<void>(), z.bytes());
    benchmark::ClobberMemory();
  }};
}

void quantizeBlocks(benchmark::State &state, const Row &row) {
  Blocks blocks(row);
  std::vector<int64_t> shape = row.numbers("shape");
  Array x(NUMERA_F32, shape), z(NUMERA_F32, shape);
  fillNormal(x, 1);
  Program program(row.text("program"), {&x}, z);
  program.run();
  for (size_t i = 0; i < z.elements(); i += 37) {
    float expected = blocks.at(x.as<float>(), i), got = z.as<float>()[i];
    if (std::bit_cast<uint32_t>(got) != std::bit_cast<uint32_t>(expected)) {
      fail(state, row, i, std::bit_cast<uint32_t>(got),
           std::bit_cast<uint32_t>(expected));
      return;
    }
  }
  contest(state, row, {[&] { program.run(); }}, copyOf(x, z));
}

void quantizeToCodes(benchmark::State &state, const Row &row) {
  Blocks blocks(row);
  std::vector<int64_t> shape = row.numbers("shape"), scaleShape = shape;
  scaleShape.back() /= 32;
  Array x(NUMERA_F32, shape), copied(NUMERA_F32, shape),
      codes(NUMERA_U8, shape), scales(NUMERA_U8, scaleShape);
  fillNormal(x, 1);
  Program program(row.text("program"), {&x}, {&codes, &scales});
  program.run();
  for (size_t i = 0; i < codes.elements(); i += 37) {
    uint64_t expected = blocks.codeAt(x.as<float>(), i),
             exponent = uint64_t(blocks.exponentAt(x.as<float>(), i) + 127);
    if (codes.code(i) != expected || scales.code(i / 32) != exponent) {
      fail(state, row, i, codes.code(i) << 8 | scales.code(i / 32),
           expected << 8 | exponent);
      return;
    }
  }
  contest(state, row, {[&] { program.run(); }}, copyOf(x, copied));
}

/// A program with one operand, whose weights are constants, or with two.
void multiply(benchmark::State &state, const Row &row) {
  int64_t m = row.number("m"), n = row.number("n"), k = row.number("k");
  Array a(NUMERA_F32, {m, k}), b(NUMERA_F32, {k, n}), c(NUMERA_F32, {m, n});
  fillNormal(a, 1);
  fillNormal(b, 2);
  std::vector<Array *> inputs = {&a};
  if (!row.has("weights"))
    inputs.push_back(&b);
  Program program(row.text("program"), inputs, c);
  program.run();
  if (!row.has("plain")) {
    Sgemm sgemm(m, n, k);
    contest(state, row, {[&] { program.run(); }}, {[&] { sgemm.run(); }});
    return;
  }
  Array d(NUMERA_F32, {m, n});
  Program plain(row.text("plain"), inputs, d);
  plain.run();
  for (size_t i = 0; i < c.elements(); ++i)
    if (c.code(i) != d.code(i)) {
      fail(state, row, i, c.code(i), d.code(i));
      return;
    }
  contest(state, row, {[&] { program.run(); }}, {[&] { plain.run(); }});
}

} // namespace

void numera::bench::scaled(benchmark::State &state, const Row &row) {
  if (row.has("codes"))
    quantizeToCodes(state, row);
  else if (row.has("shape"))
    quantizeBlocks(state, row);
  else
    multiply(state, row);
}
