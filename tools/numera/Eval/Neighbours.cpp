// SPDX-License-Identifier: MIT

#include "Neighbours.h"

#include "numera/Numerics/Exact/Add.h"
#include "numera/Numerics/Exact/Compare.h"

using namespace numera;

/// A value between `value` and the next larger or smaller magnitude. What
/// decode gives of an irrational value is cut off, and is taken for it still.
static Unpacked moved(const FormatFamily &family, const Unpacked &value,
                      bool isLarger) {
  uint128_t step = uint128_t{1} << (family.isIrrational() ? 64 : 32);
  uint128_t wide = value.wide();
  if (!isLarger)
    return Unpacked::fromWide(value.negative, wide - step, value.exponent - 127,
                              /*sticky=*/true);
  // A carry would leave the 128 bits.
  wide = (wide >> 1) + (step >> 1);
  return Unpacked::fromWide(value.negative, wide, value.exponent - 126,
                            /*sticky=*/true);
}

static bool isBeyond(const Format &format, uint64_t code, uint64_t from,
                     bool isAbove) {
  const FormatFamily &family = format.getFamily();
  return !family.decode(format, code).isNaN() &&
         family.evaluate(OpKind::Cmp, format, {code, from},
                         Rounding::NearestEven, isAbove ? Greater : Less) != 0;
}

/// The last finite number on that side.
static uint64_t endOf(const Format &format, bool isAbove) {
  const FormatFamily &family = format.getFamily();
  if (isAbove)
    return family.largest(format);
  uint64_t lowest = family.lowest(format);
  if (!family.decode(format, lowest).isInfinite())
    return lowest;
  return family.evaluate(OpKind::Neg, format, family.largest(format),
                         Rounding::NearestEven);
}

uint64_t numera::neighbourOf(const Format &format, uint64_t code,
                             bool isAbove) {
  const FormatFamily &family = format.getFamily();
  Unpacked value = family.decode(format, code);
  if (value.isNaN())
    return code;
  if (value.isInfinite())
    return value.negative == isAbove ? endOf(format, !isAbove) : code;
  bool isAway = value.isZero() || value.negative != isAbove;
  value = value.isZero()
              ? Unpacked::fromInteger(!isAbove, 1,
                                      family.range(format).leastExponent - 64)
              : moved(family, value, isAway);
  uint64_t next =
      family.encode(format, value, isAbove ? Rounding::Up : Rounding::Down);
  if (isBeyond(format, next, code, isAbove))
    return next;
  uint64_t end = isAbove ? family.highest(format) : family.lowest(format);
  return isBeyond(format, end, code, isAbove) && isAway ? end : code;
}

Unpacked numera::ulpOf(const Format &format, uint64_t code) {
  const FormatFamily &family = format.getFamily();
  Unpacked value = family.decode(format, code);
  if (value.isNaN())
    return value;
  if (value.isInfinite())
    return Unpacked::infinity();
  uint64_t next = neighbourOf(format, code, !value.negative);
  if (next == code || family.decode(format, next).isInfinite())
    next = neighbourOf(format, code, value.negative);
  Unpacked gap = exact::sub(family.decode(format, next).operand(),
                            value.operand(), Rounding::NearestEven);
  gap.negative = false;
  return gap;
}
