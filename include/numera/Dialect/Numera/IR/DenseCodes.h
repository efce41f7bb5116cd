// SPDX-License-Identifier: MIT
//
// The elements of dense constants as bytes. A model has millions: to make an
// attribute of each, as MLIR's iterators do, takes longer than to round them.

#ifndef NUMERA_DIALECT_NUMERA_IR_DENSECODES_H
#define NUMERA_DIALECT_NUMERA_IR_DENSECODES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cstring>
#include <vector>

namespace numera {

/// True for elements that take whole bytes, as many as a code or a machine
/// number has: 1, 2, 4 or 8.
inline bool hasByteElements(mlir::Type element) {
  if (!element.isIntOrFloat())
    return false;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// Reads the elements, whose type hasByteElements, as codes or bits of numbers.
class DenseCodes {
public:
  explicit DenseCodes(mlir::DenseElementsAttr elements)
      : raw(elements.getRawData()),
        bytes(elements.getElementType().getIntOrFloatBitWidth() / 8),
        isSplat(elements.isSplat()) {}

  uint64_t operator[](int64_t index) const {
    uint64_t code = 0;
    std::memcpy(&code, raw.data() + (isSplat ? 0 : index * bytes),
                size_t(bytes));
    return code;
  }

private:
  llvm::ArrayRef<char> raw;
  int64_t bytes;
  bool isSplat;
};

/// Collects elements of such a type, one after the other.
class DenseCodesBuilder {
public:
  /// For `count` elements.
  DenseCodesBuilder(mlir::Type element, int64_t count)
      : bytes(element.getIntOrFloatBitWidth() / 8) {
    raw.reserve(size_t(count * bytes));
  }
  void push_back(uint64_t code) {
    const auto *begin = reinterpret_cast<const char *>(&code);
    raw.insert(raw.end(), begin, begin + bytes);
  }
  /// A constant of all elements of `type`, or of one for all of them. Where all
  /// are equal it is a splat, as MLIR makes of them.
  mlir::DenseElementsAttr build(mlir::ShapedType type) {
    size_t size = size_t(bytes);
    if (raw.size() > size &&
        std::memcmp(raw.data(), raw.data() + size, raw.size() - size) == 0)
      raw.resize(size);
    return mlir::DenseElementsAttr::getFromRawBuffer(type, raw);
  }

private:
  std::vector<char> raw;
  int64_t bytes;
};

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_DENSECODES_H
