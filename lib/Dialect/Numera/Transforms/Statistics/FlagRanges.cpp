// SPDX-License-Identifier: MIT
//
// The step of a contraction raises no flags where its products keep to limits
// (SumLimits.h). Where they may be tiny, and the rest holds, the factors tell
// how many of them underflow, without a sum (Underflows.cpp).
//
// A cast raises no flag if the number is neither tiny nor above a power of two
// that is a number, and a sum of multiples of u none if no operand is above
// half of that.

#include "FlagRanges.h"
#include "FlagAnalysis.h"
#include "NumberBounds.h"
#include "SharedLoops.h"
#include "SumLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace numera {

OpOperand *elementsOf(linalg::GenericOp generic, Value operand) {
  if (auto cast = operand.getDefiningOp<CastOp>())
    if (keepsNumbers(cast))
      operand = cast->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || argument.getOwner() != generic.getBody() ||
      argument.getArgNumber() >= generic.getNumDpsInputs())
    return nullptr;
  return generic.getMatchingOpOperand(argument);
}

/// The same as a value, which may be null.
static Value tensorOf(linalg::GenericOp generic, Value operand) {
  OpOperand *elements = elementsOf(generic, operand);
  return elements ? elements->get() : Value();
}

/// What is padded with zeros, without them.
static Value withoutPadding(Value tensor) {
  while (auto pad = tensor.getDefiningOp<tensor::PadOp>()) {
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !isZero(padding))
      break;
    tensor = pad.getSource();
  }
  return tensor;
}

/// Half, rounded down.
static int halfOf(int number) {
  return number >= 0 ? number / 2 : -(1 - number) / 2;
}

/// True if all numbers within `bounds` are in range, NaN or not.
static bool isWithin(const NumberRange &range, const NumberBounds &bounds,
                     bool keepsNaN) {
  return bounds.limit <= range.limit && bounds.least >= range.least &&
         !bounds.hasInfinity && (!bounds.hasNaN || keepsNaN);
}

/// Adds `range` if its tensor may have other numbers; false if it cannot be
/// tested for them, or it most likely has some.
static bool addTest(QuietRanges &ranges, NumberRange range,
                    const NumberBounds &bounds, bool keepsNaN) {
  if (isWithin(range, bounds, keepsNaN))
    return true;
  constexpr int narrow = 32;
  Type type = range.tensor.getType();
  Format format = formatOfType(elementType(type));
  if (bounds.isConstant || range.limit - range.least < narrow || !format ||
      !isa<RankedTensorType>(type) ||
      !(embeds(format, formatF32()) || embeds(format, formatF64())))
    return false;
  range.tensor = withoutPadding(range.tensor);
  ranges.push_back(range);
  return true;
}

namespace {
/// The only step of a contraction from zeros, whose factors are elements.
struct Contraction {
  SumLimits limits;
  Value x, y; ///< the factors' tensors
  NumberBounds ofX, ofY;
  int64_t count; ///< terms of a sum

  bool mayBeOther(const NumberBounds &bounds) const {
    return bounds.hasInfinity || (bounds.hasNaN && !limits.keepsNaN);
  }
  /// True if no product is 2^limit or more, whatever the factors are.
  bool hasLimit() const { return ofX.limit + ofY.limit <= limits.limit; }
};
} // namespace

static std::optional<Contraction> contractionOf(linalg::GenericOp generic,
                                                MacOp step) {
  Block &body = *generic.getBody();
  auto exit = cast<linalg::YieldOp>(body.getTerminator());
  if (generic.getNumResults() != 1 || exit.getOperand(0) != step.getResult() ||
      step.getAddend() != body.getArguments().back())
    return std::nullopt;
  std::optional<NumberBounds> start = boundsOf(generic.getDpsInits()[0]);
  if (!start || !start->isZero())
    return std::nullopt;
  int64_t count = 1;
  for (auto [size, kind] : llvm::zip_equal(generic.getStaticLoopRanges(),
                                           generic.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction &&
        (size <= 0 || llvm::MulOverflow(count, size, count)))
      return std::nullopt; // or it is dynamic
  std::optional<SumLimits> limits = limitsOf(step, count);
  Value x = tensorOf(generic, step.getLhs());
  Value y = tensorOf(generic, step.getRhs());
  if (!limits || !x || !y)
    return std::nullopt;
  std::optional<NumberBounds> ofX = boundsOf(x), ofY = boundsOf(y);
  if (!ofX || !ofY)
    return std::nullopt;
  if (ofY->isConstant && !ofX->isConstant) {
    std::swap(x, y);
    std::swap(ofX, ofY);
  }
  Contraction found = {*limits, x, y, *ofX, *ofY, count};
  if (found.mayBeOther(*ofX) && ofX->isConstant)
    return std::nullopt;
  return found;
}

static std::optional<QuietRanges> findQuietRanges(linalg::GenericOp generic,
                                                  MacOp step) {
  std::optional<Contraction> contraction = contractionOf(generic, step);
  if (!contraction)
    return std::nullopt;
  auto &[limits, x, y, ofX, ofY, count] = *contraction;
  bool mayBeOther =
      contraction->mayBeOther(ofX) || contraction->mayBeOther(ofY);
  if (ofX.isZero() || ofY.isZero())
    return mayBeOther ? std::nullopt : std::optional(QuietRanges());
  bool hasUnit = ofX.unit + ofY.unit >= limits.unit;
  if (hasUnit && contraction->hasLimit() && !mayBeOther)
    return QuietRanges();

  NumberRange ofFirst = {x, 0, 0}, ofSecond = {y, 0, 0};
  if (ofX.isConstant) { // the other one has all that is left
    ofFirst.least = ofX.least;
    ofFirst.limit = ofX.limit;
    ofSecond.limit = limits.limit - ofX.limit;
    ofSecond.least = limits.unit - ofX.unit + ofY.precision - 1;
    if (limits.least)
      ofSecond.least = std::min(ofSecond.least, *limits.least - ofX.least);
  } else { // both in one range
    ofFirst.limit = halfOf(limits.limit);
    ofFirst.least =
        -halfOf(-limits.unit) + std::max(ofX.precision, ofY.precision) - 1;
    if (limits.least)
      ofFirst.least = std::min(ofFirst.least, -halfOf(-*limits.least));
    ofSecond.limit = ofFirst.limit;
    ofSecond.least = ofFirst.least;
  }
  if (hasUnit) {
    ofFirst.least = ofX.least;
    ofSecond.least = ofY.least;
  }
  QuietRanges ranges;
  if (!addTest(ranges, ofFirst, ofX, limits.keepsNaN) ||
      !addTest(ranges, ofSecond, ofY, limits.keepsNaN))
    return std::nullopt;
  return ranges;
}

std::optional<QuietRanges> findUnderflowRanges(linalg::GenericOp generic,
                                               FormatOpInterface op) {
  auto step = dyn_cast<MacOp>(op.getOperation());
  std::optional<Contraction> contraction;
  if (!step || !stepRulesOf(step).product ||
      !(contraction = contractionOf(generic, step)))
    return std::nullopt;
  auto &[limits, x, y, ofX, ofY, count] = *contraction;
  if (count > INT32_MAX)
    return std::nullopt;
  // f32 holds each product, as a normal number, and the units of tiny ones.
  const Format &product = stepRulesOf(step).product->encoding;
  FormatFamily::Range range = product.getFamily().range(product);
  if (range.normalExponent && *range.normalExponent - range.leastExponent > 22)
    return std::nullopt;
  constexpr int digits = 24, least = -126, most = 127;
  auto isNarrow = [&](Value tensor, const NumberBounds &bounds) {
    return 2 * bounds.precision <= digits && 2 * bounds.unit >= least &&
           2 * bounds.limit <= most;
  };
  if (!isNarrow(x, boundsOf(knownFormat(x.getType()))) ||
      !isNarrow(y, boundsOf(knownFormat(y.getType()))))
    return std::nullopt;
  constexpr int any = -NumberBounds::none;
  NumberRange ofFirst = {x, any, 0}, ofSecond = {y, any, 0};
  ofFirst.limit = ofX.isConstant ? ofX.limit : halfOf(limits.limit);
  ofSecond.limit = limits.limit - ofFirst.limit;
  QuietRanges ranges;
  if (!addTest(ranges, ofFirst, ofX, limits.keepsNaN) ||
      !addTest(ranges, ofSecond, ofY, limits.keepsNaN))
    return std::nullopt;
  return ranges;
}

/// The range of what is cast to `range.tensor`, to nearest or to a neighbour,
/// for which that is in its own. Without one, `range`.
static NumberRange beforeCast(NumberRange range) {
  auto cast = range.tensor.getDefiningOp<CastOp>();
  if (!cast || range.least != -NumberBounds::none)
    return range;
  auto interface = ::llvm::cast<FormatOpInterface>(cast.getOperation());
  OperationRules rules = interface.getRules();
  const Format &result = rules.encoding;
  ElementKind from = interface.getOperandElement(0);
  // A power of two that is a number is never exceeded.
  if (!from.isFormat() || !rules.truncation.empty() ||
      isOverridden(interface) || !isSymmetric(result) ||
      !knownFormat(cast->getOperand(0).getType()) ||
      result.getFamily().precisionAt(result, range.limit - 1) < 1)
    return range;
  return {cast->getOperand(0), range.least, range.limit - 1};
}

/// Of an elementwise operation; `tensorOf` has null for an operand that is of
/// no tensor.
static std::optional<QuietRanges>
findQuietRanges(FormatOpInterface op,
                llvm::function_ref<Value(Value)> tensorOf) {
  OperationRules rules = op.getRules();
  if (!op.getResultElement().isFormat() || !rules.truncation.empty())
    return std::nullopt;
  const Format &result = rules.encoding;
  if (!knownFormat(typeOfFormat(op->getContext(), result)) ||
      !isSymmetric(result))
    return std::nullopt;
  FormatFamily::Range numbers = result.getFamily().range(result);
  NumberBounds known = boundsOf(result);
  // In any format whose least number is its unit, tiny multiples of that are
  // numbers: in others than floats, zero alone.
  bool isGradual = numbers.leastExponent == known.unit;
  bool isCast = op.getFormatOperation() == OpKind::Cast;
  if (!isCast && !isa<AddOp, SubOp>(op.getOperation()))
    return std::nullopt;
  QuietRanges ranges;
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i) {
    Value tensor = tensorOf(op->getOperand(i));
    std::optional<NumberBounds> bounds =
        tensor ? boundsOf(tensor) : std::nullopt;
    bool hasUnit = isGradual && bounds && bounds->unit >= known.unit;
    if (!bounds || (!isCast && !hasUnit))
      return std::nullopt;
    NumberRange range = {tensor, -NumberBounds::none,
                         isCast ? numbers.maxExponent
                                : numbers.maxExponent - 1};
    // The least number of a takum is above the power of two.
    if (!hasUnit)
      range.least = numbers.normalExponent.value_or(numbers.leastExponent + 1);
    if (isWithin(range, *bounds, numbers.hasNaN))
      continue;
    range = beforeCast(range);
    if (!addTest(ranges, range, *boundsOf(range.tensor), numbers.hasNaN))
      return std::nullopt;
  }
  return ranges;
}

std::optional<QuietRanges> findQuietRanges(FormatOpInterface op) {
  return findQuietRanges(op, [](Value operand) { return operand; });
}

std::optional<QuietRanges> findQuietRanges(linalg::GenericOp generic,
                                           FormatOpInterface op) {
  if (auto step = dyn_cast<MacOp>(op.getOperation()))
    return findQuietRanges(generic, step);
  return findQuietRanges(
      op, [&](Value operand) { return tensorOf(generic, operand); });
}

/// Whether all numbers are in range.
static Value isInRange(OpBuilder &builder, Location loc, Value tensor,
                       int leastExponent, int limitExponent) {
  Format format = formatOfType(elementType(tensor.getType()));
  bool isShort = embeds(format, formatF32());
  Type number = isShort ? Type(builder.getF32Type()) : builder.getF64Type();
  IntegerType bits = isShort ? builder.getI32Type() : builder.getI64Type();
  auto constant = [&](OpBuilder &at, Type type, int64_t value) -> Value {
    return arith::ConstantIntOp::create(at, loc, type, value);
  };
  // The bits of 2^e, or of the least or the greatest normal one.
  auto powerOfTwo = [&](int e) {
    int bias = isShort ? 127 : 1023;
    return int64_t(std::clamp(e + bias, 1, 2 * bias + 1))
           << (isShort ? 23 : 52);
  };
  int64_t least = powerOfTwo(leastExponent), limit = powerOfTwo(limitExponent);
  Value found = foldAll(
      builder, loc, "out_of_range", tensor,
      {constant(builder, bits, least), constant(builder, bits, limit - least)},
      Fold::by<arith::OrIOp>(builder.getI32IntegerAttr(0)),
      [&](OpBuilder &at, ValueRange elements, ValueRange scalars) {
        Value value = elements[0];
        if (value.getType() != number)
          value = CastOp::create(at, loc, TypeRange(number), value);
        Value code = arith::BitcastOp::create(at, loc, bits, value);
        Value magnitude = arith::AndIOp::create(
            at, loc, code, constant(at, bits, isShort ? INT32_MAX : INT64_MAX));
        Value offset = arith::SubIOp::create(at, loc, magnitude, scalars[0]);
        Value isOut = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::uge,
                                            offset, scalars[1]);
        Value isNumber =
            arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, magnitude,
                                  constant(at, bits, 0));
        return SmallVector<Value>{arith::ExtUIOp::create(
            at, loc, at.getI32Type(),
            arith::AndIOp::create(at, loc, isOut, isNumber))};
      })[0];
  Value zero =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, found,
                               zero);
}

Value createTests(OpBuilder &builder, Location loc, const QuietRanges &ranges) {
  Value all = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (const NumberRange &range : ranges)
    all = arith::AndIOp::create(
        builder, loc, all,
        isInRange(builder, loc, range.tensor, range.least, range.limit));
  return all;
}

Value RangeTests::find(OpBuilder &builder, Operation *op,
                       const QuietRanges &ranges) {
  OpBuilder::InsertionGuard guard(builder);
  Value all;
  for (const NumberRange &range : ranges) {
    builder.setInsertionPointAfterValue(range.tensor);
    SmallVector<Test, 1> &known = tests[range.tensor];
    auto test = llvm::find_if(known, [&](const Test &other) {
      return std::max(other.least, range.least) <
             std::min(other.limit, range.limit);
    });
    if (test == known.end()) {
      auto place = arith::ConstantIntOp::create(builder, op->getLoc(), 0, 1);
      known.push_back({range.least, range.limit, place});
      test = &known.back();
    }
    test->least = std::max(test->least, range.least);
    test->limit = std::min(test->limit, range.limit);
    Value isIn = test->place->getResult(0);
    builder.setInsertionPointAfter(op);
    all = all ? arith::AndIOp::create(builder, op->getLoc(), all, isIn)
                    .getResult()
              : isIn;
  }
  return all;
}

void RangeTests::create(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  for (auto &[tensor, known] : tests)
    for (const Test &test : known) {
      builder.setInsertionPoint(test.place);
      Location loc = test.place->getLoc();
      Value isIn = isInRange(builder, loc, tensor, test.least, test.limit);
      test.place->getResult(0).replaceAllUsesWith(isIn);
      test.place->erase();
    }
  tests.clear();
}

} // namespace numera
