// SPDX-License-Identifier: MIT
//
// The functions that have a phase in binary32 before all others, for codes of
// it; what that does not decide is Exact.cpp's.

#ifndef NUMERA_RUNTIME_SINGLEPHASES_H
#define NUMERA_RUNTIME_SINGLEPHASES_H

#include "numera/Numerics/Carrier/Carrier.h"
#include "numera/Numerics/Elementary/FastErrorFunction.h"
#include "numera/Numerics/Elementary/FastPath.h"
#include "numera/Numerics/Elementary/SingleErrorFunction.h"
#include "numera/Numerics/Elementary/SingleExponential.h"
#include "numera/Numerics/Operations/Operations.h"

extern "C" {
uint32_t numera_exact_exp_f32(uint32_t);
uint32_t numera_exact_erf_f32(uint32_t);
#ifdef NUMERA_BITCODE
bool numera_fuses_products(); // Registry/Symbols/Tuning.h
#endif
}

namespace numera {

static constexpr bool isExp(double (*quick)(double)) {
  return quick == fast::exp;
}
static constexpr bool isErf(double (*quick)(double)) {
  return quick == fast::erf;
}
template <typename F> static bool isSingle(const F &f, RoundingMode mode) {
#ifdef NUMERA_BITCODE
  return mode == Rounding::NearestEven && isMachine<float>(f) &&
         numera_fuses_products();
#else
  return false;
#endif
}
static uint32_t expInSingle(uint32_t code) {
  auto x = __builtin_bit_cast(float, code);
  single::Ends ends = single::exp(x);      // whatever x is: no lane waits
  bool vanishes = x < single::expVanishes; // and so do scores that are masked
  bool isDecided =
      (__builtin_fabsf(x) <= single::expMost) & (ends.low == ends.high);
  if (vanishes | isDecided)
    return vanishes ? 0 : ends.low;
  return numera_exact_exp_f32(code);
}
static uint32_t erfInSingle(uint32_t code) {
  auto x = __builtin_bit_cast(float, code);
  float magnitude = __builtin_fabsf(x);
  single::Ends ends = single::erf(x); // whatever x is: no lane waits
  bool saturates = magnitude >= single::erfSaturates;
  bool isDecided = ((magnitude >= single::erfLeast) | (magnitude == 0)) &
                   (ends.low == ends.high);
  if (saturates | isDecided)
    return saturates ? __builtin_bit_cast(uint32_t, __builtin_copysignf(1, x))
                     : ends.low;
  return numera_exact_erf_f32(code);
}

} // namespace numera

#endif // NUMERA_RUNTIME_SINGLEPHASES_H
