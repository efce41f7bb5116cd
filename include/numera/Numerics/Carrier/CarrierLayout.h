// SPDX-License-Identifier: MIT
//
// The words of the carriers, f32 and f64.

#ifndef NUMERA_NUMERICS_CARRIER_CARRIERLAYOUT_H
#define NUMERA_NUMERICS_CARRIER_CARRIERLAYOUT_H

#include "numera/Numerics/Formats/Float.h"

namespace numera {

/// The layout of a carrier: f32 or f64.
template <typename T> struct CarrierTraits;
template <> struct CarrierTraits<float> {
  using Word = uint32_t;
  using SignedWord = int32_t;
  static constexpr FloatFormat format = binary32;
};
template <> struct CarrierTraits<double> {
  using Word = uint64_t;
  using SignedWord = int64_t;
  static constexpr FloatFormat format = binary64;
};

template <typename T> struct CarrierLayout {
  using Word = typename CarrierTraits<T>::Word;
  using SignedWord = typename CarrierTraits<T>::SignedWord;
  static constexpr FloatFormat format = CarrierTraits<T>::format;
  static constexpr int width = 8 * sizeof(T);
  static constexpr int mantissa = format.mantissaBits;
  static constexpr int bias = format.bias;
  static constexpr Word sign = Word{1} << (width - 1);
  static constexpr Word infinity = static_cast<Word>(format.infinityCode());
  static constexpr Word nan = static_cast<Word>(format.nanCode());

  static constexpr Word bits(T value) {
    return __builtin_bit_cast(Word, value);
  }
  static constexpr T value(Word bits) { return __builtin_bit_cast(T, bits); }
  /// 2^exponent, a normal number.
  static constexpr Word powerBits(int32_t exponent) {
    return static_cast<Word>(exponent + bias) << mantissa;
  }

  /// True if every finite value of a format with this precision and these
  /// exponents is a normal number of the carrier, with `margin` binary places
  /// to spare at the lower end.
  static constexpr bool holds(int32_t precision, int32_t least, int32_t most,
                              int32_t margin = 0) {
    return precision <= format.precision() &&
           least - margin >= format.minExponent() &&
           most <= format.maxExponent();
  }

protected:
  static constexpr Word one = static_cast<Word>(bias) << mantissa;
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_CARRIERLAYOUT_H
