// SPDX-License-Identifier: MIT
//
// The list of families, and what follows from a family's facts alone: which
// formats embed in which, and the accumulator of a contraction.

#include "numera/Registry/FormatFamily.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace numera;

namespace numera {
#define NUMERA_REGISTER_FAMILY(name) const FormatFamily &name##Family();
#include "Families.def"
} // namespace numera

llvm::ArrayRef<const FormatFamily *> numera::allFamilies() {
  static const FormatFamily *const families[] = {
#define NUMERA_REGISTER_FAMILY(name) &name##Family(),
#include "Families.def"
  };
  return families;
}

const FormatFamily *numera::findFamily(llvm::StringRef name) {
  auto found = llvm::find_if(allFamilies(), [&](const FormatFamily *family) {
    return family->name() == name;
  });
  return found == allFamilies().end() ? nullptr : *found;
}

static Format parseBuiltin(llvm::StringRef spelling) {
  SpellingError error;
  return parseFormatSpelling(spelling, error);
}

const Format &numera::formatF32() {
  static const Format format = parseBuiltin("float<8,23>");
  return format;
}

const Format &numera::formatF64() {
  static const Format format = parseBuiltin("float<11,52>");
  return format;
}

/// Compares the largest finite numbers of two formats, both positive.
static bool reachesNoFurther(const Format &format, const Format &into) {
  auto largest = [](const Format &f) {
    Unpacked value = f.getFamily().decode(f, f.getFamily().largest(f));
    return std::pair(value.exponent, value.significand);
  };
  return largest(format) <= largest(into);
}

bool numera::embeds(const Format &format, const Format &into) {
  if (format == into)
    return true;
  const FormatFamily &from = format.getFamily(), &to = into.getFamily();
  if (!from.hasArithmetic() || !to.hasArithmetic())
    return false;
  FormatFamily::Range small = from.range(format), large = to.range(into);
  if ((small.hasNaN && !large.hasNaN) ||
      (small.hasInfinity && !large.hasInfinity) ||
      (small.hasNegativeZero && !large.hasNegativeZero) ||
      small.leastExponent < large.leastExponent ||
      !reachesNoFurther(format, into))
    return false;
  // Within one binade the values of a format are evenly spaced, so that the
  // one with fewer bits is contained in the other.
  for (int32_t e = small.leastExponent; e <= small.maxExponent; ++e)
    if (from.precisionAt(format, e) > to.precisionAt(into, e))
      return false;
  return true;
}

Format numera::defaultAccumulator(const Format &format) {
  const FormatFamily &family = format.getFamily();
  if (!family.hasArithmetic() || family.machineWidth(format) != 0)
    return format;
  int32_t product = 2 * family.range(format).precision;
  for (const Format &wide : {formatF32(), formatF64()})
    if (product <= wide.getFamily().range(wide).precision &&
        embeds(format, wide))
      return wide;
  return format;
}
