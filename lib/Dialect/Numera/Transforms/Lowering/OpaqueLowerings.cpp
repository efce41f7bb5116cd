// SPDX-License-Identifier: MIT
//
// Operations of an opaque format without a registered function. They are
// derived if its entry allows it (`derive: [sub, max]`), else computed in its
// carrier (`carrier: f32`): registered casts of the operands to the carrier,
// the operation there, and the registered cast back.

#include "Carrier/CarrierArithmetic.h"
#include "Lowerings.h"
#include "numera/Registry/Lowerings/Derivation.h"

using namespace mlir;

namespace numera {

/// The carrier that all opaque formats of the request name, into which its
/// other formats embed; null where there is none, or where nothing but the
/// registered casts would be left of the operation.
Format Lowerings::carrierOf(const Request &request,
                            ArrayRef<Scalar> operands) const {
  SmallVector<ElementKind, 4> kinds = {request.result};
  for (const Scalar &operand : operands)
    kinds.push_back(operand.kind);
  Format carrier;
  for (const ElementKind &kind : kinds)
    if (kind.isFormat() && kind.format.isOpaque()) {
      Format named = registry.carrierOf(kind.format);
      if (!named || (carrier && named != carrier))
        return {};
      carrier = named;
    }
  if (!carrier)
    return {};
  auto isCarrier = [&](const ElementKind &kind) {
    return kind.isFormat() && kind.format == carrier;
  };
  auto isExactOperand = [&](const Scalar &operand) {
    const ElementKind &kind = operand.kind;
    if (!kind.isFormat()) // every integer of the carrier's precision
      return kind.integer.getWidth() <=
             (machineWidth({carrier, {}}) == 32 ? 16u : 32u);
    return kind.format.isOpaque() || isExactCast(kind.format, carrier);
  };
  if (!llvm::all_of(operands, isExactOperand))
    return {};
  bool isOwnCast = request.operation == OpKind::Cast &&
                   (isCarrier(request.result) || isCarrier(operands[0].kind));
  return isOwnCast ? Format() : carrier;
}

Value Lowerings::opaque(OpBuilder &builder, const Request &request,
                        ArrayRef<Scalar> operands) {
  // A function knows no other overflow rule than its format's.
  if (request.rules.encoding == request.rules.result)
    if (auto derivation = derive(registry, key(request, operands)))
      return derived(builder, request, operands, *derivation);
  Format carrier = carrierOf(request, operands);
  if (!carrier)
    return missing(request, operands);
  return throughFormat(builder, request, operands, carrier);
}

/// The operation on operands cast to `format`, f32 or f64, and the result cast
/// back.
Value Lowerings::throughFormat(OpBuilder &builder, const Request &request,
                               ArrayRef<Scalar> operands,
                               const Format &format) {
  ElementKind wide{format, {}};
  SmallVector<Scalar, 3> decoded;
  for (const Scalar &operand : operands) {
    Value value = operand.kind == wide
                      ? operand.value
                      : dispatch(builder, exactCast(request.op, wide), operand);
    if (!value)
      return {};
    if (request.operation == OpKind::Cmp && operand.kind.isFormat() &&
        isTotallyOrdered(registry, operand.kind.format))
      value = CarrierArithmetic(builder, request.op.getLoc()).ordered(value);
    decoded.push_back({value, wide});
  }
  Request last = request;
  last.operation = OpKind::Cast;
  if (request.operation == OpKind::Cast)
    return dispatch(builder, last, decoded);

  Request step = exactCast(request.op, wide);
  step.operation = request.operation;
  Value value = dispatch(builder, step, decoded);
  if (!value || isTest(request.operation))
    return value;
  return dispatch(builder, last, Scalar{value, wide});
}

Value Lowerings::derived(OpBuilder &builder, const Request &request,
                         ArrayRef<Scalar> operands,
                         const Derivation &derivation) {
  Location loc = request.op.getLoc();
  using Rule = Derivation::Rule;
  switch (derivation.rule) {
  case Rule::ThroughCast:
    return throughFormat(builder, request, operands, derivation.through);
  case Rule::Negation: {
    Request step = request;
    step.operation = OpKind::Neg;
    Value negated = dispatch(builder, step, operands[1]);
    if (!negated)
      return {};
    step.operation = OpKind::Add;
    return dispatch(builder, step, {operands[0], {negated, operands[1].kind}});
  }
  case Rule::Comparison:
  case Rule::Choice:
    break;
  }
  SmallVector<Value> values = {operands[0].value, operands[1].value};
  if (derivation.isSwapped)
    std::swap(values[0], values[1]);
  Value holds = callRegistered(builder, loc, *derivation.comparison, values,
                               builder.getI8Type());
  holds = isNonZero(builder, loc, holds);
  if (derivation.rule == Rule::Comparison) {
    if (!derivation.isInverted)
      return holds;
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(holds.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, holds,
                                 zero);
  }
  return choose(builder, request, operands, holds);
}

/// min, max, minnum or maxnum where `isLess` says whether the first operand is
/// the lesser. Of equal ones it is the first. NaN stays NaN, or makes way for
/// the other operand.
Value Lowerings::choose(OpBuilder &builder, const Request &request,
                        ArrayRef<Scalar> operands, Value isLess) {
  Location loc = request.op.getLoc();
  Value x = operands[0].value, y = operands[1].value;
  bool isMax =
      request.operation == OpKind::Max || request.operation == OpKind::MaxNum;
  bool keepsNaN =
      request.operation == OpKind::Min || request.operation == OpKind::Max;
  Value chosen = isMax ? arith::SelectOp::create(builder, loc, isLess, y, x)
                       : arith::SelectOp::create(builder, loc, isLess, x, y);
  const Format &format = request.result.format;
  const APInt &code = *registry.entryOf(format)->identities.nan;
  TypedAttr bits = builder.getIntegerAttr(getElementTypeOrSelf(x), code);
  if (auto type = dyn_cast<VectorType>(x.getType()))
    bits = DenseElementsAttr::get(type, code);
  Value nan = arith::ConstantOp::create(builder, loc, bits);
  for (auto [operand, other] : {std::pair(y, x), std::pair(x, y)}) {
    Value isNaN = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        operand, nan);
    chosen = arith::SelectOp::create(builder, loc, isNaN,
                                     keepsNaN ? nan : other, chosen);
  }
  return chosen;
}

//===----------------------------------------------------------------------===//
// Carriers
//===----------------------------------------------------------------------===//

/// `decode`, `encode` and `round_to` are the registered casts, or the format's
/// own `round_to`, for which all NaNs are one, or the rounding that this is
/// known to be.
Value Lowerings::lowerOpaqueCarrierOp(OpBuilder &builder, Operation *op,
                                      Value operand) {
  Location loc = op->getLoc();
  Format format = op->getAttrOfType<FormatAttr>("format").getFormat();
  Format carrier = registry.exactCarrierOf(format);
  auto call = [&](OpKind operation, const Format &from, const Format &to,
                  Value value) -> Value {
    Lowering key{};
    key.operation = operation;
    key.target = target;
    key.operands = {from};
    key.result = to;
    const Lowering *found = registry.findLowering(key);
    Type result = storageType(builder.getContext(),
                              {operation == OpKind::Cast ? to : from, {}});
    if (found)
      return canonical(builder, loc,
                       callRegistered(builder, loc, *found, value, result), to);
    op->emitError("no lowering for '")
        << numera::nameOf(operation) << "' of format '"
        << format.getOpaqueName() << "' on target '" << numera::nameOf(target)
        << "'; register one under 'lowerings:': " << registry.suggest(key);
    return {};
  };
  if (isa<DecodeOp>(op))
    return call(OpKind::Cast, format, carrier, operand);
  bool hasRounding = registry.findRoundTo(format, target) != nullptr;
  if (Format like = registry.roundsAs(format, target);
      like && isa<RoundToOp>(op)) {
    Value random =
        arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
    return callFamily(builder, loc, like, "round_f32_32", operand,
                      {like.getRoundingMode().pack()},
                      getElementTypeOrSelf(operand), random);
  }
  if (isa<RoundToOp>(op) && hasRounding)
    return call(OpKind::RoundTo, carrier, format, operand);
  if (!hasRounding)
    operand = withCanonicalNaN(builder, loc, operand);
  Value code = call(OpKind::Cast, carrier, format, operand);
  if (!code || isa<EncodeOp>(op))
    return code;
  return call(OpKind::Cast, format, carrier, code);
}

FailureOr<Value> Lowerings::callPart(OpBuilder &builder, Operation *op,
                                     OpKind part, const Format &format,
                                     ArrayRef<Value> operands) {
  Location loc = op->getLoc();
  const Lowering *found = registry.findPart(part, format, target);
  if (!found)
    return op->emitError("the accumulator of format '")
           << format.getOpaqueName() << "' has no '" << numera::nameOf(part)
           << "'; expected 'accumulator: {" << numera::nameOf(part)
           << ": SYMBOL}' in the entry of the format";
  if (part != OpKind::AccumulatorRound) {
    callRegistered(builder, loc, *found, operands, {});
    return Value();
  }
  Type storage = builder.getIntegerType(format.storageBits());
  return canonical(builder, loc,
                   callRegistered(builder, loc, *found, operands, storage),
                   format);
}

} // namespace numera
