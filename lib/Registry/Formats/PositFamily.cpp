// SPDX-License-Identifier: MIT
//
// The family `posit` (Numerics/Formats/Posit.h): posit<16,2>,
// posit<12,1,toward-zero>.

#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
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

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t code) const override {
    PositFormat f = layout(format);
    auto bits = unsigned(f.bits);
    if (code == 0 || f.isNaN(code))
      return {{"sign", 1}, {"regime", bits - 1}};
    // The regime is its run and the bit that ends it, where there is one.
    unsigned fraction = unsigned(f.fractionBits(f.absolute(code)));
    unsigned regime = unsigned(f.regimeBits(f.absolute(code)));
    return {{"sign", 1},
            {"regime", regime},
            {"exponent", bits - 1 - regime - fraction},
            {"fraction", fraction}};
  }

  /// The regime is as long as the value wants.
  Effort effort(OpKind operation, const Format &format) const override {
    Effort effort = ArithmeticFamily::effort(operation, format);
    return effort == Effort::Short ? Effort::Long : effort;
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override {
    return {"bits", "es"};
  }

  bool read(ParameterReader &reader, PositFormat &f) const override {
    f.es = 2; // of the 2022 standard
    return reader.require("bits") &&
           reader.readInteger("bits", 2, 64, f.bits) &&
           reader.readInteger("es", 0, 4, f.es);
  }

  std::string spell(const PositFormat &f) const override {
    return llvm::itostr(f.bits) + "," + llvm::itostr(f.es);
  }
};

} // namespace

namespace numera {
const FormatFamily &positFamily() {
  static const PositFamily family;
  return family;
}
} // namespace numera
