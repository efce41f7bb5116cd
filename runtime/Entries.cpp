// SPDX-License-Identifier: MIT
//
// The runtime's entry points: ABI.def expanded over families and storages, in
// terms of Numerics. Freestanding; compiled for every target (README.md). A
// family is a FORMAT_/PARAMETERS_ pair below and a line in FOR_EACH_FAMILY.

#include "numera/Numerics/Compare.h"
#include "numera/Numerics/Convert.h"
#include "numera/Numerics/Elementary.h"
#include "numera/Numerics/Operations.h"

using namespace numera;

// ---- families --------------------------------------------------------------

#define PARAMETERS_float                                                       \
  int32_t exponentBits, int32_t mantissaBits, int32_t bias, int32_t specials,  \
      int32_t subnormals, int32_t isSigned, int32_t overflow
#define FORMAT_float                                                           \
  FloatFormat {                                                                \
    exponentBits, mantissaBits, bias, Specials(specials), subnormals != 0,     \
        isSigned != 0, Overflow(overflow)                                      \
  }
#define PARAMETERS_posit int32_t positBits, int32_t es
#define FORMAT_posit                                                           \
  PositFormat { positBits, es }

#define FOR_EACH_FAMILY(ENTRY, op)                                             \
  FOR_EACH_STORAGE(ENTRY, op, float)                                           \
  FOR_EACH_STORAGE(ENTRY, op, posit)
#define FOR_EACH_STORAGE(ENTRY, op, family)                                    \
  ENTRY(op, family, 8)                                                         \
  ENTRY(op, family, 16)                                                        \
  ENTRY(op, family, 32)                                                        \
  ENTRY(op, family, 64)

#define CODE(bits) uint##bits##_t
#define SYMBOL(family, op, bits) numera_##family##_##op##_##bits

// ---- operations ------------------------------------------------------------

extern "C" {
#define NUMERA_UNARY(op) uint128_t numera_exact_##op##_128(uint128_t, int32_t);
#define NUMERA_BINARY(op)                                                      \
  uint128_t numera_exact_##op##_128(uint128_t, uint128_t, int32_t);
#include "numera/Runtime/ABI.def"
}

/// The operation on codes of one format. Those with a faster road are
/// Operations.h's own; the rest goes through Exact.cpp, where it stays: too
/// large to stand at every call.
namespace code {
using numera::add, numera::sub, numera::mul, numera::div, numera::sqrt,
    numera::fma;
#define THROUGH_EXACT_1(op)                                                    \
  template <typename F>                                                        \
  constexpr uint64_t op(const F &f, uint64_t x, Rounding mode) {               \
    uint128_t result =                                                         \
        numera_exact_##op##_128(f.decode(x).pack(), int32_t(mode));            \
    return f.encode(Unpacked::unpack(result), mode);                           \
  }
#define THROUGH_EXACT_2(op)                                                    \
  template <typename F>                                                        \
  constexpr uint64_t op(const F &f, uint64_t x, uint64_t y, Rounding mode) {   \
    uint128_t result = numera_exact_##op##_128(                                \
        f.decode(x).pack(), f.decode(y).pack(), int32_t(mode));                \
    return f.encode(Unpacked::unpack(result), mode);                           \
  }
#define QUICK_THEN_EXACT(op)                                                   \
  template <typename F>                                                        \
  constexpr uint64_t op(const F &f, uint64_t x, Rounding mode) {               \
    return elementary(f, x, mode, quick::op, quick::op##Range,                 \
                      [mode](const Unpacked &value) {                          \
                        return Unpacked::unpack(numera_exact_##op##_128(       \
                            value.pack(), int32_t(mode)));                     \
                      });                                                      \
  }
THROUGH_EXACT_2(rem)
THROUGH_EXACT_2(pow)
THROUGH_EXACT_1(rsqrt)
QUICK_THEN_EXACT(exp)
QUICK_THEN_EXACT(exp2)
QUICK_THEN_EXACT(expm1)
QUICK_THEN_EXACT(log)
THROUGH_EXACT_1(log2)
THROUGH_EXACT_1(log1p)
THROUGH_EXACT_1(sin)
THROUGH_EXACT_1(cos)
QUICK_THEN_EXACT(tanh)
THROUGH_EXACT_1(erf)
QUICK_THEN_EXACT(sigmoid)
THROUGH_EXACT_1(floor)
THROUGH_EXACT_1(ceil)
THROUGH_EXACT_1(trunc)
THROUGH_EXACT_1(round)
THROUGH_EXACT_1(roundeven)
} // namespace code

// ---- entries ---------------------------------------------------------------

#define UNARY(op, family, bits)                                                \
  CODE(bits)                                                                   \
  SYMBOL(family, op, bits)(CODE(bits) x, PARAMETERS_##family,                  \
                           int32_t rounding) {                                 \
    return static_cast<CODE(bits)>(                                            \
        code::op(FORMAT_##family, x, Rounding(rounding)));                     \
  }
#define BINARY(op, family, bits)                                               \
  CODE(bits)                                                                   \
  SYMBOL(family, op, bits)(CODE(bits) x, CODE(bits) y, PARAMETERS_##family,    \
                           int32_t rounding) {                                 \
    return static_cast<CODE(bits)>(                                            \
        code::op(FORMAT_##family, x, y, Rounding(rounding)));                  \
  }
#define TERNARY(op, family, bits)                                              \
  CODE(bits)                                                                   \
  SYMBOL(family, op, bits)(CODE(bits) x, CODE(bits) y, CODE(bits) z,           \
                           PARAMETERS_##family, int32_t rounding) {            \
    return static_cast<CODE(bits)>(                                            \
        code::op(FORMAT_##family, x, y, z, Rounding(rounding)));               \
  }
#define UNARY_EXACT(op, family, bits)                                          \
  CODE(bits) SYMBOL(family, op, bits)(CODE(bits) x, PARAMETERS_##family) {     \
    return static_cast<CODE(bits)>(numera::op(FORMAT_##family, x));            \
  }
#define BINARY_EXACT(op, family, bits)                                         \
  CODE(bits)                                                                   \
  SYMBOL(family, op, bits)(CODE(bits) x, CODE(bits) y, PARAMETERS_##family) {  \
    return static_cast<CODE(bits)>(numera::op(FORMAT_##family, x, y));         \
  }

/// What the lists do not have: comparisons and conversions.
#define CONVERSIONS(unused, family, bits)                                      \
  uint8_t SYMBOL(family, cmp, bits)(CODE(bits) x, CODE(bits) y,                \
                                    PARAMETERS_##family, int32_t relations) {  \
    return cmp(FORMAT_##family, x, y, relations);                              \
  }                                                                            \
  uint8_t SYMBOL(family, isnan, bits)(CODE(bits) x, PARAMETERS_##family) {     \
    return isnan(FORMAT_##family, x);                                          \
  }                                                                            \
  float SYMBOL(family, decode_f32, bits)(CODE(bits) x, PARAMETERS_##family) {  \
    return decodeTo<float>(FORMAT_##family, x);                                \
  }                                                                            \
  double SYMBOL(family, decode_f64, bits)(CODE(bits) x, PARAMETERS_##family) { \
    return decodeTo<double>(FORMAT_##family, x);                               \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(family, encode_f32, bits)(float x, PARAMETERS_##family,               \
                                   int32_t rounding) {                         \
    return static_cast<CODE(bits)>(                                            \
        encodeFrom<float>(FORMAT_##family, x, Rounding(rounding)));            \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(family, encode_f64, bits)(double x, PARAMETERS_##family,              \
                                   int32_t rounding) {                         \
    return static_cast<CODE(bits)>(                                            \
        encodeFrom<double>(FORMAT_##family, x, Rounding(rounding)));           \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(family, from_i64, bits)(int64_t x, PARAMETERS_##family,               \
                                 int32_t rounding) {                           \
    return static_cast<CODE(bits)>(                                            \
        fromSigned(FORMAT_##family, x, Rounding(rounding)));                   \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(family, from_u64, bits)(uint64_t x, PARAMETERS_##family,              \
                                 int32_t rounding) {                           \
    return static_cast<CODE(bits)>(                                            \
        fromUnsigned(FORMAT_##family, x, Rounding(rounding)));                 \
  }                                                                            \
  uint64_t SYMBOL(family, to_integer, bits)(CODE(bits) x, PARAMETERS_##family, \
                                            int32_t width,                     \
                                            int32_t resultIsSigned) {          \
    return toInteger(FORMAT_##family, x, width, resultIsSigned != 0);          \
  }                                                                            \
  uint128_t SYMBOL(family, unpack, bits)(CODE(bits) x, PARAMETERS_##family) {  \
    return FORMAT_##family.decode(x).pack();                                   \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(family, pack, bits)(uint128_t x, PARAMETERS_##family,                 \
                             int32_t rounding) {                               \
    return static_cast<CODE(bits)>(                                            \
        FORMAT_##family.encode(Unpacked::unpack(x), Rounding(rounding)));      \
  }

extern "C" {

#define NUMERA_UNARY(op) FOR_EACH_FAMILY(UNARY, op)
#define NUMERA_BINARY(op) FOR_EACH_FAMILY(BINARY, op)
#define NUMERA_TERNARY(op) FOR_EACH_FAMILY(TERNARY, op)
#define NUMERA_UNARY_EXACT(op) FOR_EACH_FAMILY(UNARY_EXACT, op)
#define NUMERA_BINARY_EXACT(op) FOR_EACH_FAMILY(BINARY_EXACT, op)
#include "numera/Runtime/ABI.def"

FOR_EACH_FAMILY(CONVERSIONS, )

} // extern "C"
