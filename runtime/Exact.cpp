// SPDX-License-Identifier: MIT
//
// The entries numera_exact_<op>_128: the exact operations on unpacked values,
// before any rounding to a format. They serve mixed formats, and every entry of
// Entries.cpp that has no faster path.

#include "numera/Numerics/Elementary/Exact.h"

using namespace numera;

namespace {

Unpacked open(uint128_t packed) { return Unpacked::unpack(packed).operand(); }
Rounding modeOf(int32_t rounding) { return RoundingMode::unpack(rounding, 0); }

} // namespace

extern "C" {

#define NUMERA_UNARY(op)                                                       \
  uint128_t numera_exact_##op##_128(uint128_t x, int32_t rounding) {           \
    return value::op(open(x), modeOf(rounding)).pack();                        \
  }
#define NUMERA_BINARY(op)                                                      \
  uint128_t numera_exact_##op##_128(uint128_t x, uint128_t y,                  \
                                    int32_t rounding) {                        \
    return value::op(open(x), open(y), modeOf(rounding)).pack();               \
  }
#define NUMERA_TERNARY(op)                                                     \
  uint128_t numera_exact_##op##_128(uint128_t x, uint128_t y, uint128_t z,     \
                                    int32_t rounding) {                        \
    return value::op(open(x), open(y), open(z), modeOf(rounding)).pack();      \
  }
#define NUMERA_UNARY_EXACT(op) NUMERA_UNARY(op)
#define NUMERA_BINARY_EXACT(op) NUMERA_BINARY(op)
#include "numera/Runtime/ABI.def"

} // extern "C"
