// SPDX-License-Identifier: MIT
//
// Operations that take several instructions on a scalar, and one instruction on
// vectors of some machines. lib/Target replaces them on vectors. It matches the
// form in which they are written here.

#ifndef NUMERA_NUMERICS_CARRIER_LANEOPERATIONS_H
#define NUMERA_NUMERICS_CARRIER_LANEOPERATIONS_H

#include <stdint.h>

namespace numera::lane {

/// The integer type of a lane, or, for a vector, a vector of as many integers.
template <int bytes> struct Lane;
template <> struct Lane<4> {
  using Unsigned = uint32_t;
};
template <> struct Lane<8> {
  using Unsigned = uint64_t;
};
template <typename V> struct Integers {
  static constexpr int bytes = sizeof(V{}[0]);
  using Signed = decltype(V{} < V{});
  typedef Lane<bytes>::Unsigned Unsigned
      __attribute__((ext_vector_type(sizeof(V) / bytes)));
};
template <> struct Integers<float> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <> struct Integers<double> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};
template <typename V> using IntegersOf = Integers<V>::Signed;
template <typename V> using WordsOf = Integers<V>::Unsigned;

template <typename V> struct SignAndMagnitude {
  IntegersOf<V> sign;
  V magnitude;
};
template <typename V, typename T> constexpr SignAndMagnitude<V> split(V x) {
  using I = IntegersOf<V>;
  I sign = __builtin_bit_cast(I, static_cast<V>(static_cast<T>(-0.0)));
  I bits = __builtin_bit_cast(I, x);
  return {bits & sign, __builtin_bit_cast(V, bits & ~sign)};
}
template <typename V> constexpr V withSign(IntegersOf<V> sign, V magnitude) {
  return __builtin_bit_cast(V, __builtin_bit_cast(IntegersOf<V>, magnitude) |
                                   sign);
}

/// `x` with its magnitude raised to `low`, a positive number; a NaN becomes
/// `low`, with its sign. On AVX-512 (DQ) this is `vrange`, if x is the result
/// of an arithmetic instruction.
template <typename V, typename T> constexpr V atLeast(V x, T low) {
  SignAndMagnitude<V> parts = split<V, T>(x);
  return withSign<V>(parts.sign, parts.magnitude >= low ? parts.magnitude
                                                        : static_cast<V>(low));
}
/// `x` with its magnitude lowered to `high`, a positive number; a NaN becomes
/// `high`, with its sign. As above.
template <typename V, typename T> constexpr V atMost(V x, T high) {
  SignAndMagnitude<V> parts = split<V, T>(x);
  return withSign<V>(parts.sign, parts.magnitude <= high
                                     ? parts.magnitude
                                     : static_cast<V>(high));
}

/// entry(index), 0 <= index < 32. For constant parameters of a format the
/// function becomes a constant table. On AVX-512 the lookup is `vpermi2ps`.
template <typename Entry>
constexpr auto lookup(uint32_t index, const Entry &entry) {
  switch (index) {
#define NUMERA_CASE(i)                                                         \
  case i:                                                                      \
    return entry(i);
#define NUMERA_CASES(i)                                                        \
  NUMERA_CASE(i) NUMERA_CASE(i + 1) NUMERA_CASE(i + 2) NUMERA_CASE(i + 3)
    NUMERA_CASES(0)
    NUMERA_CASES(4)
    NUMERA_CASES(8)
    NUMERA_CASES(12)
    NUMERA_CASES(16)
    NUMERA_CASES(20)
    NUMERA_CASES(24)
    NUMERA_CASES(28)
#undef NUMERA_CASES
#undef NUMERA_CASE
  default:
    __builtin_unreachable();
  }
}

} // namespace numera::lane

#endif // NUMERA_NUMERICS_CARRIER_LANEOPERATIONS_H
