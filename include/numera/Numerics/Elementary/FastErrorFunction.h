// SPDX-License-Identifier: MIT
//
// The quick phase of the error function, as FastPath.h describes it.

#ifndef NUMERA_NUMERICS_ELEMENTARY_FASTERRORFUNCTION_H
#define NUMERA_NUMERICS_ELEMENTARY_FASTERRORFUNCTION_H

#include "numera/Numerics/Elementary/FastPath.h"

namespace numera::fast {

namespace detail {

/// -ln(erfc x) / x for 0 <= x <= 6: it rises from 2 / sqrt(pi) to 6.4. What x
/// is multiplied by, from .63 to .89, is the polynomial in x - 3 that equals it
/// at 30 Chebyshev points, within 2^-52.8 of it. (The zeros of erfc nearest to
/// the interval, -1.35 +- 1.99 i, bound how fast such polynomials converge: a
/// factor of 3 a degree.) Even and odd powers are summed side by side.
constexpr double errorFunctionRate(double x) {
  NUMERA_MAY_CONTRACT
  constexpr double twoOverSqrtPi = 0x1.20dd750429b6dp+0;
  double u = x - 3.0, square = u * u;
  double even = -0x1.260c8567b691dp-68;
  even = even * square + 0x1.486a7300f4283p-63;
  even = even * square + -0x1.652c5d76d30f4p-60;
  even = even * square + 0x1.8961731b2437cp-56;
  even = even * square + -0x1.56f6c75654a9dp-52;
  even = even * square + -0x1.381ddd9b12d2cp-47;
  even = even * square + -0x1.9b6bccf94425ap-43;
  even = even * square + -0x1.5e751a7e3648ep-44;
  even = even * square + 0x1.09a5abf2d1408p-33;
  even = even * square + 0x1.28fde7ec9b129p-28;
  even = even * square + 0x1.1acba30274983p-24;
  even = even * square + -0x1.35e6fb5ab9e77p-20;
  even = even * square + -0x1.fda98e84f7bd9p-14;
  even = even * square + -0x1.5bece6d879045p-8;
  even = even * square + 0x1.a14af6f4e75fbp-1;
  double odd = 0x1.030743504157ep-71;
  odd = odd * square + -0x1.56824ff200268p-68;
  odd = odd * square + -0x1.2da0cb67fc081p-62;
  odd = odd * square + 0x1.50e65797948c2p-60;
  odd = odd * square + -0x1.030dc2bb05336p-55;
  odd = odd * square + 0x1.01beeea10a893p-49;
  odd = odd * square + 0x1.8a74b82835863p-45;
  odd = odd * square + 0x1.2435e9f726f01p-41;
  odd = odd * square + -0x1.be720968ad90ep-37;
  odd = odd * square + -0x1.b7abd745d5558p-31;
  odd = odd * square + -0x1.4cb77d123ef04p-26;
  odd = odd * square + -0x1.6b491408273e9p-24;
  odd = odd * square + 0x1.f0b9c1b388419p-17;
  odd = odd * square + 0x1.b93549161c30ep-11;
  odd = odd * square + 0x1.039e0bf6e0450p-5;
  return twoOverSqrtPi + (even + odd * u) * x;
}

} // namespace detail

/// erf x for every finite x that is 0 or |x| >= 2^-1000: 1 - e^(-|x| rate),
/// without loss next to 0. From 6 on it is 1 within 2^-55.
constexpr double erf(double x) {
  NUMERA_MAY_CONTRACT
  double magnitude = detail::atMost(x < 0 ? -x : x, 6.0);
  double value =
      -detail::expm1(-(magnitude * detail::errorFunctionRate(magnitude)));
  return x < 0 ? -value : value;
}

} // namespace numera::fast

#endif // NUMERA_NUMERICS_ELEMENTARY_FASTERRORFUNCTION_H
