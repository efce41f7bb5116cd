// SPDX-License-Identifier: MIT
//
// What is common to all elementwise operations: which formats they work on,
// in either form, and the verifier; and their syntax.

#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

// `add %a, %b : !posit16` where all types are one; `add %a, %b :
// (f32, !posit16) -> f32` where formats mix.

static ParseResult parseUniform(OpAsmParser &parser, ArrayRef<Type *> operands,
                                Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseType(result))
      return failure();
    for (Type *operand : operands)
      *operand = result;
    return success();
  }
  auto mismatch = [&] {
    return parser.emitError(loc, "expected one type, or ")
           << operands.size() << " operand types in parentheses";
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != 0 && failed(parser.parseOptionalComma()))
      return mismatch();
    if (parser.parseType(*operands[i]))
      return failure();
  }
  if (failed(parser.parseOptionalRParen()))
    return mismatch();
  return failure(parser.parseArrow() || parser.parseType(result));
}

static void printUniform(OpAsmPrinter &printer, ArrayRef<Type> operands,
                         Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; })) {
    printer << result;
    return;
  }
  printer << '(';
  llvm::interleaveComma(operands, printer);
  printer << ") -> " << result;
}

static ParseResult parseUniformTypes(OpAsmParser &p, Type &x, Type &result) {
  return parseUniform(p, {&x}, result);
}
static ParseResult parseUniformTypes(OpAsmParser &p, Type &x, Type &y,
                                     Type &result) {
  return parseUniform(p, {&x, &y}, result);
}
static ParseResult parseUniformTypes(OpAsmParser &p, Type &x, Type &y, Type &z,
                                     Type &result) {
  return parseUniform(p, {&x, &y, &z}, result);
}
static void printUniformTypes(OpAsmPrinter &p, Operation *, Type x,
                              Type result) {
  printUniform(p, {x}, result);
}
static void printUniformTypes(OpAsmPrinter &p, Operation *, Type x, Type y,
                              Type result) {
  printUniform(p, {x, y}, result);
}
static void printUniformTypes(OpAsmPrinter &p, Operation *, Type x, Type y,
                              Type z, Type result) {
  printUniform(p, {x, y, z}, result);
}

/// An integer of `bits` in the shape of `type`. Encodings that say what codes
/// mean say nothing of it.
static Type integerLike(Type type, unsigned bits) {
  auto integer = IntegerType::get(type.getContext(), bits);
  if (scalingOf(type) || isPacked(type))
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                                 integer);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(integer);
  return integer;
}
static Type boolLike(Type type) { return integerLike(type, 1); }

// The type of random bits follows from the result's: it is not written.
static ParseResult
parseRandomType(OpAsmParser &,
                const std::optional<OpAsmParser::UnresolvedOperand> &random,
                Type &type, Type result) {
  if (random)
    type = integerLike(result, 32);
  return success();
}
static void printRandomType(OpAsmPrinter &, Operation *, Value, Type, Type) {}

static ParseResult parseComparedTypes(OpAsmParser &parser, Type &x, Type &y,
                                      Type &result) {
  if (parser.parseType(x))
    return failure();
  y = x;
  result = boolLike(x);
  return success();
}
static void printComparedTypes(OpAsmPrinter &printer, Operation *, Type x, Type,
                               Type) {
  printer << x;
}
static ParseResult parseTestedType(OpAsmParser &parser, Type &x, Type &result) {
  if (parser.parseType(x))
    return failure();
  result = boolLike(x);
  return success();
}
static void printTestedType(OpAsmPrinter &printer, Operation *, Type x, Type) {
  printer << x;
}

namespace detail {

/// The meaning of a type together with the attribute that goes with it on
/// storage (null in the form on values).
static ElementKind elementKind(Type type, Attribute attribute) {
  type = numera::elementType(type);
  if (auto format = dyn_cast_or_null<FormatAttr>(attribute))
    return {format.getFormat(), {}};
  if (Format format = formatOfType(type))
    return {format, {}};
  return {{}, dyn_cast<IntegerType>(type)};
}

static bool dispatchesOnOperands(Operation *op) {
  return isa<CmpOp, IsNaNOp>(op);
}

ElementKind operandElement(Operation *op, unsigned index) {
  Attribute attribute = op->getAttr("format");
  if (auto operands = op->getAttrOfType<ArrayAttr>("operand_formats"))
    attribute = index < operands.size() ? operands[index] : Attribute();
  return elementKind(op->getOperand(index).getType(), attribute);
}

ElementKind resultElement(Operation *op) {
  if (dispatchesOnOperands(op))
    return operandElement(op, 0);
  return elementKind(op->getResult(0).getType(), op->getAttr("format"));
}

/// What the operation's attributes say in place of its format.
static void applyAttributes(Operation *op, OperationRules &rules) {
  if (auto mode = op->getAttrOfType<RoundingAttr>("rounding")) {
    rules.rounding = mode.getValue();
    auto bits = op->getAttrOfType<IntegerAttr>("random_bits");
    if (rules.rounding == Rounding::Stochastic)
      rules.rounding.randomBits = bits ? bits.getInt() : defaultRandomBits;
  }
  auto overflow = op->getAttrOfType<OverflowAttr>("overflow");
  if (overflow && rules.result)
    rules.encoding = rules.result.getFamily().withOverflow(rules.result,
                                                           overflow.getValue());
}

static SmallVector<Format, 3> operandFormats(Operation *op) {
  SmallVector<Format, 3> formats;
  unsigned count = cast<FormatOpInterface>(op).getFormatOperandCount();
  for (unsigned i = 0; i < count; ++i)
    formats.push_back(operandElement(op, i).format);
  return formats;
}

OperationRules rulesOf(Operation *op) {
  if (auto mac = dyn_cast<MacOp>(op))
    return stepRulesOf(mac).sum;
  OperationRules rules;
  rules.rounding = Rounding::TowardZero; // to an integer
  ElementKind result = resultElement(op);
  if (result.isFormat())
    rules = numera::rulesOf(*operationFromName(op->getName().stripDialect()),
                            result.format, operandFormats(op));
  applyAttributes(op, rules);
  return rules;
}

/// `rounding`, `random_bits` and `overflow`.
static LogicalResult verifyRules(Operation *op) {
  auto rounding = op->getAttrOfType<RoundingAttr>("rounding");
  auto bits = op->getAttrOfType<IntegerAttr>("random_bits");
  if (bits && (!rounding || rounding.getValue() != Rounding::Stochastic))
    return op->emitOpError("has random_bits, which go with rounding = "
                           "#numera.rounding<stochastic> alone");
  if (bits && (bits.getInt() < 1 || bits.getInt() > 32))
    return op->emitOpError("has random_bits ")
           << bits.getInt() << "; expected 1 to 32";
  auto overflow = op->getAttrOfType<OverflowAttr>("overflow");
  if (!overflow)
    return success();
  ElementKind result = resultElement(op);
  if (!result.isFormat())
    return op->emitOpError("has an overflow, but its result is an integer");
  const FormatFamily &family = result.format.getFamily();
  if (!family.withOverflow(result.format, overflow.getValue()))
    return op->emitOpError("overflow '")
           << nameOf(overflow.getValue()) << "' is not one of family '"
           << family.name() << "'";
  return success();
}

bool drawsRandom(Operation *op) {
  return isRounded(*operationFromName(op->getName().stripDialect())) &&
         resultElement(op).isFormat() &&
         rulesOf(op).rounding == Rounding::Stochastic;
}

/// What the matrix instructions of GPUs do.
static LogicalResult verifyTensorCore(MacOp mac) {
  if (!mac.getTensorcore())
    return success();
  FormatOpInterface op = mac;
  if (mac.getProduct() || op.drawsRandom() ||
      op.getResultElement().format != formatF32())
    return op->emitOpError("is one of tensor cores, which add exact products "
                           "in f32; expected an accumulator in f32 and no "
                           "product or random bits");
  return success();
}

static LogicalResult verifyRandom(FormatOpInterface op) {
  if (auto mac = dyn_cast<MacOp>(op.getOperation()))
    if (auto product = stepRulesOf(mac).product;
        product && product->rounding == Rounding::Stochastic)
      return op->emitOpError("rounds its product stochastically, which takes a "
                             "draw of its own; expected a mul and an add");
  bool hasRandom = static_cast<bool>(op.getRandomOperand());
  if (op.drawsRandom() && !hasRandom)
    return op->emitOpError("rounds stochastically; expected random bits, as in "
                           "'random %r'");
  if (hasRandom && !op.drawsRandom())
    return op->emitOpError("has random bits, but does not round "
                           "stochastically");
  return success();
}

/// On storage, an integer of a format must be its storage integer.
static LogicalResult verifyElement(Operation *op, Type type,
                                   const ElementKind &kind, Twine what) {
  type = numera::elementType(type);
  if (!kind.isFormat()) {
    if (isa<CastOp>(op))
      return success();
    return op->emitOpError(what)
           << " has type " << type
           << ", a storage integer: it needs the attribute 'format'";
  }
  if (Format ofType = formatOfType(type)) {
    if (ofType == kind.format)
      return success();
    return op->emitOpError(what) << " has type " << type << ", but format '"
                                 << kind.format.spelling() << "'";
  }
  unsigned bits = kind.format.storageBits();
  if (!type.isInteger(bits))
    return op->emitOpError(what)
           << " has type " << type << ", but format '" << kind.format.spelling()
           << "' is stored in i" << bits;
  return success();
}

LogicalResult verifyFormatOp(Operation *op) {
  auto interface = cast<FormatOpInterface>(op);
  unsigned count = interface.getFormatOperandCount();
  auto formats = op->getAttrOfType<ArrayAttr>("operand_formats");
  if (formats && formats.size() != count)
    return op->emitOpError("has ")
           << formats.size() << " operand formats for " << count << " operands";
  for (auto [i, operand] : llvm::enumerate(op->getOperands().take_front(count)))
    if (failed(verifyElement(op, operand.getType(), operandElement(op, i),
                             "operand " + Twine(i))))
      return failure();
  if (isa<CastOp>(op) && !operandElement(op, 0).isFormat() &&
      !resultElement(op).isFormat())
    return op->emitOpError("casts ")
           << op->getOperand(0).getType() << " to "
           << op->getResult(0).getType()
           << "; expected a format on one side at least";
  if (!dispatchesOnOperands(op)) {
    if (failed(verifyElement(op, op->getResult(0).getType(), resultElement(op),
                             "result")) ||
        failed(verifyRules(op)))
      return failure();
    if (auto mac = dyn_cast<MacOp>(op); mac && failed(verifyTensorCore(mac)))
      return failure();
    return verifyRandom(interface);
  }
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    if (operandElement(op, i) != operandElement(op, 0))
      return op->emitOpError("compares '")
             << operandElement(op, 0).format.spelling() << "' with '"
             << operandElement(op, i).format.spelling()
             << "'; cast one of them first";
  return success();
}

} // namespace detail

LogicalResult RandomOp::verify() {
  if (getBits() < 1 || getBits() > 32)
    return emitOpError("draws ")
           << static_cast<int32_t>(getBits()) << " bits; expected 1 to 32";
  return success();
}

StepRules stepRulesOf(MacOp op) {
  SmallVector<Format, 3> formats = detail::operandFormats(op);
  Format product = op.getProduct() ? op.getProduct()->getFormat() : Format();
  StepRules rules = stepRules(detail::resultElement(op).format, product,
                              formats[0], formats[1]);
  detail::applyAttributes(op, rules.sum);
  return rules;
}

} // namespace numera

#include "numera/Dialect/Numera/IR/NumeraInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "numera/Dialect/Numera/IR/NumeraOps.cpp.inc"
