// SPDX-License-Identifier: MIT
//
// The exact operations on unpacked values, all in one form: operands of at
// most 64 bits, then the rounding that follows, at which sums look for the sign
// of a zero, quotients and roots for how many digits are wanted. This is what
// mixed formats compute with, when a program runs and when it is compiled.

#ifndef NUMERA_NUMERICS_ELEMENTARY_EXACT_H
#define NUMERA_NUMERICS_ELEMENTARY_EXACT_H

#include "numera/Numerics/Elementary/ComplementaryError.h"
#include "numera/Numerics/Elementary/Exponential.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Elementary/InverseHyperbolic.h"
#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Power.h"
#include "numera/Numerics/Elementary/Trigonometric.h"
#include "numera/Numerics/Exact/CubeRoot.h"
#include "numera/Numerics/Exact/Divide.h"
#include "numera/Numerics/Exact/Hypotenuse.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Numerics/Exact/Multiply.h"
#include "numera/Numerics/Exact/SquareRoot.h"

namespace numera::value {

using U = Unpacked;

// exact::name, which may ask for the rounding. Templates, since a function that
// is not one has to have every branch right.
#define NUMERA_VALUE_1(name)                                                   \
  template <typename T> constexpr T name(T x, Rounding mode) {                 \
    if constexpr (requires { exact::name(x, mode); })                          \
      return exact::name(x, mode);                                             \
    else                                                                       \
      return exact::name(x);                                                   \
  }
#define NUMERA_VALUE_2(name)                                                   \
  template <typename T> constexpr T name(T x, T y, Rounding mode) {            \
    if constexpr (requires { exact::name(x, y, mode); })                       \
      return exact::name(x, y, mode);                                          \
    else                                                                       \
      return exact::name(x, y);                                                \
  }
#define NUMERA_VALUE_3(name)                                                   \
  template <typename T> constexpr T name(T x, T y, T z, Rounding mode) {       \
    return exact::name(x, y, z, mode);                                         \
  }
#define NUMERA_VALUE_Direct(name, operands) NUMERA_VALUE_##operands(name)
#define NUMERA_VALUE_Ziv(name, operands) NUMERA_VALUE_##operands(name)
#define NUMERA_VALUE_Exact(name, operands) NUMERA_VALUE_##operands(name)
#define NUMERA_VALUE_Choice(name, operands)
#define NUMERA_VALUE_Test(name, operands)
#define NUMERA_VALUE_Cast(name, operands)
#define NUMERA_VALUE_Step(name, operands)
#define NUMERA_OPERATION(enumerator, name, operands, form, ...)                \
  NUMERA_VALUE_##form(name, operands)
#include "numera/Numerics/Core/Operations.def"
#undef NUMERA_VALUE_1
#undef NUMERA_VALUE_2
#undef NUMERA_VALUE_3
#undef NUMERA_VALUE_Direct
#undef NUMERA_VALUE_Ziv
#undef NUMERA_VALUE_Exact
#undef NUMERA_VALUE_Choice
#undef NUMERA_VALUE_Test
#undef NUMERA_VALUE_Cast
#undef NUMERA_VALUE_Step

constexpr U neg(U x, Rounding) { return exact::negate(x); }
constexpr U abs(U x, Rounding) { return x.negative ? exact::negate(x) : x; }
constexpr U copysign(U x, U y, Rounding) {
  return x.negative != y.negative && !x.isNaN() ? exact::negate(x) : x;
}

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
