// SPDX-License-Identifier: MIT
//
// The status flags of an operation, which `numera run --stats` counts
// (docs/Semantics/StatusFlags.md). For each family, this file determines the
// flags of rounding a value, and the results that an operation with flags may
// have. Other results need no further examination.

#ifndef NUMERA_NUMERICS_FLAGS_STATUSFLAGS_H
#define NUMERA_NUMERICS_FLAGS_STATUSFLAGS_H

#include "numera/Numerics/Flags/StatusFlag.h"
#include "numera/Numerics/Formats/Fixed.h"
#include "numera/Numerics/Formats/Float.h"
#include "numera/Numerics/Formats/Lns.h"
#include "numera/Numerics/Formats/Projective.h"

namespace numera {

namespace exact {

/// True if |x| is above |y|, both finite.
constexpr bool isLarger(const Unpacked &x, const Unpacked &y) {
  if (x.exponent != y.exponent)
    return x.exponent > y.exponent;
  if (x.wide() != y.wide())
    return x.wide() > y.wide();
  return x.sticky && !y.sticky;
}

/// True if a finite value has no bit below 2^weight.
constexpr bool isMultiple(const Unpacked &value, int32_t weight) {
  int32_t below = 127 - (value.exponent - weight); // bits of wide()
  if (value.sticky || below >= 128)
    return false;
  return below <= 0 || (value.wide() & ((uint128_t{1} << below) - 1)) == 0;
}

/// |value| in units of 2^weight, rounded; it is below 2^(weight + 128). The
/// code of what is cut is that many plus `base`, which has a part in parity.
constexpr uint128_t roundedTo(const Unpacked &value, int32_t weight,
                              uint64_t base, RoundingMode mode) {
  int32_t cut = 127 - (value.exponent - weight);
  bool sticky = value.sticky;
  uint128_t wide = value.wide();
  uint128_t kept = cut < 128 ? wide >> cut : 0;
  uint128_t rest = cut == 0    ? 0
                   : cut < 128 ? wide << (128 - cut)
                               : shiftRight(wide, cut - 128, sticky);
  bool odd = ((kept + base) & 1) != 0;
  return kept +
         roundsUp(mode, value.negative, odd, Remainder::of(rest, sticky));
}

} // namespace exact

// ---- float ------------------------------------------------------------------

/// True if a finite value, rounded as if larger numbers existed, is beyond the
/// largest.
constexpr bool isBeyond(const FloatFormat &f, const Unpacked &value,
                        RoundingMode mode) {
  if (value.exponent != f.maxExponent())
    return value.exponent > f.maxExponent();
  bool subnormal = value.exponent < f.minExponent();
  int32_t lowest =
      (subnormal ? f.minExponent() : value.exponent) - f.mantissaBits;
  int32_t field = subnormal ? 1 : value.exponent + f.bias;
  // Both hold the hidden bit, which counts as one in the exponent field.
  uint64_t base = static_cast<uint64_t>(field - 1) << f.mantissaBits;
  return exact::roundedTo(value, lowest, base, mode) > f.maxCode() - base;
}

/// The flags of rounding a value that is not NaN. Tininess is detected before
/// rounding.
constexpr uint8_t flagsOfRounding(const FloatFormat &f, const Unpacked &value,
                                  RoundingMode mode) {
  if (value.isZero())
    return f.hasZero() ? flag::none : flag::underflow;
  if (value.negative && !f.isSigned)
    return flag::overflow;
  if (value.isPole() && f.polesAreNaN()) // an infinity over 0
    return flag::invalid;
  if (value.isInfinite())
    return f.hasInfinity() && f.overflow != Overflow::Saturate ? flag::none
                                                               : flag::overflow;
  if (isBeyond(f, value, mode))
    return flag::overflow;
  bool hasNormals = f.maxExponent() >= f.minExponent();
  if (value.exponent >= (hasNormals ? f.minExponent() : f.leastExponent()))
    return flag::none;
  bool isExact = f.hasSubnormals && f.hasZero() &&
                 exact::isMultiple(value, f.leastWeight());
  return isExact ? flag::none : flag::underflow;
}
/// True for every result of an operation that raises a flag, and for few
/// others.
constexpr bool mayRaiseFlags(const FloatFormat &f, uint64_t code) {
  uint64_t magnitude = code & f.magnitudeMask();
  return f.isNaN(code) || magnitude >= f.maxCode() ||
         magnitude >> f.mantissaBits == 0 ||
         magnitude == uint64_t{1} << f.mantissaBits;
}

// ---- fixed ------------------------------------------------------------------

constexpr uint8_t flagsOfRounding(const FixedFormat &f, const Unpacked &value,
                                  RoundingMode mode) {
  if (value.isZero())
    return flag::none;
  uint64_t limit = value.negative ? f.lowestCode() : f.maxCode();
  if (value.isInfinite() || value.exponent + f.fraction > 127 ||
      exact::roundedTo(value, -f.fraction, 0, mode) > limit)
    return flag::overflow;
  return value.exponent < -f.fraction ? flag::underflow : flag::none;
}
constexpr bool mayRaiseFlags(const FixedFormat &f, uint64_t code) {
  return f.overflow == Overflow::Wrap || code <= 1 || code == f.mask() ||
         code == f.maxCode() || code == f.lowestCode();
}

// ---- lns --------------------------------------------------------------------

/// Irrational operands of exact operations have 64 bits, so a value within
/// 2^-60 of the largest or the least number is taken for that number.
constexpr uint8_t flagsOfRounding(const LnsFormat &f, const Unpacked &value,
                                  RoundingMode) {
  if (value.isZero())
    return flag::none;
  if (!value.isFinite())
    return flag::invalid;
  exact::Place place = exact::detail::placeOf(value, f.fraction);
  uint128_t near = f.fraction < 59 ? uint128_t{1} << (68 + f.fraction)
                                   : uint128_t{1} << 127; // of a step
  if (place.floor > f.largest() ||
      (place.floor == f.largest() && place.fraction > near))
    return flag::overflow;
  if (place.floor < -f.largest() - 1 ||
      (place.floor == -f.largest() - 1 && place.fraction < -near))
    return flag::underflow;
  return flag::none;
}
constexpr bool mayRaiseFlags(const LnsFormat &f, uint64_t code) {
  int64_t k = f.logarithm(code); // zero and NaN are below the least
  return k <= -f.largest() || k == f.largest();
}

// ---- posit, takum, and families out of tree ---------------------------------

/// A family may define the flags by members of these names. Otherwise they are
/// those of a family without overflow rule and infinity. Any other family has
/// only NaN and divisions by zero.
template <typename F>
constexpr uint8_t flagsOfRounding(const F &f, const Unpacked &value,
                                  RoundingMode mode) {
  if constexpr (requires { f.flagsOfRounding(value, mode); })
    return f.flagsOfRounding(value, mode);
  if constexpr (requires { static_cast<const ProjectiveCodes &>(f); }) {
    if (value.isZero())
      return flag::none;
    if (!value.isFinite())
      return flag::invalid;
    if (exact::isLarger(value, f.decode(f.maxCode())))
      return flag::overflow;
    return exact::isLarger(f.decode(1), value) ? flag::underflow : flag::none;
  }
  return flag::none;
}
template <typename F> constexpr bool mayRaiseFlags(const F &f, uint64_t code) {
  if constexpr (requires { f.mayRaiseFlags(code); })
    return f.mayRaiseFlags(code);
  if constexpr (requires { static_cast<const ProjectiveCodes &>(f); }) {
    uint64_t magnitude = f.absolute(code); // NaR's is its own
    return magnitude <= 1 || magnitude >= f.maxCode();
  }
  return true;
}

/// True if flagsOfRounding detects overflow and underflow of F.
template <typename F>
inline constexpr bool knowsRange =
    requires(const F &f, Unpacked value, RoundingMode mode) {
      f.flagsOfRounding(value, mode);
    } || requires(const F &f) { static_cast<const ProjectiveCodes &>(f); };
template <> inline constexpr bool knowsRange<FloatFormat> = true;
template <> inline constexpr bool knowsRange<FixedFormat> = true;
template <> inline constexpr bool knowsRange<LnsFormat> = true;

/// The status flags of an operation on `operands`, absent ones zero, whose
/// exact result is to be rounded to `f`.
template <typename F>
constexpr uint8_t flagsOf(const F &f, const Unpacked &exact,
                          const Unpacked (&operands)[3], RoundingMode mode) {
  bool anyNaN = false, anyInfinite = false;
  for (const Unpacked &operand : operands) {
    anyNaN = anyNaN || operand.isNaN();
    anyInfinite = anyInfinite || operand.isInfinite();
  }
  if (exact.isNaN())
    return anyNaN && f.hasNaN() ? flag::none : flag::invalid;
  if (exact.isInfinite() && !anyInfinite)
    return flag::divisionByZero;
  return flagsOfRounding(f, exact, mode);
}

} // namespace numera

#endif // NUMERA_NUMERICS_FLAGS_STATUSFLAGS_H
