// SPDX-License-Identifier: MIT
//
// The entries numera_exact_<op>_128: the exact operations on unpacked values,
// before any rounding to a format. They serve mixed formats, and every entry of
// Entries.cpp that has no faster path. And numera_exact_<op>_f32: e^x and erf
// on codes of binary32, to nearest, where the quickest phase does not decide.

#include "numera/Numerics/Elementary/Exact.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Operations/Elementary.h"

using namespace numera;

namespace {

Unpacked open(uint128_t packed) { return Unpacked::unpack(packed).operand(); }
Rounding modeOf(int32_t rounding) { return RoundingMode::unpack(rounding, 0); }

} // namespace

/// Says where a rare path begins (Operations/Convert.h). Not optimised: known
/// to return its argument, calls of it would be gone too soon.
extern "C" [[clang::optnone, gnu::noinline]] uint64_t
numera_exact_rare_64(uint64_t word) {
  return word;
}

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

/// Of codes of binary32, to nearest.
static inline uint32_t laterPhases(uint32_t x, double (*quick)(double),
                                   FastPathRange range,
                                   uint128_t (*exact)(uint128_t, int32_t)) {
  constexpr FloatFormat f = Carrier<float>::format;
  constexpr RoundingMode nearest = {Rounding::NearestEven, 0, 0};
  return static_cast<uint32_t>(elementary(
      f, x, quick, range,
      [](double value) { return canonical(static_cast<float>(value)); },
      [&](uint64_t code) {
        uint128_t value = exact(f.decode(code).pack(), nearest.pack());
        return f.encode(Unpacked::unpack(value), nearest);
      }));
}

uint32_t numera_exact_exp_f32(uint32_t x) {
  return laterPhases(x, fast::exp, fast::expRange, numera_exact_exp_128);
}
uint32_t numera_exact_erf_f32(uint32_t x) {
  return laterPhases(x, fast::erf, fast::erfRange, numera_exact_erf_128);
}

} // extern "C"
