// SPDX-License-Identifier: MIT
//
// The family `opaque`: a name and a number of bits. What the bits mean, only a
// registered library knows.

#include "ParameterReader.h"
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

  llvm::StringRef keyOfWord(llvm::StringRef) const override { return {}; }

  llvm::SmallVector<llvm::StringRef> words() const override { return {}; }

  Format create(llvm::ArrayRef<Parameter> parameters, llvm::StringRef name,
                ParameterError &error) const override {
    ParameterReader reader(*this, parameters, error);
    int32_t bits = 0;
    if (!reader.checkKeys({"bits"}) || !reader.require("bits") ||
        !reader.readInteger("bits", 1, 64, bits))
      return {};
    if (name.empty()) {
      error = {.message = "an opaque format needs a name"};
      return {};
    }
    return Format(*this, {bits}, Rounding::NearestEven, name);
  }

  std::string spelling(const Format &format) const override {
    return ("opaque<\"" + format.getOpaqueName() + "\"," +
            llvm::Twine(width(format)) + ">")
        .str();
  }
  unsigned width(const Format &format) const override {
    return static_cast<unsigned>(format.getParameters()[0]);
  }

  bool hasArithmetic() const override { return false; }

  // By contract nobody calls the rest (hasArithmetic).
  Unpacked decode(const Format &, uint64_t) const override {
    return Unpacked::nan();
  }
  uint64_t encode(const Format &, const Unpacked &, Rounding) const override {
    return 0;
  }
  uint64_t evaluate(Operation, const Format &, llvm::ArrayRef<uint64_t>,
                    Rounding, int32_t) const override {
    return 0;
  }
  Range range(const Format &) const override { return {}; }
  int32_t precisionAt(const Format &, int32_t) const override { return 0; }
  uint64_t largest(const Format &) const override { return 0; }
  uint64_t lowest(const Format &) const override { return 0; }
  uint64_t highest(const Format &) const override { return 0; }
  bool embedsInF32(const Format &) const override { return false; }
  bool embedsInF64(const Format &) const override { return false; }
};

} // namespace

namespace numera {
const FormatFamily &opaqueFamily() {
  static const OpaqueFamily family;
  return family;
}
} // namespace numera
