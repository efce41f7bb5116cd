// SPDX-License-Identifier: MIT
//
// f32 → format → f32, against a memcpy of the array.

#include "Comparison.h"
#include "Program.h"

#include <cmath>

using namespace numera::bench;

/// The result is the value of a code, and with a deterministic rounding of the
/// right one.
static bool isRight(benchmark::State &state, const Row &row,
                    const Scalar &scalar, Array &x, Array &z) {
  bool isStochastic = row.has("stochastic");
  for (size_t i = 0; i < z.elements(); ++i) {
    float got = z.as<float>()[i];
    float expected =
        scalar.decode(scalar.encode(isStochastic ? got : x.as<float>()[i]));
    if (std::bit_cast<uint32_t>(got) != std::bit_cast<uint32_t>(expected))
      return fail(state, row, i, z.code(i), std::bit_cast<uint32_t>(expected));
  }
  return true;
}

void numera::bench::quantize(benchmark::State &state, const Row &row) {
  Scalar scalar(row);
  std::vector<int64_t> shape = row.numbers("shape");
  Array x(NUMERA_F32, shape), z(NUMERA_F32, shape);
  fillNormal(x, 1);
  Program program(row.text("program"), {&x}, z);
  program.run();
  if (!isRight(state, row, scalar, x, z))
    return;
  contest(state, row, {[&] { program.run(); }}, {[&] {
            std::memcpy(z.as<void>(), x.as<void>(), z.bytes());
            benchmark::ClobberMemory();
          }});
}
