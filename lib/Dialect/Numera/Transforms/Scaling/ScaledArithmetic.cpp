// SPDX-License-Identifier: MIT
//
// Operations on tensors that have one scale each, with the scales of the worst
// case (docs/Semantics/Scaling.md, Z9 to Z13).

#include "ExpandScales.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

/// An elementwise operation on tensors of one shape and on single numbers.
static Value mapShape(OpBuilder &builder, Location loc, Value shape,
                      ValueRange tensors, ValueRange numbers, Type element,
                      const ScaledFormat &format, ScaleBody body) {
  auto sizes = tensor::getMixedSizes(builder, loc, shape);
  auto rank = unsigned(sizes.size());
  SmallVector<ScaleAccess> operands;
  for (Value tensor : tensors)
    operands.push_back({tensor, builder.getMultiDimIdentityMap(rank)});
  for (Value number : numbers)
    operands.push_back(
        {number, AffineMap::get(rank, 0, {}, builder.getContext())});
  return mapElements(builder, loc, sizes, operands, element, format, body);
}

/// A number, tensor<f32>, made of others.
static Value mapNumbers(OpBuilder &builder, Location loc, ValueRange numbers,
                        const ScaledFormat &format, ScaleBody body) {
  return mapShape(builder, loc, numbers[0], numbers, {}, builder.getF32Type(),
                  format, body);
}

static Value wide(IRArithmetic &a, Value x) {
  return a.formatOf(x) == formatF32() ? x : a.cast(formatF32(), x, {});
}

/// The largest magnitude of an element, as a number.
static Value largestElement(OpBuilder &builder, Location loc, Value data,
                            const ScaledFormat &format) {
  Value numbers = mapShape(
      builder, loc, data, data, {}, builder.getF32Type(), format,
      [](auto &, IRArithmetic &a, ValueRange v) { return wide(a, v[0]); });
  auto rank = cast<RankedTensorType>(data.getType()).getRank();
  return largestMagnitude(builder, loc, numbers,
                          SmallVector<bool>(rank, false));
}

void Expander::expand(ScaledAddOp op) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  Parts lhs = partsOf(op.getLhs()), rhs = partsOf(op.getRhs());
  Parts &result = expanded[op.getResult()];
  result.scales = mapNumbers(builder, loc, {lhs.scales, rhs.scales}, format,
                             [](auto &, IRArithmetic &a, ValueRange v) {
                               return a.binary(OpKind::Add, v[0], v[1]);
                             });
  auto share = [&](Value scale) {
    return mapNumbers(builder, loc, {scale, result.scales}, format,
                      [](auto &, IRArithmetic &a, ValueRange v) {
                        return a.binary(OpKind::Div, v[0], v[1]);
                      });
  };
  Value left = share(lhs.scales), right = share(rhs.scales);
  result.data =
      mapShape(builder, loc, lhs.data, {lhs.data, rhs.data}, {left, right},
               op.getType().getElementType(), format,
               [](auto &steps, IRArithmetic &a, ValueRange v) -> Value {
                 Value x = a.binary(OpKind::Mul, wide(a, v[0]), v[2]);
                 Value y = a.binary(OpKind::Mul, wide(a, v[1]), v[3]);
                 return steps.element(a.binary(OpKind::Add, x, y));
               });
}

/// m×n sums of products over k in `accumulator`, from its zero.
static Value multiply(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                      const Format &accumulator) {
  MLIRContext *context = builder.getContext();
  Type type = typeOfFormat(context, accumulator);
  IRArithmetic arithmetic{builder, loc};
  Value empty =
      tensor::EmptyOp::create(builder, loc,
                              {tensor::getMixedSize(builder, loc, lhs, 0),
                               tensor::getMixedSize(builder, loc, rhs, 1)},
                              type);
  Value zero = arithmetic.constant(accumulator, 0);
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  SmallVector<AffineMap> maps = AffineMap::inferFromExprList(
      ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {k, n}, {m, n}}, context);
  using utils::IteratorType;
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{lhs, rhs}, init, maps,
      ArrayRef{IteratorType::parallel, IteratorType::parallel,
               IteratorType::reduction},
      [&](OpBuilder &inner, Location where, ValueRange v) {
        auto mac = MacOp::create(inner, where, TypeRange(type),
                                 ValueRange{v[0], v[1], v[2]});
        linalg::YieldOp::create(inner, where, mac.getResult());
      });
  return generic.getResult(0);
}

void Expander::expand(ScaledMatmulOp op) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  Type element = op.getType().getElementType();
  auto steps = double(op.getLhs().getType().getDimSize(1));
  double down = 1 / std::sqrt(steps * format.fullScale());
  auto shrink = [&](const Parts &parts) {
    return mapShape(builder, loc, parts.data, parts.data, {}, element, format,
                    [&](auto &made, IRArithmetic &a, ValueRange v) -> Value {
                      return made.element(
                          a.binary(OpKind::Mul, wide(a, v[0]),
                                   a.constant(formatF32(), down)));
                    });
  };
  Parts lhs = partsOf(op.getLhs()), rhs = partsOf(op.getRhs());
  Parts &result = expanded[op.getResult()];
  Format accumulator = op.getAccumulate() ? op.getAccumulate()->getFormat()
                                          : defaultAccumulator(format.element);
  Value sums = multiply(builder, loc, shrink(lhs), shrink(rhs), accumulator);
  result.data =
      mapShape(builder, loc, sums, sums, {}, element, format,
               [](auto &made, IRArithmetic &a, ValueRange v) -> Value {
                 return made.element(wide(a, v[0]));
               });
  result.scales = mapNumbers(
      builder, loc, {lhs.scales, rhs.scales}, format,
      [&](auto &, IRArithmetic &a, ValueRange v) {
        return a.binary(OpKind::Mul, a.binary(OpKind::Mul, v[0], v[1]),
                        a.constant(formatF32(), steps));
      });
}

void Expander::expand(ScaledReluOp op) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  Parts operand = partsOf(op.getOperand());
  Parts &result = expanded[op.getResult()];
  result.scales = operand.scales;
  result.data = mapShape(builder, loc, operand.data, operand.data, {},
                         op.getType().getElementType(), format,
                         [&](auto &, IRArithmetic &a, ValueRange v) {
                           return a.binary(OpKind::Max, v[0],
                                           a.constant(format.element, 0));
                         });
}

void Expander::expand(RequantizeOp op) {
  Location loc = op.getLoc();
  ScaledFormat format = scaledFormatOf(op.getType());
  Parts operand = partsOf(op.getOperand());
  Parts &result = expanded[op.getResult()];
  Value largest = largestElement(builder, loc, operand.data, format);
  // The used part of the range; all of it where there are only zeros.
  Value used =
      mapNumbers(builder, loc, largest, format,
                 [&](auto &, IRArithmetic &a, ValueRange v) {
                   Value full = a.constant(formatF32(), format.fullScale());
                   return a.binary(OpKind::Div, a.nonzero(v[0], full), full);
                 });
  result.data = mapShape(
      builder, loc, operand.data, operand.data, used,
      op.getType().getElementType(), format,
      [](auto &steps, IRArithmetic &a, ValueRange v) -> Value {
        return steps.element(a.binary(OpKind::Div, wide(a, v[0]), v[1]));
      });
  result.scales = mapNumbers(
      builder, loc, {operand.scales, used, largest}, format,
      [](auto &, IRArithmetic &a, ValueRange v) -> Value {
        Value scale = a.binary(OpKind::Mul, v[0], v[1]);
        Value zero = a.constant(formatF32(), 0);
        Value isZero = CmpOp::create(a.builder, a.loc, a.builder.getI1Type(),
                                     arith::CmpFPredicate::OEQ, v[2], zero,
                                     Attribute(), ArrayAttr());
        return arith::SelectOp::create(a.builder, a.loc, isZero,
                                       a.constant(formatF32(), 1), scale);
      });
}

/// True if neighbours are equally far apart everywhere: fixed point.
static bool isUniform(const Format &format) {
  const FormatFamily &family = format.getFamily();
  int32_t top = family.range(format).maxExponent;
  return family.precisionAt(format, top) ==
         family.precisionAt(format, top - 1) + 1;
}

void Expander::expand(WastedBitsOp op) {
  Location loc = op.getLoc();
  ScaledFormat format =
      scaledFormatOf(cast<RankedTensorType>(op.getOperand().getType()));
  Parts operand = partsOf(op.getOperand());
  Value largest = largestElement(builder, loc, operand.data, format);
  Value bits = mapNumbers(
      builder, loc, largest, format,
      [&](auto &, IRArithmetic &a, ValueRange v) {
        Value full = a.constant(formatF32(), format.fullScale());
        Value count = a.unary(OpKind::Log2, a.binary(OpKind::Div, full, v[0]));
        if (!isUniform(format.element))
          count = a.unary(OpKind::Log2, count);
        return a.binary(OpKind::Max, count, a.constant(formatF32(), 0));
      });
  op.getResult().replaceAllUsesWith(bits);
}

bool Expander::expandScaledArithmetic(Operation *op) {
  auto tried = [&]<typename Op>(Op) {
    auto typed = dyn_cast<Op>(op);
    if (typed)
      expand(typed);
    return bool(typed);
  };
  return tried(ScaledAddOp()) || tried(ScaledMatmulOp()) ||
         tried(ScaledReluOp()) || tried(RequantizeOp()) ||
         tried(WastedBitsOp());
}

} // namespace numera
