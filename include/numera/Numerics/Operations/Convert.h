// SPDX-License-Identifier: MIT
//
// Casts between formats, and between formats and the machine's types. Each cast
// rounds once, to the result's format.

#ifndef NUMERA_NUMERICS_OPERATIONS_CONVERT_H
#define NUMERA_NUMERICS_OPERATIONS_CONVERT_H

#include "numera/Numerics/Carrier/StochasticCodes.h"
#include "numera/Numerics/Operations/Operations.h"

namespace numera {

/// The value of `code` in format `from`, in format `to`.
template <typename To, typename From>
constexpr uint64_t cast(const To &to, const From &from, uint64_t code,
                        RoundingMode mode) {
  return to.encode(from.decode(code), mode);
}

// A family without carriers may have paths of its own that decide for most
// numbers: decodeFast and encodeFast.

/// By the machine's instruction, to nearest-even; NaN has one code.
template <typename T, typename Other> constexpr T converted(Other value) {
  return value == value ? static_cast<T>(value) : machine<T>(Carrier<T>::nan);
}

/// A code as a machine number. Exact if Carrier<T>::embeds(f) holds, else
/// rounded to nearest-even.
template <typename T, typename F>
constexpr T decodeTo(const F &f, uint64_t code) {
  if (isMachine<T>(f))
    return machine<T>(code);
  if (usesDoubleRounding() && isMachine<float>(f))
    return converted<T>(machine<float>(code));
  if (usesDoubleRounding() && isMachine<double>(f))
    return converted<T>(machine<double>(code));
  if (Carrier<T>::embeds(f))
    return Carrier<T>::decode(f, code);
  if (Carrier<T>::approximates(f))
    return Carrier<T>::decodeNearest(f, code);
  if (sizeof(T) < sizeof(double) && Carrier<double>::embeds(f))
    return static_cast<T>(Carrier<double>::decode(f, code));
  if constexpr (requires(T value) { f.decodeFast(code, value); }) {
    T value{};
    if (f.decodeFast(code, value))
      return value;
  }
  return machine<T>(cast(Carrier<T>::format, f, code, Rounding::NearestEven));
}

#ifdef NUMERA_BITCODE
extern "C" [[gnu::const]] uint64_t numera_exact_rare_64(uint64_t word);
#endif
/// `word`, which hardly any number takes to an exact path. A program on vectors
/// calls what has no vector form for the lanes that get there: with this call
/// the path has none from its beginning, and is not computed for all lanes.
template <typename Word> constexpr Word rareWord(Word word) {
#ifdef NUMERA_BITCODE
  if (!__builtin_is_constant_evaluated())
    return static_cast<Word>(numera_exact_rare_64(word));
#endif
  return word;
}

/// A machine number rounded to format `f`.
template <typename T, typename F>
constexpr uint64_t encodeFrom(const F &f, T value, RoundingMode mode) {
  if (isMachine<T>(f))
    return canonical(value);
  if (usesMachine(mode) && isMachine<float>(f))
    return canonical(static_cast<float>(value));
  if (usesMachine(mode) && isMachine<double>(f))
    return canonical(static_cast<double>(value));
  if (mode == Rounding::NearestEven && Carrier<T>::encodes(f))
    return Carrier<T>::encode(f, value);
  if (DoubleRounding<T>::finishes(f, mode))
    return DoubleRounding<T>::finish(f, value, mode);
  // Exact, and f64 may have what f32 has not.
  if (sizeof(T) < sizeof(double) && DoubleRounding<double>::finishes(f, mode))
    return DoubleRounding<double>::finish(f, static_cast<double>(value), mode);
  if (mode == Rounding::Stochastic && StochasticCodes<T>::encodes(f)) {
    uint64_t code = 0;
    if (StochasticCodes<T>::encode(f, value, mode, code))
      return code;
    return cast(f, Carrier<T>::format, rareWord(Carrier<T>::bits(value)), mode);
  }
  if constexpr (requires(uint64_t code) { f.encodeFast(value, mode, code); }) {
    uint64_t code = 0;
    if (f.encodeFast(value, mode, code))
      return code;
  }
  return cast(f, Carrier<T>::format, Carrier<T>::bits(value), mode);
}

/// A machine number rounded to a value of `f` that remains a machine number:
/// the result of decoding its code. Exact if Carrier<T>::embeds(f) holds.
template <typename T, typename F>
constexpr T roundTo(const F &f, T value, RoundingMode mode) {
  if (isMachine<T>(f) && mode == Rounding::NearestEven)
    return value == value ? value : machine<T>(Carrier<T>::nan);
  if (CarrierRound<T>::rounds(f, mode))
    return CarrierRound<T>::round(f, value, mode);
  if (Carrier<T>::approximates(f) && mode == Rounding::NearestEven)
    return Carrier<T>::roundNearest(f, value);
  return decodeTo<T>(f, encodeFrom<T>(f, value, mode));
}

/// The code of a machine number that is a value of `f`, or a NaN.
template <typename T, typename F>
constexpr uint64_t encodeExactly(const F &f, T value) {
  if (isMachine<T>(f))
    return canonical(value);
  if (Carrier<T>::encodes(f))
    return CarrierRound<T>::encodeExact(f, value);
  return encodeFrom<T>(f, value, Rounding::NearestEven);
}

template <typename F>
constexpr uint64_t fromSigned(const F &f, int64_t value, RoundingMode mode) {
  return f.encode(exact::fromSigned(value), mode);
}
template <typename F>
constexpr uint64_t fromUnsigned(const F &f, uint64_t value, RoundingMode mode) {
  return f.encode(exact::fromUnsigned(value), mode);
}
template <typename F>
constexpr uint64_t toInteger(const F &f, uint64_t code, int32_t width,
                             bool isSigned) {
  return exact::toInteger(f.decode(code), width, isSigned);
}

} // namespace numera

#endif // NUMERA_NUMERICS_OPERATIONS_CONVERT_H
