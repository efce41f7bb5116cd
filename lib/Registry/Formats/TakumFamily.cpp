// SPDX-License-Identifier: MIT
//
// The family `takum` (Numerics/Formats/Takum.h): takum<16>,
// takum<12,toward-zero>.

#include "numera/Numerics/Formats/Takum.h"
#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {

class TakumFamily final : public ArithmeticFamily<TakumFormat> {
public:
  llvm::StringRef name() const override { return "takum"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"bits"};
    return keys;
  }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t code) const override {
    TakumFormat f = layout(format);
    auto characteristic = unsigned(f.characteristicBits(code));
    llvm::SmallVector<Field> fields = {{"sign", 1},
                                       {"direction", 1},
                                       {"regime", 3},
                                       {"characteristic", characteristic},
                                       {"mantissa", 64}};
    // A short code ends within any of them.
    auto left = unsigned(f.bits);
    for (Field &field : fields) {
      field.bits = std::min(field.bits, left);
      left -= field.bits;
    }
    return fields;
  }

  /// Operations are in f64, on half as many lanes, between longer codecs.
  Effort effort(OpKind operation, const Format &format) const override {
    Effort effort = ArithmeticFamily::effort(operation, format);
    if (effort != Effort::Short)
      return effort;
    return operation == OpKind::Cast ? Effort::Long : Effort::Slow;
  }

  /// Tables of products and sums take less than two roundings in f64.
  CarrierStep carrierStep(const Format &format) const override {
    return format.width() <= 8 ? CarrierStep()
                               : ArithmeticFamily::carrierStep(format);
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override { return {"bits"}; }

  bool read(ParameterReader &reader, TakumFormat &f) const override {
    return reader.require("bits") && reader.readInteger("bits", 2, 64, f.bits);
  }

  std::string spell(const TakumFormat &f) const override {
    return llvm::itostr(f.bits);
  }
};

} // namespace

namespace numera {
const FormatFamily &takumFamily() {
  static const TakumFamily family;
  return family;
}
} // namespace numera
