// SPDX-License-Identifier: MIT
//
// Rounding within a carrier: any f32 or f64 is rounded to a value of a format,
// which remains an f32 or f64. The code is straight-line, so that loops over it
// vectorise; for constant formats and modes, 7 to 25 instructions remain. The
// result equals the decoded code: its NaN is canonical, and its zero has a sign
// only if the format's zeros have one.
//
// float, a shorter significand alone (bf16, tf32 in f32): integer arithmetic on
// the word, whose subnormals have the same spacing.
//
// float, any other: with e the exponent of |x|, at least the format's least
// normal one, the format's unit there is u = 2^(e - mantissaBits). The
// carrier's numbers in the binade of m = 2^(e - mantissaBits + carrier's
// mantissaBits) are multiples of u, so that |x| + m is |x| rounded to
// nearest-even at u: the last bit of the sum is the last bit of the multiple.
// Subtracting m is exact. What the other modes choose is the same number or a
// neighbour, r + u or r - u, by the sign or the size of |x| - r, which is exact
// too. Where m is no number of the carrier, |x| is far above the format's
// largest number and r is |x|, an infinity or NaN: all of them above it as
// words.
//
// float of p bits, p + 2 <= D where D bits are to go, to nearest-even: with
// c = 1.5 * 2^(least exponent + D), a = |x| and m = max(2^D a, c), the
// carrier's t = m - a is a multiple of u, and r = m - t is exact and what the
// rounding above gives. For 2^D a <= c, in the binade of c throughout, that is
// the same rounding, of -a. Else t is (2^D - 1) a rounded, and 2^D a an even
// multiple of u if a is a tie; where that lies in the binade of 2^D a, t is
// rounded at u, and ties go to where they should. Where it lies in the one
// below, a is 2^e (1 + f) with f < 2^-D / (1 - 2^-D), less than half a unit
// even of the format with a bit more, and r is 2^e. NaN is not above c, and
// comes through. Whatever rounds to a number, and no more, is at most the
// largest number and half a unit. Where all that is beyond the largest number
// becomes it, a is brought down to it first.
//
// posit: the carrier's word and the posit's bit string are the same piecewise
// linear function of the number, a unit of the string being 2^cut units of the
// word, where cut depends on the regime alone. Rounding the string is rounding
// the word at that place.

#ifndef NUMERA_NUMERICS_CARRIER_CARRIERROUND_H
#define NUMERA_NUMERICS_CARRIER_CARRIERROUND_H

#include "numera/Numerics/Carrier/Carrier.h"

namespace numera {

template <typename T> struct CarrierRound : Carrier<T> {
  using Base = Carrier<T>;
  using Base::bias;
  using Base::bits;
  using Base::infinity;
  using Base::mantissa;
  using Base::nan;
  using Base::powerBits;
  using Base::sign;
  using Base::value;
  using Base::width;
  using typename Base::SignedWord;
  using typename Base::Word;

  /// round() is valid.
  template <typename F> static constexpr bool rounds(const F &, Rounding) {
    return false;
  }
  static constexpr bool rounds(const FloatFormat &f, Rounding) {
    return Base::isTruncation(f) ||
           (Base::embeds(f) && f.mantissaBits > 0 &&
            f.mantissaBits < mantissa &&
            f.maxExponent() + mantissa - f.mantissaBits <=
                Base::format.maxExponent());
  }

  /// Stochastic rounding is left out: where the exponent is cut, a number's
  /// place between two posits is not its place between their strings.
  static constexpr bool rounds(const PositFormat &f, Rounding mode) {
    return Base::embeds(f) && mode != Rounding::Stochastic;
  }

  static constexpr bool rounds(const TakumFormat &f, Rounding mode) {
    return Base::embeds(f) && mode == Rounding::NearestEven;
  }

  /// Rounds any value of the carrier to a value of `f`. For families without
  /// rounds(), it encodes and decodes.
  template <typename F>
  static constexpr T round(const F &f, T x, RoundingMode mode) {
    return Base::decode(f, f.encode(Base::format.decode(bits(x)), mode));
  }
  static constexpr T round(const FloatFormat &f, T x, RoundingMode mode) {
    if (Base::isHalf(f) && f.mantissaBits == 10 &&
        f.overflow == Overflow::Infinity && mode == Rounding::NearestEven) {
      auto rounded = static_cast<T>(fromHalf(toHalf(static_cast<float>(x))));
      return x == x ? rounded : value(nan);
    }
    if (roundsByScaling(f) && mode == Rounding::NearestEven)
      return roundByScaling(f, x);
    Word word = bits(x);
    Word magnitude = word & ~sign;
    bool negative = (word & sign) != 0;
    Word largest = bits(Base::decode(f, f.maxCode()));
    Word infinite = magnitudeOf(f, f.codeOfInfinite());
    Word overflow = magnitudeOf(f, f.codeOfOverflow());
    Word canonicalNaN = f.hasNaN() ? nan : 0;

    // Nothing depends on the sign, and the carry out of the largest number is
    // the infinity.
    if (Base::isTruncation(f) && overflow == infinity &&
        (isNearest(mode) || mode == Rounding::Stochastic)) {
      Word rounded = cut(f, word, mode, negative);
      return x == x ? value(rounded) : value(nan);
    }
    Word rounded = Base::isTruncation(f) ? cut(f, magnitude, mode, negative)
                                         : snap(f, magnitude, mode, negative);
    Word beyond = roundsInward(mode, negative) ? largest : overflow;
    rounded = rounded > largest ? beyond : rounded;
    // In some modes an infinity is as far beyond as any number.
    bool staysInside = !isNearest(mode) && mode != Rounding::Stochastic;
    if (staysInside || infinite != overflow)
      rounded = magnitude == infinity ? infinite : rounded;
    // NaN, where it stands for an overflow, has no sign.
    bool mayBeNaN = infinite > infinity || overflow > infinity;
    Word signBit = mayBeNaN && rounded > infinity ? 0 : word & sign;
    T result = value(rounded | signBit);
    if (!f.hasNegativeZero())
      result += T{0};
    return magnitude > infinity ? value(canonicalNaN) : result;
  }

  /// To nearest-even.
  static constexpr T round(const TakumFormat &f, T x, RoundingMode) {
    return Base::roundNearest(f, x);
  }

  static constexpr T round(const PositFormat &f, T x, RoundingMode mode) {
    Word word = bits(x);
    Word magnitude = word & ~sign;
    if (mode == Rounding::NearestEven) {
      auto offset = static_cast<SignedWord>(magnitude - Base::one);
      T whole = value(Base::wholeCodes(f));
      T codes = value(Base::codesOf(f, offset)) + whole;
      auto distance =
          static_cast<Word>(Base::codesOfOne) - (bits(codes - whole) << f.es);
      Word rounded = offset < 0 ? Base::one - distance : Base::one + distance;
      rounded = magnitude == 0 ? 0 : rounded | (word & sign);
      return value(magnitude >= infinity ? nan : rounded);
    }
    Word least = powerBits(f.leastExponent()),
         most = powerBits(f.maxExponent());
    Word clamped = magnitude < least ? least : magnitude;
    clamped = clamped > most ? most : clamped;
    auto exponent = static_cast<SignedWord>(clamped >> mantissa) - bias;
    SignedWord regime = exponent >> f.es;
    // Where no bit is left behind the regime, the unit is a whole regime. The
    // largest number would have less than no bit.
    SignedWord count =
        (regime ^ (regime >> (width - 1))) + (mantissa + f.es + 3 - f.bits);
    SignedWord regimeUnit = mantissa + f.es;
    count = count > regimeUnit ? regimeUnit : count;
    // The string's origin: exponents as multiples of 2^es, of which the bias,
    // 2^k - 1, lacks one. Behind the last regimes the code's last bit is the
    // regime's end, even above 1 and odd below: the regime's own last bit, or
    // the opposite where `bits` is even.
    Word origin = Word{1} << mantissa;
    if (f.bits % 2 == 0)
      origin += Word{1} << regimeUnit;
    Word string = clamped + origin;
    Word unit = Word{1} << count, low = unit - 1, half = unit >> 1;
    bool inward = roundsInward(mode, (word & sign) != 0);
    switch (mode.rounding) {
    case Rounding::NearestAway:
      string += half;
      break;
    case Rounding::NearestZero:
      string += half - 1;
      break;
    case Rounding::ToOdd:
      string |= (string & low) != 0 ? unit : 0;
      break;
    default:
      string += inward ? 0 : low;
      break;
    }
    Word rounded = (string & ~low) - origin;
    bool isZero = magnitude == 0;
    if (!isNearest(mode) && mode != Rounding::ToOdd)
      isZero |= inward && magnitude < least;
    rounded = isZero ? 0 : rounded | (word & sign);
    return value(magnitude >= infinity ? nan : rounded);
  }

  /// The code of a value of `f`, or of a NaN. Nothing is rounded.
  template <typename F> static constexpr uint64_t encodeExact(const F &f, T x) {
    return Base::encode(f, x);
  }
  static constexpr uint64_t encodeExact(FloatFormat f, T x) {
    f.overflow = Overflow::Propagate; // an infinity is a value
    if (!Base::isTruncation(f))
      return Base::encode(f, x);
    return (x == x ? bits(x) : nan) >> (mantissa - f.mantissaBits);
  }

private:
  /// The proof for the least number of instructions.
  static constexpr bool roundsByScaling(const FloatFormat &f) {
    return !Base::isTruncation(f) &&
           f.precision() + 2 <= mantissa - f.mantissaBits &&
           f.maxCode() >> f.mantissaBits != 0;
  }

  static constexpr T roundByScaling(const FloatFormat &f, T x) {
    int count = mantissa - f.mantissaBits;
    Word largest = bits(Base::decode(f, f.maxCode()));
    Word infinite = magnitudeOf(f, f.codeOfInfinite());
    Word overflow = magnitudeOf(f, f.codeOfOverflow());
    bool saturates = infinite == largest && overflow == largest;
    T a = value(bits(x) & ~sign);
    if (saturates) // nothing is beyond the largest number then
      a = a > value(largest) ? value(largest) : a;
    T m = scaledAtLeast(a, count,
                        powerBits(f.minExponent() + count) |
                            Word{1} << (mantissa - 1));
    T rounded = m - (m - a);

    if (!saturates) {
      // Half a unit above the largest number is rounded to the even one.
      T most = value(largest + (Word{1} << (count - 1)) - (f.maxCode() & 1));
      // As numbers, not as words: a difference under a mask is one instruction.
      rounded = a > most ? value(overflow) : rounded;
      if (infinite != overflow)
        rounded = bits(a) == infinity ? value(infinite) : rounded;
    }
    T result = withSign(rounded, x);
    if (!f.hasNegativeZero())
      result += T{0};
    return result == result ? result : value(f.hasNaN() ? nan : 0);
  }
  /// The larger of 2^count a and c, of which a is a magnitude and c more than
  /// 2^count times the carrier's least normal number. An f32 is scaled by its
  /// exponent, as a word: units for integers are more than those that multiply.
  /// What is wrong then is below c, as it should be, for a subnormal number;
  /// and for an a whose multiple is beyond the carrier's numbers, which is
  /// beyond the format's too, a NaN or c.
  static constexpr T scaledAtLeast(T a, int count, Word c) {
    if constexpr (sizeof(T) == sizeof(float)) {
      auto scaled = static_cast<SignedWord>(
          bits(a) + (static_cast<Word>(count) << mantissa));
      auto least = static_cast<SignedWord>(c);
      return value(static_cast<Word>(scaled > least ? scaled : least));
    }
    T scaled = a * value(powerBits(count));
    return scaled > value(c) ? scaled : value(c);
  }
  static constexpr T withSign(T magnitude, T x) {
    if constexpr (sizeof(T) == sizeof(float))
      return __builtin_copysignf(magnitude, x);
    else
      return __builtin_copysign(magnitude, x);
  }

  /// The magnitude of a magnitude code; NaN for a NaN's code.
  static constexpr Word magnitudeOf(const FloatFormat &f, uint64_t code) {
    if (f.hasNaN() && code == f.nanCode())
      return nan;
    return bits(Base::decode(f, code));
  }

  /// Rounds away the last bits of a word that the format does not have.
  static constexpr Word cut(const FloatFormat &f, Word word, RoundingMode mode,
                            bool negative) {
    int count = mantissa - f.mantissaBits;
    Word unit = Word{1} << count, low = unit - 1, half = unit >> 1;
    Word rest = word & low, kept = word & ~low;
    switch (mode.rounding) {
    case Rounding::NearestEven:
      return (word + (half - 1) + (word >> count & 1)) & ~low;
    case Rounding::NearestAway:
      return (word + half) & ~low;
    case Rounding::NearestZero:
      return (word + (half - 1)) & ~low;
    case Rounding::TowardZero:
      return kept;
    case Rounding::Up:
    case Rounding::Down:
      return roundsInward(mode, negative) ? kept : (word + low) & ~low;
    case Rounding::ToOdd:
      return kept | (rest != 0 ? unit : 0);
    case Rounding::Stochastic:
      return (word + chanceOf(mode, count)) & ~low;
    }
    return kept;
  }

  static constexpr uint32_t drawOf(RoundingMode mode) {
    return mode.random & ~uint32_t{0} >> (32 - mode.randomBits);
  }
  /// What carries into bit `count` of a word with the likelihood of its bits
  /// below: with the first N of them, s, and the draw r, s + (2^N - 1 - r)
  /// reaches 2^N where r < s. If there are fewer, as s counts no more, so does
  /// the draw.
  static constexpr Word chanceOf(RoundingMode mode, int count) {
    auto inverse = static_cast<Word>(~mode.random &
                                     ~uint32_t{0} >> (32 - mode.randomBits));
    int drop = count - mode.randomBits;
    return drop >= 0 ? inverse << drop : inverse >> -drop;
  }

  /// Rounds a magnitude to the format's grid, the exponent unbounded above.
  static constexpr Word snap(const FloatFormat &f, Word magnitude,
                             RoundingMode mode, bool negative) {
    // Far above the largest number lies nothing new. Nearest-even needs no
    // bound: see above.
    Word bound = powerBits(f.maxExponent() + 1);
    if (mode != Rounding::NearestEven)
      magnitude = magnitude > bound ? bound : magnitude;
    Word exponent = magnitude & infinity, least = powerBits(f.minExponent());
    exponent = exponent < least ? least : exponent;
    if (mode == Rounding::Stochastic)
      return snapByChance(f, magnitude, exponent, mode);
    int count = mantissa - f.mantissaBits;
    T m = value(exponent + (static_cast<Word>(count) << mantissa));
    T a = value(magnitude);
    T sum = a + m, r = sum - m;
    if (mode == Rounding::NearestEven)
      return bits(r);

    T u = value(exponent - (static_cast<Word>(f.mantissaBits) << mantissa));
    T error = a - r;
    T low = error < 0 ? r - u : r;
    switch (mode.rounding) {
    case Rounding::NearestEven:
      break;
    case Rounding::NearestAway:
      return bits(error + error == u ? r + u : r);
    case Rounding::NearestZero:
      return bits(error + error == -u ? r - u : r);
    case Rounding::TowardZero:
      return bits(low);
    case Rounding::Up:
    case Rounding::Down:
      return bits(roundsInward(mode, negative) ? low : error > 0 ? r + u : r);
    case Rounding::ToOdd: {
      // An even neighbour of a number between two is not taken.
      bool takesOther = (bits(sum) & 1) == 0;
      T other = error > 0 ? r + u : low;
      return bits(takesOther ? other : r);
    }
    default:
      break;
    }
    return bits(r);
  }

  /// The same by chance, of a bounded magnitude whose unit is that of the
  /// binade `exponent`: below 2^(mantissaBits + 1) units, of which the fraction
  /// counts with its first bits. Where units and those bits fit an integer of
  /// the carrier's width, with a bit to spare for the carry, they are added
  /// there.
  static constexpr Word snapByChance(const FloatFormat &f, Word magnitude,
                                     Word exponent, RoundingMode mode) {
    int count = mode.randomBits;
    Word u = exponent - (static_cast<Word>(f.mantissaBits) << mantissa);
    Word inverse = powerBits(0) + powerBits(0) - u;
    if (f.mantissaBits + 3 + count <= width &&
        f.mantissaBits - f.minExponent() + count < Base::format.maxExponent()) {
      Word shares = inverse + (static_cast<Word>(count) << mantissa);
      auto units = static_cast<Word>(
          static_cast<SignedWord>(value(magnitude) * value(shares)));
      units = (units + chanceOf(mode, count)) & ~((Word{1} << count) - 1);
      Word share = u - (static_cast<Word>(count) << mantissa);
      return bits(static_cast<T>(static_cast<SignedWord>(units)) *
                  value(share));
    }
    T scaled = value(magnitude) * value(inverse);
    T units = static_cast<T>(static_cast<SignedWord>(scaled));
    T share = (scaled - units) * value(powerBits(count));
    uint32_t draw = drawOf(mode);
    // Vector units convert to signed integers faster.
    bool isUp = count < 32
                    ? static_cast<int32_t>(draw) < static_cast<int32_t>(share)
                    : draw < static_cast<uint32_t>(share);
    return bits((isUp ? units + 1 : units) * value(u));
  }
};

} // namespace numera

#endif // NUMERA_NUMERICS_CARRIER_CARRIERROUND_H
