// SPDX-License-Identifier: MIT
//
// The exact product, alone and with an addend before any rounding.

#ifndef NUMERA_NUMERICS_EXACT_MULTIPLY_H
#define NUMERA_NUMERICS_EXACT_MULTIPLY_H

#include "numera/Numerics/Exact/Add.h"

namespace numera::exact {

/// The product of two operands, one of which is zero, infinite or NaN.
constexpr Unpacked mulSpecial(const Unpacked &x, const Unpacked &y) {
  if (x.isNaN() || y.isNaN() || (x.isInfinite() && y.isZero()) ||
      (x.isZero() && y.isInfinite()))
    return Unpacked::nan();
  bool negative = x.negative != y.negative;
  return x.isInfinite() || y.isInfinite() ? Unpacked::infinity(negative)
                                          : Unpacked::zero(negative);
}

/// x * y. 0 * inf and NaN operands give NaN.
constexpr Unpacked mul(const Unpacked &x, const Unpacked &y) {
  if (!x.isFinite() || !y.isFinite())
    return mulSpecial(x, y);
  uint128_t product = static_cast<uint128_t>(x.significand) * y.significand;
  return Unpacked::fromWide(x.negative != y.negative, product,
                            x.exponent + y.exponent - 126, false);
}

/// x * y + z without a rounding of the product. inf * 0 + NaN is NaN.
constexpr Unpacked fma(const Unpacked &x, const Unpacked &y, const Unpacked &z,
                       Rounding mode) {
  if (!x.isFinite() || !y.isFinite())
    return add(mulSpecial(x, y), z, mode);
  bool negative = x.negative != y.negative;
  uint128_t product = static_cast<uint128_t>(x.significand) * y.significand;
  int32_t scale = x.exponent + y.exponent - 126;
  if (!z.isFinite()) {
    if (z.isZero())
      return Unpacked::fromWide(negative, product, scale, false);
    return z;
  }
  // The leading one of the product is at bit 126 or 127; operands of at most
  // 62 bits leave at least four zeros at its end, so that moving it to bit 125
  // loses nothing. Longer ones are fixed-point numbers, whose own fma
  // (FixedPoint.h) does not come here; mixed with others, a bit that is lost is
  // jammed.
  int32_t excess = product >> 127 ? 2 : 1;
  bool lost = false;
  product = shiftRight(product, excess, lost);
  product |= lost;
  return addWide(negative, product, scale + excess, z.negative,
                 static_cast<uint128_t>(z.significand) << 62, z.exponent - 125,
                 mode);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_MULTIPLY_H
