// SPDX-License-Identifier: MIT
//
// The elements of dense constants as bytes. A model has millions: to make an
// attribute of each, as MLIR's iterators do, takes longer than to round them.

#ifndef NUMERA_DIALECT_NUMERA_IR_DENSECODES_H
#define NUMERA_DIALECT_NUMERA_IR_DENSECODES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include <cstring>

namespace numera {

/// True for elements that take whole bytes, as many as a code or a machine
/// number has: 1, 2, 4 or 8.
inline bool hasByteElements(mlir::Type element) {
  if (!element.isIntOrFloat())
    return false;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

namespace detail {
/// A copy of a known size is one instruction.
inline uint64_t loadCode(const char *place, size_t bytes) {
  uint64_t code = 0;
  switch (bytes) {
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
} // namespace detail

/// Reads the elements, whose type hasByteElements, as codes or bits of numbers.
class DenseCodes {
public:
  explicit DenseCodes(mlir::DenseElementsAttr elements)
      : raw(elements.getRawData()),
        bytes(elements.getElementType().getIntOrFloatBitWidth() / 8),
        isSplat(elements.isSplat()) {}
  /// The same of `raw` bytes of elements, or of one for all of them.
  DenseCodes(llvm::ArrayRef<char> raw, mlir::Type element)
      : raw(raw), bytes(element.getIntOrFloatBitWidth() / 8),
        isSplat(raw.size() == bytes) {}

  uint64_t operator[](int64_t index) const {
    return detail::loadCode(raw.data() + (isSplat ? 0 : size_t(index) * bytes),
                            bytes);
  }

private:
  llvm::ArrayRef<char> raw;
  size_t bytes;
  bool isSplat;
};

/// Takes the elements of such a type, by their places.
class DenseCodesBuilder {
public:
  /// For `count` elements, each of which is to be set.
  DenseCodesBuilder(mlir::Type element, int64_t count)
      : bytes(size_t(element.getIntOrFloatBitWidth()) / 8),
        size(size_t(count) * bytes), raw(SharedElements::allocate(size)) {}
  void set(int64_t index, uint64_t code) {
    char *place = raw.get() + size_t(index) * bytes;
    switch (bytes) { // as in loadCode
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
  uint64_t get(int64_t index) const {
    return detail::loadCode(raw.get() + size_t(index) * bytes, bytes);
  }
  /// A constant of all elements of `type`, or of one for all of them. Where all
  /// are equal it is a splat, as MLIR makes of them.
  mlir::DenseElementsAttr build(mlir::ShapedType type) const {
    return mlir::DenseElementsAttr::getFromRawBuffer(
        type, llvm::ArrayRef(raw.get(), areEqual() ? bytes : size));
  }
  /// The same; many elements are shared with this builder and not copied.
  mlir::ElementsAttr buildShared(mlir::ShapedType type) const {
    return areEqual() ? mlir::ElementsAttr(build(type))
                      : SharedElements::of(type.getContext())
                            .createConstant(type, raw);
  }

private:
  bool areEqual() const {
    return size >= bytes &&
           std::memcmp(raw.get(), raw.get() + bytes, size - bytes) == 0;
  }

  size_t bytes; ///< of an element
  size_t size;  ///< of all
  std::shared_ptr<char> raw;
};

} // namespace numera

#endif // NUMERA_DIALECT_NUMERA_IR_DENSECODES_H
