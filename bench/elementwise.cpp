// SPDX-License-Identifier: MIT
//
// z = x op y on packed codes, against
//
//   memcpy   of as many bytes as the operation reads and writes, in the same
//            memory
//   opaque   a loop that calls a function of an opaque library per element
//   apfloat  upstream MLIR's convert-arith-to-apfloat, compiled
//   native   clang's loop on __bf16 or _Float16

#include "Comparison.h"
#include "Native.h"
#include "Program.h"

using namespace numera::bench;

namespace {

/// How MLIR passes a tensor of rank 1.
struct Descriptor {
  explicit Descriptor(Array &array)
      : allocated(array.as<void>()), aligned(allocated),
        size(int64_t(array.elements())) {}
  void *allocated, *aligned;
  int64_t offset = 0, size, stride = 1;
};
using ApfloatLoop = void(Descriptor *, Descriptor *, Descriptor *);

template <typename T>
Contender opaqueLoop(Scalar::Binary *function, Array &x, Array &y, Array &z) {
  return {[=, &x, &y, &z] {
    for (size_t i = 0; i < z.elements(); ++i)
      z.as<T>()[i] = T(function(x.as<T>()[i], y.as<T>()[i]));
  }};
}

Contender opaqueLoop(Scalar::Binary *function, Array &x, Array &y, Array &z) {
  switch (z.elementBytes()) {
  case 1:
    return opaqueLoop<uint8_t>(function, x, y, z);
  case 2:
    return opaqueLoop<uint16_t>(function, x, y, z);
  default:
    return opaqueLoop<uint32_t>(function, x, y, z);
  }
}

Contender peerOf(const Row &row, const Scalar &scalar, Array &x, Array &y,
                 Array &z) {
  const std::string &peer = row.text("peer"), &op = row.text("op");
  if (peer == "opaque")
    return opaqueLoop(scalar.binary(op), x, y, z);
  if (peer == "native")
    return {[loop = nativeLoop(row.text("native"), op), &x, &y, &z] {
      loop(x.as<void>(), y.as<void>(), z.as<void>(), z.elements());
    }};
  if (peer == "apfloat")
    return {[loop = Library(row.text("apfloat"))
                        .function<ApfloatLoop>("_mlir_ciface_run"),
             x = Descriptor(x), y = Descriptor(y),
             z = Descriptor(z)]() mutable { loop(&x, &y, &z); }};
  // Three arrays are moved; the halves of y are equal, so that copying one to
  // the other changes nothing.
  return {[&x, &y, &z] {
    std::memcpy(z.as<void>(), x.as<void>(), z.bytes());
    std::memcpy(y.as<char>() + y.bytes() / 2, y.as<void>(), y.bytes() / 2);
    benchmark::ClobberMemory();
  }};
}

} // namespace

void numera::bench::elementwise(benchmark::State &state, const Row &row) {
  Scalar scalar(row);
  std::vector<int64_t> shape = row.numbers("shape");
  numera_dtype dtype = storageType(row.number("bits"));
  Array x(dtype, shape), y(dtype, shape), z(dtype, shape);
  if (row.has("codes")) {
    fillCodes(x, row.number("codes"), 1);
    fillCodes(y, row.number("codes"), 2);
  } else {
    fillNormal(x, scalar, 1);
    fillNormal(y, scalar, 2);
  }
  std::memcpy(y.as<char>() + y.bytes() / 2, y.as<void>(), y.bytes() / 2);

  Program program(row.text("program"), {&x, &y}, z);
  program.run();
  Scalar::Binary *operation = scalar.binary(row.text("op"));
  for (size_t i = 0; i < z.elements(); ++i) {
    uint64_t expected =
        scalar.masked(operation(uint32_t(x.code(i)), uint32_t(y.code(i))));
    if (z.code(i) != expected) {
      fail(state, row, i, z.code(i), expected);
      return;
    }
  }
  contest(state, row, {[&] { program.run(); }}, peerOf(row, scalar, x, y, z));
}
