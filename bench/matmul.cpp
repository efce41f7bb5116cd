// SPDX-License-Identifier: MIT
//
// C = A · B, with C's accumulator as the row says, against OpenBLAS sgemm of
// the same size. Operands are codes, or f32 that the program rounds first.

#include "Comparison.h"
#include "Program.h"
#include "Sgemm.h"

#include <cmath>

using namespace numera::bench;

namespace {

/// One element of the result, an opaque call a step.
class Reference {
public:
  Reference(const Row &row, const Scalar &scalar, Array &a, Array &b)
      : scalar(scalar), a(a), b(b), isFloat(row.has("f32")),
        isSame(row.text("accumulate") == "same"), add(scalar.binary("add")),
        mul(scalar.binary("mul")) {}

  uint32_t at(size_t i, size_t j, size_t depth, size_t columns) const {
    uint32_t same = scalar.encode(0);
    float wide = 0;
    for (size_t k = 0; k < depth; ++k) {
      uint32_t x = code(a, i * depth + k), y = code(b, k * columns + j);
      if (isSame)
        same = scalar.masked(add(same, scalar.masked(mul(x, y))));
      else
        wide = std::fma(scalar.decode(x), scalar.decode(y), wide);
    }
    return isSame ? same : scalar.encode(wide);
  }

private:
  uint32_t code(Array &array, size_t index) const {
    return isFloat ? scalar.encode(array.as<float>()[index])
                   : uint32_t(array.code(index));
  }

  const Scalar &scalar;
  Array &a, &b;
  bool isFloat, isSame;
  Scalar::Binary *add, *mul;
};

} // namespace

void numera::bench::matmul(benchmark::State &state, const Row &row) {
  Scalar scalar(row);
  int64_t m = row.number("m"), n = row.number("n"), k = row.number("k");
  bool isFloat = row.has("f32");
  numera_dtype dtype = isFloat ? NUMERA_F32 : storageType(row.number("bits"));
  Array a(dtype, {m, k}), b(dtype, {k, n}), c(dtype, {m, n});
  for (auto [array, seed] : {std::pair{&a, 1u}, {&b, 2u}})
    isFloat ? fillNormal(*array, seed) : fillNormal(*array, scalar, seed);

  Program program(row.text("program"), {&a, &b}, c);
  program.run();
  Reference reference(row, scalar, a, b);
  for (size_t sample = 0; sample < 64; ++sample) {
    size_t i = sample * 37 % size_t(m), j = sample * 101 % size_t(n);
    uint32_t expected = reference.at(i, j, size_t(k), size_t(n));
    size_t place = i * size_t(n) + j;
    uint64_t got =
        isFloat ? scalar.encode(c.as<float>()[place]) : c.code(place);
    if (got != expected) {
      fail(state, row, place, got, expected);
      return;
    }
  }

  Sgemm sgemm(m, n, k);
  contest(state, row, {[&] { program.run(); }}, {[&] { sgemm.run(); }});
}
