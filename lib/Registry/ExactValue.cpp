// SPDX-License-Identifier: MIT

#include "numera/Registry/ExactValue.h"
#include "numera/Numerics/Divide.h"
#include "numera/Numerics/ErrorFunction.h"
#include "numera/Numerics/Exponential.h"
#include "numera/Numerics/Hyperbolic.h"
#include "numera/Numerics/Integral.h"
#include "numera/Numerics/Logarithm.h"
#include "numera/Numerics/Multiply.h"
#include "numera/Numerics/Power.h"
#include "numera/Numerics/SquareRoot.h"
#include "numera/Numerics/Trigonometric.h"

using namespace numera;

bool numera::isRounded(Operation operation) {
  switch (operation) {
  case Operation::Neg:
  case Operation::Abs:
  case Operation::Min:
  case Operation::Max:
  case Operation::MinNum:
  case Operation::MaxNum:
  case Operation::Cmp:
  case Operation::IsNaN:
    return false;
  default:
    return true;
  }
}

Unpacked numera::exactValue(Operation operation,
                            llvm::ArrayRef<Unpacked> operands,
                            Rounding rounding) {
  const Unpacked &x = operands[0];
  const Unpacked &y = operands[operands.size() > 1 ? 1 : 0];
  const Unpacked &z = operands[operands.size() > 2 ? 2 : 0];
  auto integral = [&](Rounding mode) {
    return exact::roundToIntegral(x, mode);
  };
  switch (operation) {
  case Operation::Add:
    return exact::add(x, y, rounding);
  case Operation::Sub:
    return exact::sub(x, y, rounding);
  case Operation::Mul:
    return exact::mul(x, y);
  case Operation::Div:
    return exact::div(x, y, rounding);
  case Operation::Rem:
    return exact::rem(x, y);
  case Operation::Pow:
    return exact::pow(x, y);
  case Operation::Fma:
  case Operation::Mac:
    return exact::fma(x, y, z, rounding);
  case Operation::Sqrt:
    return exact::sqrt(x, rounding);
  case Operation::Rsqrt:
    return exact::rsqrt(x, rounding);
  case Operation::Exp:
    return exact::exp(x);
  case Operation::Exp2:
    return exact::exp2(x);
  case Operation::Expm1:
    return exact::expm1(x);
  case Operation::Log:
    return exact::log(x);
  case Operation::Log2:
    return exact::log2(x);
  case Operation::Log1p:
    return exact::log1p(x);
  case Operation::Sin:
    return exact::sin(x);
  case Operation::Cos:
    return exact::cos(x);
  case Operation::Tanh:
    return exact::tanh(x);
  case Operation::Erf:
    return exact::erf(x);
  case Operation::Sigmoid:
    return exact::sigmoid(x);
  case Operation::Floor:
    return integral(Rounding::Down);
  case Operation::Ceil:
    return integral(Rounding::Up);
  case Operation::Trunc:
    return integral(Rounding::TowardZero);
  case Operation::Round:
    return integral(Rounding::NearestAway);
  case Operation::RoundEven:
    return integral(Rounding::NearestEven);
  default:
    return x;
  }
}
