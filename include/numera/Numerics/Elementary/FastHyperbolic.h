// SPDX-License-Identifier: MIT
//
// The quick phase of hyperbolic functions and their inverses, as FastPath.h
// describes it; tanh is there.

#ifndef NUMERA_NUMERICS_ELEMENTARY_FASTHYPERBOLIC_H
#define NUMERA_NUMERICS_ELEMENTARY_FASTHYPERBOLIC_H

#include "numera/Numerics/Elementary/FastPath.h"

namespace numera::fast {

/// sinh x for |x| <= 700 and x = 0 or |x| >= 2^-1000. With t = e^|x| - 1 it is
/// (t + t / (t + 1)) / 2.
constexpr double sinh(double x) {
#pragma clang fp contract(off)
  double t = detail::expm1(x < 0 ? -x : x);
  double magnitude = 0.5 * t + 0.5 * t / (t + 1.0);
  return x < 0 ? -magnitude : magnitude;
}

/// cosh x for |x| <= 700.
constexpr double cosh(double x) {
#pragma clang fp contract(off)
  double power = exp(x < 0 ? -x : x);
  return 0.5 * power + 0.5 / power;
}

/// asinh x for x = 0 or 2^-1000 <= |x| <= 2^500, as ln(1 + |x| + x^2 / (1 +
/// sqrt(1 + x^2))).
inline double asinh(double x) {
#pragma clang fp contract(off)
  double magnitude = x < 0 ? -x : x, square = x * x;
  double value =
      log1p(magnitude + square / (1.0 + __builtin_sqrt(1.0 + square)));
  return x < 0 ? -value : value;
}

/// acosh x for 1 <= x <= 2^500, as ln(1 + t) of t = x - 1 + sqrt((x - 1) (x +
/// 1)).
inline double acosh(double x) {
#pragma clang fp contract(off)
  double above = x - 1.0;
  return log1p(above + __builtin_sqrt(above * (x + 1.0)));
}

/// atanh x for |x| < 1 and x = 0 or |x| >= 2^-1000, as ln(1 + 2|x| / (1 - |x|))
/// / 2.
constexpr double atanh(double x) {
#pragma clang fp contract(off)
  double magnitude = x < 0 ? -x : x;
  double value = 0.5 * log1p(2.0 * magnitude / (1.0 - magnitude));
  return x < 0 ? -value : value;
}

} // namespace numera::fast

#endif // NUMERA_NUMERICS_ELEMENTARY_FASTHYPERBOLIC_H
