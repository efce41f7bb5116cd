// SPDX-License-Identifier: MIT
//
// The family `float`: sign, exponent, significand (Numerics/Float.h).
//
//   float<5,7>   float<4,3,fn>   float<5,7,bias=9,flush,up,saturate>

#include "ArithmeticFamily.h"
#include "ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

static constexpr Word specialsWords[] = {
    {"ieee", int32_t(Specials::Ieee)},
    {"fn", int32_t(Specials::Fn)},
    {"fnuz", int32_t(Specials::Fnuz)},
    {"finite", int32_t(Specials::Finite)},
    {"fnu", Word::notYet},
    {"p3109", Word::notYet},
};
static constexpr Word subnormalsWords[] = {{"on", 1}, {"flush", 0}};
static constexpr Word signedWords[] = {
    {"true", 1}, {"false", Word::notYet}, {"unsigned", Word::notYet}};

/// What `bias` is where nobody says: the middle of the exponents.
static int32_t defaultBias(const FloatFormat &f) {
  int32_t half = f.exponentBits == 0 ? 0 : 1 << (f.exponentBits - 1);
  return f.specials == Specials::Fnuz ? half : half - 1;
}

static Overflow defaultOverflow(const FloatFormat &f) {
  return f.specials == Specials::Ieee ? Overflow::Infinity : Overflow::Saturate;
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
  // Flushed, the codes below the first exponent are zeros.
  uint64_t first = f.hasSubnormals ? 1 : uint64_t{1} << f.mantissaBits;
  if (f.magnitudeBits() == 0 || f.maxCode() < first)
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

  llvm::StringRef keyOfWord(llvm::StringRef word) const override {
    if (findWord(specialsWords, word))
      return "specials";
    if (word == "flush")
      return "subnormals";
    if (word == "unsigned")
      return "signed";
    if (findWord(roundingWords(), word))
      return "rounding";
    return findWord(overflowWords(), word) ? "overflow" : "";
  }

  llvm::SmallVector<llvm::StringRef> words() const override {
    llvm::SmallVector<llvm::StringRef> all = supported(specialsWords);
    all.push_back("flush");
    all.append(supported(roundingWords()));
    all.append(supported(overflowWords()));
    return all;
  }

  Format create(llvm::ArrayRef<Parameter> parameters, llvm::StringRef,
                ParameterError &error) const override {
    ParameterReader reader(*this, parameters, error);
    FloatFormat f{};
    Rounding rounding = Rounding::NearestEven;
    if (!reader.checkKeys({"exponent", "mantissa", "bias", "specials",
                           "subnormals", "signed", "rounding", "overflow"},
                          {"operations", "random-bits"}) ||
        !reader.require("exponent") || !reader.require("mantissa") ||
        !reader.readInteger("exponent", 0, 16, f.exponentBits) ||
        !reader.readInteger("mantissa", 0, 52, f.mantissaBits) ||
        !reader.readWord("specials", specialsWords, f.specials) ||
        !reader.readWord("subnormals", subnormalsWords, f.hasSubnormals) ||
        !reader.readWord("signed", signedWords, f.isSigned) ||
        !reader.readWord("rounding", roundingWords(), rounding))
      return {};
    f.bias = defaultBias(f);
    f.overflow = defaultOverflow(f);
    if (!reader.readWord("overflow", overflowWords(), f.overflow) ||
        !reader.readInteger("bias", -65536, 65536, f.bias) ||
        !validate(reader, f))
      return {};
    if (f.exponentBits == 0 && !reader.has("bias")) {
      reader.fail("exponent", "exponent is '0', a format without exponent bits "
                              "needs a bias");
      return {};
    }
    return Format(*this,
                  {f.exponentBits, f.mantissaBits, f.bias,
                   static_cast<int32_t>(f.specials), f.hasSubnormals,
                   f.isSigned, static_cast<int32_t>(f.overflow)},
                  rounding);
  }

  std::string spelling(const Format &format) const override {
    FloatFormat f = layout(format);
    std::string text = "float<" + llvm::itostr(f.exponentBits) + "," +
                       llvm::itostr(f.mantissaBits);
    if (f.specials != Specials::Ieee)
      text +=
          "," + wordFor(specialsWords, static_cast<int32_t>(f.specials)).str();
    if (f.exponentBits == 0 || f.bias != defaultBias(f))
      text += ",bias=" + llvm::itostr(f.bias);
    if (!f.hasSubnormals)
      text += ",flush";
    if (format.getRounding() != Rounding::NearestEven)
      text += "," + nameOf(format.getRounding()).str();
    if (f.overflow != defaultOverflow(f))
      text += "," + nameOf(f.overflow).str();
    return text + ">";
  }

  Range range(const Format &format) const override {
    Range range = ArithmeticFamily::range(format);
    FloatFormat f = layout(format);
    // Subnormal numbers alone: there is no hidden bit.
    if (f.maxExponent() < f.minExponent())
      range.precision = f.mantissaBits;
    return range;
  }

protected:
  FloatFormat layout(const Format &format) const override {
    llvm::ArrayRef<int32_t> p = format.getParameters();
    return {.exponentBits = p[0],
            .mantissaBits = p[1],
            .bias = p[2],
            .specials = static_cast<Specials>(p[3]),
            .hasSubnormals = p[4] != 0,
            .isSigned = p[5] != 0,
            .overflow = static_cast<Overflow>(p[6])};
  }
};

} // namespace

namespace numera {
const FormatFamily &floatFamily() {
  static const FloatFamily family;
  return family;
}
} // namespace numera
