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
    const char *place = raw.data() + (isSplat ? 0 : index * bytes);
    uint64_t code = 0;
    switch (bytes) { // a copy of a known size is one instruction
    case 1:
      std::memcpy(&code, place, 1);
      break;
    case 2:
      std::memcpy(&code, place, 2);
      break;
    case 4:
      std::memcpy(&code, place, 4);
      break;
    default:
      std::memcpy(&code, place, 8);
    }
    return code;
  }

private:
  llvm::ArrayRef<char> raw;
  int64_t bytes;
  bool isSplat;
};

/// Takes the elements of such a type, by their places.
class DenseCodesBuilder {
public:
  /// For `count` elements.
  DenseCodesBuilder(mlir::Type element, int64_t count)
      : bytes(size_t(element.getIntOrFloatBitWidth()) / 8),
        raw(size_t(count) * bytes) {}
  void set(int64_t index, uint64_t code) {
    char *place = raw.data() + size_t(index) * bytes;
    switch (bytes) { // a copy of a known size is one instruction
    case 1:
      std::memcpy(place, &code, 1);
      break;
    case 2:
      std::memcpy(place, &code, 2);
      break;
    case 4:
      std::memcpy(place, &code, 4);
      break;
    default:
      std::memcpy(place, &code, 8);
    }
  }
  /// A constant of all elements of `type`, or of one for all of them. Where all
  /// are equal it is a splat, as MLIR makes of them.
  mlir::DenseElementsAttr build(mlir::ShapedType type) {
    if (raw.size() > bytes &&
        std::memcmp(raw.data(), raw.data() + bytes, raw.size() - bytes) == 0)
      raw.resize(bytes);
    return mlir::DenseElementsAttr::getFromRawBuffer(type, raw);
  }

private:
  size_t bytes;
  std::vector<char> raw;
};

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_DENSECODES_H
