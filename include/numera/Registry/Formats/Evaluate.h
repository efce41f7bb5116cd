// SPDX-License-Identifier: MIT
//
// An operation on codes of one format, dispatched to Numerics.

#ifndef NUMERA_REGISTRY_FORMATS_EVALUATE_H
#define NUMERA_REGISTRY_FORMATS_EVALUATE_H

#include "numera/Numerics/Elementary/ErrorFunction.h"
#include "numera/Numerics/Elementary/Exponential.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Elementary/Logarithm.h"
#include "numera/Numerics/Elementary/Power.h"
#include "numera/Numerics/Elementary/Trigonometric.h"
#include "numera/Numerics/Exact/Compare.h"
#include "numera/Numerics/Operations/Convert.h"
#include "numera/Numerics/Operations/Elementary.h"
#include "numera/Registry/Formats/OpKind.h"
#include "llvm/ADT/ArrayRef.h"

namespace numera {

template <typename F>
uint64_t evaluate(const F &f, OpKind operation,
                  llvm::ArrayRef<uint64_t> operands, RoundingMode mode,
                  int32_t relations) {
  uint64_t x = operands[0];
  uint64_t y = operands.size() > 1 ? operands[1] : 0;
  auto twoPhase = [&](Unpacked (*function)(const Unpacked &),
                      double (*approximate)(double), FastPathRange range) {
    return numera::elementary(
        f, x, mode, approximate, range,
        [&](const Unpacked &value, Rounding) { return function(value); });
  };
  auto onePhase = [&](Unpacked (*function)(const Unpacked &)) {
    return f.encode(function(f.decode(x).operand()), mode);
  };
  auto integral = [&](Rounding rounding) {
    return roundToIntegral(f, x, rounding, mode);
  };
  // The family's own, where it has one.
#define OWN_1(enumerator, op)                                                  \
  if constexpr (requires { f.op(x, mode); })                                   \
    if (operation == OpKind::enumerator)                                       \
      return f.op(x, mode);
#define OWN_2(enumerator, op)                                                  \
  if constexpr (requires { f.op(x, y, mode); })                                \
    if (operation == OpKind::enumerator)                                       \
      return f.op(x, y, mode);
  OWN_2(Rem, rem)
  OWN_2(Pow, pow)
  OWN_1(Rsqrt, rsqrt)
  OWN_1(Exp, exp)
  OWN_1(Exp2, exp2)
  OWN_1(Expm1, expm1)
  OWN_1(Log, log)
  OWN_1(Log2, log2)
  OWN_1(Log1p, log1p)
  OWN_1(Sin, sin)
  OWN_1(Cos, cos)
  OWN_1(Tanh, tanh)
  OWN_1(Erf, erf)
  OWN_1(Sigmoid, sigmoid)
  OWN_1(Floor, floor)
  OWN_1(Ceil, ceil)
  OWN_1(Trunc, trunc)
  OWN_1(Round, round)
  OWN_1(RoundEven, roundeven)
#undef OWN_1
#undef OWN_2
  switch (operation) {
  case OpKind::Cast:
    return cast(f, f, x, mode);
  case OpKind::Add:
    return add(f, x, y, mode);
  case OpKind::Sub:
    return sub(f, x, y, mode);
  case OpKind::Mul:
    return mul(f, x, y, mode);
  case OpKind::Div:
    return div(f, x, y, mode);
  case OpKind::Rem:
    return rem(f, x, y, mode);
  case OpKind::Fma:
  case OpKind::Mac:
    return fma(f, x, y, operands[2], mode);
  case OpKind::Neg:
    return neg(f, x);
  case OpKind::Abs:
    return abs(f, x);
  case OpKind::Min:
    return min(f, x, y);
  case OpKind::Max:
    return max(f, x, y);
  case OpKind::MinNum:
    return minnum(f, x, y);
  case OpKind::MaxNum:
    return maxnum(f, x, y);
  case OpKind::Sqrt:
    return sqrt(f, x, mode);
  case OpKind::Rsqrt:
    return rsqrt(f, x, mode);
  case OpKind::Floor:
    return integral(Rounding::Down);
  case OpKind::Ceil:
    return integral(Rounding::Up);
  case OpKind::Trunc:
    return integral(Rounding::TowardZero);
  case OpKind::Round:
    return integral(Rounding::NearestAway);
  case OpKind::RoundEven:
    return integral(Rounding::NearestEven);
  case OpKind::Cmp:
    return cmp(f, x, y, relations);
  case OpKind::IsNaN:
    return isnan(f, x);
  case OpKind::Exp:
    return twoPhase(exact::exp, fast::exp, fast::expRange);
  case OpKind::Exp2:
    return twoPhase(exact::exp2, fast::exp2, fast::exp2Range);
  case OpKind::Expm1:
    return twoPhase(exact::expm1, fast::expm1, fast::expm1Range);
  case OpKind::Log:
    return twoPhase(exact::log, fast::log, fast::logRange);
  case OpKind::Log2:
    return onePhase(exact::log2);
  case OpKind::Log1p:
    return onePhase(exact::log1p);
  case OpKind::Sin:
    return onePhase(exact::sin);
  case OpKind::Cos:
    return onePhase(exact::cos);
  case OpKind::Tanh:
    return twoPhase(exact::tanh, fast::tanh, fast::tanhRange);
  case OpKind::Erf:
    return onePhase(exact::erf);
  case OpKind::Sigmoid:
    return twoPhase(exact::sigmoid, fast::sigmoid, fast::sigmoidRange);
  case OpKind::Pow:
    return f.encode(exact::pow(f.decode(x).operand(), f.decode(y).operand()),
                    mode);
#define NUMERA_FUNCTION(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_IDENTITY(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_PART(enumerator, name, operands) case OpKind::enumerator:
#include "numera/Registry/Formats/Operations.def"
    break; // a library's alone
  }
  return f.nanCode();
}

} // namespace numera

#endif // NUMERA_REGISTRY_FORMATS_EVALUATE_H
