// SPDX-License-Identifier: MIT
//
// Operations of arith and math that are several of the dialect. They may be on
// tensors of any size, of which there are no constants.

#include "Retype.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

class Expansion {
public:
  Expansion(IRRewriter &rewriter, Operation *op)
      : rewriter(rewriter), op(op), loc(op->getLoc()) {}

  /// Nothing for an operation that is not known here.
  SmallVector<Value> create(const Format &bits) {
    if (isa<arith::BitcastOp>(op))
      return createBitcast(bits);
    if (isa<math::FPowIOp>(op))
      return createPower();
    if (isa<math::ClampFOp>(op))
      return {create<MinOp>(create<MaxOp>(operand(0), operand(1)), operand(2))};
    if (isa<math::SincosOp>(op))
      return {create<SinOp>(operand(0)), create<CosOp>(operand(0))};
    if (isa<math::IsFiniteOp>(op)) {
      // NaN are exactly the differences of what is not finite.
      Value isNot = isNaN(create<SubOp>(operand(0), operand(0)));
      Value never = arith::XOrIOp::create(rewriter, loc, isNot, isNot);
      return {compare(arith::CmpIPredicate::eq, isNot, never)};
    }
    if (isa<math::IsInfOp>(op))
      return {compare(arith::CmpIPredicate::ugt,
                      isNaN(create<SubOp>(operand(0), operand(0))),
                      isNaN(operand(0)))};
    if (isa<arith::ScalingExtFOp>(op))
      return {create<MulOp>(castTo(result(), operand(0)),
                            castTo(result(), operand(1)))};
    if (isa<arith::ScalingTruncFOp>(op)) {
      Value scale = castTo(operand(0).getType(), operand(1));
      return {castTo(result(), create<DivOp>(operand(0), scale))};
    }
    return {};
  }

private:
  Value operand(unsigned i) { return op->getOperand(i); }
  Type result() { return op->getResult(0).getType(); }

  /// An operation whose result has the type of its first operand.
  template <typename Op, typename... Operands>
  Value create(Value first, Operands... others) {
    return Op::create(rewriter, loc, TypeRange(first.getType()),
                      ValueRange{first, others...});
  }
  Value isNaN(Value value) {
    Type type = withElement(value.getType(), rewriter.getI1Type());
    return IsNaNOp::create(rewriter, loc, TypeRange(type), ValueRange(value));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(rewriter, loc, predicate, lhs, rhs);
  }
  Value castTo(Type type, Value value) {
    return type == value.getType() ? value
                                   : CastOp::create(rewriter, loc, type, value);
  }

  /// The bits are those of the model's type.
  SmallVector<Value> createBitcast(const Format &format) {
    if (!isa<IntegerType>(numera::elementType(result())) &&
        !isa<IntegerType>(numera::elementType(operand(0).getType())))
      return {};
    Type machine = typeOfFormat(rewriter.getContext(), format);
    auto name = [&](const Format &f) {
      return FormatAttr::get(rewriter.getContext(), f);
    };
    bool isToBits = isa<IntegerType>(numera::elementType(result()));
    Value value = operand(0);
    if (isa<FloatType>(machine)) {
      Type type = withElement(value.getType(), machine);
      if (isToBits)
        return {arith::BitcastOp::create(
            rewriter, loc, result(),
            CastOp::create(rewriter, loc, type, value))};
      // The cast makes NaNs canonical.
      return {
          CastOp::create(rewriter, loc, result(),
                         arith::BitcastOp::create(rewriter, loc, type, value))};
    }
    auto cast = CastOp::create(rewriter, loc, result(), value);
    if (isToBits)
      cast.setFormatAttr(name(format));
    Format from =
        isToBits ? formatOfType(numera::elementType(value.getType())) : format;
    cast.setOperandFormatsAttr(rewriter.getArrayAttr(name(from)));
    return {cast};
  }

  /// A power whose exponent is exact in f64, whatever the format.
  SmallVector<Value> createPower() {
    Type integer = numera::elementType(operand(1).getType());
    if (integer.getIntOrFloatBitWidth() > 32)
      return {};
    Value exponent = castTo(
        withElement(operand(1).getType(), rewriter.getF64Type()), operand(1));
    return {create<PowOp>(operand(0), exponent)};
  }

  IRRewriter &rewriter;
  Operation *op;
  Location loc;
};

} // namespace

SmallVector<Value> createExpansion(IRRewriter &rewriter, Operation *op,
                                   const Format &bits) {
  return Expansion(rewriter, op).create(bits);
}

} // namespace numera
