// SPDX-License-Identifier: MIT
//
// Constants of a model, encoded at compile time.

#include "FloatTypes.h"
#include "Retype.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "numera/Dialect/Numera/IR/DenseCodes.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"

using namespace mlir;

namespace numera {

/// The format with which finite numbers are encoded: what is beyond becomes the
/// last number, where it would be an infinity or NaN. The lowest number of f32
/// masks in every format.
static Format formatOfFinite(const Format &format) {
  const FormatFamily &family = format.getFamily();
  return family.overflow(format) == Overflow::Infinity
             ? family.withOverflow(format, Overflow::Saturate)
             : format;
}

/// The code of a number; of an infinity, that of the greatest or the lowest.
static uint64_t encodeNumber(const Format &format, const Format &ofFinite,
                             const Unpacked &number) {
  const FormatFamily &family = format.getFamily();
  if (number.isInfinite())
    return number.negative ? family.lowest(format) : family.highest(format);
  return family.encode(ofFinite, number, format.getConstantRounding());
}

/// Of elements of f32, some at a time.
static void encodeFloats(const Format &format, ArrayRef<char> elements,
                         DenseCodesBuilder &codes) {
  constexpr size_t atOnce = 1024;
  float numbers[atOnce];
  uint64_t found[atOnce];
  size_t count = elements.size() / sizeof(float);
  Format ofFinite = formatOfFinite(format);
  for (size_t begin = 0; begin < count; begin += atOnce) {
    size_t some = std::min(atOnce, count - begin);
    std::memcpy(numbers, elements.data() + begin * sizeof(float),
                some * sizeof(float));
    format.getFamily().encodeAll(ofFinite, ArrayRef(numbers, some),
                                 format.getConstantRounding(),
                                 MutableArrayRef(found, some));
    for (size_t i = 0; i < some; ++i)
      codes.set(int64_t(begin + i),
                std::isinf(numbers[i])
                    ? encodeNumber(format, ofFinite,
                                   Unpacked::infinity(numbers[i] < 0))
                    : found[i]);
  }
}

/// The numbers of a constant, in the format `from`, one code an element. Large
/// ones are shared until types are lowered.
static ElementsAttr encodeElements(const Format &format, ElementsAttr values,
                                   const Format &from) {
  Format ofFinite = formatOfFinite(format);
  auto code = [&](uint64_t bits) {
    return encodeNumber(format, ofFinite, from.getFamily().decode(from, bits));
  };
  Type storage = IntegerType::get(values.getContext(), format.storageBits());
  ShapedType type = values.getShapedType().clone(storage);
  if (values.getElementType().isF32()) {
    ArrayRef<char> numbers = rawElements(values);
    DenseCodesBuilder codes(storage, int64_t(numbers.size() / sizeof(float)));
    encodeFloats(format, numbers, codes);
    return codes.buildShared(type);
  }
  if (hasByteElements(values.getElementType())) {
    ArrayRef<char> raw = rawElements(values);
    DenseCodes numbers(raw, values.getElementType());
    int64_t count = int64_t(raw.size()) /
                    (values.getElementType().getIntOrFloatBitWidth() / 8);
    DenseCodesBuilder codes(storage, count);
    for (int64_t i = 0; i < count; ++i)
      codes.set(i, code(numbers[i]));
    return codes.buildShared(type);
  }
  DenseElementsAttr dense = denseElements(values);
  int64_t count = dense.isSplat() ? 1 : dense.getNumElements();
  DenseCodesBuilder codes(storage, count);
  auto elements = dense.getValues<APFloat>();
  for (int64_t i = 0; i < count; ++i)
    codes.set(i, code(elements[i].bitcastToAPInt().getZExtValue()));
  return codes.build(type);
}

/// The format that a constant of floats is in.
static Format sourceOf(OpBuilder &builder, TypedAttr value) {
  auto *dialect = builder.getContext()->getOrLoadDialect<NumeraDialect>();
  return formatOfFloat(dialect->getRegistry(),
                       cast<FloatType>(numera::elementType(value.getType())));
}

/// The code that the entry of an opaque format gives for a number; none where
/// it gives none.
static std::optional<APInt> identityOf(OpBuilder &builder, const Format &format,
                                       Attribute value) {
  auto *dialect = builder.getContext()->getOrLoadDialect<NumeraDialect>();
  const Registry::NamedFormat *entry = dialect->getRegistry().entryOf(format);
  auto number = dyn_cast<FloatAttr>(value);
  if (!entry || !number)
    return std::nullopt;
  const APFloat &exact = number.getValue();
  const Identities &identities = entry->identities;
  if (exact.isNaN())
    return identities.nan;
  if (exact.isInfinity())
    return exact.isNegative() ? identities.lowest : identities.highest;
  if (exact.isPosZero())
    return identities.zero;
  return exact.isExactlyValue(1.0) ? identities.one : std::nullopt;
}

/// A constant of an opaque format: what its entry gives, else a cast.
static Value createOpaqueConstant(OpBuilder &builder, Location loc, Type type,
                                  const Format &format, TypedAttr value) {
  auto elements = dyn_cast<DenseElementsAttr>(value);
  Attribute number = value;
  if (elements)
    number =
        elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
  std::optional<APInt> code =
      number ? identityOf(builder, format, number) : std::nullopt;
  if (!code) { // libraries cast from f32 and f64
    bool isF64 = numera::elementType(value.getType()).isF64();
    return CastOp::create(
        builder, loc, type,
        createConstant(builder, loc, isF64 ? formatF64() : formatF32(), value));
  }
  Type storage = builder.getIntegerType(format.storageBits());
  TypedAttr bits = builder.getIntegerAttr(storage, *code);
  if (elements)
    bits = DenseElementsAttr::get(elements.getType().clone(storage), bits);
  return ConstantOp::create(builder, loc, type, bits);
}

/// On a constant that has been encoded, the f32 that it was made from.
static constexpr llvm::StringLiteral originName = "numera.origin";

void keepOrigin(Value constant, TypedAttr value) {
  if (auto encoded = constant.getDefiningOp<ConstantOp>())
    encoded->setAttr(originName, value);
}
void dropOrigins(ModuleOp module) {
  module.walk([](ConstantOp op) { op->removeAttr(originName); });
}

Value fromOrigin(OpBuilder &builder, Value value, const Format &format) {
  Operation *op = value.getDefiningOp();
  Type element = typeOfFormat(builder.getContext(), format);
  if (!op || !isa<RankedTensorType>(value.getType()))
    return {};
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return numera::elementType(constant.getType()).isF32()
               ? createConstant(builder, op->getLoc(), format,
                                constant.getValue())
               : Value();
  if (isa<ConstantOp>(op)) {
    auto origin = op->getAttrOfType<TypedAttr>(originName);
    return origin ? createConstant(builder, op->getLoc(), format, origin)
                  : Value();
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return tensor::EmptyOp::create(
        builder, op->getLoc(),
        cast<RankedTensorType>(withElement(empty.getType(), element)),
        empty.getDynamicSizes());
  if (auto cast = dyn_cast<CastOp>(op))
    return fromOrigin(builder, cast->getOperand(0), format);
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (op->getNumResults() != 1 || (op->getNumRegions() > 0 && !generic) ||
      (generic && generic.getBody()->getOperations().size() != 1))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType()) ||
        numera::elementType(operand.getType()) !=
            numera::elementType(value.getType()))
      continue;
    Value again = fromOrigin(builder, operand, format);
    if (!again)
      return {};
    mapping.map(operand, again);
  }
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(withElement(value.getType(), element));
  if (generic)
    for (Value argument :
         cast<linalg::GenericOp>(copy).getBody()->getArguments())
      argument.setType(element);
  return copy->getResult(0);
}

Value createConstant(OpBuilder &builder, Location loc, const Format &format,
                     TypedAttr value) {
  Type element = typeOfFormat(builder.getContext(), format);
  auto shaped = dyn_cast<ShapedType>(value.getType());
  Type type = shaped ? Type(shaped.clone(element)) : element;
  bool isOpaque = !format.getFamily().hasArithmetic();
  if (type == value.getType())
    return arith::ConstantOp::create(builder, loc, value);
  if (shaped && (isOpaque || isa<FloatType>(element)))
    value = denseElements(value);
  if (isOpaque)
    return createOpaqueConstant(builder, loc, type, format, value);
  Format from = sourceOf(builder, value);
  if (isa<FloatType>(element))
    return CastOp::create(builder, loc, type,
                          createConstant(builder, loc, from, value));
  if (shaped)
    return ConstantOp::create(
        builder, loc, type,
        encodeElements(format, cast<ElementsAttr>(value), from));
  auto one = RankedTensorType::get({1}, value.getType());
  auto codes = encodeElements(format, DenseElementsAttr::get(one, value), from);
  return ConstantOp::create(
      builder, loc, type,
      cast<TypedAttr>(
          cast<DenseElementsAttr>(codes).getSplatValue<Attribute>()));
}

void uniteWeights(ModuleOp module) {
  SharedConstants weights;
  weights.find(module);
  weights.unite();
}

} // namespace numera
