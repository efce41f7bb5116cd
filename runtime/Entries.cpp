// SPDX-License-Identifier: MIT
//
// The runtime's entry points of one family: ABI.def expanded over storages, in
// terms of Numerics. Freestanding; compiled for every family of
// cmake/Families.cmake and every target (README.md), with the family's name,
// header, struct and number of parameters defined on the command line.

#include NUMERA_FAMILY_HEADER
#include "SinglePhases.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Exact/Quire.h"
#include "numera/Numerics/Flags/StatusFlags.h"
#include "numera/Numerics/MultiplyAdd/Slices.h"
#include "numera/Numerics/MultiplyAdd/Steps.h"
#include "numera/Numerics/Operations/Convert.h"
#include "numera/Numerics/Operations/Elementary.h"
#include "numera/Numerics/Operations/Operations.h"

using namespace numera;

// ---- the family ------------------------------------------------------------

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAMES_1 p0
#define NAMES_2 NAMES_1, p1
#define NAMES_3 NAMES_2, p2
#define NAMES_4 NAMES_3, p3
#define NAMES_5 NAMES_4, p4
#define NAMES_6 NAMES_5, p5
#define NAMES_7 NAMES_6, p6
#define NAMES_8 NAMES_7, p7
#define DECLARED_1 int32_t p0
#define DECLARED_2 DECLARED_1, int32_t p1
#define DECLARED_3 DECLARED_2, int32_t p2
#define DECLARED_4 DECLARED_3, int32_t p3
#define DECLARED_5 DECLARED_4, int32_t p4
#define DECLARED_6 DECLARED_5, int32_t p5
#define DECLARED_7 DECLARED_6, int32_t p6
#define DECLARED_8 DECLARED_7, int32_t p7

#define PARAMETERS JOIN(DECLARED_, NUMERA_PARAMETERS)
#define PARAMETER_NAMES JOIN(NAMES_, NUMERA_PARAMETERS)
#define FORMAT formatOf(PARAMETER_NAMES)
#define MODE RoundingMode::unpack(rounding, random)

using Format = NUMERA_FORMAT;

template <typename... Parameters>
static constexpr Format formatOf(Parameters... parameters) {
  static_assert(sizeof...(parameters) == Format::parameterCount);
  const int32_t list[] = {parameters...};
  return Format::of(list);
}

#define FOR_EACH_STORAGE(ENTRY, op)                                            \
  FOR_EACH_NARROW_STORAGE(ENTRY, op)                                           \
  ENTRY(op, 64)
#define FOR_EACH_NARROW_STORAGE(ENTRY, op)                                     \
  ENTRY(op, 32)                                                                \
  ENTRY(op, 16)                                                                \
  ENTRY(op, 8)

#define CODE(bits) uint##bits##_t
#define SYMBOL_(family, op, bits) numera_##family##_##op##_##bits
#define SYMBOL_OF(family, op, bits) SYMBOL_(family, op, bits)
#define SYMBOL(op, bits) SYMBOL_OF(NUMERA_FAMILY_NAME, op, bits)

/// What rounds is compiled once, for codes of 64 bits; the entries of narrower
/// ones call that entry. Where a program's constants are put in
/// (Specialize.cpp), entries that entries call are inlined. Each as a whole
/// would make the bitcode five times as large and as long to build.
#define ROUNDED_64 [[gnu::noinline]] uint64_t

// ---- operations ------------------------------------------------------------

extern "C" {
#define NUMERA_UNARY(op) uint128_t numera_exact_##op##_128(uint128_t, int32_t);
#define NUMERA_BINARY(op)                                                      \
  uint128_t numera_exact_##op##_128(uint128_t, uint128_t, int32_t);
#include "numera/Runtime/ABI.def"
ROUNDED_64 SYMBOL(encode_f64, 64)(double x, PARAMETERS, int32_t rounding,
                                  uint32_t random);
ROUNDED_64 SYMBOL(pack, 64)(uint128_t x, PARAMETERS, int32_t rounding,
                            uint32_t random);
[[gnu::noinline]] uint128_t SYMBOL(unpack, 64)(uint64_t x, PARAMETERS);
}

/// What an operation with an exact form decodes and rounds by: other entries,
/// so that their code does not stand in each such operation.
template <typename Encode, typename Unpack, typename Pack> struct Conversions {
  Encode encode;
  Unpack unpack;
  Pack pack;
};
#define CONVERSIONS                                                            \
  Conversions {                                                                \
    [=](double value) {                                                        \
      return SYMBOL(encode_f64, 64)(value, PARAMETER_NAMES, rounding, random); \
    },                                                                         \
        [=](uint64_t code) {                                                   \
          return SYMBOL(unpack, 64)(code, PARAMETER_NAMES);                    \
        },                                                                     \
        [=](uint128_t value) {                                                 \
          return SYMBOL(pack, 64)(value, PARAMETER_NAMES, rounding, random);   \
        }                                                                      \
  }

/// The operation on codes of one format: the family's own where it has one.
/// Those with a faster path are Operations.h's; the rest goes through
/// Exact.cpp, where it stays: too large to stand at every call.
namespace code {
#define CODE_Direct(op, operands)                                              \
  template <typename F, typename C, typename... Codes>                         \
  constexpr uint64_t op(const F &f, const C &, RoundingMode mode,              \
                        Codes... codes) {                                      \
    return numera::op(f, codes..., mode);                                      \
  }
#define CODE_Ziv(op, operands)                                                 \
  template <typename F, typename C>                                            \
  constexpr uint64_t op(const F &f, const C &by, RoundingMode mode,            \
                        uint64_t x) {                                          \
    if constexpr (requires { f.op(x, mode); })                                 \
      return f.op(x, mode);                                                    \
    if (isExp(fast::op) && isSingle(f, mode))                                  \
      return expInSingle(static_cast<uint32_t>(x));                            \
    if (isErf(fast::op) && isSingle(f, mode))                                  \
      return erfInSingle(static_cast<uint32_t>(x));                            \
    return elementary(f, x, fast::op, fast::op##Range, by.encode,              \
                      [&](uint64_t code) {                                     \
                        return by.pack(numera_exact_##op##_128(                \
                            by.unpack(code), int32_t(mode.rounding)));         \
                      });                                                      \
  }
#define CODE_Exact(op, operands)                                               \
  template <typename F, typename C, typename... Codes>                         \
  constexpr uint64_t op(const F &f, const C &by, RoundingMode mode,            \
                        Codes... codes) {                                      \
    if constexpr (requires { f.op(codes..., mode); })                          \
      return f.op(codes..., mode);                                             \
    return by.pack(                                                            \
        numera_exact_##op##_128(by.unpack(codes)..., int32_t(mode.rounding))); \
  }
#define CODE_Choice(op, operands)
#define CODE_Test(op, operands)
#define CODE_Cast(op, operands)
#define CODE_Step(op, operands)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  CODE_##form(name, operands)
#include "numera/Numerics/Core/Operations.def"
} // namespace code

// ---- entries ---------------------------------------------------------------

#define UNARY(op)                                                              \
  ROUNDED_64 SYMBOL(op, 64)(uint64_t x, PARAMETERS, int32_t rounding,          \
                            uint32_t random) {                                 \
    return code::op(FORMAT, CONVERSIONS, MODE, x);                             \
  }                                                                            \
  FOR_EACH_NARROW_STORAGE(NARROW_UNARY, op)
#define BINARY(op)                                                             \
  ROUNDED_64 SYMBOL(op, 64)(uint64_t x, uint64_t y, PARAMETERS,                \
                            int32_t rounding, uint32_t random) {               \
    return code::op(FORMAT, CONVERSIONS, MODE, x, y);                          \
  }                                                                            \
  FOR_EACH_NARROW_STORAGE(NARROW_BINARY, op)
#define TERNARY(op)                                                            \
  ROUNDED_64 SYMBOL(op, 64)(uint64_t x, uint64_t y, uint64_t z, PARAMETERS,    \
                            int32_t rounding, uint32_t random) {               \
    return code::op(FORMAT, CONVERSIONS, MODE, x, y, z);                       \
  }                                                                            \
  FOR_EACH_NARROW_STORAGE(NARROW_TERNARY, op)
#define NARROW_UNARY(op, bits)                                                 \
  CODE(bits)                                                                   \
  SYMBOL(op, bits)(CODE(bits) x, PARAMETERS, int32_t rounding,                 \
                   uint32_t random) {                                          \
    return static_cast<CODE(bits)>(                                            \
        SYMBOL(op, 64)(x, PARAMETER_NAMES, rounding, random));                 \
  }
#define NARROW_BINARY(op, bits)                                                \
  CODE(bits)                                                                   \
  SYMBOL(op, bits)(CODE(bits) x, CODE(bits) y, PARAMETERS, int32_t rounding,   \
                   uint32_t random) {                                          \
    return static_cast<CODE(bits)>(                                            \
        SYMBOL(op, 64)(x, y, PARAMETER_NAMES, rounding, random));              \
  }
#define NARROW_TERNARY(op, bits)                                               \
  CODE(bits)                                                                   \
  SYMBOL(op, bits)(CODE(bits) x, CODE(bits) y, CODE(bits) z, PARAMETERS,       \
                   int32_t rounding, uint32_t random) {                        \
    return static_cast<CODE(bits)>(                                            \
        SYMBOL(op, 64)(x, y, z, PARAMETER_NAMES, rounding, random));           \
  }
#define UNARY_EXACT(op, bits)                                                  \
  CODE(bits) SYMBOL(op, bits)(CODE(bits) x, PARAMETERS) {                      \
    return static_cast<CODE(bits)>(numera::op(FORMAT, x));                     \
  }
#define BINARY_EXACT(op, bits)                                                 \
  CODE(bits)                                                                   \
  SYMBOL(op, bits)(CODE(bits) x, CODE(bits) y, PARAMETERS) {                   \
    return static_cast<CODE(bits)>(numera::op(FORMAT, x, y));                  \
  }

/// Of a value `x` that is no code.
#define ROUNDED_FROM(op, T, expression)                                        \
  ROUNDED_64 SYMBOL(op, 64)(T x, PARAMETERS, int32_t rounding,                 \
                            uint32_t random) {                                 \
    return expression;                                                         \
  }                                                                            \
  NARROW_FROM(op, T, 32)                                                       \
  NARROW_FROM(op, T, 16)                                                       \
  NARROW_FROM(op, T, 8)
#define NARROW_FROM(op, T, bits)                                               \
  CODE(bits)                                                                   \
  SYMBOL(op, bits)(T x, PARAMETERS, int32_t rounding, uint32_t random) {       \
    return static_cast<CODE(bits)>(                                            \
        SYMBOL(op, 64)(x, PARAMETER_NAMES, rounding, random));                 \
  }
#define EXACT_FROM(op, T, expression)                                          \
  ROUNDED_64 SYMBOL(op, 64)(T x, PARAMETERS) { return expression; }            \
  NARROW_EXACT_FROM(op, T, 32)                                                 \
  NARROW_EXACT_FROM(op, T, 16)                                                 \
  NARROW_EXACT_FROM(op, T, 8)
#define NARROW_EXACT_FROM(op, T, bits)                                         \
  CODE(bits) SYMBOL(op, bits)(T x, PARAMETERS) {                               \
    return static_cast<CODE(bits)>(SYMBOL(op, 64)(x, PARAMETER_NAMES));        \
  }

/// What the lists do not have: comparisons, conversions and truncation.
#define OTHERS(unused, bits)                                                   \
  uint8_t SYMBOL(cmp, bits)(CODE(bits) x, CODE(bits) y, PARAMETERS,            \
                            int32_t relations) {                               \
    return cmp(FORMAT, x, y, relations);                                       \
  }                                                                            \
  uint8_t SYMBOL(isnan, bits)(CODE(bits) x, PARAMETERS) {                      \
    return isnan(FORMAT, x);                                                   \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(truncate, bits)(CODE(bits) x, PARAMETERS, int32_t count) {            \
    return static_cast<CODE(bits)>(FORMAT.truncate(x, count));                 \
  }                                                                            \
  float SYMBOL(decode_f32, bits)(CODE(bits) x, PARAMETERS) {                   \
    return decodeTo<float>(FORMAT, x);                                         \
  }                                                                            \
  double SYMBOL(decode_f64, bits)(CODE(bits) x, PARAMETERS) {                  \
    return decodeTo<double>(FORMAT, x);                                        \
  }                                                                            \
  uint64_t SYMBOL(to_integer, bits)(CODE(bits) x, PARAMETERS, int32_t width,   \
                                    int32_t resultIsSigned) {                  \
    return toInteger(FORMAT, x, width, resultIsSigned != 0);                   \
  }                                                                            \
  uint128_t SYMBOL(unpack, bits)(CODE(bits) x, PARAMETERS) {                   \
    return FORMAT.decode(x).pack();                                            \
  }

/// What `numera run --stats` counts (StatusFlags.h).
#define EXTREME(unused, bits)                                                  \
  uint8_t SYMBOL(extreme, bits)(CODE(bits) x, PARAMETERS) {                    \
    return mayRaiseFlags(FORMAT, x);                                           \
  }

/// The quire of a format (Quire.h), in memory.
#define QUIRE(unused, bits)                                                    \
  void SYMBOL(quire_clear, bits)(uint64_t *quire, PARAMETERS) {                \
    Quire<Format>(FORMAT, quire).clear();                                      \
  }                                                                            \
  void SYMBOL(quire_mac, bits)(uint64_t *quire, CODE(bits) x, CODE(bits) y,    \
                               PARAMETERS) {                                   \
    Quire<Format>(FORMAT, quire).mac(x, y);                                    \
  }                                                                            \
  void SYMBOL(quire_add, bits)(uint64_t *quire, CODE(bits) x, PARAMETERS) {    \
    Quire<Format>(FORMAT, quire).add(x);                                       \
  }                                                                            \
  void SYMBOL(quire_sub, bits)(uint64_t *quire, CODE(bits) x, PARAMETERS) {    \
    Quire<Format>(FORMAT, quire).sub(x);                                       \
  }                                                                            \
  void SYMBOL(quire_neg, bits)(uint64_t *quire, PARAMETERS) {                  \
    Quire<Format>(FORMAT, quire).negate();                                     \
  }                                                                            \
  void SYMBOL(quire_merge, bits)(uint64_t *quire, const uint64_t *other,       \
                                 PARAMETERS) {                                 \
    Quire<Format>(FORMAT, quire).merge(other);                                 \
  }                                                                            \
  CODE(bits)                                                                   \
  SYMBOL(quire_round, bits)(const uint64_t *quire, PARAMETERS,                 \
                            int32_t rounding, uint32_t random) {               \
    return static_cast<CODE(bits)>(Quire<Format>::round(FORMAT, quire, MODE)); \
  }                                                                            \
  uint128_t SYMBOL(quire_unpack, bits)(const uint64_t *quire, PARAMETERS) {    \
    return Quire<Format>::value(FORMAT, quire).pack();                         \
  }

/// Sums of products of slices in f64 (Slices.h), once a family.
#define SLICES                                                                 \
  uint64_t SYMBOL(slices_span_f64, 64)(double least, double most,              \
                                       PARAMETERS) {                           \
    return spanOf<double>(FORMAT, {least, most}).pack();                       \
  }                                                                            \
  void SYMBOL(slice_products_add_f64, 64)(uint64_t *quire, const double *sums, \
                                          int32_t count, PARAMETERS) {         \
    addSliceProducts(Quire<Format>(FORMAT, quire), sums, count);               \
  }

/// What `use` makes of a short step of the format, which must exist; NaN for
/// families without any.
template <typename T, typename Use>
static constexpr T useShortStep(const Format &f, int32_t form, Use use) {
  if constexpr (HasShortSteps<T, Format>)
    return use(ShortStep<T, Format>{{f, static_cast<StepForm>(form)}});
  return Carrier<T>::value(Carrier<T>::nan);
}
#define SHORT(T, expression)                                                   \
  useShortStep<T>(FORMAT, form, [=](const auto &step) { return expression; })

/// The steps of a contraction on values in a carrier (Step.h), and the short
/// ones (Steps.h).
#define STEP(carrier, T, bits)                                                 \
  T SYMBOL(step_##carrier, bits)(T c, T a, T b, PARAMETERS) {                  \
    return fullStep<T>(FORMAT, c, a, b);                                       \
  }                                                                            \
  T SYMBOL(step_short_##carrier, bits)(T c, T first, T second, T b,            \
                                       PARAMETERS, int32_t form) {             \
    return SHORT(T, step(c, first, second, b));                                \
  }                                                                            \
  T SYMBOL(step_first_##carrier, bits)(T a, PARAMETERS, int32_t form) {        \
    return SHORT(T, step.first(a));                                            \
  }                                                                            \
  T SYMBOL(step_second_##carrier, bits)(T a, PARAMETERS, int32_t form) {       \
    return SHORT(T, step.second(a));                                           \
  }                                                                            \
  T SYMBOL(step_prepared_##carrier, bits)(T b, PARAMETERS, int32_t form) {     \
    return SHORT(T, step.prepared(b));                                         \
  }                                                                            \
  T SYMBOL(step_start_##carrier, bits)(T c, PARAMETERS, int32_t form) {        \
    return SHORT(T, step.start(c));                                            \
  }                                                                            \
  T SYMBOL(step_result_##carrier, bits)(T c, PARAMETERS, int32_t form) {       \
    return SHORT(T, step.result(c));                                           \
  }                                                                            \
  uint8_t SYMBOL(step_admits_##carrier, bits)(T least, T most, PARAMETERS,     \
                                              int32_t form) {                  \
    return SHORT(T, T(step.admits({least, most}))) == 1;                       \
  }

/// The same in binary16 (StepHalf.h).
template <typename Result, typename F, typename Use>
static constexpr Result useHalfStep(const F &f, int32_t form, Use use) {
  if constexpr (HasHalfSteps<F>)
    return use(HalfStep{f, static_cast<StepForm>(form)});
  return 0;
}
#define HALF(Result, expression)                                               \
  useHalfStep<Result>(FORMAT, form,                                            \
                      [=](const auto &step) { return expression; })

extern "C" {

#define NUMERA_UNARY(op) UNARY(op)
#define NUMERA_BINARY(op) BINARY(op)
#define NUMERA_TERNARY(op) TERNARY(op)
#define NUMERA_UNARY_EXACT(op) FOR_EACH_STORAGE(UNARY_EXACT, op)
#define NUMERA_BINARY_EXACT(op) FOR_EACH_STORAGE(BINARY_EXACT, op)
#include "numera/Runtime/ABI.def"

ROUNDED_FROM(encode_f32, float, encodeFrom<float>(FORMAT, x, MODE))
ROUNDED_FROM(encode_f64, double, encodeFrom<double>(FORMAT, x, MODE))
ROUNDED_FROM(from_i64, int64_t, fromSigned(FORMAT, x, MODE))
ROUNDED_FROM(from_u64, uint64_t, fromUnsigned(FORMAT, x, MODE))
ROUNDED_FROM(pack, uint128_t, FORMAT.encode(Unpacked::unpack(x), MODE))
EXACT_FROM(encode_exact_f32, float, encodeExactly<float>(FORMAT, x))
EXACT_FROM(encode_exact_f64, double, encodeExactly<double>(FORMAT, x))
FOR_EACH_STORAGE(OTHERS, )
FOR_EACH_STORAGE(EXTREME, )
FOR_EACH_STORAGE(QUIRE, )
STEP(f32, float, 32)
STEP(f64, double, 64)
_Float16 SYMBOL(half_short_f32, 32)(_Float16 c, _Float16 first, _Float16 second,
                                    _Float16 b, PARAMETERS, int32_t form) {
  return HALF(_Float16, step(c, first, second, b));
}
_Float16 SYMBOL(half_first_f32, 32)(float a, PARAMETERS, int32_t form) {
  return HALF(_Float16, step.first(a));
}
_Float16 SYMBOL(half_second_f32, 32)(float a, PARAMETERS, int32_t form) {
  return HALF(_Float16, step.second(a));
}
_Float16 SYMBOL(half_prepared_f32, 32)(float b, PARAMETERS, int32_t form) {
  return HALF(_Float16, step.prepared(b));
}
_Float16 SYMBOL(half_start_f32, 32)(float c, PARAMETERS, int32_t form) {
  return HALF(_Float16, step.start(c));
}
float SYMBOL(half_result_f32, 32)(_Float16 c, PARAMETERS, int32_t form) {
  return HALF(float, step.result(c));
}
uint8_t SYMBOL(half_admits_f32, 32)(float least, float most, PARAMETERS,
                                    int32_t form) {
  return HALF(bool, step.admits({least, most}));
}
SLICES

// On unpacked values and in a carrier: the storage of codes does not matter.
uint8_t SYMBOL(status_flags, 128)(uint128_t exact, uint128_t x, uint128_t y,
                                  uint128_t z, PARAMETERS, int32_t rounding,
                                  uint32_t random) {
  const Unpacked operands[] = {Unpacked::unpack(x), Unpacked::unpack(y),
                               Unpacked::unpack(z)};
  return flagsOf(FORMAT, Unpacked::unpack(exact), operands, MODE);
}
float SYMBOL(round_f32, 32)(float x, PARAMETERS, int32_t rounding,
                            uint32_t random) {
  return roundTo<float>(FORMAT, x, MODE);
}
double SYMBOL(round_f64, 64)(double x, PARAMETERS, int32_t rounding,
                             uint32_t random) {
  return roundTo<double>(FORMAT, x, MODE);
}

} // extern "C"
