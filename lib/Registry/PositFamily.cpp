// SPDX-License-Identifier: MIT
//
// The family `posit` (Numerics/Posit.h): posit<16,2>, posit<12,1,toward-zero>.

#include "ArithmeticFamily.h"
#include "ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {

class PositFamily final : public ArithmeticFamily<PositFormat> {
public:
  llvm::StringRef name() const override { return "posit"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"bits", "es"};
    return keys;
  }

  llvm::StringRef keyOfWord(llvm::StringRef word) const override {
    return findWord(roundingWords(), word) ? "rounding" : "";
  }

  llvm::SmallVector<llvm::StringRef> words() const override {
    return supported(roundingWords());
  }

  Format create(llvm::ArrayRef<Parameter> parameters, llvm::StringRef,
                ParameterError &error) const override {
    ParameterReader reader(*this, parameters, error);
    PositFormat f{.bits = 0, .es = 2}; // es of the 2022 standard
    Rounding rounding = Rounding::NearestEven;
    if (!reader.checkKeys({"bits", "es", "rounding"},
                          {"operations", "random-bits"}) ||
        !reader.require("bits") || !reader.readInteger("bits", 2, 64, f.bits) ||
        !reader.readInteger("es", 0, 4, f.es) ||
        !reader.readWord("rounding", roundingWords(), rounding))
      return {};
    return Format(*this, {f.bits, f.es}, rounding);
  }

  std::string spelling(const Format &format) const override {
    PositFormat f = layout(format);
    std::string text =
        "posit<" + llvm::itostr(f.bits) + "," + llvm::itostr(f.es);
    if (format.getRounding() != Rounding::NearestEven)
      text += "," + nameOf(format.getRounding()).str();
    return text + ">";
  }

protected:
  PositFormat layout(const Format &format) const override {
    llvm::ArrayRef<int32_t> p = format.getParameters();
    return {.bits = p[0], .es = p[1]};
  }
};

} // namespace

namespace numera {
const FormatFamily &positFamily() {
  static const PositFamily family;
  return family;
}
} // namespace numera
