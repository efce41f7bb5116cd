// SPDX-License-Identifier: MIT
//
// Selects the result by the operand's code,
//
//   %r = numera.sqrt %x        %is = arith.cmpi eq, %x, 0x8000
//                              %t = arith.select %is, 0, %r
//
// If the code is the format's only NaN and the result is a machine number, the
// result is tested instead: it is NaN only for that code. Then the operand need
// not be encoded when values stay decoded (numera-promote-to-carrier).

#include "ExceptionalCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

bool canTellApart(FormatOpInterface op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto isNumber = [](Type type) { return type.isIntOrFloat(); };
  if (isa<RankedTensorType>(from) && isa<RankedTensorType>(to))
    return true;
  return isNumber(from) && isNumber(to);
}

static bool isOnlyNaN(const Format &format, uint64_t code) {
  const FormatFamily &family = format.getFamily();
  if (format.width() > 16 || !family.decode(format, code).isNaN())
    return false;
  for (uint64_t other = 0; other < uint64_t{1} << format.width(); ++other)
    if (other != code && family.decode(format, other).isNaN())
      return false;
  return true;
}

static Value constantOf(OpBuilder &builder, Location loc, Type type,
                        uint64_t bits) {
  unsigned width = type.getIntOrFloatBitWidth();
  APInt code(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  TypedAttr value;
  if (auto number = dyn_cast<FloatType>(type))
    value =
        builder.getFloatAttr(type, APFloat(number.getFloatSemantics(), code));
  else
    value = builder.getIntegerAttr(type, code);
  return arith::ConstantOp::create(builder, loc, value);
}

/// On numbers; `result` is that of the operation.
static Value choose(OpBuilder &builder, Location loc, Value operand,
                    Value result, bool isByResult,
                    ArrayRef<Proof::Exception> exceptions) {
  Value code = operand;
  if (isa<FloatType>(code.getType()) && !isByResult)
    code = arith::BitcastOp::create(
        builder, loc,
        builder.getIntegerType(code.getType().getIntOrFloatBitWidth()), code);
  Value chosen = result;
  for (const Proof::Exception &each : exceptions) {
    Value is;
    if (isByResult)
      is = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                 result, result);
    else
      is = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, code,
          constantOf(builder, loc, code.getType(), each.operand));
    Value other = constantOf(builder, loc, result.getType(), each.result);
    chosen = arith::SelectOp::create(builder, loc, is, other, chosen);
  }
  return chosen;
}

/// The operation in the body of an elementwise one.
static Operation *asBody(FormatOpInterface op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value operand = op->getOperand(0);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, operand),
      type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(unsigned(type.getRank()));
  Operation *inner = nullptr;
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), operand, empty, ArrayRef{map, map},
      SmallVector<utils::IteratorType>(size_t(type.getRank()),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        OperationState state(loc, op->getName(), arguments[0],
                             {type.getElementType()},
                             op->getAttrDictionary().getValue());
        inner = nested.create(state);
        linalg::YieldOp::create(nested, loc, inner->getResult(0));
      });
  op->getResult(0).replaceAllUsesWith(generic.getResult(0));
  op->erase();
  return inner;
}

void tellApart(FormatOpInterface op, const Format &meaning,
               ArrayRef<Proof::Exception> exceptions) {
  Operation *inner = op;
  if (isa<RankedTensorType>(op->getResult(0).getType()))
    inner = asBody(op);
  OpBuilder builder(inner->getContext());
  builder.setInsertionPointAfter(inner);
  Value result = inner->getResult(0);
  bool isByResult = isa<CastOp>(inner) && isa<FloatType>(result.getType()) &&
                    exceptions.size() == 1 &&
                    isOnlyNaN(meaning, exceptions.front().operand);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : result.getUses())
    uses.push_back(&use);
  Value chosen = choose(builder, inner->getLoc(), inner->getOperand(0), result,
                        isByResult, exceptions);
  for (OpOperand *use : uses)
    use->set(chosen);
}

} // namespace numera
