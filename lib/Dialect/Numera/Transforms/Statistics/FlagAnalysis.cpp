// SPDX-License-Identifier: MIT

#include "FlagAnalysis.h"
#include "CounterRow.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "numera/Numerics/Flags/StatusFlag.h"

using namespace mlir;

namespace numera {

static bool hasArithmetic(const ElementKind &kind) {
  return !kind.isFormat() || kind.format.getFamily().hasArithmetic();
}

static bool knowsRange(const ElementKind &kind) {
  return !kind.isFormat() || kind.format.getFamily().knowsRange();
}

/// True if NaN of the format can be told on `target`.
static bool tellsNaN(const Registry &registry, const ElementKind &kind,
                     Target target) {
  if (hasArithmetic(kind))
    return true;
  Lowering key;
  key.operation = OpKind::IsNaN;
  key.target = target;
  key.result = kind.format;
  key.operands = {kind.format};
  return registry.findLowering(key) || registry.carrierOf(kind.format);
}

bool isSymmetric(const Format &format) {
  const FormatFamily &family = format.getFamily();
  if (!family.hasArithmetic())
    return false;
  Unpacked low = family.decode(format, family.lowest(format)),
           high = family.decode(format, family.highest(format));
  return low.negative && low.kind == high.kind &&
         low.exponent == high.exponent && low.significand == high.significand;
}

/// True of an operation whose result is always one of its format's values.
static bool isExact(FormatOpInterface op) {
  ElementKind result = op.getResultElement();
  auto isResult = [&](unsigned i) { return op.getOperandElement(i) == result; };
  bool isUniform =
      llvm::all_of(llvm::seq(op.getFormatOperandCount()), isResult);
  switch (op.getFormatOperation()) {
  case OpKind::Cmp:
  case OpKind::IsNaN:
    return true;
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::MinNum:
  case OpKind::MaxNum:
    return isUniform;
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::CopySign:
    return isUniform && isSymmetric(result.format);
  case OpKind::Cast: {
    ElementKind operand = op.getOperandElement(0);
    return operand.isFormat() && result.isFormat() &&
           isExactCast(operand.format, op.getRules());
  }
  default:
    return false;
  }
}

/// A format of which the quire's sum, rounded to odd, is as good as the sum for
/// a second rounding to `format` [Boldo]; null if there is none.
static Format widerThan(const Registry &registry, const Format &format) {
  if (!format.getFamily().hasArithmetic() || format.getFamily().isIrrational())
    return {};
  std::string error;
  auto range = format.getFamily().range(format);
  for (StringRef spelling : {"f64", "float<16,47>"}) {
    Format wide = registry.lookupFormat(spelling, error);
    auto room = wide.getFamily().range(wide);
    if (room.precision >= range.precision + 2 &&
        room.leastExponent <= range.leastExponent - range.precision - 2 &&
        room.maxExponent >= range.maxExponent + 2)
      return wide;
  }
  return {};
}

std::optional<FlagAnalysis> analyzeFlags(Operation *op, Target target) {
  constexpr uint8_t all =
      flag::overflow | flag::underflow | flag::invalid | flag::divisionByZero;
  const Registry &registry = registryOf(op);
  if (auto round = dyn_cast<QuireRoundOp>(op)) {
    Format format = round.getRoundedFormat();
    bool isKnown =
        QuireOpInterface(round).getQuireFormat().getFamily().hasArithmetic() &&
        widerThan(registry, format);
    return FlagAnalysis{isKnown ? all : flag::none, format};
  }
  if (isa<QuireMacOp, QuireAddOp, QuireSubOp>(op))
    return FlagAnalysis{all, cast<QuireOpInterface>(op).getQuireFormat(),
                        /*isTerm=*/true};
  auto interface = dyn_cast<FormatOpInterface>(op);
  if (!interface || isExact(interface) || op->hasAttr(uncountedAttribute))
    return std::nullopt;
  SmallVector<ElementKind, 4> kinds = {interface.getResultElement()};
  for (unsigned i = 0; i < interface.getFormatOperandCount(); ++i)
    kinds.push_back(interface.getOperandElement(i));
  FlagAnalysis analysis{flag::none, kinds.front().format};
  bool isOurs = llvm::all_of(kinds, hasArithmetic);
  if (isOurs && !isOverridden(interface))
    analysis.known =
        knowsRange(kinds.front()) ? all : flag::invalid | flag::divisionByZero;
  else if (llvm::all_of(kinds, [&](const ElementKind &kind) {
             return tellsNaN(registry, kind, target);
           }))
    analysis.known = flag::invalid;
  return analysis;
}

bool mayRaiseFlags(Operation *op, Target target) {
  auto analysis = analyzeFlags(op, target);
  return analysis && !analysis->isTerm;
}

/// The type of `element` in the shape of `value`.
static Type shapedAs(Value value, Type element) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return shaped ? Type(shaped.clone(element)) : element;
}

/// The status flags as the exact result shows them.
static Value createExact(OpBuilder &builder, FormatOpInterface op) {
  Location loc = op.getLoc();
  MLIRContext *context = builder.getContext();
  OperationRules rules = op.getRules();
  SmallVectorImpl<int32_t> *truncation = &rules.truncation;
  ElementKind result = op.getResultElement();
  if (result.isFormat())
    result.format = rules.encoding;
  unsigned count = op.getFormatOperandCount();
  SmallVector<Attribute> formats;
  for (unsigned i = 0; i < count; ++i)
    formats.push_back(attributeOf(context, op.getOperandElement(i)));
  std::optional<StepRules> step;
  if (auto mac = dyn_cast<MacOp>(op.getOperation()))
    step = stepRulesOf(mac);
  FormatAttr product;
  RoundingAttr productRounding;
  if (step && step->product) {
    product = FormatAttr::get(context, step->product->encoding);
    productRounding =
        RoundingAttr::get(context, step->product->rounding.rounding);
    truncation = &step->product->truncation;
  }
  bool draws = op.drawsRandom();
  auto cast = dyn_cast<CastOp>(op.getOperation());
  Value outcome = op->getResult(0);
  return StatusFlagsOp::create(
      builder, loc, shapedAs(outcome, builder.getI8Type()),
      nameOf(op.getFormatOperation()), op->getOperands().take_front(count),
      outcome, op.getRandomOperand(), attributeOf(context, result),
      builder.getArrayAttr(formats),
      RoundingAttr::get(context, rules.rounding.rounding),
      draws ? builder.getI32IntegerAttr(rules.rounding.randomBits)
            : IntegerAttr(),
      truncation->empty() ? DenseI32ArrayAttr()
                          : builder.getDenseI32ArrayAttr(*truncation),
      product, productRounding, cast && cast.getIsUnsigned());
}

/// Whether it is NaN, and no operand is, all that can be told.
static Value createNaN(OpBuilder &builder, FormatOpInterface op) {
  Location loc = op.getLoc();
  Value outcome = op->getResult(0);
  Type i1 = shapedAs(outcome, builder.getI1Type());
  Type i8 = shapedAs(outcome, builder.getI8Type());
  Value one = arith::ConstantOp::create(builder, loc, builder.getOneAttr(i1));
  Value invalid;
  auto isNaN = [&](Value value) -> Value {
    return IsNaNOp::create(builder, loc, TypeRange(i1), ValueRange(value));
  };
  if (op.getResultElement().isFormat())
    invalid = isNaN(outcome);
  else
    return {};
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i) {
    if (!op.getOperandElement(i).isFormat())
      continue;
    Value isNumber =
        arith::XOrIOp::create(builder, loc, isNaN(op->getOperand(i)), one);
    invalid = arith::AndIOp::create(builder, loc, invalid, isNumber);
  }
  Value wide = arith::ExtUIOp::create(builder, loc, i8, invalid);
  TypedAttr place = builder.getI8IntegerAttr(2);
  if (auto shaped = dyn_cast<ShapedType>(i8))
    place = DenseElementsAttr::get(shaped, Attribute(place));
  static_assert(flag::invalid == 1 << 2);
  return arith::ShLIOp::create(builder, loc, wide,
                               arith::ConstantOp::create(builder, loc, place));
}

/// The sum is rounded to odd in a wider format first; from there on it is a
/// cast.
static Value createOfQuire(OpBuilder &builder, QuireRoundOp round) {
  Location loc = round.getLoc();
  Format format = round.getRoundedFormat();
  Format wide = widerThan(registryOf(round), format);
  Type element = typeOfFormat(builder.getContext(), wide);
  Value quire = round.getQuire(), outcome = round.getResult();
  auto sum = QuireRoundOp::create(
      builder, loc, shapedAs(outcome, element), quire, FormatAttr(),
      FormatAttr(), RoundingAttr::get(builder.getContext(), Rounding::ToOdd),
      Value());
  RoundingMode mode = round.getRoundingMode();
  return StatusFlagsOp::create(
      builder, loc, shapedAs(outcome, builder.getI8Type()),
      nameOf(OpKind::Cast), ValueRange(sum.getResult()), outcome,
      round.getRandom(), FormatAttr::get(builder.getContext(), format),
      builder.getArrayAttr(FormatAttr::get(builder.getContext(), wide)),
      RoundingAttr::get(builder.getContext(), mode.rounding),
      round.drawsRandom() ? builder.getI32IntegerAttr(mode.randomBits)
                          : IntegerAttr(),
      DenseI32ArrayAttr(), FormatAttr(), RoundingAttr(), false);
}

Value createStatusFlags(OpBuilder &builder, Operation *op,
                        const FlagAnalysis &analysis) {
  if (analysis.known == flag::none || analysis.isTerm)
    return {};
  if (auto round = dyn_cast<QuireRoundOp>(op))
    return createOfQuire(builder, round);
  auto interface = cast<FormatOpInterface>(op);
  return analysis.known == flag::invalid ? createNaN(builder, interface)
                                         : createExact(builder, interface);
}

} // namespace numera
