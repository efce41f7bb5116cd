// SPDX-License-Identifier: MIT
//
// The family `fixed`: integers times 2^-fraction, two's complement if signed.
//
//     | sign | integer bits | fraction bits |      value = code * 2^-fraction
//
// There is no NaN, no infinity and no -0. An invalid operation gives 0. An
// infinite result becomes the last number of its sign, for any `overflow`. Any
// other rounded result out of range is clamped (saturate) or taken modulo
// 2^width (wrap).
//
// + - * / fma and the roots are computed on the codes, because under wrap the
// low bits of a result of any size matter, and an Unpacked has only the first
// 96 bits.

#ifndef NUMERA_NUMERICS_FORMATS_FIXED_H
#define NUMERA_NUMERICS_FORMATS_FIXED_H

#include "numera/Numerics/Core/Rounding.h"
#include "numera/Numerics/Core/Unpacked.h"
#include "numera/Numerics/Exact/SquareRoot.h"

namespace numera {

/// A format of the family `fixed`. The fields, in this order, are the i32
/// parameters that follow the operands of a runtime entry.
struct FixedFormat {
  int32_t integer;  ///< 0 to 64
  int32_t fraction; ///< 0 to 64; sign, integer and fraction: 1 to 64 bits
  bool isSigned = true;
  Overflow overflow = Overflow::Saturate; ///< or Wrap

  constexpr bool operator==(const FixedFormat &) const = default;
  static constexpr int32_t parameterCount = 4;
  static constexpr FixedFormat of(const int32_t *p) {
    return {p[0], p[1], p[2] != 0, static_cast<Overflow>(p[3])};
  }
  constexpr void store(int32_t *p) const {
    p[0] = integer;
    p[1] = fraction;
    p[2] = isSigned;
    p[3] = static_cast<int32_t>(overflow);
  }

  /// Every code is a number.
  static constexpr bool isTotallyOrdered = true;

  constexpr int32_t magnitudeBits() const { return integer + fraction; }
  constexpr int32_t width() const {
    return magnitudeBits() + (isSigned ? 1 : 0);
  }
  constexpr uint64_t mask() const { return ~uint64_t{0} >> (64 - width()); }

  /// Significant bits of the largest number.
  constexpr int32_t precision() const { return magnitudeBits(); }
  /// Only for positive numbers: the lowest number is -2^integer.
  constexpr int32_t maxExponent() const { return integer - 1; }
  constexpr int32_t leastExponent() const { return -fraction; }
  /// Every value is a multiple of the unit.
  constexpr int32_t leastWeight() const { return -fraction; }
  constexpr uint64_t maxCode() const { return mask() >> (isSigned ? 1 : 0); }
  /// The lowest number: -2^integer, or 0.
  constexpr uint64_t lowestCode() const { return mask() ^ maxCode(); }
  /// Numbers that differ by a multiple of 2^period() have the same code. For
  /// formats that saturate, it is far above any sum.
  constexpr int32_t period() const {
    return overflow == Overflow::Wrap ? width() - fraction : 1 << 20;
  }
  /// The result of an invalid operation.
  constexpr uint64_t nanCode() const { return 0; }
  constexpr bool hasInfinity() const { return false; }
  constexpr bool hasNaN() const { return false; }
  constexpr bool hasNegativeZero() const { return false; }

  constexpr bool isNaN(uint64_t) const { return false; }
  constexpr bool isNegative(uint64_t code) const {
    return code > maxCode(); // of an unsigned format none is
  }

  /// Codes as integers in the order of their values.
  constexpr int64_t order(uint64_t code) const {
    if (!isSigned) // as many as 64 bits
      return static_cast<int64_t>(code ^ uint64_t{1} << 63);
    return static_cast<int64_t>(code << (64 - width())) >> (64 - width());
  }
  constexpr int64_t orderOfValue(uint64_t code) const { return order(code); }
  /// The number in units of the last place, modulo 2^64.
  constexpr uint64_t units(uint64_t code) const {
    return isSigned ? static_cast<uint64_t>(order(code)) : code;
  }

  /// Every value has one code.
  constexpr uint64_t canonical(uint64_t code) const { return code; }

  /// The negative of the lowest number saturates or wraps.
  constexpr uint64_t negate(uint64_t code) const {
    return place(!isNegative(code), magnitudeOf(code), false);
  }
  constexpr uint64_t absolute(uint64_t code) const {
    return place(false, magnitudeOf(code), false);
  }
  /// Clears the last `count` bits of the magnitude.
  constexpr uint64_t truncate(uint64_t code, int32_t count) const {
    uint64_t magnitude = count < 64 ? magnitudeOf(code) >> count << count : 0;
    return place(isNegative(code), magnitude, false);
  }

  constexpr Unpacked decode(uint64_t code) const {
    return Unpacked::fromInteger(isNegative(code), magnitudeOf(code),
                                 -fraction);
  }

  constexpr uint64_t encode(const Unpacked &value, RoundingMode mode) const {
    switch (value.kind) {
    case Kind::NaN:
    case Kind::Zero:
      return 0;
    case Kind::Infinite:
      return infinite(value.negative);
    case Kind::Finite:
      break;
    }
    // The leading one of wide() stands at 2^exponent.
    int32_t cut = 127 - value.exponent - fraction;
    uint128_t wide = value.wide();
    bool sticky = value.sticky;
    if (cut < 0) // what was lost below 96 bits counts as zeros
      return place(value.negative, cut > -64 ? wide << -cut : 0, true);
    uint128_t kept = cut < 128 ? wide >> cut : 0;
    uint128_t rest = cut == 0    ? 0
                     : cut < 128 ? wide << (128 - cut)
                                 : shiftRight(wide, cut - 128, sticky);
    return round(value.negative, kept, Remainder::of(rest, sticky), false,
                 mode);
  }

  constexpr uint64_t add(uint64_t x, uint64_t y, RoundingMode) const {
    if (fits<int32_t>(1))
      return placeSigned(signedOf<int32_t>(x) + signedOf<int32_t>(y));
    if (fits<int64_t>(1))
      return placeSigned(signedOf<int64_t>(x) + signedOf<int64_t>(y));
    return sum(isNegative(x), magnitudeOf(x), isNegative(y), magnitudeOf(y));
  }
  constexpr uint64_t sub(uint64_t x, uint64_t y, RoundingMode) const {
    if (fits<int32_t>(1))
      return placeSigned(signedOf<int32_t>(x) - signedOf<int32_t>(y));
    if (fits<int64_t>(1))
      return placeSigned(signedOf<int64_t>(x) - signedOf<int64_t>(y));
    return sum(isNegative(x), magnitudeOf(x), !isNegative(y), magnitudeOf(y));
  }
  constexpr uint64_t mul(uint64_t x, uint64_t y, RoundingMode mode) const {
    bool isShort = mode != Rounding::Stochastic;
    if (isShort && fits<int32_t>(magnitudeBits() + 1))
      return cutSigned(signedOf<int32_t>(x) * signedOf<int32_t>(y), mode);
    if (isShort && fits<int64_t>(magnitudeBits() + 1))
      return cutSigned(signedOf<int64_t>(x) * signedOf<int64_t>(y), mode);
    return cutFraction(isNegative(x) != isNegative(y), product(x, y), false,
                       mode);
  }
  constexpr uint64_t fma(uint64_t x, uint64_t y, uint64_t z,
                         RoundingMode mode) const {
    bool isShort = mode != Rounding::Stochastic;
    if (isShort && fits<int32_t>(magnitudeBits() + 2))
      return fusedSigned<int32_t>(x, y, z, mode);
    if (isShort && fits<int64_t>(magnitudeBits() + 2))
      return fusedSigned<int64_t>(x, y, z, mode);
    // Both in units of 2^-2fraction, below 2^128.
    uint128_t a = product(x, y);
    uint128_t b = static_cast<uint128_t>(magnitudeOf(z)) << fraction;
    bool negative = isNegative(x) != isNegative(y), other = isNegative(z);
    if (negative == other) {
      uint128_t total = a + b;
      return cutFraction(negative, total, total < a, mode);
    }
    return a >= b ? cutFraction(negative, a - b, false, mode)
                  : cutFraction(other, b - a, false, mode);
  }
  constexpr uint64_t div(uint64_t x, uint64_t y, RoundingMode mode) const {
    if (mode == Rounding::NearestEven && overflow != Overflow::Wrap &&
        2 * magnitudeBits() + fraction < 52)
      return divideInDouble(x, y);
    bool negative = isNegative(x) != isNegative(y);
    uint64_t divisor = magnitudeOf(y);
    if (divisor == 0)
      return x == 0 ? 0 : infinite(negative);
    uint128_t dividend = static_cast<uint128_t>(magnitudeOf(x)) << fraction;
    uint128_t rest = (dividend % divisor) << 32;
    Remainder cut = {static_cast<uint32_t>(rest / divisor),
                     rest % divisor != 0};
    return round(negative, dividend / divisor, cut, false, mode);
  }
  constexpr uint64_t sqrt(uint64_t x, RoundingMode mode) const {
    // Of 64 bits, the guard bit is in the tail, which is there for stochastic
    // rounding.
    return encode(exact::sqrt(decode(x), Rounding::Stochastic), mode);
  }
  /// 2^fraction / sqrt(x) in units of the last place, 32 bits behind it: the
  /// largest r with r^2 * code <= 2^(3 fraction + 64).
  constexpr uint64_t rsqrt(uint64_t x, RoundingMode mode) const {
    if (x == 0 || isNegative(x))
      return x == 0 ? maxCode() : 0;
    if (x == 1 && fraction == 64) // r is 2^128
      return place(false, 0, true);
    uint128_t root = 0;
    bool isExact = false;
    for (int32_t bit = 127; bit >= 0 && !isExact; --bit) {
      uint128_t trial = root | uint128_t{1} << bit;
      int order = exact::compareSquare(trial, x, 3 * fraction + 64);
      root = order <= 0 ? trial : root;
      isExact = order == 0;
    }
    return round(false, root >> 32, {static_cast<uint32_t>(root), !isExact},
                 false, mode);
  }

  // Between codes and machine numbers, straight-line, for narrow formats.

  /// To nearest-even: the integer is rounded if it must be, the rest is exact.
  template <typename T>
  constexpr bool decodeFast(uint64_t code, T &value) const {
    if (magnitudeBits() > 62 || fraction < 0 || fraction > 64)
      return false;
    T integer = magnitudeBits() < 32 ? static_cast<T>(signedOf<int32_t>(code))
                                     : static_cast<T>(signedOf<int64_t>(code));
    value = integer * power<T>(-fraction);
    return true;
  }
  /// Nearest-even: times 2^fraction a number is exact, or beyond any limit;
  /// between the limits, what is added rounds it to an integer.
  template <typename T>
  constexpr bool encodeFast(T value, RoundingMode mode, uint64_t &code) const {
    if (mode != Rounding::NearestEven || overflow == Overflow::Wrap ||
        magnitudeBits() > 50 || fraction < 0 || fraction > 64)
      return false;
    if (sizeof(T) == sizeof(float) && magnitudeBits() > 21)
      return encodeFast(static_cast<double>(value), mode, code);
    T scaled = value * power<T>(fraction);
    auto least = static_cast<T>(signedOf<int64_t>(lowestCode()));
    auto most = static_cast<T>(maxCode());
    scaled = scaled < least ? least : scaled;
    scaled = scaled > most ? most : scaled;
    T toInteger =
        static_cast<T>(sizeof(T) == sizeof(float) ? 0x1.8p23 : 0x1.8p52);
    auto word = wordOf(scaled + toInteger) - wordOf(toInteger);
    code = value == value ? word & mask() : 0;
    return true;
  }

private:
  static constexpr uint32_t wordOf(float x) {
    return __builtin_bit_cast(uint32_t, x);
  }
  static constexpr uint64_t wordOf(double x) {
    return __builtin_bit_cast(uint64_t, x);
  }
  /// 2^exponent, a normal number.
  template <typename T> static constexpr T power(int32_t exponent) {
    if constexpr (sizeof(T) == sizeof(float))
      return __builtin_bit_cast(T, uint32_t(127 + exponent) << 23);
    else
      return __builtin_bit_cast(T, uint64_t(1023 + exponent) << 52);
  }

  // Paths for narrow formats: straight-line on machine integers.

  /// True if an S holds numbers of this format times 2^bits, and one bit of
  /// rounding.
  template <typename S> constexpr bool fits(int32_t bits) const {
    return magnitudeBits() + bits < 8 * static_cast<int32_t>(sizeof(S));
  }
  template <typename S> constexpr S signedOf(uint64_t code) const {
    if (!isSigned)
      return static_cast<S>(code);
    int32_t unused = 8 * static_cast<int32_t>(sizeof(S)) - width();
    return static_cast<S>(static_cast<S>(code) << unused) >> unused;
  }
  template <typename S> constexpr uint64_t placeSigned(S units) const {
    if (overflow != Overflow::Wrap) {
      auto most = static_cast<S>(maxCode()), least = signedOf<S>(lowestCode());
      units = units < least ? least : units;
      units = units > most ? most : units;
    }
    return static_cast<uint64_t>(units) & mask();
  }
  /// An integer in units of 2^-2fraction, rounded. Shifts round down.
  template <typename S>
  constexpr uint64_t cutSigned(S value, RoundingMode mode) const {
    if (fraction == 0)
      return placeSigned(value);
    S unit = S{1} << fraction, half = unit >> 1, low = unit - 1;
    S down = value >> fraction;
    switch (mode.rounding) {
    case Rounding::NearestAway:
      return placeSigned((value + half - (value < 0)) >> fraction);
    case Rounding::NearestZero:
      return placeSigned((value + half - (value >= 0)) >> fraction);
    case Rounding::TowardZero:
      return placeSigned((value + (value < 0 ? low : 0)) >> fraction);
    case Rounding::Up:
      return placeSigned((value + low) >> fraction);
    case Rounding::Down:
      return placeSigned(down);
    case Rounding::ToOdd:
      return placeSigned(down | static_cast<S>((value & low) != 0));
    default:
      return placeSigned((value + (half - 1) + (down & 1)) >> fraction);
    }
  }
  template <typename S>
  constexpr uint64_t fusedSigned(uint64_t x, uint64_t y, uint64_t z,
                                 RoundingMode mode) const {
    S product = signedOf<S>(x) * signedOf<S>(y);
    return cutSigned<S>(product + signedOf<S>(z) * (S{1} << fraction), mode);
  }
  /// With M magnitude bits a quotient n / y is below 2^(M + fraction), and off
  /// any multiple of 1/2 by 1 / 2y at least, which is more than half a unit of
  /// a double there: the double is on a boundary only if the quotient is.
  constexpr uint64_t divideInDouble(uint64_t x, uint64_t y) const {
    auto dividend = static_cast<double>(signedOf<int32_t>(x)) *
                    static_cast<double>(uint64_t{1} << fraction);
    auto divisor = static_cast<double>(signedOf<int32_t>(y));
    auto least = static_cast<double>(signedOf<int32_t>(lowestCode()));
    auto most = static_cast<double>(maxCode());
    bool isPole = divisor == 0;
    // A constant expression may not divide by zero.
    double quotient = dividend / (isPole ? 1.0 : divisor);
    double beyond = dividend < 0 ? least : dividend > 0 ? most : 0.0;
    quotient = isPole ? beyond : quotient;
    quotient = quotient < least ? least : quotient;
    quotient = quotient > most ? most : quotient;
    // Added, it rounds to an integer, to nearest-even.
    constexpr double toInteger = 0x1.8p52;
    auto bits = __builtin_bit_cast(uint64_t, quotient + toInteger);
    return (bits - __builtin_bit_cast(uint64_t, toInteger)) & mask();
  }

  constexpr uint64_t magnitudeOf(uint64_t code) const {
    return isNegative(code) ? (~code + 1) & mask() : code;
  }
  constexpr uint64_t infinite(bool negative) const {
    return negative ? lowestCode() : maxCode();
  }
  constexpr uint128_t product(uint64_t x, uint64_t y) const {
    return static_cast<uint128_t>(magnitudeOf(x)) * magnitudeOf(y);
  }

  /// A magnitude in units of the last place as a code; `beyond` if a multiple
  /// of 2^width is to be added to it.
  constexpr uint64_t place(bool negative, uint128_t magnitude,
                           bool beyond) const {
    if (overflow != Overflow::Wrap) {
      // -2^integer is lowestCode itself, read as an integer.
      uint64_t limit = negative ? lowestCode() : maxCode();
      if (beyond || magnitude > limit)
        magnitude = limit;
    }
    auto low = static_cast<uint64_t>(magnitude);
    return (negative ? ~low + 1 : low) & mask();
  }
  constexpr uint64_t round(bool negative, uint128_t kept, Remainder rest,
                           bool beyond, RoundingMode mode) const {
    kept += roundsUp(mode, negative, (kept & 1) != 0, rest);
    return place(negative, kept, beyond);
  }
  /// A magnitude in units of 2^-2fraction, rounded; `beyond` if 2^128 is to be
  /// added to it.
  constexpr uint64_t cutFraction(bool negative, uint128_t magnitude,
                                 bool beyond, RoundingMode mode) const {
    uint128_t rest = fraction == 0 ? 0 : magnitude << (128 - fraction);
    return round(negative, magnitude >> fraction, Remainder::of(rest, false),
                 beyond, mode);
  }
  constexpr uint64_t sum(bool xNegative, uint64_t x, bool yNegative,
                         uint64_t y) const {
    if (xNegative == yNegative)
      return place(xNegative, static_cast<uint128_t>(x) + y, false);
    return x >= y ? place(xNegative, x - y, false)
                  : place(yNegative, y - x, false);
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_FORMATS_FIXED_H
