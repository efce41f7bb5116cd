// SPDX-License-Identifier: MIT

#include "ScaleIR.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

Value IRArithmetic::constant(const Format &format, double number) {
  Type type = typeOfFormat(builder.getContext(), format);
  OperationRules rules = rulesOf(OpKind::Cast, format, formatF64());
  uint64_t code = evaluateOperation(OpKind::Cast, rules, formatF64(),
                                    llvm::bit_cast<uint64_t>(number));
  TypedAttr value = constantOfCode(type, code);
  if (isa<NumType>(type))
    return ConstantOp::create(builder, loc, type, value);
  return arith::ConstantOp::create(builder, loc, value);
}

Value IRArithmetic::binary(OpKind operation, Value x, Value y) {
  OperationState state(loc, ("numera." + numera::nameOf(operation)).str(),
                       {x, y}, x.getType());
  return builder.create(state)->getResult(0);
}

Value IRArithmetic::unary(OpKind operation, Value x) {
  OperationState state(loc, ("numera." + numera::nameOf(operation)).str(), x,
                       x.getType());
  return builder.create(state)->getResult(0);
}

Value IRArithmetic::cast(const Format &to, Value x, const CastRules &rules) {
  auto cast =
      CastOp::create(builder, loc, typeOfFormat(builder.getContext(), to), x);
  if (rules.rounding)
    cast.setRounding(*rules.rounding);
  if (rules.overflow && to.getFamily().withOverflow(to, *rules.overflow))
    cast.setOverflow(*rules.overflow);
  return cast;
}

Value IRArithmetic::nonzero(Value x, Value other) {
  Value zero = constant(formatOf(x), 0);
  Value isZero = CmpOp::create(builder, loc, builder.getI1Type(),
                               arith::CmpFPredicate::OEQ, x, zero, Attribute(),
                               ArrayAttr());
  return arith::SelectOp::create(builder, loc, isZero, other, x);
}

static Value emptyTensor(OpBuilder &builder, Location loc,
                         ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

/// A code of a machine format as a number of its type; anything else as it is.
static Value asNumber(OpBuilder &builder, Location loc, Value value) {
  auto code = dyn_cast<NumType>(value.getType());
  Type type =
      code ? typeOfFormat(builder.getContext(), code.getFormat()) : Type();
  return !code || type == code ? value
                               : CastOp::create(builder, loc, type, value);
}

Value mapElements(OpBuilder &builder, Location loc,
                  ArrayRef<OpFoldResult> sizes, ArrayRef<ScaleAccess> operands,
                  Type element, const ScaledFormat &format, ScaleBody body) {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const ScaleAccess &operand : operands) {
    values.push_back(operand.value);
    maps.push_back(operand.map);
  }
  maps.push_back(builder.getMultiDimIdentityMap(unsigned(sizes.size())));
  SmallVector<utils::IteratorType> loops(sizes.size(),
                                         utils::IteratorType::parallel);
  Value init = emptyTensor(builder, loc, sizes, element);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), values, init, maps, loops,
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        IRArithmetic arithmetic{inner, where};
        ScaleSteps<IRArithmetic> steps(arithmetic, format);
        // Elements in f32 may be its codes; steps are on machine numbers.
        SmallVector<Value> numbers;
        for (Value argument : arguments.drop_back())
          numbers.push_back(asNumber(inner, where, argument));
        Value result = body(steps, arithmetic, numbers);
        if (result.getType() != element)
          result = CastOp::create(inner, where, element, result);
        linalg::YieldOp::create(inner, where, result);
      });
  return generic.getResult(0);
}

using OnInteger = llvm::function_ref<Value(OpBuilder &, Location, Value)>;

/// Reduces f32 as integers in their order: `toOrder` of their bits, with `Step`
/// from 0 on, along the loops that `kept` lacks, and back.
template <typename Step>
static Value reduceInOrder(OpBuilder &builder, Location loc, Value values,
                           ArrayRef<bool> kept, OnInteger toOrder,
                           OnInteger fromOrder) {
  auto type = cast<RankedTensorType>(values.getType());
  auto sizes = tensor::getMixedSizes(builder, loc, values);
  SmallVector<OpFoldResult> keptSizes;
  SmallVector<AffineExpr> keptLoops;
  SmallVector<utils::IteratorType> loops;
  for (auto [i, isKept] : llvm::enumerate(kept)) {
    loops.push_back(isKept ? utils::IteratorType::parallel
                           : utils::IteratorType::reduction);
    if (!isKept)
      continue;
    keptSizes.push_back(sizes[i]);
    keptLoops.push_back(builder.getAffineDimExpr(unsigned(i)));
  }
  auto rank = unsigned(type.getRank());
  Type bits = builder.getI32Type();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value init =
      linalg::FillOp::create(builder, loc, zero,
                             emptyTensor(builder, loc, keptSizes, bits))
          .getResult(0);
  SmallVector<AffineMap> maps = {
      builder.getMultiDimIdentityMap(rank),
      AffineMap::get(rank, 0, keptLoops, builder.getContext())};
  auto reduced = linalg::GenericOp::create(
      builder, loc, init.getType(), values, init, maps, loops,
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        Value code = arith::BitcastOp::create(inner, where, bits, arguments[0]);
        Value next = Step::create(inner, where, arguments[1],
                                  toOrder(inner, where, code));
        linalg::YieldOp::create(inner, where, next);
      });
  // As a number, with the one NaN.
  SmallVector<utils::IteratorType> all(keptSizes.size(),
                                       utils::IteratorType::parallel);
  AffineMap identity = builder.getMultiDimIdentityMap(unsigned(all.size()));
  auto number = linalg::GenericOp::create(
      builder, loc,
      cast<RankedTensorType>(init.getType()).clone(type.getElementType()),
      reduced.getResult(0),
      emptyTensor(builder, loc, keptSizes, type.getElementType()),
      ArrayRef{identity, identity}, all,
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        Value wide =
            arith::BitcastOp::create(inner, where, inner.getF32Type(),
                                     fromOrder(inner, where, arguments[0]));
        Value canonical =
            CastOp::create(inner, where, inner.getF32Type(), wide);
        linalg::YieldOp::create(inner, where, canonical);
      });
  return number.getResult(0);
}

static Value magnitudeBits(OpBuilder &builder, Location loc, Value code) {
  Value mask = arith::ConstantOp::create(builder, loc,
                                         builder.getI32IntegerAttr(0x7fffffff));
  return arith::AndIOp::create(builder, loc, code, mask);
}

/// Between the bits of f32 and integers in the order of the numbers: those of
/// negative ones turned over. Its own inverse.
static Value inOrder(OpBuilder &builder, Location loc, Value code) {
  Value places =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(31));
  Value sign = arith::ShRSIOp::create(builder, loc, code, places);
  return arith::XOrIOp::create(builder, loc, code,
                               magnitudeBits(builder, loc, sign));
}

Value largestMagnitude(OpBuilder &builder, Location loc, Value values,
                       ArrayRef<bool> kept) {
  return reduceInOrder<arith::MaxUIOp>(
      builder, loc, values, kept, magnitudeBits,
      [](OpBuilder &, Location, Value code) { return code; });
}

Range rangeWithZero(OpBuilder &builder, Location loc, Value values,
                    ArrayRef<bool> kept) {
  return {reduceInOrder<arith::MinSIOp>(builder, loc, values, kept, inOrder,
                                        inOrder),
          reduceInOrder<arith::MaxSIOp>(builder, loc, values, kept, inOrder,
                                        inOrder)};
}

} // namespace numera
