// SPDX-License-Identifier: MIT
//
// The family of logarithmic numbers, lns<integer, fraction>:
//
//     | sign s | logarithm k: two's complement, 1 + integer + fraction bits |
//
//   value = (-1)^s * 2^(k / 2^fraction)
//
// The most negative logarithm stands for no power: with s = 0 it is zero, with
// s = 1 (the code of -0) NaN. Rounding acts on the logarithm: neighbours, ties
// and even codes are those of k. docs/Semantics/Lns.md has the clauses.

#ifndef NUMERA_NUMERICS_FORMATS_LNS_H
#define NUMERA_NUMERICS_FORMATS_LNS_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Numerics/Formats/LogarithmicGrid.h"

namespace numera {

namespace exact::detail {
struct ReducedAngle;
}

/// A format of the family. The fields, in this order, are the i32 parameters
/// that follow the operands of a runtime entry.
struct LnsFormat {
  int32_t integer;  ///< 1 to 11, so that sums of two logarithms are below 2^12
  int32_t fraction; ///< 0 to 62 - integer

  constexpr bool operator==(const LnsFormat &) const = default;
  static constexpr int32_t parameterCount = 2;
  static constexpr LnsFormat of(const int32_t *p) { return {p[0], p[1]}; }
  constexpr void store(int32_t *p) const {
    p[0] = integer;
    p[1] = fraction;
  }

  static constexpr bool isTotallyOrdered = false;

  constexpr int32_t logarithmBits() const { return 1 + integer + fraction; }
  constexpr int32_t width() const { return 1 + logarithmBits(); }
  constexpr uint64_t mask() const { return ~uint64_t{0} >> (64 - width()); }
  constexpr uint64_t signBit() const { return uint64_t{1} << logarithmBits(); }
  constexpr uint64_t zeroCode() const { return signBit() >> 1; }
  constexpr uint64_t nanCode() const { return signBit() | zeroCode(); }
  constexpr uint64_t maxCode() const { return zeroCode() - 1; }

  /// As a binary format with as many values in a binade has it.
  constexpr int32_t precision() const { return fraction + 1; }
  /// Of the least and the largest power, rounded down.
  constexpr int32_t leastExponent() const {
    return static_cast<int32_t>(-largest() >> fraction);
  }
  constexpr int32_t maxExponent() const { return (1 << integer) - 1; }
  /// The largest logarithm; the least is its negative.
  constexpr int64_t largest() const { return static_cast<int64_t>(maxCode()); }

  constexpr bool hasInfinity() const { return false; }
  constexpr bool hasNaN() const { return true; }
  constexpr bool hasNegativeZero() const { return false; }

  constexpr bool isNaN(uint64_t code) const { return code == nanCode(); }
  constexpr bool isZero(uint64_t code) const { return code == zeroCode(); }
  /// Zero or NaN.
  constexpr bool isSpecial(uint64_t code) const {
    return (code & ~signBit()) == zeroCode();
  }
  constexpr bool isNegative(uint64_t code) const {
    return (code & signBit()) != 0 && !isNaN(code);
  }

  /// The logarithm k of a number other than zero.
  constexpr int64_t logarithm(uint64_t code) const {
    int32_t unused = 64 - logarithmBits();
    return static_cast<int64_t>(code << unused) >> unused;
  }
  constexpr uint64_t codeOf(bool negative, int64_t k) const {
    return (static_cast<uint64_t>(k) & (signBit() - 1)) |
           (negative ? signBit() : 0);
  }
  constexpr uint64_t codeOfOne() const { return 0; }

  /// Codes in the order of their values; NaN is with zero.
  constexpr int64_t order(uint64_t code) const {
    int64_t magnitude = logarithm(code) + static_cast<int64_t>(zeroCode());
    return (code & signBit()) != 0 ? -magnitude : magnitude;
  }
  constexpr int64_t orderOfValue(uint64_t code) const { return order(code); }

  /// Every value has one code.
  constexpr uint64_t canonical(uint64_t code) const { return code; }

  constexpr uint64_t negate(uint64_t code) const {
    return isSpecial(code) ? code : code ^ signBit();
  }
  constexpr uint64_t absolute(uint64_t code) const {
    return isNaN(code) ? code : code & ~signBit();
  }
  /// The last `count` bits of the logarithm cleared, which moves a number
  /// toward zero, and one below every such logarithm to zero.
  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    count = count < logarithmBits() ? count : logarithmBits() - 1;
    uint64_t kept = code >> count << count;
    return isSpecial(code) ? code : isSpecial(kept) ? zeroCode() : kept;
  }

  // ---- values ---------------------------------------------------------------

  /// The first 96 bits, and a sticky one unless the value is a power of two.
  constexpr Unpacked decode(uint64_t code) const {
    if (isSpecial(code))
      return isNaN(code) ? Unpacked::nan() : Unpacked::zero();
    Unpacked value = magnitude(code).toUnpacked(!isPowerOfTwo(code));
    value.negative = isNegative(code);
    return value;
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    if (value.isZero())
      return zeroCode();
    if (!value.isFinite())
      return nanCode();
    return encode(value.negative, exact::detail::placeOf(value, fraction),
                  mode);
  }

  /// A number that lies at `place` on the grid, rounded.
  constexpr uint64_t encode(bool negative, const exact::Place &place,
                            RoundingMode mode) const {
    if (place.floor >= largest())
      return codeOf(negative, largest()); // it, or beyond it: saturate
    if (place.floor < -largest())
      return belowLeast(negative, place, mode);
    auto k = static_cast<int64_t>(place.floor);
    return codeOf(negative,
                  k + roundsUp(mode, negative, (k & 1) != 0, place.rest()));
  }

  /// True if the value of a number is one.
  constexpr bool isPowerOfTwo(uint64_t code) const {
    return (code & ((uint64_t{1} << fraction) - 1)) == 0;
  }
  /// |value| of a number other than zero, relative error below 2^-125.
  constexpr exact::Wide magnitude(uint64_t code) const {
    return exact::detail::powerOfGrid(logarithm(code), fraction);
  }
  /// The same with its sign.
  constexpr exact::Wide value(uint64_t code) const {
    exact::Wide value = magnitude(code);
    value.negative = isNegative(code);
    return value;
  }

  // ---- arithmetic: LnsArithmetic.h ------------------------------------------

  constexpr uint64_t add(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t sub(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t mul(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t div(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t fma(uint64_t x, uint64_t y, uint64_t z,
                         RoundingMode mode) const;
  constexpr uint64_t sqrt(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t rsqrt(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t cbrt(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t hypot(uint64_t x, uint64_t y, RoundingMode mode) const;
  /// The cast from f64 or f32 and to f32 where f64 arithmetic decides it; false
  /// where it does not.
  constexpr bool encodeFast(double value, RoundingMode mode,
                            uint64_t &code) const;
  constexpr bool decodeFast(uint64_t code, float &value) const;

  // ---- functions: LnsFunctions.h, LnsTrigonometric.h ------------------------

  constexpr uint64_t rem(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t pow(uint64_t x, uint64_t y, RoundingMode mode) const;
  constexpr uint64_t exp(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t exp2(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t expm1(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t log(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t log2(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t log1p(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t log10(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t sin(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t cos(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t tan(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t asin(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t acos(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t atan(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t atan2(uint64_t y, uint64_t x, RoundingMode mode) const;
  constexpr uint64_t sinh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t cosh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t tanh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t asinh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t acosh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t atanh(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t erf(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t erfc(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t sigmoid(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t floor(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t ceil(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t trunc(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t round(uint64_t x, RoundingMode mode) const;
  constexpr uint64_t roundeven(uint64_t x, RoundingMode mode) const;

private:
  /// Between zero and the least power: no nearest mode gives zero; the directed
  /// ones keep their inequality; the least logarithm is odd; a stochastic one
  /// chooses, by the share in value.
  constexpr uint64_t belowLeast(bool negative, const exact::Place &place,
                                RoundingMode mode) const {
    uint64_t least = codeOf(negative, -largest());
    if (mode == Rounding::Stochastic) {
      Remainder rest{shareOfLeast(place), true};
      return roundsUp(mode, negative, false, rest) ? least : zeroCode();
    }
    bool toZero = mode == Rounding::TowardZero ||
                  mode == (negative ? Rounding::Up : Rounding::Down);
    return toZero ? zeroCode() : least;
  }

  /// floor(2^32 * 2^-below), where `below` is how far the place lies under the
  /// least logarithm.
  constexpr uint32_t shareOfLeast(const exact::Place &place) const {
    using namespace exact;
    int128_t whole = -largest() - place.floor;
    if (whole > int128_t{40} << fraction)
      return 0;
    Wide steps = Wide::fromFraction(static_cast<uint128_t>(whole), 128) -
                 Wide::fromFraction(place.fraction);
    Wide below = steps.scaled(-fraction);
    int32_t power = below.toNearestInteger();
    Wide rest = below - Wide::fromInteger(power);
    Wide share =
        (rest.isZero() ? one : detail::powerOfTwo(-rest)).scaled(-power);
    return static_cast<uint32_t>(share.toFraction() >> 96);
  }

  /// An integral value next to x, rounded.
  constexpr uint64_t integral(uint64_t x, Rounding direction,
                              RoundingMode mode) const;
  /// A number of at least 1/2 reduced by pi/2.
  constexpr exact::detail::ReducedAngle angle(uint64_t x) const;
  constexpr uint64_t sine(uint64_t x, int32_t quarters,
                          RoundingMode mode) const;
  /// |value| - 1 of a number, relative error below 2^-120.
  constexpr exact::Wide aboveOne(uint64_t x) const;
};

} // namespace numera

#include "numera/Numerics/Formats/LnsArithmetic.h"
#include "numera/Numerics/Formats/LnsFunctions.h"
#include "numera/Numerics/Formats/LnsTrigonometric.h"

#endif // NUMERA_NUMERICS_FORMATS_LNS_H
