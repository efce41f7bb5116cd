// SPDX-License-Identifier: MIT
//
// How many of a contraction's products are rounded from a tiny number, by the
// factors alone: f32 holds each product (findUnderflowRanges).

#include "CounterRow.h"
#include "FlagRanges.h"
#include "FlagSums.h"
#include "NumberBounds.h"
#include "SharedLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

/// Whether a product underflows in rounding to `format`, whose numbers are
/// multiples of the least one: i1. A float's product does not where it is such
/// a multiple; in other families whatever is below the least number does.
static Value isUnderflow(OpBuilder &builder, Location loc, const Format &format,
                         Value product) {
  constexpr int bias = 127, fraction = 23;
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  FormatFamily::Range range = format.getFamily().range(format);
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  auto powerOfTwo = [&](int e) { return int64_t(e + bias) << fraction; };
  int tiny = range.normalExponent.value_or(range.leastExponent);
  if (tiny < 1 - bias) // no product that f32 holds as a normal number is tiny
    return arith::ConstantIntOp::create(builder, loc, 0, 1);
  Value bits = arith::BitcastOp::create(builder, loc, i32, product);
  Value magnitude = arith::AndIOp::create(builder, loc, bits, word(INT32_MAX));
  // Zero becomes the largest.
  Value isTiny = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult,
      arith::SubIOp::create(builder, loc, magnitude, word(1)),
      word(powerOfTwo(tiny) - 1));
  if (!range.normalExponent)
    return isTiny;
  // A tiny number has at most 22 digits above the least one's, so the sum with
  // 2^23 of that rounds to its multiples.
  Value large = arith::ConstantFloatOp::create(
      builder, loc, cast<FloatType>(f32),
      APFloat(std::ldexp(1.0f, range.leastExponent + fraction)));
  Value number = arith::BitcastOp::create(builder, loc, f32, magnitude);
  Value multiple = arith::SubFOp::create(
      builder, loc, arith::AddFOp::create(builder, loc, number, large), large);
  Value isOther = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE,
                                        multiple, number);
  return arith::AndIOp::create(builder, loc, isTiny, isOther);
}

Value countUnderflows(OpBuilder &builder, linalg::GenericOp generic,
                      FormatOpInterface op) {
  Location loc = generic.getLoc();
  auto step = cast<MacOp>(op.getOperation());
  Format format = stepRulesOf(step).product->encoding;
  // All inputs: any may be what determines a loop.
  SmallVector<Value> inputs(generic.getInputs());
  SmallVector<unsigned, 2> factors;
  for (Value operand : {step.getLhs(), step.getRhs()}) {
    unsigned place = elementsOf(generic, operand)->getOperandNumber();
    factors.push_back(place);
    auto type = cast<RankedTensorType>(inputs[place].getType());
    if (type.getElementType().isF32())
      continue;
    inputs[place] = CastOp::create(
        builder, loc, type.clone(builder.getF32Type()), inputs[place]);
    inputs[place].getDefiningOp()->setAttr(uncountedAttribute,
                                           builder.getUnitAttr());
  }
  // The contraction's own sums have its shape; there is an i32 for each.
  Value zeros = createZeros(
      builder, loc,
      tensor::getMixedSizes(builder, loc, generic.getOutputs().front()),
      builder.getI32Type());
  auto counting = linalg::GenericOp::create(
      builder, loc, zeros.getType(), inputs, zeros,
      generic.getIndexingMapsArray(), generic.getIteratorTypesArray(),
      [&](OpBuilder &at, Location, ValueRange elements) {
        Value product = arith::MulFOp::create(at, loc, elements[factors[0]],
                                              elements[factors[1]]);
        Value found = arith::ExtUIOp::create(
            at, loc, at.getI32Type(), isUnderflow(at, loc, format, product));
        Value sum = arith::AddIOp::create(at, loc, elements.back(), found);
        linalg::YieldOp::create(at, loc, sum);
      });
  return foldAll(builder, loc, "sum_words", counting.getResult(0), {},
                 Fold::by<arith::AddIOp>(builder.getI64IntegerAttr(0)),
                 [&](OpBuilder &at, ValueRange words, ValueRange) {
                   return SmallVector<Value>{arith::ExtUIOp::create(
                       at, loc, at.getI64Type(), words[0])};
                 })[0];
}

} // namespace numera
