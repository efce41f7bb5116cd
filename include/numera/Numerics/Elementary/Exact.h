// SPDX-License-Identifier: MIT
//
// The exact operations on unpacked values, all in one form: operands of at
// most 64 bits, then the rounding that follows, at which sums look for the sign
// of a zero, quotients and roots for how many digits are wanted. This is what
// mixed formats compute with, when a program runs and when it is compiled.

#ifndef NUMERA_NUMERICS_ELEMENTARY_EXACT_H
#define NUMERA_NUMERICS_ELEMENTARY_EXACT_H

#include "numera/Numerics/Elementary/ErrorFunction.h"
#include "numera/Numerics/Elementary/Exponential.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Power.h"
#include "numera/Numerics/Elementary/Trigonometric.h"
#include "numera/Numerics/Exact/Divide.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Numerics/Exact/Multiply.h"
#include "numera/Numerics/Exact/SquareRoot.h"

namespace numera::value {

using U = Unpacked;
constexpr U add(U x, U y, Rounding mode) { return exact::add(x, y, mode); }
constexpr U sub(U x, U y, Rounding mode) { return exact::sub(x, y, mode); }
constexpr U mul(U x, U y, Rounding) { return exact::mul(x, y); }
constexpr U fma(U x, U y, U z, Rounding mode) {
  return exact::fma(x, y, z, mode);
}
constexpr U div(U x, U y, Rounding mode) { return exact::div(x, y, mode); }
constexpr U rem(U x, U y, Rounding) { return exact::rem(x, y); }
constexpr U pow(U x, U y, Rounding) { return exact::pow(x, y); }
constexpr U sqrt(U x, Rounding mode) { return exact::sqrt(x, mode); }
constexpr U rsqrt(U x, Rounding mode) { return exact::rsqrt(x, mode); }
constexpr U exp(U x, Rounding) { return exact::exp(x); }
constexpr U exp2(U x, Rounding) { return exact::exp2(x); }
constexpr U expm1(U x, Rounding) { return exact::expm1(x); }
constexpr U log(U x, Rounding) { return exact::log(x); }
constexpr U log2(U x, Rounding) { return exact::log2(x); }
constexpr U log1p(U x, Rounding) { return exact::log1p(x); }
constexpr U sin(U x, Rounding) { return exact::sin(x); }
constexpr U cos(U x, Rounding) { return exact::cos(x); }
constexpr U tanh(U x, Rounding) { return exact::tanh(x); }
constexpr U erf(U x, Rounding) { return exact::erf(x); }
constexpr U sigmoid(U x, Rounding) { return exact::sigmoid(x); }

constexpr U integral(U x, Rounding mode) {
  return exact::roundToIntegral(x, mode);
}
constexpr U floor(U x, Rounding) { return integral(x, Rounding::Down); }
constexpr U ceil(U x, Rounding) { return integral(x, Rounding::Up); }
constexpr U trunc(U x, Rounding) { return integral(x, Rounding::TowardZero); }
constexpr U round(U x, Rounding) { return integral(x, Rounding::NearestAway); }
constexpr U roundeven(U x, Rounding) {
  return integral(x, Rounding::NearestEven);
}

constexpr U neg(U x, Rounding) { return exact::negate(x); }
constexpr U abs(U x, Rounding) { return x.negative ? exact::negate(x) : x; }

/// True if x is below y, neither being NaN; -0 is below +0.
constexpr bool isBelow(const U &x, const U &y) {
  if (x.negative != y.negative)
    return x.negative;
  const U &small = x.negative ? y : x, &large = x.negative ? x : y;
  if (small.kind != large.kind) // zero, finite, infinite: in that order
    return small.kind < large.kind;
  if (!small.isFinite() || small.exponent == large.exponent)
    return small.isFinite() && small.significand < large.significand;
  return small.exponent < large.exponent;
}
constexpr U minnum(U x, U y, Rounding) {
  if (x.isNaN() || y.isNaN())
    return x.isNaN() ? y : x;
  return isBelow(x, y) ? x : y;
}
constexpr U maxnum(U x, U y, Rounding) {
  if (x.isNaN() || y.isNaN())
    return x.isNaN() ? y : x;
  return isBelow(x, y) ? y : x;
}
constexpr U min(U x, U y, Rounding mode) {
  return x.isNaN() || y.isNaN() ? U::nan() : minnum(x, y, mode);
}
constexpr U max(U x, U y, Rounding mode) {
  return x.isNaN() || y.isNaN() ? U::nan() : maxnum(x, y, mode);
}

} // namespace numera::value

#endif // NUMERA_NUMERICS_ELEMENTARY_EXACT_H
