// SPDX-License-Identifier: MIT

#include "numera/Registry/Formats/FlagsOfRounding.h"

#include "numera/Numerics/Flags/StatusFlags.h"
#include "numera/Registry/Formats/FormatFamily.h"

using namespace numera;

/// Of a family without an overflow rule: beyond its ends.
static uint8_t flagsAtEnds(const Format &format, const Unpacked &exact) {
  const FormatFamily &family = format.getFamily();
  if (exact.isZero())
    return flag::none;
  if (exact.isInfinite())
    return family.range(format).hasInfinity ? flag::none : flag::invalid;
  if (exact::isLarger(exact, family.decode(format, family.largest(format))))
    return flag::overflow;
  Unpacked tiny = Unpacked::fromInteger(
      /*negative=*/false, 1, family.range(format).leastExponent - 64);
  Unpacked least =
      family.decode(format, family.encode(format, tiny, Rounding::Up));
  return exact::isLarger(least, exact) ? flag::underflow : flag::none;
}

uint8_t numera::flagsOfRounding(const Format &format, const Unpacked &exact,
                                RoundingMode mode) {
  const FormatFamily &family = format.getFamily();
  if (!family.knowsRange())
    return flag::none;
  if (std::optional<FloatFormat> layout = family.asFloat(format))
    return flagsOfRounding(*layout, exact, mode);
  const int32_t *parameters = format.getParameters().data();
  if (&family == findFamily("fixed"))
    return flagsOfRounding(FixedFormat::of(parameters), exact, mode);
  if (&family == findFamily("lns"))
    return flagsOfRounding(LnsFormat::of(parameters), exact, mode);
  return flagsAtEnds(format, exact);
}
