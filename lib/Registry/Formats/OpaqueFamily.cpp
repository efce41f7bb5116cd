// SPDX-License-Identifier: MIT
//
// The family `opaque`: a name and a number of bits. Only a registered library
// defines what the bits mean. There may be up to 256 of them: codes of more
// than 64 are in compiled programs only, and no function below is given one.

#include "numera/Registry/Formats/ParameterReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace numera;

namespace {

class OpaqueFamily final : public FormatFamily {
public:
  llvm::StringRef name() const override { return "opaque"; }

  llvm::ArrayRef<llvm::StringLiteral> positionalKeys() const override {
    static constexpr llvm::StringLiteral keys[] = {"bits"};
    return keys;
  }

  unsigned width(const Format &format) const override {
    return static_cast<unsigned>(format.getParameters()[0]);
  }

  bool hasArithmetic() const override { return false; }

  llvm::SmallVector<Field> fields(const Format &format,
                                  uint64_t) const override {
    return {{"bits", width(format)}};
  }

  // By contract nobody calls the rest (hasArithmetic).
  Unpacked decode(const Format &, uint64_t) const override {
    return Unpacked::nan();
  }
  uint64_t encode(const Format &, const Unpacked &,
                  RoundingMode) const override {
    return 0;
  }
  void encodeAll(const Format &, llvm::ArrayRef<float>, RoundingMode,
                 llvm::MutableArrayRef<uint64_t>) const override {}
  uint64_t evaluate(OpKind, const Format &, llvm::ArrayRef<uint64_t>,
                    RoundingMode, int32_t) const override {
    return 0;
  }
  uint64_t truncate(const Format &, uint64_t code, int32_t) const override {
    return code;
  }
  Format withOverflow(const Format &, Overflow) const override { return {}; }
  Overflow overflow(const Format &) const override { return {}; }
  SpecialCodes specialCodes(const Format &) const override { return {}; }
  Range range(const Format &) const override { return {}; }
  int32_t precisionAt(const Format &, int32_t) const override { return 0; }
  QuireLayout quire(const Format &) const override { return {}; }
  uint64_t largest(const Format &) const override { return 0; }
  uint64_t lowest(const Format &) const override { return 0; }
  uint64_t highest(const Format &) const override { return 0; }
  bool embedsInF32(const Format &) const override { return false; }
  bool embedsInF64(const Format &) const override { return false; }

protected:
  llvm::SmallVector<llvm::StringRef> keys() const override { return {"bits"}; }

  bool read(ParameterReader &reader,
            llvm::SmallVectorImpl<int32_t> &parameters) const override {
    parameters.assign(1, 0);
    return reader.require("bits") &&
           reader.readInteger("bits", 1, 256, parameters[0]);
  }
  std::string spell(const Format &format) const override {
    return ("\"" + format.getOpaqueName() + "\"," + llvm::Twine(width(format)))
        .str();
  }
};

} // namespace

namespace numera {
const FormatFamily &opaqueFamily() {
  static const OpaqueFamily family;
  return family;
}
} // namespace numera
