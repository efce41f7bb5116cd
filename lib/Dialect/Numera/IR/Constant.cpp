// SPDX-License-Identifier: MIT
//
// numera.constant: its syntax and the encoding of literals.

#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Registry/Formats/Number.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace numera {

TypedAttr constantOfCode(Type type, uint64_t code) {
  if (type.isF32())
    return FloatAttr::get(
        type, APFloat(APFloat::IEEEsingle(), APInt(32, code, false, true)));
  if (type.isF64())
    return FloatAttr::get(type,
                          APFloat(APFloat::IEEEdouble(), APInt(64, code)));
  auto storage = isa<NumType>(type) ? cast<NumType>(type).getStorageType()
                                    : cast<IntegerType>(type);
  return IntegerAttr::get(storage,
                          APInt(storage.getWidth(), code, false, true));
}

/// A literal in quadruple precision as a value: 113 bits, of which the last 17
/// join the sticky bit.
static Unpacked unpack(const APFloat &quad) {
  if (quad.isNaN())
    return Unpacked::nan();
  if (quad.isInfinity())
    return Unpacked::infinity(quad.isNegative());
  if (quad.isZero())
    return Unpacked::zero(quad.isNegative());
  int exponent = ilogb(quad);
  APFloat scaled = scalbn(quad, 112 - exponent, APFloat::rmTowardZero);
  APSInt digits(128, /*isUnsigned=*/false);
  bool exact;
  scaled.convertToInteger(digits, APFloat::rmTowardZero, &exact);
  APInt magnitude = digits.abs();
  uint128_t wide =
      static_cast<uint128_t>(magnitude.extractBitsAsZExtValue(64, 64)) << 64 |
      magnitude.extractBitsAsZExtValue(64, 0);
  return Unpacked::fromWide(quad.isNegative(), wide, exponent - 112, false);
}

/// Parses a literal. MLIR's own conversion rounds it to f64 first: its text is
/// read once more, so that it is rounded once, to the format.
static ParseResult parseLiteral(OpAsmParser &parser, Unpacked &value) {
  SMLoc loc = parser.getCurrentLocation();
  APFloat quad(APFloat::IEEEquad());
  if (parser.parseFloat(APFloat::IEEEquad(), quad))
    return failure();
  StringRef text(loc.getPointer(),
                 parser.getCurrentLocation().getPointer() - loc.getPointer());
  bool negative = text.consume_front("-");
  text = text.ltrim();
  text = text.take_front(lengthOfNumber(text));
  if (!text.contains('.')) { // an integer that holds the bits
    value = unpack(quad);
    return success();
  }
  std::optional<Unpacked> number = parseNumber(text);
  if (!number)
    return parser.emitError(loc, "expected a decimal number");
  value = *number;
  value.negative = negative;
  return success();
}

/// `codes dense<…> : tensor<2xi16> as tensor<2x!posit16>`
static ParseResult parseCodes(OpAsmParser &parser, OperationState &result) {
  ElementsAttr codes;
  Type type;
  if (parser.parseAttribute(codes) || parser.parseKeyword("as") ||
      parser.parseType(type))
    return failure();
  result.addAttribute("value", codes);
  result.addTypes(type);
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("codes")))
    return parseCodes(parser, result);
  SMLoc loc = parser.getCurrentLocation();
  uint64_t code = 0;
  bool isCode = succeeded(parser.parseOptionalKeyword("code"));
  Unpacked literal;
  if (isCode ? parser.parseInteger(code) : parseLiteral(parser, literal))
    return failure();
  NumType type;
  if (parser.parseColonType(type))
    return failure();
  const Format &format = type.getFormat();
  if (!isCode) {
    if (!format.getFamily().hasArithmetic())
      return parser.emitError(loc, "format '")
             << format.spelling()
             << "' is opaque: write the code of a constant, as in 'code 0x0'";
    code = format.getFamily().encode(format, literal,
                                     format.getConstantRounding());
  }
  if (format.width() < 64 && code >> format.width() != 0)
    return parser.emitError(loc, "code 0x")
           << llvm::utohexstr(code, true) << " has more than " << format.width()
           << " bits, the width of '" << format.spelling() << "'";
  result.addAttribute("value", constantOfCode(type, code));
  result.addTypes(type);
  return success();
}

/// The value as a double that prints and parses back exactly, if it is one.
static std::optional<double> readable(const Format &format, uint64_t code) {
  if (!format.getFamily().hasArithmetic())
    return std::nullopt;
  Unpacked value = format.getFamily().decode(format, code);
  if (!value.isFinite() && !value.isZero())
    return std::nullopt;
  const Format &f64 = formatF64();
  uint64_t bits = f64.getFamily().encode(f64, value, Rounding::NearestEven);
  Unpacked back = f64.getFamily().decode(f64, bits);
  if (back.pack() != value.pack() ||
      format.getFamily().encode(format, back, format.getConstantRounding()) !=
          code)
    return std::nullopt;
  return __builtin_bit_cast(double, bits);
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  if (!isa<NumType>(getType())) {
    printer << " codes " << getValue() << " as " << getType();
    return;
  }
  uint64_t code = cast<IntegerAttr>(getValue()).getValue().getZExtValue();
  if (auto value = readable(cast<NumType>(getType()).getFormat(), code)) {
    SmallString<32> text;
    APFloat(*value).toString(text, 17, 4, false);
    printer << ' ' << text;
    if (!StringRef(text).contains('.')) // MLIR's literals need the point
      printer << ".0";
  } else {
    printer << " code 0x" << llvm::utohexstr(code, true);
  }
  printer << " : " << getType();
}

/// The first code with bits above the format's width, if there is one.
static std::optional<uint64_t> tooWide(Attribute value, const Format &format) {
  unsigned width = format.width();
  if (width == format.storageBits())
    return std::nullopt;
  auto check = [&](const APInt &code) -> std::optional<uint64_t> {
    if (code.getActiveBits() <= width)
      return std::nullopt;
    return code.getZExtValue();
  };
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return check(integer.getValue());
  auto dense = dyn_cast<DenseIntElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  if (dense.isSplat())
    return check(dense.getSplatValue<APInt>());
  for (const APInt &code : dense.getValues<APInt>())
    if (auto wide = check(code))
      return wide;
  return std::nullopt;
}

LogicalResult ConstantOp::verify() {
  auto num = cast<NumType>(numera::elementType(getType()));
  Type held = numera::elementType(getValue().getType());
  if (held != num.getStorageType())
    return emitOpError("holds codes of type ")
           << held << ", but '" << num.getFormat().spelling()
           << "' is stored in " << num.getStorageType();
  if (auto wide = tooWide(getValue(), num.getFormat()))
    return emitOpError("holds the code 0x")
           << llvm::utohexstr(*wide, true) << ", which has more than "
           << num.getFormat().width() << " bits, the width of '"
           << num.getFormat().spelling() << "'";
  auto shaped = dyn_cast<ShapedType>(getType());
  auto shapedValue = dyn_cast<ShapedType>(getValue().getType());
  if (static_cast<bool>(shaped) != static_cast<bool>(shapedValue) ||
      (shaped && shaped.getShape() != shapedValue.getShape()))
    return emitOpError("has codes of type ")
           << getValue().getType() << " for a result of type " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

// Upstream's folders take an IntegerAttr for a number of the operand's type,
// and an elements attribute for such numbers. None of them looks into a
// CodesAttr, but tensor.from_elements, which makes strings of what is neither
// an integer nor a float. So a scalar is one.

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (auto code = dyn_cast<IntegerAttr>(getValue()))
    return StringAttr::get(
        llvm::toString(code.getValue(), /*Radix=*/10, /*Signed=*/false),
        code.getType());
  return CodesAttr::get(getContext(), getValue());
}

static APInt codeOf(StringRef text, IntegerType storage) {
  return APInt(storage.getWidth(), text, /*radix=*/10);
}

Attribute valueOfConstant(Attribute folded) {
  if (auto codes = dyn_cast_or_null<CodesAttr>(folded))
    return codes.getValue();
  if (auto code = dyn_cast_or_null<StringAttr>(folded))
    return IntegerAttr::get(
        code.getType(),
        codeOf(code.getValue(), cast<IntegerType>(code.getType())));
  auto strings = dyn_cast_or_null<DenseStringElementsAttr>(folded);
  if (!strings)
    return folded;
  auto storage = cast<NumType>(strings.getElementType()).getStorageType();
  SmallVector<APInt> codes;
  for (StringRef text : strings.getValues<StringRef>())
    codes.push_back(codeOf(text, storage));
  return DenseElementsAttr::get(strings.getType().clone(storage), codes);
}

Attribute valueOfConstant(Value operand) {
  Attribute folded;
  return matchPattern(operand, m_Constant(&folded)) ? valueOfConstant(folded)
                                                    : Attribute();
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "cst");
}

} // namespace numera
