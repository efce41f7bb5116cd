// SPDX-License-Identifier: MIT

#include "FormatFacts.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

static Unpacked powerOfTwo(int32_t exponent) {
  return Unpacked::fromInteger(/*negative=*/false, 1, exponent);
}

static std::optional<Unpacked>
smallestNormal(const Format &format, const FormatFamily::Range &range) {
  const FormatFamily &family = format.getFamily();
  // In the last binade some codes may be NaN or infinity: one before decides.
  int32_t top = range.maxExponent - 1;
  if (top < range.leastExponent ||
      family.precisionAt(format, top) != range.precision)
    return std::nullopt;
  int32_t exponent = range.leastExponent;
  while (family.precisionAt(format, exponent) < range.precision)
    ++exponent;
  return powerOfTwo(exponent);
}

// The canonical spelling names an overflow rule that is not the family's usual
// one; the usual one shows in what becomes of a number too large.
std::string numera::overflowOf(const Format &format) {
  std::string spelling = format.spelling();
  SmallVector<StringRef> words;
  SplitString(spelling, words, "<,>");
  for (StringRef word : words)
    if (overflowFromName(word))
      return word.str();
  const FormatFamily &family = format.getFamily();
  int32_t beyond = family.range(format).maxExponent + 1;
  uint64_t code =
      family.encode(format, powerOfTwo(beyond), Rounding::NearestEven);
  bool saturates = family.decode(format, code).isFinite();
  return nameOf(saturates ? Overflow::Saturate : Overflow::Infinity).str();
}

static FormatFacts::Counts countCodes(const Format &format,
                                      const std::optional<Unpacked> &normal) {
  FormatFacts::Counts counts;
  for (uint64_t code = 0; code >> format.width() == 0; ++code) {
    Unpacked value = format.getFamily().decode(format, code);
    counts.nan += value.isNaN();
    counts.infinity += value.isInfinite();
    counts.subnormal +=
        normal && value.isFinite() && value.exponent < normal->exponent;
  }
  return counts;
}

FormatFacts numera::factsOf(const Registry &registry, const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFacts facts;
  facts.range = family.range(format);
  facts.largest = family.decode(format, family.largest(format));
  facts.smallest = powerOfTwo(facts.range.leastExponent);
  facts.smallestNormal = smallestNormal(format, facts.range);
  if (int32_t precision = family.precisionAt(format, 0))
    facts.epsilon = powerOfTwo(1 - precision);
  if (format.width() <= widestTable)
    facts.counts = countCodes(format, facts.smallestNormal);
  facts.accumulator =
      family.accumulatesExactly()
          ? "quire"
          : nameOrSpelling(registry, defaultAccumulator(format));
  std::string reason;
  if (auto quire = quireOf(format, reason))
    facts.quireBits = quire->bits;
  facts.rounding = nameOf(format.getRounding()).str();
  facts.overflow = overflowOf(format);
  return facts;
}

std::string numera::nameOrSpelling(const Registry &registry,
                                   const Format &format) {
  std::string name = registry.nameOf(format);
  return name.empty() ? format.spelling() : name;
}
