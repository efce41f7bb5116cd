// SPDX-License-Identifier: MIT

#include "CarrierArithmetic.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace numera {

Type carrierType(Type type, unsigned width) {
  MLIRContext *context = type.getContext();
  Type carrier = width == 32 ? Type(Float32Type::get(context))
                             : Type(Float64Type::get(context));
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(carrier);
  return carrier;
}

/// The integers of a carrier's bits.
static Type wordType(Type carrier) {
  unsigned width = numera::elementType(carrier).getIntOrFloatBitWidth();
  Type word = IntegerType::get(carrier.getContext(), width);
  if (auto shaped = dyn_cast<ShapedType>(carrier))
    return shaped.clone(word);
  return word;
}

static Value splat(OpBuilder &builder, Location loc, Type type,
                   TypedAttr element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    element = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(element));
  return arith::ConstantOp::create(builder, loc, element);
}
Value CarrierArithmetic::constant(Type like, double value) {
  return splat(builder, loc, like,
               builder.getFloatAttr(numera::elementType(like), value));
}
Value CarrierArithmetic::integer(Type like, uint64_t value) {
  return splat(builder, loc, like,
               builder.getIntegerAttr(numera::elementType(like),
                                      static_cast<int64_t>(value)));
}

Value CarrierArithmetic::plus(Value x, Value y) {
  return arith::AddFOp::create(builder, loc, x, y);
}
Value CarrierArithmetic::minus(Value x, Value y) {
  return arith::SubFOp::create(builder, loc, x, y);
}
Value CarrierArithmetic::times(Value x, Value y) {
  return arith::MulFOp::create(builder, loc, x, y);
}
Value CarrierArithmetic::negative(Value x) {
  return arith::NegFOp::create(builder, loc, x);
}

// What DoubleRounding<T> (Numerics/Carrier/DoubleRounding.h) does, operation by
// operation.

Value CarrierArithmetic::toOdd(Value nearest, Value error) {
  Type type = nearest.getType(), words = wordType(type);
  Value word = arith::BitcastOp::create(builder, loc, words, nearest);
  Value errorWord = arith::BitcastOp::create(builder, loc, words, error);
  Value isInexact = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ONE, error, constant(type, 0));
  Value inexact = arith::ExtUIOp::create(builder, loc, words, isInexact);
  unsigned width = numera::elementType(words).getIntOrFloatBitWidth();
  Value inward = arith::ShRUIOp::create(
      builder, loc, arith::XOrIOp::create(builder, loc, errorWord, word),
      integer(words, width - 1));
  Value step = arith::AndIOp::create(builder, loc, inexact, inward);
  Value odd = arith::OrIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, word, step), inexact);
  return arith::BitcastOp::create(builder, loc, type, odd);
}

Value CarrierArithmetic::sumToOdd(Value x, Value y) {
  Value sum = plus(x, y);
  Value virtualY = minus(sum, x);
  return toOdd(sum, plus(minus(x, minus(sum, virtualY)), minus(y, virtualY)));
}

/// The first half of the significand.
Value CarrierArithmetic::firstBits(Value x) {
  Type words = wordType(x.getType());
  bool isDouble = numera::elementType(x.getType()).isF64();
  uint64_t rest = (uint64_t{1} << (isDouble ? 53 - 53 / 2 : 24 - 24 / 2)) - 1;
  Value word = arith::BitcastOp::create(builder, loc, words, x);
  word = arith::AndIOp::create(builder, loc, word, integer(words, ~rest));
  return arith::BitcastOp::create(builder, loc, x.getType(), word);
}

Value CarrierArithmetic::productError(Value x, Value y, Value product) {
  Value xh = firstBits(x), xl = minus(x, xh);
  Value yh = firstBits(y), yl = minus(y, yh);
  Value sum = minus(times(xh, yh), product);
  sum = plus(sum, times(xh, yl));
  sum = plus(sum, times(xl, yh));
  return plus(sum, times(xl, yl));
}

Value CarrierArithmetic::productToOdd(Value x, Value y) {
  Value product = times(x, y);
  return toOdd(product, productError(x, y, product));
}

Value CarrierArithmetic::quotientToOdd(Value x, Value y) {
  Value quotient = arith::DivFOp::create(builder, loc, x, y);
  Value product = times(quotient, y);
  Value rest = minus(minus(x, product), productError(quotient, y, product));
  Value isNegative = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, y, constant(y.getType(), 0));
  return toOdd(quotient, arith::SelectOp::create(builder, loc, isNegative,
                                                 negative(rest), rest));
}

Value CarrierArithmetic::operate(OpKind operation, EvaluationPath path,
                                 Rounding mode, ArrayRef<Value> operands) {
  auto add = [&](Value x, Value y) -> Value {
    if (path == EvaluationPath::Plain)
      return plus(x, y);
    if (mode != Rounding::Down)
      return sumToOdd(x, y);
    return negative(sumToOdd(negative(x), negative(y)));
  };
  Value x = operands[0], y = operands.size() > 1 ? operands[1] : Value();
  switch (operation) {
  case OpKind::Add:
    return add(x, y);
  case OpKind::Sub:
    return add(x, negative(y));
  case OpKind::Mul:
    return path == EvaluationPath::Plain ? times(x, y) : productToOdd(x, y);
  case OpKind::Div:
    return path == EvaluationPath::Plain
               ? arith::DivFOp::create(builder, loc, x, y).getResult()
               : quotientToOdd(x, y);
  case OpKind::Sqrt:
    return math::SqrtOp::create(builder, loc, x);
  case OpKind::Fma:
    return add(times(x, y), operands[2]);
  default:
    llvm_unreachable("no family has a path for it");
  }
}

Value CarrierArithmetic::negate(Value x, const Format &format) {
  Value result = arith::NegFOp::create(builder, loc, x);
  if (format.isOpaque() || format.getFamily().range(format).hasNegativeZero)
    return result;
  return arith::AddFOp::create(builder, loc, result, constant(x.getType(), 0));
}
Value CarrierArithmetic::absolute(Value x) {
  return math::AbsFOp::create(builder, loc, x);
}
Value CarrierArithmetic::minimum(Value x, Value y) {
  return arith::MinimumFOp::create(builder, loc, x, y);
}
Value CarrierArithmetic::maximum(Value x, Value y) {
  return arith::MaximumFOp::create(builder, loc, x, y);
}
Value CarrierArithmetic::isNaN(Value x) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x);
}

Value CarrierArithmetic::ordered(Value x) {
  Value below = constant(x.getType(), -std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(builder, loc, isNaN(x), below, x);
}
Value CarrierArithmetic::compare(arith::CmpFPredicate predicate, Value x,
                                 Value y, bool isTotallyOrdered) {
  if (isTotallyOrdered)
    x = ordered(x), y = ordered(y);
  return arith::CmpFOp::create(builder, loc, predicate, x, y);
}

Value CarrierArithmetic::convert(Value x, Type type) {
  if (x.getType() == type)
    return x;
  if (numera::elementType(type).isF64())
    return arith::ExtFOp::create(builder, loc, type, x);
  return arith::TruncFOp::create(builder, loc, type, x);
}

/// `rounding` and `random_bits`.
static void setRounding(Operation *op, RoundingMode mode) {
  Builder builder(op->getContext());
  op->setAttr("rounding", RoundingAttr::get(op->getContext(), mode.rounding));
  if (mode == Rounding::Stochastic)
    op->setAttr("random_bits", builder.getI32IntegerAttr(mode.randomBits));
}

Value CarrierArithmetic::round(Value x, const OperationRules &rules,
                               Value random) {
  auto format = FormatAttr::get(builder.getContext(), rules.encoding);
  auto op =
      RoundToOp::create(builder, loc, x.getType(), x, format, {}, {}, random);
  if (rules.rounding.pack() != rules.encoding.getRoundingMode().pack())
    setRounding(op, rules.rounding);
  return op;
}
Value CarrierArithmetic::encodeRounded(Value x, const OperationRules &rules,
                                       Value random, Type code) {
  auto format = FormatAttr::get(builder.getContext(), rules.encoding);
  auto op = EncodeOp::create(builder, loc, code, x, format, {}, {}, random);
  setRounding(op, rules.rounding);
  return op;
}
Value CarrierArithmetic::encode(Value x, const Format &format, Type code) {
  return EncodeOp::create(builder, loc, code, x,
                          FormatAttr::get(builder.getContext(), format), {}, {},
                          {});
}

Value CarrierArithmetic::encodedAs(Value code, Type carrier,
                                   const Format &format) {
  auto encode = code.getDefiningOp<EncodeOp>();
  bool isExact = encode && encode.isExact() &&
                 encode.getOperand().getType() == carrier &&
                 encode.getFormat().getFormat() == format;
  return isExact ? encode.getOperand() : Value();
}

bool CarrierArithmetic::hasCanonicalNaN(Value x) {
  return isa_and_nonnull<DecodeOp, RoundToOp>(x.getDefiningOp());
}

} // namespace numera
