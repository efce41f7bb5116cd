// SPDX-License-Identifier: MIT
//
// The family `bposit` (BPosit.h): bposit<32,6,5>, bposit<16,6,2,up>.

#include "BPosit.h"
#include "numera/Registry/Formats/ArithmeticFamily.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {

class BPositFamily final : public ArithmeticFamily<BPositFormat> {
public:
  llvm::StringRef name() const override { return "bposit"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"bits", "regime", "es"};
    return keys;
  }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t code) const override {
    BPositFormat f = layout(format);
    uint64_t magnitude = f.absolute(code);
    auto regime = unsigned(f.regimeBits(f.runOf(magnitude)));
    auto es = unsigned(f.es);
    return {{"sign", 1},
            {"regime", regime},
            {"exponent", es},
            {"fraction", unsigned(f.bits) - 1 - regime - es}};
  }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override {
    return {"bits", "regime", "es"};
  }

  bool read(ParameterReader &reader, BPositFormat &f) const override {
    for (llvm::StringRef key : keys())
      if (!reader.require(key))
        return false;
    return reader.readInteger("bits", 4, 64, f.bits) &&
           reader.readInteger("regime", 2, f.bits - 2, f.regime) &&
           reader.readInteger("es", 0, std::min(8, f.bits - 2 - f.regime),
                              f.es);
  }

  std::string spell(const BPositFormat &f) const override {
    return llvm::itostr(f.bits) + "," + llvm::itostr(f.regime) + "," +
           llvm::itostr(f.es);
  }
};

} // namespace

namespace numera {
const FormatFamily &bpositFamily() {
  static const BPositFamily family;
  return family;
}
} // namespace numera
