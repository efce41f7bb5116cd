// SPDX-License-Identifier: MIT
//
// The list of families, what every family's formats can be told beside its own
// parameters (rounding, changes of operations), and what follows from a
// family's facts alone: which formats embed in which, and the accumulator of a
// contraction.

#include "numera/Registry/Formats/FormatFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <tuple>

using namespace numera;

// cmake/Families.cmake lists those with arithmetic.
namespace numera {
#define NUMERA_REGISTER_FAMILY(name) const FormatFamily &name##Family();
#include "Families.def"
NUMERA_REGISTER_FAMILY(opaque)
#undef NUMERA_REGISTER_FAMILY
} // namespace numera

/// The one list that changes while a program runs: plugins add their families
/// as they are loaded, before any format is read.
static llvm::SmallVectorImpl<const FormatFamily *> &families() {
  static llvm::SmallVector<const FormatFamily *> list = {
#define NUMERA_REGISTER_FAMILY(name) &name##Family(),
#include "Families.def"
      NUMERA_REGISTER_FAMILY(opaque)
#undef NUMERA_REGISTER_FAMILY
  };
  return list;
}

llvm::ArrayRef<const FormatFamily *> numera::allFamilies() {
  return families();
}

void numera::registerFamily(const FormatFamily &family) {
  families().push_back(&family);
}

const FormatFamily *numera::findFamily(llvm::StringRef name) {
  auto found = llvm::find_if(allFamilies(), [&](const FormatFamily *family) {
    return family->name() == name;
  });
  return found == allFamilies().end() ? nullptr : *found;
}

//===----------------------------------------------------------------------===//
// Parameters that every family with arithmetic has
//===----------------------------------------------------------------------===//

llvm::StringRef FormatFamily::keyOfWord(llvm::StringRef word) const {
  for (auto [own, key] : ownWords())
    if (own == word)
      return key;
  return hasArithmetic() && findWord(roundingWords(), word) ? "rounding" : "";
}

llvm::SmallVector<llvm::StringRef> FormatFamily::words() const {
  llvm::SmallVector<llvm::StringRef> all;
  for (auto [own, key] : ownWords())
    all.push_back(own);
  if (hasArithmetic())
    all.append(supported(roundingWords()));
  return all;
}

/// `rounding` and `random-bits`, or the same of an operation.
static bool readRounding(ParameterReader &reader, const std::string &prefix,
                         std::optional<Rounding> &rounding,
                         int32_t &randomBits) {
  std::string key = prefix + "rounding", bits = prefix + "random-bits";
  if (reader.has(key)) {
    Rounding read{};
    if (!reader.readWord(key, roundingWords(), read))
      return false;
    rounding = read;
  }
  bool isStochastic = rounding == Rounding::Stochastic;
  if (reader.has(bits) && !isStochastic)
    return reader.fail(bits, "'" + llvm::Twine(bits) +
                                 "' is for stochastic rounding alone");
  randomBits = isStochastic ? defaultRandomBits : 0;
  return reader.readInteger(bits, 1, 32, randomBits);
}

/// True for a change that nothing would show: what is exact on codes of one
/// format rounds nothing. A negative may still overflow.
static bool isIdle(OpKind operation, llvm::StringRef key) {
  constexpr OpKind signs[] = {OpKind::Neg, OpKind::Abs, OpKind::CopySign};
  constexpr OpKind choices[] = {OpKind::Min, OpKind::Max, OpKind::MinNum,
                                OpKind::MaxNum};
  return llvm::is_contained(choices, operation) ||
         (llvm::is_contained(signs, operation) && key == "rounding");
}

/// The keys `<operation>.<key>`. Of `significand` bits, the first stays.
static bool readChange(ParameterReader &reader, OpKind operation,
                       int32_t significand,
                       llvm::SmallVectorImpl<OperationChange> &changes) {
  OperationChange change;
  change.operation = operation;
  const OperationChange none = change;
  std::string prefix = nameOf(operation).str() + ".";
  std::string overflow = prefix + "overflow";
  if (!readRounding(reader, prefix, change.rounding, change.randomBits) ||
      !reader.readInteger(prefix + "truncate-operands", 0, significand - 1,
                          change.truncateOperands))
    return false;
  if (reader.has(overflow)) {
    Overflow read{};
    if (!reader.readWord(overflow, overflowWords(), read))
      return false;
    change.overflow = read;
  }
  for (llvm::StringRef key : {"rounding", "overflow"})
    if (reader.has(prefix + key.str()) && isIdle(operation, key))
      return reader.fail(prefix + key.str(), "'" + nameOf(operation) +
                                                 "' is exact, its " + key +
                                                 " has no effect");
  if (change != none)
    changes.push_back(change);
  return true;
}

/// Every operation whose result is a number may be changed.
static bool isChangeable(OpKind operation) {
  return operation != OpKind::Cmp && operation != OpKind::IsNaN;
}

Format FormatFamily::create(llvm::ArrayRef<Parameter> parameters,
                            llvm::StringRef name, ParameterError &error) const {
  ParameterReader reader(*this, parameters, error);
  llvm::SmallVector<llvm::StringRef> known = keys();
  llvm::SmallVector<std::string> changeable;
  llvm::SmallVector<OpKind> changed;
  if (hasArithmetic()) {
    known.append({"rounding", "random-bits"});
    for (const Parameter &parameter : parameters) {
      auto [operation, key] = llvm::StringRef(parameter.key).split('.');
      auto found = operationFromName(operation);
      if (key.empty() || !found || !isChangeable(*found))
        continue;
      if (!llvm::is_contained(changed, *found))
        changed.push_back(*found);
      for (llvm::StringRef word :
           {"rounding", "random-bits", "overflow", "truncate-operands"})
        changeable.push_back((operation + "." + word).str());
    }
    known.append(changeable.begin(), changeable.end());
  }
  llvm::SmallVector<int32_t> values;
  std::optional<Rounding> rounding;
  int32_t randomBits = 0;
  if (!reader.checkKeys(known) || !read(reader, values) ||
      (hasArithmetic() && !readRounding(reader, "", rounding, randomBits)))
    return {};
  if (!hasArithmetic() && name.empty()) {
    error = {.message = "an opaque format needs a name"};
    return {};
  }
  Format format =
      Format(*this, values, Rounding::NearestEven,
             hasArithmetic() ? llvm::StringRef() : name)
          .withRounding(rounding.value_or(Rounding::NearestEven), randomBits);
  llvm::sort(changed);
  llvm::SmallVector<OperationChange> changes;
  for (OpKind operation : changed)
    if (!readChange(reader, operation, range(format).precision, changes))
      return {};
  format = format.withChanges(changes);
  for (const OperationChange &change : changes)
    if (change.overflow && !withOverflow(format, *change.overflow)) {
      std::string key = nameOf(change.operation).str() + ".overflow";
      reader.fail(key, "overflow '" + nameOf(*change.overflow) +
                           "' is not one of family '" + this->name() + "'");
      return {};
    }
  return format;
}

static std::string spellRounding(Rounding rounding, int32_t randomBits,
                                 llvm::StringRef prefix) {
  std::string text = "," + prefix.str();
  text += prefix.empty() ? "" : "rounding=";
  text += nameOf(rounding);
  if (rounding == Rounding::Stochastic && randomBits != defaultRandomBits)
    text += "," + prefix.str() + "random-bits=" + llvm::itostr(randomBits);
  return text;
}

std::string FormatFamily::spelling(const Format &format) const {
  std::string text = name().str() + "<" + spell(format);
  if (format.getRounding() != Rounding::NearestEven)
    text += spellRounding(format.getRounding(), format.getRandomBits(), "");
  for (const OperationChange &change : format.getChanges()) {
    std::string prefix = nameOf(change.operation).str() + ".";
    if (change.rounding)
      text += spellRounding(*change.rounding, change.randomBits, prefix);
    if (change.overflow)
      text += "," + prefix + "overflow=" + nameOf(*change.overflow).str();
    if (change.truncateOperands)
      text += "," + prefix +
              "truncate-operands=" + llvm::itostr(change.truncateOperands);
  }
  return text + ">";
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

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

/// The last finite number on one side of zero; zero where there is none.
static Unpacked extent(const Format &format, bool negative) {
  const FormatFamily &family = format.getFamily();
  Unpacked value = family.decode(format, negative ? family.lowest(format)
                                                  : family.largest(format));
  if (value.isInfinite()) { // as large as the largest
    value = family.decode(format, family.largest(format));
    value.negative = true;
  }
  return value.isFinite() && value.negative == negative ? value
                                                        : Unpacked::zero();
}

/// Compares the largest finite numbers of two formats, and the lowest: a format
/// may have no negative numbers, or one more than positive ones.
static bool reachesNoFurther(const Format &format, const Format &into) {
  auto size = [](const Unpacked &value) {
    return std::tuple(value.isFinite(), value.exponent, value.significand);
  };
  for (bool negative : {false, true}) {
    Unpacked value = extent(format, negative);
    if (value.isZero())
      continue;
    if (size(value) > size(extent(into, negative)))
      return false;
    // The one more is in no binade of the positive ones.
    const FormatFamily &family = into.getFamily();
    Unpacked there =
        family.decode(into, family.encode(into, value, Rounding::TowardZero));
    if (size(value) != size(there))
      return false;
  }
  return true;
}

static bool hasZero(const Format &format) {
  const FormatFamily &family = format.getFamily();
  return family
      .decode(format,
              family.encode(format, Unpacked::zero(), Rounding::NearestEven))
      .isZero();
}

bool numera::embeds(const Format &format, const Format &into) {
  if (format == into)
    return true;
  const FormatFamily &from = format.getFamily(), &to = into.getFamily();
  if (!from.hasArithmetic() || !to.hasArithmetic() || from.isIrrational() ||
      to.isIrrational())
    return false;
  FormatFamily::Range small = from.range(format), large = to.range(into);
  if ((small.hasNaN && !large.hasNaN) ||
      (small.hasInfinity && !large.hasInfinity) ||
      (small.hasNegativeZero && !large.hasNegativeZero) ||
      (hasZero(format) && !hasZero(into)) ||
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

std::optional<QuireLayout> numera::quireOf(const Format &format,
                                           std::string &error) {
  const FormatFamily &family = format.getFamily();
  error = "format '" + format.spelling() + "' has no quire: ";
  if (!family.hasArithmetic())
    error += "only its library defines its values";
  else if (family.isIrrational())
    error += "its values are no binary fractions";
  else if (QuireLayout layout = family.quire(format);
           layout.bits > mostQuireBits)
    error += "it would have " + llvm::itostr(layout.bits) +
             " bits, more than " + llvm::itostr(mostQuireBits);
  else
    return layout;
  return std::nullopt;
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
