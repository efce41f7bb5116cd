// SPDX-License-Identifier: MIT
//
// The entries numera_exact_<op>_128: the exact operations on unpacked values,
// before any rounding to a format. They serve mixed formats, and every entry of
// Entries.cpp that has no faster road.

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

namespace {

/// All in one form: operands, then the rounding, at which sums look for the
/// sign of a zero, quotients and roots for how many digits are wanted.
namespace value {
using U = Unpacked;
U add(U x, U y, Rounding mode) { return exact::add(x, y, mode); }
U sub(U x, U y, Rounding mode) { return exact::sub(x, y, mode); }
U mul(U x, U y, Rounding) { return exact::mul(x, y); }
U fma(U x, U y, U z, Rounding mode) { return exact::fma(x, y, z, mode); }
U div(U x, U y, Rounding mode) { return exact::div(x, y, mode); }
U rem(U x, U y, Rounding) { return exact::rem(x, y); }
U pow(U x, U y, Rounding) { return exact::pow(x, y); }
U sqrt(U x, Rounding mode) { return exact::sqrt(x, mode); }
U rsqrt(U x, Rounding mode) { return exact::rsqrt(x, mode); }
U exp(U x, Rounding) { return exact::exp(x); }
U exp2(U x, Rounding) { return exact::exp2(x); }
U expm1(U x, Rounding) { return exact::expm1(x); }
U log(U x, Rounding) { return exact::log(x); }
U log2(U x, Rounding) { return exact::log2(x); }
U log1p(U x, Rounding) { return exact::log1p(x); }
U sin(U x, Rounding) { return exact::sin(x); }
U cos(U x, Rounding) { return exact::cos(x); }
U tanh(U x, Rounding) { return exact::tanh(x); }
U erf(U x, Rounding) { return exact::erf(x); }
U sigmoid(U x, Rounding) { return exact::sigmoid(x); }

U integral(U x, Rounding mode) { return exact::roundToIntegral(x, mode); }
U floor(U x, Rounding) { return integral(x, Rounding::Down); }
U ceil(U x, Rounding) { return integral(x, Rounding::Up); }
U trunc(U x, Rounding) { return integral(x, Rounding::TowardZero); }
U round(U x, Rounding) { return integral(x, Rounding::NearestAway); }
U roundeven(U x, Rounding) { return integral(x, Rounding::NearestEven); }
} // namespace value

Unpacked open(uint128_t packed) { return Unpacked::unpack(packed).operand(); }
Rounding modeOf(int32_t rounding) { return RoundingMode::unpack(rounding, 0); }

} // namespace

extern "C" {

#define NUMERA_UNARY(op)                                                       \
  uint128_t numera_exact_##op##_128(uint128_t x, int32_t rounding) {           \
    return value::op(open(x), modeOf(rounding)).pack();                        \
  }
#define NUMERA_BINARY(op)                                                      \
  uint128_t numera_exact_##op##_128(uint128_t x, uint128_t y,                  \
                                    int32_t rounding) {                        \
    return value::op(open(x), open(y), modeOf(rounding)).pack();               \
  }
#define NUMERA_TERNARY(op)                                                     \
  uint128_t numera_exact_##op##_128(uint128_t x, uint128_t y, uint128_t z,     \
                                    int32_t rounding) {                        \
    return value::op(open(x), open(y), open(z), modeOf(rounding)).pack();      \
  }
#include "numera/Runtime/ABI.def"

} // extern "C"
