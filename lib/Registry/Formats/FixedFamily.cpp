// SPDX-License-Identifier: MIT
//
// The family `fixed` (Numerics/Formats/Fixed.h): fixed<4,11>,
// fixed<4,11,unsigned,wrap,up>.

#include "numera/Numerics/Formats/Fixed.h"
#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

static constexpr Word fixedSignedWords[] = {
    {"true", 1}, {"false", 0}, {"unsigned", 0}};
static constexpr Word fixedOverflowWords[] = {
    {"saturate", int32_t(Overflow::Saturate)},
    {"wrap", int32_t(Overflow::Wrap)},
};

namespace {

class FixedFamily final : public ArithmeticFamily<FixedFormat> {
public:
  llvm::StringRef name() const override { return "fixed"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"integer", "fraction"};
    return keys;
  }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t) const override {
    FixedFormat f = layout(format);
    return {{"sign", unsigned(f.isSigned)},
            {"integer", unsigned(f.integer)},
            {"fraction", unsigned(f.fraction)}};
  }

  bool accumulatesExactly() const override { return true; }
  bool isEvenlySpaced() const override { return true; }
  /// Integers of the machine, which it turns into its floats and back.
  Effort effort(OpKind operation, const Format &format) const override {
    using enum OpKind;
    if (operation == Cast)
      return Effort::Short;
    return operation == Add || operation == Sub || operation == Mul
               ? Effort::Codes
               : ArithmeticFamily::effort(operation, format);
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override {
    return {"integer", "fraction", "signed", "overflow"};
  }

  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>>
  ownWords() const override {
    return {
        {"unsigned", "signed"}, {"saturate", "overflow"}, {"wrap", "overflow"}};
  }

  bool allowsOverflow(Overflow overflow) const override {
    return overflow == Overflow::Saturate || overflow == Overflow::Wrap;
  }

  bool read(ParameterReader &reader, FixedFormat &f) const override {
    if (!reader.require("integer") || !reader.require("fraction") ||
        !reader.readInteger("integer", 0, 64, f.integer) ||
        !reader.readInteger("fraction", 0, 64, f.fraction) ||
        !reader.readWord("signed", fixedSignedWords, f.isSigned) ||
        !reader.readWord("overflow", fixedOverflowWords, f.overflow))
      return false;
    if (f.magnitudeBits() == 0)
      return reader.fail("fraction", "integer and fraction are '0', expected "
                                     "at least one bit");
    return f.width() <= 64 ||
           reader.fail("fraction", llvm::Twine(f.integer) + " integer bits" +
                                       (f.isSigned ? ", " : " and ") +
                                       llvm::Twine(f.fraction) +
                                       " fraction bits" +
                                       (f.isSigned ? " and a sign" : "") +
                                       " are " + llvm::Twine(f.width()) +
                                       " bits, expected at most "
                                       "64");
  }

  std::string spell(const FixedFormat &f) const override {
    return llvm::itostr(f.integer) + "," + llvm::itostr(f.fraction) +
           (f.isSigned ? "" : ",unsigned") +
           (f.overflow == Overflow::Wrap ? ",wrap" : "");
  }
};

} // namespace

namespace numera {
const FormatFamily &fixedFamily() {
  static const FixedFamily family;
  return family;
}
} // namespace numera
