// SPDX-License-Identifier: MIT
//
// The family `float`: sign, exponent, significand (Numerics/Formats/Float.h).
//
//   float<5,7>   float<4,3,fn>   float<5,7,bias=9,flush,up,saturate>

#include "P3109.h"
#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

static constexpr Word specialsWords[] = {
    {"ieee", int32_t(Specials::Ieee)}, {"fn", int32_t(Specials::Fn)},
    {"fnuz", int32_t(Specials::Fnuz)}, {"finite", int32_t(Specials::Finite)},
    {"fnu", int32_t(Specials::Fnu)},   {"p3109", int32_t(Specials::P3109)},
};
static constexpr Word subnormalsWords[] = {{"on", 1}, {"flush", 0}};
static constexpr Word signedWords[] = {
    {"true", 1}, {"false", 0}, {"unsigned", 0}};
static constexpr Word infinitiesWords[] = {
    {"true", int32_t(Specials::P3109)},
    {"false", int32_t(Specials::P3109Finite)}};
static constexpr Word floatOverflowWords[] = {
    {"infinity", int32_t(Overflow::Infinity)},
    {"saturate", int32_t(Overflow::Saturate)},
    {"propagate", int32_t(Overflow::Propagate)},
};

/// What `bias` is where nobody says: the middle of the exponents. P3109:
/// 2^(e-1).
static int32_t defaultBias(const FloatFormat &f) {
  int32_t half = f.exponentBits == 0 ? 0 : 1 << (f.exponentBits - 1);
  return f.specials == Specials::Fnuz || f.isP3109() ? half : half - 1;
}

static Overflow defaultOverflow(const FloatFormat &f) {
  return f.specials == Specials::Ieee || f.isP3109() ? Overflow::Infinity
                                                     : Overflow::Saturate;
}

/// Finds the fault in parameters that are in range one by one.
static bool validate(ParameterReader &reader, const FloatFormat &f) {
  int32_t width = f.width();
  if (width > 64)
    return reader.fail("mantissa",
                       llvm::Twine(f.exponentBits) + " exponent bits, " +
                           llvm::Twine(f.mantissaBits) +
                           " mantissa bits and a sign are " +
                           llvm::Twine(width) + " bits, expected at most 64");
  if (f.specials == Specials::Ieee && f.exponentBits == 0)
    return reader.fail("exponent",
                       "exponent is '0', a format with ieee specials needs at "
                       "least 1 for its infinities");
  if (f.specials == Specials::Ieee && f.mantissaBits == 0)
    return reader.fail("mantissa",
                       "mantissa is '0', a format with ieee specials needs at "
                       "least 1 for its NaN");
  if (f.specials == Specials::Fnuz && !f.isSigned)
    return reader.fail("signed",
                       "a format with fnuz specials is signed, its NaN "
                       "is the code of -0");
  if (f.specials == Specials::Fnu && f.isSigned)
    return reader.fail("signed", "a format with fnu specials is unsigned");
  // The least code of a number beside zero. Flushed, the codes below the first
  // exponent are zeros. The codes of specials that no sign tells apart stand
  // at the top.
  uint64_t first = !f.hasZero()      ? 0
                   : f.hasSubnormals ? 1
                                     : uint64_t{1} << f.mantissaBits;
  uint64_t specialCodes = f.hasInfinity() + (f.hasNaN() && !f.isSigned);
  bool hasRoom = f.magnitudeBits() > 0 && (f.specials == Specials::Ieee ||
                                           f.magnitudeMask() >= specialCodes);
  if (!hasRoom || f.maxCode() < first)
    return reader.fail(
        f.hasSubnormals ? "mantissa" : "subnormals",
        "the format has no number but zero, expected more "
        "exponent or mantissa bits" +
            llvm::Twine(f.hasSubnormals ? "" : ", or subnormals"));
  return true;
}

namespace {

class FloatFamily final : public ArithmeticFamily<FloatFormat> {
public:
  llvm::StringRef name() const override { return "float"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"exponent", "mantissa"};
    return keys;
  }

  std::optional<FloatFormat> asFloat(const Format &format) const override {
    return layout(format);
  }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t) const override {
    FloatFormat f = layout(format);
    return {{"sign", unsigned(f.isSigned)},
            {"exponent", unsigned(f.exponentBits)},
            {"significand", unsigned(f.mantissaBits)}};
  }

  bool isRuledName(llvm::StringRef name) const override {
    return isP3109Name(name);
  }
  Format formatOfRuledName(llvm::StringRef name,
                           std::string &error) const override {
    FloatFormat f{};
    return parseP3109Name(name, f, error) ? Format(*this, parametersOf(f))
                                          : Format();
  }
  std::string ruledName(const Format &format) const override {
    bool isPlain = format.getRounding() == Rounding::NearestEven &&
                   format.getChanges().empty();
    return isPlain ? p3109NameOf(layout(format)) : std::string();
  }

  Effort effort(OpKind operation, const Format &format) const override {
    // FloatFormat::decodeFast.
    return operation == OpKind::Cast && layout(format).isExponents()
               ? Effort::Short
               : ArithmeticFamily::effort(operation, format);
  }

  Range range(const Format &format) const override {
    Range range = ArithmeticFamily::range(format);
    FloatFormat f = layout(format);
    // Subnormal numbers alone: there is no hidden bit.
    if (f.maxExponent() < f.minExponent())
      range.precision = f.mantissaBits;
    else
      range.normalExponent = f.minExponent();
    return range;
  }

  SpecialCodes specialCodes(const Format &format) const override {
    FloatFormat f = layout(format);
    uint64_t signs = f.isSigned ? 2 : 1;
    uint64_t fractions = uint64_t{1} << f.mantissaBits;
    SpecialCodes codes = {
        .nan = f.hasNaN(), .infinity = f.hasInfinity() ? signs : 0, .zero = 0};
    if (f.specials == Specials::Ieee)
      codes.nan = signs * (fractions - 1);
    if (f.specials == Specials::Fn)
      codes.nan = signs;
    // All of the codes below the first binade where they are flushed. One of
    // them may be the NaN.
    if (f.hasZero())
      codes.zero = signs * (f.hasSubnormals ? 1 : fractions) -
                   (f.isSigned && !f.hasNegativeZero());
    return codes;
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override {
    return {"exponent",   "mantissa",   "bias",   "specials",
            "infinities", "subnormals", "signed", "overflow"};
  }

  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>>
  ownWords() const override {
    llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>> words;
    for (const Word &word : specialsWords)
      words.push_back({word.text, "specials"});
    words.push_back({"flush", "subnormals"});
    words.push_back({"unsigned", "signed"});
    for (const Word &word : floatOverflowWords)
      words.push_back({word.text, "overflow"});
    return words;
  }

  bool read(ParameterReader &reader, FloatFormat &f) const override {
    if (!reader.require("exponent") || !reader.require("mantissa") ||
        !reader.readInteger("exponent", 0, 16, f.exponentBits) ||
        !reader.readInteger("mantissa", 0, 52, f.mantissaBits) ||
        !reader.readWord("specials", specialsWords, f.specials))
      return false;
    f.isSigned = f.specials != Specials::Fnu;
    if (reader.has("infinities") && !f.isP3109())
      return reader.fail("infinities",
                         "'infinities' is a choice of p3109 specials alone");
    if (!reader.readWord("infinities", infinitiesWords, f.specials) ||
        !reader.readWord("subnormals", subnormalsWords, f.hasSubnormals) ||
        !reader.readWord("signed", signedWords, f.isSigned))
      return false;
    if (f.specials == Specials::Fnu && !f.hasSubnormals)
      return reader.fail("subnormals",
                         "a format with fnu specials has no subnormals");
    f.bias = defaultBias(f);
    f.overflow = defaultOverflow(f);
    if (!reader.readWord("overflow", floatOverflowWords, f.overflow) ||
        !reader.readInteger("bias", -65536, 65536, f.bias) ||
        !validate(reader, f))
      return false;
    return f.exponentBits != 0 || reader.has("bias") ||
           reader.fail("exponent", "exponent is '0', a format without exponent "
                                   "bits needs a bias");
  }

  std::string spell(const FloatFormat &f) const override {
    std::string text =
        llvm::itostr(f.exponentBits) + "," + llvm::itostr(f.mantissaBits);
    if (f.isP3109())
      text += ",p3109";
    else if (f.specials != Specials::Ieee)
      text +=
          "," + wordFor(specialsWords, static_cast<int32_t>(f.specials)).str();
    if (f.specials == Specials::P3109Finite)
      text += ",infinities=false";
    if (!f.isSigned && f.specials != Specials::Fnu)
      text += ",unsigned";
    if (f.exponentBits == 0 || f.bias != defaultBias(f))
      text += ",bias=" + llvm::itostr(f.bias);
    if (!f.hasSubnormals)
      text += ",flush";
    if (f.overflow != defaultOverflow(f))
      text += "," + nameOf(f.overflow).str();
    return text;
  }
};

} // namespace

namespace numera {
const FormatFamily &floatFamily() {
  static const FloatFamily family;
  return family;
}
} // namespace numera
