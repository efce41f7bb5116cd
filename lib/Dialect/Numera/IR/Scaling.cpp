// SPDX-License-Identifier: MIT
//
// The encoding of scaled tensors: its syntax and rules, and those of the
// operations on such tensors.

#include "FormatSyntax.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace numera {

//===----------------------------------------------------------------------===//
// #numera.scaling
//===----------------------------------------------------------------------===//

/// `, axis = 1`, `, block = 32`, `, tensor`, `, full = 240.0` and `, packed`,
/// as far as they are there.
static ParseResult parseRest(AsmParser &parser, Scaling &scaling,
                             int64_t &axis) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc place = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return failure();
    if (key == "tensor") {
      scaling.hasTensorScale = true;
    } else if (key == "packed") {
      scaling.isPacked = true;
    } else if (key == "full") {
      double full = 0;
      if (parser.parseEqual() || parser.parseFloat(full))
        return failure();
      scaling.fullScale = float(full);
    } else if (key == "axis") {
      if (parser.parseEqual() || parser.parseInteger(axis))
        return failure();
    } else if (key == "block") {
      if (parser.parseEqual() || parser.parseInteger(scaling.block))
        return failure();
    } else {
      return parser.emitError(place,
                              "expected 'axis', 'block', 'tensor', 'full' or "
                              "'packed'");
    }
  }
  return success();
}

Attribute ScalingAttr::parse(AsmParser &parser, Type) {
  Scaling scaling;
  int64_t axis = -1;
  std::string name;
  if (parser.parseLess())
    return {};
  SMLoc place = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name))) {
    StringRef word;
    if (parser.parseKeyword(&word))
      return {};
    name = word.str();
  }
  std::optional<ScaleRule> rule = scaleRuleFromName(name);
  if (!rule) {
    parser.emitError(place, "unknown rule '" + name +
                                "'; expected floor, ceil, even, "
                                "\"round-up-ceil\", absmax or range");
    return {};
  }
  scaling.rule = *rule;
  if (parser.parseComma())
    return {};
  scaling.scale = parseFormat(parser);
  if (!scaling.scale || parseRest(parser, scaling, axis) ||
      parser.parseGreater())
    return {};
  return ScalingAttr::get(parser.getContext(), scaling, axis);
}

void ScalingAttr::print(AsmPrinter &printer) const {
  StringRef rule = numera::nameOf(getScaling().rule);
  printer << '<';
  if (rule.contains('-')) // no keyword of MLIR's
    printer << '"' << rule << '"';
  else
    printer << rule;
  printer << ", ";
  printFormat(printer, getScaling().scale);
  if (getAxis() >= 0)
    printer << ", axis = " << getAxis();
  if (getScaling().block)
    printer << ", block = " << getScaling().block;
  if (getScaling().hasTensorScale)
    printer << ", tensor";
  if (getScaling().fullScale != 0)
    printer << ", full = "
            << llvm::format("%.9e", double(getScaling().fullScale));
  if (getScaling().isPacked)
    printer << ", packed";
  printer << '>';
}

LogicalResult ScalingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type element,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  // The parser asks although it has reported the element type.
  if (!element)
    return failure();
  auto num = dyn_cast<NumType>(element);
  if (!num)
    return emitError() << "a scaled tensor has elements of type " << element
                       << "; expected a '!numera.num'";
  if (getAxis() >= int64_t(shape.size()))
    return emitError() << "scales along axis " << getAxis()
                       << " of a tensor of rank " << shape.size();
  if (getScaling().block != 0 && (getAxis() < 0 || getScaling().block < 2))
    return emitError() << "blocks of " << getScaling().block
                       << " elements; expected 2 or more, along an axis";
  std::string fault = checkScaledFormat({num.getFormat(), getScaling()});
  if (!fault.empty())
    return emitError() << fault;
  return success();
}

ScalingAttr scalingOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<ScalingAttr>(tensor.getEncoding())
                : ScalingAttr();
}

ScaledFormat scaledFormatOf(RankedTensorType type) {
  return {cast<NumType>(type.getElementType()).getFormat(),
          scalingOf(type).getScaling()};
}

RankedTensorType scaledType(RankedTensorType values, const ScaledFormat &format,
                            int64_t axis) {
  MLIRContext *context = values.getContext();
  return RankedTensorType::get(values.getShape(),
                               NumType::get(context, format.element),
                               ScalingAttr::get(context, format.scaling, axis));
}

SmallVector<int64_t> scaleShapeOf(RankedTensorType type) {
  ScalingAttr scaling = scalingOf(type);
  int64_t axis = scaling.getAxis(), block = scaling.getScaling().block;
  if (axis < 0)
    return {};
  int64_t size = type.getDimSize(axis);
  if (block == 0)
    return {size};
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = ShapedType::isDynamic(size) ? size : (size + block - 1) / block;
  return shape;
}

SmallVector<ScaledPart> partsOf(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  ScaledFormat format = scaledFormatOf(type);
  Type element = type.getElementType();
  bool isPacked = format.scaling.isPacked &&
                  unsigned(format.element.width()) !=
                      cast<NumType>(element).getStorageType().getWidth();
  Attribute packed = isPacked ? PackedAttr::get(context) : Attribute();
  SmallVector<int64_t> shape = scaleShapeOf(type);
  Type scale = typeOfFormat(context, format.scaling.scale);
  SmallVector<ScaledPart> parts = {
      {RankedTensorType::get(type.getShape(), element, packed), ""},
      {RankedTensorType::get(shape, scale), ".scales"}};
  if (format.hasZeroPoint())
    parts.push_back({RankedTensorType::get(shape, element), ".zeros"});
  if (format.scaling.hasTensorScale)
    parts.push_back({RankedTensorType::get({}, Float32Type::get(context)),
                     ".tensor_scale"});
  return parts;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyScaled(Operation *op, Type type) {
  if (scalingOf(type))
    return success();
  return op->emitOpError("has type ")
         << type << "; expected a tensor with the encoding #numera.scaling";
}

static LogicalResult verifyShapes(Operation *op, Type x, Type y) {
  auto from = cast<RankedTensorType>(x), to = cast<RankedTensorType>(y);
  if (from.getShape() == to.getShape())
    return success();
  return op->emitOpError("turns ")
         << from << " into " << to << "; expected the same shape";
}

LogicalResult QuantizeOp::verify() {
  if (getInput().getType().getEncoding())
    return emitOpError("quantizes ")
           << getInput().getType() << "; expected no encoding";
  if (failed(verifyScaled(*this, getType())) ||
      failed(verifyShapes(*this, getInput().getType(), getType())))
    return failure();
  if (getScales() && scalingOf(getType()).getScaling().hasTensorScale)
    return emitOpError("is given scales, which are not relative to one of the "
                       "tensor; expected a result without 'tensor'");
  bool takesZeros = getScales() && scaledFormatOf(getType()).hasZeroPoint();
  if (takesZeros != bool(getZeros()))
    return emitOpError(takesZeros
                           ? "is given scales, and rule 'min-max' has zero "
                             "points beside them; expected both"
                           : "is given zero points, which go with scales of "
                             "rule 'min-max'; expected none");
  auto expected = RankedTensorType::get(scaleShapeOf(getType()),
                                        Float32Type::get(getContext()));
  for (Value given : {getScales(), getZeros()})
    if (given && given.getType() != expected)
      return emitOpError("is given ")
             << (given == getScales() ? "scales" : "zero points") << " of type "
             << given.getType() << "; expected " << expected;
  return success();
}

/// `types` are those of the parts of `scaled`.
static LogicalResult verifyParts(Operation *op, RankedTensorType scaled,
                                 TypeRange types) {
  if (failed(verifyScaled(op, scaled)))
    return failure();
  SmallVector<Type> expected;
  for (const ScaledPart &part : partsOf(scaled))
    expected.push_back(part.type);
  if (types == TypeRange(expected))
    return success();
  return op->emitOpError("has parts of type ")
         << types << "; expected " << expected;
}

LogicalResult ScaledFromPartsOp::verify() {
  return verifyParts(*this, getType(), getParts().getTypes());
}

LogicalResult ScaledPartsOp::verify() {
  return verifyParts(*this, getOperand().getType(), getParts().getTypes());
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyScaled(*this, getInput().getType())))
    return failure();
  return verifyShapes(*this, getInput().getType(), getType());
}

/// Operations on data and one scale apart.
static LogicalResult verifyRange(Operation *op) {
  for (Type type : op->getOperandTypes()) {
    if (failed(verifyScaled(op, type)))
      return failure();
    ScalingAttr scaling = scalingOf(type);
    if (scaling.getAxis() >= 0 || scaling.getScaling().rule != ScaleRule::Range)
      return op->emitOpError("has scales of ")
             << scaling << "; expected one with rule 'range'";
  }
  return success();
}

LogicalResult ScaledAddOp::verify() { return verifyRange(*this); }
LogicalResult ScaledReluOp::verify() { return verifyRange(*this); }
LogicalResult RequantizeOp::verify() { return verifyRange(*this); }

LogicalResult WastedBitsOp::verify() {
  if (failed(verifyScaled(*this, getOperand().getType())))
    return failure();
  if (getType().getRank() == 0)
    return success();
  return emitOpError("has type ") << getType() << "; expected tensor<f32>";
}

LogicalResult ScaledMatmulOp::verify() {
  if (failed(verifyRange(*this)))
    return failure();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  RankedTensorType result = getType();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || result.getRank() != 2 ||
      lhs.getDimSize(1) != rhs.getDimSize(0) ||
      result.getDimSize(0) != lhs.getDimSize(0) ||
      result.getDimSize(1) != rhs.getDimSize(1))
    return emitOpError("multiplies ")
           << lhs << " and " << rhs << " to " << result
           << "; expected m×k, k×n and m×n";
  if (lhs.isDynamicDim(1))
    return emitOpError("has a number of steps that is not known; expected one, "
                       "the scale of the result depends on it");
  if (lhs.getElementType() != rhs.getElementType() ||
      lhs.getElementType() != result.getElementType() ||
      result.getEncoding() != lhs.getEncoding())
    return emitOpError("has elements in several formats; expected one");
  return success();
}

} // namespace numera
