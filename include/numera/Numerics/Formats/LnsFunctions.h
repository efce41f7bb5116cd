// SPDX-License-Identifier: MIT
//
// What else logarithmic numbers have operations of their own for: all that
// takes their values, which are irrational and known to 2^-125. An algebraic
// number is one, and so the logarithm of every result that is not said to be
// exact is irrational (Lindemann and Weierstrass; Siegel and Shidlovsky for
// erf): rounding cannot meet a tie. Included by Lns.h.

#ifndef NUMERA_NUMERICS_FORMATS_LNSFUNCTIONS_H
#define NUMERA_NUMERICS_FORMATS_LNSFUNCTIONS_H

#include "numera/Numerics/Elementary/ComplementaryError.h"
#include "numera/Numerics/Elementary/Hyperbolic.h"
#include "numera/Numerics/Exact/Integral.h"
#include "numera/Numerics/Formats/Lns.h"
#include "numera/Numerics/Formats/RootDigits.h"

namespace numera {

namespace lns {
/// Above every logarithm, in steps.
inline constexpr exact::int128_t beyond = exact::int128_t{1} << 100;

/// A number that is not a power of two, rounded.
constexpr uint64_t encodeWide(const LnsFormat &f, const exact::Wide &value,
                              RoundingMode mode) {
  return f.encode(value.negative, exact::detail::placeOf(value, f.fraction),
                  mode);
}
/// True if a relative change of x, or of its square, is below 2^-32 steps.
constexpr bool isTiny(const LnsFormat &f, const exact::Wide &x) {
  return x.exponent < -(f.fraction + 34);
}
constexpr bool isSquareTiny(const LnsFormat &f, const exact::Wide &x) {
  return 2 * x.exponent < -(f.fraction + 36);
}
} // namespace lns

/// x - n y = y (2^d - n) for d = log2 |x/y|: y times what stands behind the
/// binary point of 2^d.
constexpr uint64_t LnsFormat::rem(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  if (isNaN(x) || isSpecial(y))
    return nanCode();
  int64_t distance = logarithm(x) - logarithm(y);
  if (isZero(x) || distance < 0)
    return x;
  if ((distance & ((int64_t{1} << fraction) - 1)) == 0)
    return zeroCode();
  // Next to an integer as many digits cancel as the distance has.
  exact::Digits digits =
      exact::digitsOfGrid(distance, fraction, 2 * fraction + 60);
  exact::Place place = exact::detail::placeOf(digits.fraction(), fraction);
  place.floor += logarithm(y);
  return encode(isNegative(x), place, mode);
}

/// The logarithm of x^y is y times that of x.
constexpr uint64_t LnsFormat::pow(uint64_t x, uint64_t y,
                                  RoundingMode mode) const {
  if (isZero(y) || x == codeOfOne())
    return codeOfOne();
  if (isNaN(x) || isNaN(y))
    return nanCode();
  if (isZero(x))
    return isNegative(y) ? nanCode() : zeroCode();
  bool isInteger = isPowerOfTwo(y) && logarithm(y) >= 0;
  if (isNegative(x) && !isInteger)
    return nanCode();
  exact::Wide steps = value(y) * exact::Wide::fromInteger(logarithm(x));
  auto place = exact::Place::of(0, steps, !steps.isZero() && !isPowerOfTwo(y));
  return encode(isNegative(x) && logarithm(y) == 0, place, mode);
}

constexpr uint64_t LnsFormat::exp(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return isZero(x) ? codeOfOne() : x;
  exact::Wide steps = value(x) * exact::detail::inverseLn2;
  return encode(false, exact::Place::of(0, steps.scaled(fraction), true), mode);
}
/// The logarithm is x itself.
constexpr uint64_t LnsFormat::exp2(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return isZero(x) ? codeOfOne() : x;
  return encode(
      false, exact::Place::of(0, value(x).scaled(fraction), !isPowerOfTwo(x)),
      mode);
}
constexpr uint64_t LnsFormat::expm1(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (lns::isTiny(*this, argument)) // above x by x^2/2
    return encode(argument.negative,
                  argument.negative ? exact::Place::below(logarithm(x))
                                    : exact::Place::above(logarithm(x)),
                  mode);
  if (argument.exponent > 20 && !argument.negative)
    return encode(false, exact::Place::above(lns::beyond), mode);
  return lns::encodeWide(*this, exact::detail::exponentialLessOne(argument),
                         mode);
}

constexpr uint64_t LnsFormat::log(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x))
    return nanCode();
  if (x == codeOfOne())
    return zeroCode();
  exact::Wide steps = exact::Wide::fromInteger(logarithm(x));
  return lns::encodeWide(*this, steps.scaled(-fraction) * exact::detail::ln2,
                         mode);
}
constexpr uint64_t LnsFormat::log10(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x))
    return nanCode();
  if (x == codeOfOne())
    return zeroCode();
  exact::Wide steps = exact::Wide::fromInteger(logarithm(x));
  return lns::encodeWide(
      *this, steps.scaled(-fraction) * exact::detail::log10Of2, mode);
}
/// The exact k / 2^fraction.
constexpr uint64_t LnsFormat::log2(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x) || isNegative(x))
    return nanCode();
  Unpacked k = exact::fromSigned(logarithm(x));
  k.exponent -= fraction;
  return encode(k, mode);
}
constexpr uint64_t LnsFormat::log1p(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  if (isNegative(x) && logarithm(x) >= 0)
    return nanCode(); // -1, the pole, and below
  exact::Wide argument = value(x);
  if (lns::isTiny(*this, argument)) // below x by x^2/2
    return encode(argument.negative,
                  argument.negative ? exact::Place::above(logarithm(x))
                                    : exact::Place::below(logarithm(x)),
                  mode);
  return lns::encodeWide(*this, exact::detail::logarithmOfOnePlus(argument),
                         mode);
}

constexpr uint64_t LnsFormat::erf(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  exact::Wide argument = value(x);
  if (exact::detail::isErfNextToOne(argument))
    return encode(argument.negative, exact::Place::below(0), mode);
  return lns::encodeWide(*this, exact::detail::errorFunction(argument), mode);
}
constexpr uint64_t LnsFormat::erfc(uint64_t x, RoundingMode mode) const {
  if (isSpecial(x))
    return isZero(x) ? codeOfOne() : x;
  exact::Wide argument = value(x);
  int64_t two = int64_t{1} << fraction;
  if (argument.negative && exact::detail::isErfNextToOne(argument))
    return encode(false, exact::Place::below(two), mode);
  if (argument.exponent >= 10 && !argument.negative)
    return encode(false, exact::Place::below(-lns::beyond), mode);
  return lns::encodeWide(*this, exact::detail::complementaryError(argument),
                         mode);
}
constexpr uint64_t LnsFormat::sigmoid(uint64_t x, RoundingMode mode) const {
  if (isNaN(x))
    return x;
  if (isZero(x))
    return encode(Unpacked::fromInteger(false, 1, -1), mode);
  exact::Wide argument = value(x);
  if (argument.exponent > 5 && !argument.negative) // 1 - 2^-92
    return encode(false, exact::Place::below(0), mode);
  if (argument.exponent > 20)
    return encode(false, exact::Place::below(-lns::beyond), mode);
  return lns::encodeWide(*this, exact::detail::logistic(argument), mode);
}

/// An integral value is a power of two. Every other lies strictly between two
/// integers, and halfway never.
constexpr uint64_t LnsFormat::integral(uint64_t x, Rounding direction,
                                       RoundingMode mode) const {
  if (isSpecial(x))
    return x;
  int64_t k = logarithm(x);
  auto exponent = static_cast<int32_t>(k >> fraction);
  if (exponent < 63)
    return encode(exact::roundToIntegral(decode(x), direction), mode);
  if (isPowerOfTwo(x))
    return x;
  bool negative = isNegative(x);
  exact::Digits digits = exact::digitsOfGrid(k, fraction, 2);
  Remainder rest{static_cast<uint32_t>(digits.at(exponent + 1) >> 32), true};
  uint128_t first = exact::join(digits.at(0), digits.at(64));
  bool odd = exponent < 128 && (first >> (127 - exponent) & 1) != 0;
  bool up = roundsUp(direction, negative, odd, rest);
  if (exponent < 90) // the integer has less than 96 bits
    return encode(Unpacked::fromWide(negative, (first >> (127 - exponent)) + up,
                                     0, false),
                  mode);
  return encode(negative, up ? exact::Place::above(k) : exact::Place::below(k),
                mode);
}
constexpr uint64_t LnsFormat::floor(uint64_t x, RoundingMode mode) const {
  return integral(x, Rounding::Down, mode);
}
constexpr uint64_t LnsFormat::ceil(uint64_t x, RoundingMode mode) const {
  return integral(x, Rounding::Up, mode);
}
constexpr uint64_t LnsFormat::trunc(uint64_t x, RoundingMode mode) const {
  return integral(x, Rounding::TowardZero, mode);
}
constexpr uint64_t LnsFormat::round(uint64_t x, RoundingMode mode) const {
  return integral(x, Rounding::NearestAway, mode);
}
constexpr uint64_t LnsFormat::roundeven(uint64_t x, RoundingMode mode) const {
  return integral(x, Rounding::NearestEven, mode);
}

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_LNSFUNCTIONS_H
