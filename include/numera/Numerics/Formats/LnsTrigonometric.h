// SPDX-License-Identifier: MIT
//
// Trigonometric and hyperbolic functions of logarithmic numbers and their
// inverses. LnsFunctions.h says why rounding meets no tie. Included by Lns.h.

#ifndef NUMERA_NUMERICS_FORMATS_LNSTRIGONOMETRIC_H
#define NUMERA_NUMERICS_FORMATS_LNSTRIGONOMETRIC_H

#include "numera/Numerics/Elementary/InverseHyperbolic.h"
#include "numera/Numerics/Formats/LnsFunctions.h"

namespace numera {

namespace lns {
/// x, or what lies just above or below it in magnitude.
constexpr uint64_t encodeAbove(const LnsFormat &f, uint64_t x,
                               RoundingMode mode) {
  return f.encode(f.isNegative(x), exact::Place::above(f.logarithm(x)), mode);
}
constexpr uint64_t encodeBelow(const LnsFormat &f, uint64_t x,
                               RoundingMode mode) {
  return f.encode(f.isNegative(x), exact::Place::below(f.logarithm(x)), mode);
}
/// The same with the sign of x.
constexpr uint64_t encodeWithSign(const LnsFormat &f, exact::Wide value,
                                  uint64_t x, RoundingMode mode) {
  value.negative = f.isNegative(x);
  return encodeWide(f, value, mode);
}
} // namespace lns

/// Next to 1 from the logarithm, as e^y - 1, which keeps its relative accuracy.
constexpr exact::Wide LnsFormat::aboveOne(uint64_t x) const {
  exact::Wide logarithmOfX =
      exact::Wide::fromInteger(logarithm(x)).scaled(-fraction);
  if (logarithmOfX.exponent < -1)
    return exact::detail::expm1Reduced(logarithmOfX * exact::detail::ln2);
  return magnitude(x) - exact::one;
}

// ---- trigonometric
// -----------------------------------------------------------

constexpr exact::detail::ReducedAngle LnsFormat::angle(uint64_t x) const {
  exact::Digits digits =
      exact::digitsOfGrid(logarithm(x), fraction, fraction + 64);
  return exact::angleOf(digits, isNegative(x));
}
constexpr uint64_t LnsFormat::sine(uint64_t x, int32_t quarters,
                                   RoundingMode mode) const {
  return lns::encodeWide(*this, exact::detail::sineOfAngle(angle(x), quarters),
                         mode);
}
constexpr uint64_t LnsFormat::sin(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return encode(argument.negative, exact::Place::below(logarithm(x)), mode);
  if (argument.exponent < -1)
    return lns::encodeWide(*this, exact::detail::sineReduced(argument), mode);
  return sine(x, 0, mode);
}
constexpr uint64_t LnsFormat::cos(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return isZero(x) ? codeOfOne() : x;
  exact::Wide argument = value(x);
  if (argument.exponent < -1)
    return lns::encodeWide(*this, exact::detail::cosineReduced(argument), mode);
  return sine(x, 1, mode);
}
constexpr uint64_t LnsFormat::tan(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeAbove(*this, x, mode);
  if (argument.exponent < -1)
    return lns::encodeWide(*this, exact::detail::tangentReduced(argument),
                           mode);
  return lns::encodeWide(*this, exact::detail::tangentOfAngle(angle(x)), mode);
}

constexpr uint64_t LnsFormat::asin(uint64_t x, RoundingMode mode) const {
  if (isZero(x))
    return x;
  if (isNaN(x) || logarithm(x) > 0)
    return nanCode();
  exact::Wide argument = magnitude(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeAbove(*this, x, mode);
  return lns::encodeWithSign(
      *this, exact::detail::inverseSine(argument, -aboveOne(x)), x, mode);
}
constexpr uint64_t LnsFormat::acos(uint64_t x, RoundingMode mode) const {
  if (isZero(x))
    return lns::encodeWide(*this, exact::detail::halfPi, mode);
  if (isNaN(x) || logarithm(x) > 0)
    return nanCode();
  if (x == codeOfOne())
    return zeroCode();
  return lns::encodeWide(
      *this, exact::detail::inverseCosine(value(x), -aboveOne(x)), mode);
}
constexpr uint64_t LnsFormat::atan(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeBelow(*this, x, mode);
  return lns::encodeWithSign(*this, exact::detail::inverseTangent(argument), x,
                             mode);
}
/// The logarithm of y/x is exact.
constexpr uint64_t LnsFormat::atan2(uint64_t y, uint64_t x,
                                    RoundingMode mode) const {
  using namespace exact;
  if (isNaN(x) || isNaN(y))
    return nanCode();
  Wide pi = detail::halfPi.scaled(1);
  if (isZero(y))
    return isNegative(x) ? lns::encodeWide(*this, pi, mode) : zeroCode();
  if (isZero(x))
    return lns::encodeWithSign(*this, detail::halfPi, y, mode);
  int64_t distance = logarithm(y) - logarithm(x);
  Wide ratio = detail::powerOfGrid(distance, fraction);
  if (lns::isSquareTiny(*this, ratio) && !isNegative(x))
    return encode(isNegative(y), Place::below(distance), mode);
  Wide angle = detail::inverseTangent(ratio);
  return lns::encodeWithSign(*this, isNegative(x) ? pi - angle : angle, y,
                             mode);
}

// ---- hyperbolic
// ---------------------------------------------------------------

constexpr uint64_t LnsFormat::sinh(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeAbove(*this, x, mode);
  if (argument.exponent > 20)
    return encode(argument.negative, exact::Place::above(lns::beyond), mode);
  return lns::encodeWide(*this, exact::detail::hyperbolicSine(argument), mode);
}
constexpr uint64_t LnsFormat::cosh(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return isZero(x) ? codeOfOne() : x;
  exact::Wide argument = value(x);
  if (argument.exponent > 20)
    return encode(false, exact::Place::above(lns::beyond), mode);
  return lns::encodeWide(*this, exact::detail::hyperbolicCosine(argument),
                         mode);
}
constexpr uint64_t LnsFormat::tanh(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return encode(argument.negative, exact::Place::below(logarithm(x)), mode);
  if (argument.exponent >= 6) // 1 - 2^-183
    return encode(argument.negative, exact::Place::below(0), mode);
  return lns::encodeWide(*this, exact::detail::hyperbolicTangent(argument),
                         mode);
}

constexpr uint64_t LnsFormat::asinh(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeBelow(*this, x, mode);
  return lns::encodeWithSign(
      *this, exact::detail::inverseHyperbolicSine(argument), x, mode);
}
constexpr uint64_t LnsFormat::acosh(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x) || logarithm(x) < 0)
    return nanCode();
  if (x == codeOfOne())
    return zeroCode();
  return lns::encodeWide(
      *this, exact::detail::inverseHyperbolicCosine(magnitude(x), aboveOne(x)),
      mode);
}
constexpr uint64_t LnsFormat::atanh(uint64_t x, RoundingMode mode) const {
  if (isZero(x))
    return x;
  if (isNaN(x) || logarithm(x) >= 0) // ±1, the poles, and above
    return nanCode();
  exact::Wide argument = magnitude(x);
  if (lns::isSquareTiny(*this, argument))
    return lns::encodeAbove(*this, x, mode);
  return lns::encodeWithSign(
      *this, exact::detail::inverseHyperbolicTangent(argument, -aboveOne(x)), x,
      mode);
}

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_LNSTRIGONOMETRIC_H
