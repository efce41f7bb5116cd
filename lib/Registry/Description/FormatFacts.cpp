// SPDX-License-Identifier: MIT

#include "numera/Registry/Description/FormatFacts.h"

#include "numera/Numerics/Exact/Add.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
using namespace numera;

static Unpacked powerOfTwo(int32_t exponent) {
  return Unpacked::fromInteger(/*negative=*/false, 1, exponent);
}

Unpacked numera::smallestOf(const Format &format) {
  const FormatFamily &family = format.getFamily();
  // Upward, whatever is above zero goes to the least number or above it.
  Unpacked tiny = powerOfTwo(family.range(format).leastExponent - 64);
  return family.decode(format, family.encode(format, tiny, Rounding::Up));
}

std::optional<Unpacked> numera::nextAbove(const Format &format,
                                          const Unpacked &value) {
  const FormatFamily &family = format.getFamily();
  Unpacked above = value;
  above.sticky = true;
  // What decode gives of an irrational value is taken for it still.
  if (family.isIrrational() && ++above.significand == 0) {
    above.significand = uint64_t{1} << 63;
    ++above.exponent;
  }
  // Away from zero is up for positive numbers.
  Unpacked next =
      family.decode(format, family.encode(format, above, Rounding::Up));
  bool isAbove =
      next.isFinite() && !next.negative &&
      (next.exponent > value.exponent ||
       (next.exponent == value.exponent && next.wide() > value.wide()));
  if (!isAbove)
    return std::nullopt;
  return next;
}

static Unpacked difference(const Unpacked &of, Unpacked less) {
  less.negative = !less.negative;
  return exact::add(of.operand(), less, Rounding::NearestEven);
}

/// Overflow that saturates, or wraps, would make a largest number of what is
/// above it: nextAbove compares.
static std::optional<Unpacked> epsilonOf(const Format &format) {
  const FormatFamily &family = format.getFamily();
  Unpacked one = powerOfTwo(0);
  uint64_t code = family.encode(format, one, Rounding::NearestEven);
  if (family.decode(format, code).pack() != one.pack())
    return std::nullopt;
  std::optional<Unpacked> next = nextAbove(format, one);
  if (!next)
    return std::nullopt;
  return difference(*next, one);
}

Unpacked numera::ulpAt(const Format &format, int32_t exponent) {
  const FormatFamily &family = format.getFamily();
  Unpacked power = powerOfTwo(exponent);
  int32_t precision = family.precisionAt(format, exponent);
  if (precision > 1)
    return powerOfTwo(exponent + 1 - precision);
  Unpacked below =
      family.decode(format, family.encode(format, power, Rounding::TowardZero));
  std::optional<Unpacked> above = nextAbove(format, below);
  return above ? difference(*above, below) : power;
}

Unpacked numera::lowestOf(const Format &format) {
  const FormatFamily &family = format.getFamily();
  Unpacked lowest = family.decode(format, family.lowest(format));
  if (lowest.isInfinite() && lowest.negative) {
    lowest = family.decode(format, family.largest(format));
    lowest.negative = true;
  }
  if (lowest.isFinite() && lowest.negative)
    return lowest;
  return family.specialCodes(format).zero ? Unpacked::zero()
                                          : smallestOf(format);
}

std::string numera::overflowOf(const Format &format) {
  return nameOf(format.getFamily().overflow(format)).str();
}

FormatFacts numera::factsOf(const RegistryEntries &registry,
                            const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFacts facts;
  facts.range = family.range(format);
  facts.codes = family.specialCodes(format);
  facts.largest = family.decode(format, family.largest(format));
  facts.smallest = smallestOf(format);
  facts.lowest = lowestOf(format);
  facts.epsilon = epsilonOf(format);
  auto log10 = [](const Unpacked &value) {
    return (std::log2(double(value.significand)) + value.exponent - 63) *
           0.30102999566398120;
  };
  facts.decades = log10(facts.largest) - log10(facts.smallest);

  uint128_t codes = uint128_t{1} << format.width();
  facts.finiteValues = codes - facts.codes.nan - facts.codes.infinity -
                       facts.codes.zero + (facts.codes.zero != 0);
  // Below the first binade of normal numbers they are evenly spaced from zero.
  facts.subnormalCodes = 0;
  if (std::optional<int32_t> normal = facts.range.normalExponent) {
    facts.smallestNormal = powerOfTwo(*normal);
    uint64_t below = (uint64_t{1} << (*normal - facts.range.leastExponent)) - 1;
    facts.subnormalCodes = facts.lowest.negative ? 2 * below : below;
  }
  facts.accumulator = family.accumulatesExactly()
                          ? "quire"
                          : registry.nameOrSpelling(defaultAccumulator(format));
  facts.rounding = nameOf(format.getRounding()).str();
  facts.overflow = overflowOf(format);
  return facts;
}

std::string numera::printCode(const Format &format, uint64_t code) {
  return "0x" + utohexstr(code, /*LowerCase=*/true, (format.width() + 3) / 4);
}

std::string numera::printFields(const Format &format, uint64_t code) {
  std::string text;
  unsigned below = format.width();
  for (const FormatFamily::Field &field :
       format.getFamily().fields(format, code)) {
    if (field.bits == 0)
      continue;
    text += text.empty() ? "" : " ";
    for (unsigned bit = 0; bit < field.bits; ++bit)
      text += code >> --below & 1 ? '1' : '0';
  }
  return text;
}
