// SPDX-License-Identifier: MIT
//
// The properties of scaled formats, and their spellings:
//
//   block<ELEMENT,SIZE[,scale=FORMAT][,rule=RULE][,tensor-scale]
//         [,full-scale=NUMBER][,storage=packed]>
//   scaled<ELEMENT[,scale=FORMAT|power-of-two][,rule=RULE]
//          [,full-scale=NUMBER][,storage=packed]>
//
// An element is a name or a spelling of a format, or an integer type, i4 to
// i32 and u4 to u32.

#include "numera/Registry/Scaling/Scaling.h"
#include "numera/Registry/Formats/Evaluation.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Scaling/ScaleSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

static constexpr Word ruleWords[] = {
    {"floor", int32_t(ScaleRule::Floor)},
    {"ceil", int32_t(ScaleRule::Ceil)},
    {"even", int32_t(ScaleRule::Even)},
    {"round-up-ceil", int32_t(ScaleRule::RoundUpCeil)},
    {"absmax", int32_t(ScaleRule::Absmax)},
    {"range", int32_t(ScaleRule::Range)},
    {"min-max", int32_t(ScaleRule::MinMax)}};

StringRef numera::nameOf(ScaleRule rule) {
  return wordFor(ruleWords, int32_t(rule));
}

std::optional<ScaleRule> numera::scaleRuleFromName(StringRef name) {
  const Word *word = findWord(ruleWords, name);
  return word ? std::optional(ScaleRule(word->value)) : std::nullopt;
}

llvm::SmallVector<StringRef> numera::scaleRuleNames() {
  return supported(ruleWords);
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// A value of a format as a double, rounded where it has to be.
static double numberOf(const Format &format, uint64_t code) {
  return llvm::bit_cast<double>(evaluateOperation(
      OpKind::Cast, rulesOf(OpKind::Cast, formatF64(), format), format, code));
}

double numera::fullScale(const Format &element) {
  const FormatFamily &family = element.getFamily();
  FormatFamily::Range range = family.range(element);
  bool isTapered =
      family.precisionAt(element, range.maxExponent) < range.precision &&
      family.precisionAt(element, 0) == range.precision;
  return isTapered ? 1 : numberOf(element, family.largest(element));
}

double ScaledFormat::fullScale() const {
  if (scaling.fullScale != 0)
    return scaling.fullScale;
  double full = numera::fullScale(element);
  // The product of an element and its scale would be beyond f32.
  return scaling.rule == ScaleRule::Range && full >= 0x1p64 ? 1 : full;
}

Format numera::powersOfTwo() {
  SpellingError error;
  static const Format format = parseFormatSpelling("float<8,0,fnu>", error);
  return format;
}

Format numera::exponentsWithPrecisionOf(const Format &element, bool isWide) {
  int32_t bits = element.getFamily().range(element).precision - 1;
  SpellingError error;
  return parseFormatSpelling((isWide ? "float<11," : "float<8,") +
                                 std::to_string(std::clamp(bits, 0, 23)) + ">",
                             error);
}

Format numera::integerBeyondElements() {
  SpellingError error;
  static const Format format = parseFormatSpelling("fixed<20,0>", error);
  return format;
}

std::optional<Overflow> numera::saturating(const Format &format) {
  const FormatFamily &family = format.getFamily();
  bool hasChoice =
      family.hasArithmetic() && family.withOverflow(format, Overflow::Saturate);
  return hasChoice ? std::optional(Overflow::Saturate) : std::nullopt;
}

double numera::smallestScale(const Format &scale) {
  const FormatFamily &family = scale.getFamily();
  return numberOf(
      scale,
      family.encode(scale,
                    Unpacked{.kind = Kind::Finite,
                             .exponent = family.range(scale).leastExponent,
                             .significand = uint64_t(1) << 63},
                    Rounding::NearestEven));
}

double ScaledFormat::bitsPerElement() const {
  double bits = element.width();
  return isBlock() ? bits + double(scaling.scale.width()) / scaling.block
                   : bits;
}

std::string numera::checkScaledFormat(const ScaledFormat &format) {
  const Scaling &scaling = format.scaling;
  if (format.element.isWide())
    return "elements in '" + format.element.spelling() + "' have " +
           std::to_string(format.element.width()) +
           " bits, expected at most 64";
  if (!(scaling.fullScale >= 0 && std::isfinite(scaling.fullScale)))
    return "the full scale is " + std::to_string(scaling.fullScale) +
           ", expected a number of f32 above 0";
  if (format.element.isOpaque() && scaling.fullScale == 0)
    return "nothing says which number of '" + format.element.spelling() +
           "', which is opaque, scales aim at; expected 'full-scale'";
  if (format.element.isOpaque() && scaling.rule == ScaleRule::Even)
    return "rule 'even' rounds to the precision of an element, and '" +
           format.element.spelling() +
           "' is opaque; expected floor, ceil, round-up-ceil or absmax";
  if (scaling.rule == ScaleRule::Even &&
      format.element.getFamily().range(format.element).precision < 2)
    return "rule 'even' rounds to the precision of an element, and '" +
           format.element.spelling() +
           "' has 1 significant bit; expected floor, ceil, round-up-ceil or "
           "absmax";
  if (format.element.getRounding() == Rounding::Stochastic)
    return "elements in '" + format.element.spelling() +
           "' round stochastically, which scaled tensors do not; expected "
           "another rounding";
  if (!scaling.scale.getFamily().hasArithmetic())
    return "scales in '" + scaling.scale.spelling() +
           "', which is opaque; expected a format with arithmetic";
  if (!scaling.scale.getFamily().embedsInF32(scaling.scale))
    return "scales in '" + scaling.scale.spelling() +
           "' are not all numbers of f32; expected a narrower format";
  if (scaling.fullScale == 0 &&
      !std::isfinite(float(fullScale(format.element))))
    return "'" + format.element.spelling() +
           "' has numbers beyond f32, which scaled values are read as; "
           "expected a narrower element";
  if (scaling.fullScale == 0 && float(fullScale(format.element)) == 0)
    return "the largest number of '" + format.element.spelling() +
           "' is 0 in f32, which scaled values are read as; expected a wider "
           "element";
  if (scaling.rule == ScaleRule::Range &&
      (scaling.scale != formatF32() || format.isBlock()))
    return "rule 'range' is for 'scaled' with scale f32; expected floor, ceil, "
           "even, round-up-ceil or absmax";
  if (format.hasZeroPoint()) {
    bool isInteger =
        format.element.getFamily().accumulatesExactly() &&
        format.element.width() <= 16 &&
        format.element.getFamily().range(format.element).leastExponent == 0;
    if (!isInteger || format.isBlock() || scaling.scale != formatF32())
      return "rule 'min-max' makes zero points, for 'scaled' with integers of "
             "up to 16 bits and scale f32";
  }
  if (scaling.hasTensorScale && scaling.rule != ScaleRule::Absmax)
    return "a tensor scale goes with rule 'absmax', found '" +
           numera::nameOf(scaling.rule).str() + "'";
  return {};
}

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

Scaling numera::defaultScaling(bool isBlock, const Format &scale) {
  Scaling scaling;
  bool isPower = scale == powersOfTwo();
  scaling.scale = scale;
  if (isBlock)
    scaling.rule = isPower ? ScaleRule::Floor : ScaleRule::Absmax;
  else
    scaling.rule = scale == formatF32() ? ScaleRule::Range
                   : isPower            ? ScaleRule::RoundUpCeil
                                        : ScaleRule::Absmax;
  return scaling;
}

std::string ScaledFormat::spelling() const {
  std::string text = isBlock() ? "block<" : "scaled<";
  text += element.spelling();
  if (isBlock())
    text += "," + std::to_string(scaling.block);
  if (scaling.scale != (isBlock() ? powersOfTwo() : formatF32()))
    text +=
        ",scale=" + (scaling.scale == powersOfTwo() ? "power-of-two"
                                                    : scaling.scale.spelling());
  if (scaling.rule != defaultScaling(isBlock(), scaling.scale).rule)
    text += ",rule=" + numera::nameOf(scaling.rule).str();
  if (scaling.hasTensorScale)
    text += ",tensor-scale";
  if (scaling.fullScale != 0)
    text += llvm::formatv(",full-scale={0}",
                          llvm::format("%.9g", double(scaling.fullScale)))
                .str();
  if (scaling.isPacked)
    text += ",storage=packed";
  return text + ">";
}

bool numera::isScaledSpelling(StringRef text) {
  StringRef family = text.take_until([](char c) { return c == '<'; }).trim();
  return text.contains('<') && (family == "block" || family == "scaled");
}

/// The parts between the commas that stand in no inner brackets.
static llvm::SmallVector<StringRef> splitArguments(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += (c == '<') - (c == '>');
    if (c != ',' || (depth > 0 && i < text.size()))
      continue;
    parts.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  return parts;
}

bool numera::isIntegerElement(StringRef text) {
  unsigned bits = 0;
  return !text.empty() && (text[0] == 'i' || text[0] == 'u') &&
         !text.drop_front().getAsInteger(10, bits) && bits >= 2 && bits <= 32;
}

/// `i8` as fixed point without a fraction; any other text as it is.
static std::string elementText(StringRef text) {
  if (!isIntegerElement(text))
    return text.str();
  unsigned bits = 0;
  text.drop_front().getAsInteger(10, bits);
  return text[0] == 'i' ? "fixed<" + std::to_string(bits - 1) + ",0>"
                        : "fixed<" + std::to_string(bits) + ",0,unsigned>";
}

Format numera::lookupElement(FormatLookup lookup, StringRef text,
                             std::string &error) {
  return lookup(elementText(text), error);
}

Format numera::lookupScale(FormatLookup lookup, StringRef text,
                           std::string &error) {
  return text == "power-of-two" ? powersOfTwo() : lookup(text, error);
}

static ScaledFormat parseParts(FormatLookup lookup, bool isBlock,
                               llvm::ArrayRef<StringRef> parts,
                               std::string &error) {
  ScaledFormat format;
  auto fail = [&](const Twine &message) {
    error = message.str();
    return ScaledFormat();
  };
  format.element = lookupElement(lookup, parts[0], error);
  if (!format.element)
    return {};
  parts = parts.drop_front();
  int32_t size = 0;
  if (isBlock) {
    if (parts.empty() || parts[0].getAsInteger(10, size) || size < 2)
      return fail("found '" + (parts.empty() ? StringRef(">") : parts[0]) +
                  "', expected the elements of a block, 2 or more");
    parts = parts.drop_front();
  }
  Format scale = isBlock ? powersOfTwo() : formatF32();
  std::optional<ScaleRule> rule;
  bool hasTensorScale = false, isPacked = false;
  double fullScale = 0;
  for (StringRef part : parts) {
    auto [key, value] = part.split('=');
    if (key == "scale") {
      if (!(scale = lookupScale(lookup, value, error)))
        return {};
    } else if (key == "rule") {
      if (!(rule = scaleRuleFromName(value)))
        return fail("unknown rule '" + value + "'" +
                    expectation(value, supported(ruleWords)));
    } else if (isBlock && part == "tensor-scale") {
      hasTensorScale = true;
    } else if (key == "full-scale") {
      if (value.getAsDouble(fullScale) || !(float(fullScale) > 0) ||
          !std::isfinite(float(fullScale)))
        return fail("full-scale is '" + value +
                    "', expected a number of f32 above 0");
    } else if (part == "storage=packed") {
      isPacked = true;
    } else {
      return fail("found '" + part + "', expected scale=FORMAT, rule=RULE" +
                  (isBlock ? ", tensor-scale" : "") +
                  ", full-scale=NUMBER or storage=packed");
    }
  }
  format.scaling = defaultScaling(isBlock, scale);
  format.scaling.block = size;
  format.scaling.rule = rule.value_or(format.scaling.rule);
  format.scaling.hasTensorScale = hasTensorScale;
  format.scaling.isPacked = isPacked;
  format.scaling.fullScale = float(fullScale);
  error = checkScaledFormat(format);
  return error.empty() ? format : ScaledFormat();
}

ScaledFormat numera::parseScaledFormat(FormatLookup lookup, StringRef text,
                                       std::string &error) {
  auto [family, rest] = text.split('<');
  if (!rest.trim().ends_with(">")) {
    error = "the spelling '" + text.str() + "' ends, expected '>'";
    return {};
  }
  ScaledFormat format =
      parseParts(lookup, family.trim() == "block",
                 splitArguments(rest.trim().drop_back()), error);
  if (!format)
    error = "in '" + text.str() + "': " + error;
  return format;
}
