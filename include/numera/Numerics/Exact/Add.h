// SPDX-License-Identifier: MIT
//
// The exact sum of two values, to 64 bits and a sticky bit.

#ifndef NUMERA_NUMERICS_EXACT_ADD_H
#define NUMERA_NUMERICS_EXACT_ADD_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"

namespace numera::exact {

/// The sign of x + (-x) and of (+0) + (-0): minus only when rounding down.
constexpr bool signOfCancellation(Rounding mode) {
  return mode == Rounding::Down;
}

/// The sum of two finite values given as magnitude * 2^scale, each magnitude
/// with its leading one at bit 125 (room for a carry) and two zeros at its end.
///
/// Bits of the smaller operand that fall out of the window are jammed into its
/// last bit. Nothing falls out unless it moves by 3 places or more; it is then
/// below 2^123 and a difference keeps its leading one at bit 124 or above, 60
/// places over the jammed bit that stands for what was lost.
constexpr Unpacked addWide(bool negative, uint128_t wide, int32_t scale,
                           bool bNegative, uint128_t b, int32_t bScale,
                           Rounding mode) {
  // Both leading bits at 125; the larger scale then belongs to the larger
  // magnitude, or to one of two in the same binade.
  if (bScale > scale) {
    uint128_t magnitude = wide;
    wide = b;
    b = magnitude;
    int32_t held = scale;
    scale = bScale;
    bScale = held;
    bool sign = negative;
    negative = bNegative;
    bNegative = sign;
  }
  bool lost = false;
  b = shiftRight(b, scale - bScale, lost);
  b |= lost;
  if (negative == bNegative)
    return Unpacked::fromWide(negative, wide + b, scale, false);
  if (wide == b)
    return Unpacked::zero(signOfCancellation(mode));
  return wide > b ? Unpacked::fromWide(negative, wide - b, scale, false)
                  : Unpacked::fromWide(bNegative, b - wide, scale, false);
}

/// x + y. inf - inf and NaN operands give NaN.
constexpr Unpacked add(const Unpacked &x, const Unpacked &y, Rounding mode) {
  if (x.isNaN() || y.isNaN())
    return Unpacked::nan();
  if (x.isInfinite())
    return y.isInfinite() && x.negative != y.negative ? Unpacked::nan() : x;
  if (y.isInfinite())
    return y;
  if (x.isZero() && y.isZero())
    return Unpacked::zero(x.negative == y.negative ? x.negative
                                                   : signOfCancellation(mode));
  if (x.isZero())
    return y;
  if (y.isZero())
    return x;
  return addWide(x.negative, static_cast<uint128_t>(x.significand) << 62,
                 x.exponent - 125, y.negative,
                 static_cast<uint128_t>(y.significand) << 62, y.exponent - 125,
                 mode);
}

constexpr Unpacked negate(Unpacked x) {
  x.negative = !x.negative && !x.isNaN();
  return x;
}

/// x - y.
constexpr Unpacked sub(const Unpacked &x, const Unpacked &y, Rounding mode) {
  return add(x, negate(y), mode);
}

} // namespace numera::exact

#endif // NUMERA_NUMERICS_EXACT_ADD_H
