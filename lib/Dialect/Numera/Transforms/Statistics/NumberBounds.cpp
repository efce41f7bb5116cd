// SPDX-License-Identifier: MIT

#include "NumberBounds.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/DenseCodes.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace numera {

NumberBounds boundsOf(const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  NumberBounds bounds;
  bounds.limit = range.maxExponent + 1;
  bounds.hasInfinity = range.hasInfinity;
  bounds.hasNaN = range.hasNaN;
  bounds.precision = range.precision;
  bounds.unit = bounds.least = range.leastExponent;
  for (int e = range.leastExponent; e <= range.maxExponent; ++e)
    bounds.unit = std::min(bounds.unit,
                           e + 1 - std::max(family.precisionAt(format, e), 1));
  return bounds;
}

Format knownFormat(Type type) {
  Format format = formatOfType(elementType(type));
  return format && format.getFamily().hasArithmetic() &&
                 !format.getFamily().isIrrational()
             ? format
             : Format();
}

bool isZero(Value value) {
  Attribute constant = valueOfConstant(value);
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(constant))
    constant = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValue().isZero();
  auto code = dyn_cast_or_null<IntegerAttr>(constant);
  Format format = knownFormat(value.getType());
  return code && format &&
         format.getFamily()
             .decode(format, code.getValue().getZExtValue())
             .isZero();
}

/// Of the elements of a constant.
static NumberBounds boundsOf(const Format &format, const DenseCodes &elements,
                             int64_t count) {
  const FormatFamily &family = format.getFamily();
  NumberBounds bounds;
  bounds.isConstant = true;
  // Elements are many, and of a narrow format most were there before.
  constexpr unsigned narrow = 16;
  bool isNarrow = format.storageBits() <= narrow;
  llvm::BitVector isKnown(isNarrow ? 1u << narrow : 0u);
  auto add = [&](uint64_t code) {
    if (isNarrow && isKnown.test(unsigned(code)))
      return;
    if (isNarrow)
      isKnown.set(unsigned(code));
    Unpacked number = family.decode(format, code);
    bounds.hasInfinity |= number.isInfinite();
    bounds.hasNaN |= number.isNaN();
    if (!number.isFinite())
      return;
    // All of its digits: the formats are binary.
    int precision = 64 - llvm::countr_zero(number.significand);
    bounds.precision = std::max(bounds.precision, precision);
    bounds.least = std::min(bounds.least, number.exponent);
    bounds.limit = std::max(bounds.limit, number.exponent + 1);
    bounds.unit = std::min(bounds.unit, number.exponent + 1 - precision);
  };
  for (int64_t i = 0; i < count; ++i)
    add(elements[i]);
  return bounds;
}

bool keepsNumbers(CastOp op) {
  auto interface = cast<FormatOpInterface>(op.getOperation());
  ElementKind from = interface.getOperandElement(0);
  return from.isFormat() && isExactCast(from.format, interface.getRules());
}

std::optional<NumberBounds> boundsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op)) {
    if (keepsNumbers(cast))
      return boundsOf(op->getOperand(0));
  } else if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    if (padding && isZero(padding))
      return boundsOf(pad.getSource());
  } else if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    return boundsOf(fill.value());
  } else if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                             tensor::ExtractSliceOp, tensor::CastOp>(op)) {
    return boundsOf(op->getOperand(0));
  }
  if (isZero(value))
    return NumberBounds();
  Format format = knownFormat(value.getType());
  if (!format)
    return std::nullopt;
  auto elements = dyn_cast_or_null<ElementsAttr>(valueOfConstant(value));
  ArrayRef<char> raw = rawElements(elements);
  if (!raw.empty() && hasByteElements(elements.getElementType())) {
    DenseCodes codes(raw, elements.getElementType());
    return boundsOf(format, codes,
                    elements.isSplat() ? 1 : elements.getNumElements());
  }
  return boundsOf(format);
}

} // namespace numera
