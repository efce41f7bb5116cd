// SPDX-License-Identifier: MIT
//
// The family `lns` (Numerics/Formats/Lns.h): lns<5,10>, lns<4,3,toward-zero>.

#include "numera/Numerics/Formats/Lns.h"
#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {

class LnsFamily final : public ArithmeticFamily<LnsFormat> {
public:
  llvm::StringRef name() const override { return "lns"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"integer", "fraction"};
    return keys;
  }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t) const override {
    LnsFormat f = layout(format);
    return {{"sign", 1},
            {"integer", unsigned(1 + f.integer)},
            {"fraction", unsigned(f.fraction)}};
  }

  bool isIrrational() const override { return true; }
  /// A product is a sum of logarithms.
  Effort effort(OpKind operation, const Format &format) const override {
    return operation == OpKind::Mul || operation == OpKind::Div
               ? Effort::Long
               : ArithmeticFamily::effort(operation, format);
  }

  /// Every binade from the least logarithm to the largest has 2^fraction
  /// values; the least lacks its power of two.
  int32_t precisionAt(const Format &format, int32_t exponent) const override {
    LnsFormat f = layout(format);
    bool inRange = f.leastExponent() <= exponent && exponent <= f.maxExponent();
    return inRange ? f.precision() : 0;
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override {
    return {"integer", "fraction"};
  }

  bool read(ParameterReader &reader, LnsFormat &f) const override {
    return reader.require("integer") && reader.require("fraction") &&
           reader.readInteger("integer", 1, 11, f.integer) &&
           reader.readInteger("fraction", 0, 62 - f.integer, f.fraction);
  }

  std::string spell(const LnsFormat &f) const override {
    return llvm::itostr(f.integer) + "," + llvm::itostr(f.fraction);
  }
};

} // namespace

namespace numera {
const FormatFamily &lnsFamily() {
  static const LnsFamily family;
  return family;
}
} // namespace numera
