// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/ExactValue.h"
#include "numera/Numerics/Elementary/Exact.h"

using namespace numera;

Unpacked numera::exactValue(OpKind operation, llvm::ArrayRef<Unpacked> operands,
                            Rounding mode) {
  const Unpacked &x = operands[0];
  const Unpacked &y = operands.size() > 1 ? operands[1] : x;
  switch (operation) {
  case OpKind::Cast:
    return x;
  case OpKind::Fma:
  case OpKind::Mac:
    return value::fma(x, y, operands[2], mode);
#define UNARY(enumerator, op)                                                  \
  case OpKind::enumerator:                                                     \
    return value::op(x, mode);
#define BINARY(enumerator, op)                                                 \
  case OpKind::enumerator:                                                     \
    return value::op(x, y, mode);
    BINARY(Add, add)
    BINARY(Sub, sub)
    BINARY(Mul, mul)
    BINARY(Div, div)
    BINARY(Rem, rem)
    BINARY(Pow, pow)
    BINARY(Min, min)
    BINARY(Max, max)
    BINARY(MinNum, minnum)
    BINARY(MaxNum, maxnum)
    UNARY(Neg, neg)
    UNARY(Abs, abs)
    UNARY(Sqrt, sqrt)
    UNARY(Rsqrt, rsqrt)
    UNARY(Exp, exp)
    UNARY(Exp2, exp2)
    UNARY(Expm1, expm1)
    UNARY(Log, log)
    UNARY(Log2, log2)
    UNARY(Log1p, log1p)
    UNARY(Sin, sin)
    UNARY(Cos, cos)
    UNARY(Tanh, tanh)
    UNARY(Erf, erf)
    UNARY(Sigmoid, sigmoid)
    UNARY(Floor, floor)
    UNARY(Ceil, ceil)
    UNARY(Trunc, trunc)
    UNARY(Round, round)
    UNARY(RoundEven, roundeven)
#undef UNARY
#undef BINARY
  case OpKind::Cmp:
  case OpKind::IsNaN:
    break; // their operands have one format
#define NUMERA_FUNCTION(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_IDENTITY(enumerator, name, operands) case OpKind::enumerator:
#define NUMERA_PART(enumerator, name, operands) case OpKind::enumerator:
#include "numera/Registry/Formats/Operations.def"
    break; // a library's alone
  }
  return Unpacked::nan();
}
