// SPDX-License-Identifier: MIT
//
// A step acc <- round(acc + x y), in a float with subnormals whose numbers are
// multiples of u, raises no flag if
//
//   no factor is infinite, and none is NaN that the sum could not be,
//   the sum of all |x y|, with its rounding errors, is below the largest
//   number, every x y is a multiple of u: then so is every sum, and a tiny one
//   is a number (docs/Semantics/StatusFlags.md, N3).
//
// A sum of n terms below t is less than n t (1 + 2^(1 - p))^n in precision p,
// and that is less than n t 2^(n 2^(1 - p) / ln 2). Of a product that is
// rounded by itself, x y may also be at least the least normal number.
//
// A cast raises no flag if the number is neither tiny nor above a power of two
// that is a number, and a sum of multiples of u none if no operand is above
// half of that.

#include "FlagRanges.h"
#include "FlagAnalysis.h"
#include "NumberBounds.h"
#include "SharedLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace numera {

/// True for a float whose tiny multiples of its unit are numbers.
static bool isGradual(const Format &format, const NumberBounds &bounds) {
  FormatFamily::Range range = format.getFamily().range(format);
  return range.normalExponent && range.leastExponent == bounds.unit;
}

namespace {
/// What a contraction's products x y must keep to.
struct Limits {
  int limit;                ///< below 2^limit
  int unit;                 ///< multiples of 2^unit
  std::optional<int> least; ///< or zero, or at least 2^least
  bool keepsNaN;            ///< a factor may be NaN
};
} // namespace

static std::optional<Limits> limitsOf(MacOp step, int64_t count) {
  StepRules rules = stepRulesOf(step);
  const Format &sum = rules.sum.encoding;
  if (!knownFormat(step.getType()) || !rules.sum.truncation.empty() ||
      step.getTensorcore())
    return std::nullopt;
  FormatFamily::Range range = sum.getFamily().range(sum);
  NumberBounds bounds = boundsOf(sum);
  if (!isGradual(sum, bounds) || !isSymmetric(sum))
    return std::nullopt;
  // Of each sum, and of the product.
  double errors =
      double(count + 1) * std::ldexp(1.0, 1 - range.precision) / std::log(2.0);
  double growth = std::log2(double(count)) + errors;
  if (growth > range.maxExponent)
    return std::nullopt;
  Limits limits = {range.maxExponent - int(std::ceil(growth)), bounds.unit,
                   std::nullopt, range.hasNaN};
  if (!rules.product)
    return limits;
  const Format &product = rules.product->encoding;
  if (product != sum || !rules.product->truncation.empty())
    return std::nullopt;
  limits.least = range.normalExponent;
  return limits;
}

/// The tensor whose elements an operand in the body is, through exact casts
/// there; null for any other one, such as a sum so far.
static Value tensorOf(linalg::GenericOp generic, Value operand) {
  if (auto cast = operand.getDefiningOp<CastOp>())
    if (keepsNumbers(cast))
      operand = cast->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(operand);
  if (!argument || argument.getOwner() != generic.getBody() ||
      argument.getArgNumber() >= generic.getNumDpsInputs())
    return {};
  return generic.getMatchingOpOperand(argument)->get();
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

/// Of the only step of a contraction from zeros.
static std::optional<QuietRanges> findQuietRanges(linalg::GenericOp generic,
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
  std::optional<Limits> limits = limitsOf(step, count);
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
  auto mayBeOther = [&](const NumberBounds &bounds) {
    return bounds.hasInfinity || (bounds.hasNaN && !limits->keepsNaN);
  };
  if (mayBeOther(*ofX) && ofX->isConstant)
    return std::nullopt;
  if (ofX->isZero() || ofY->isZero())
    return mayBeOther(*ofX) || mayBeOther(*ofY) ? std::nullopt
                                                : std::optional(QuietRanges());
  bool hasUnit = ofX->unit + ofY->unit >= limits->unit;
  bool hasLimit = ofX->limit + ofY->limit <= limits->limit;
  if (hasUnit && hasLimit && !mayBeOther(*ofX) && !mayBeOther(*ofY))
    return QuietRanges();

  NumberRange ofFirst = {x, 0, 0}, ofSecond = {y, 0, 0};
  if (ofX->isConstant) { // the other one has all that is left
    ofFirst.least = ofX->least;
    ofFirst.limit = ofX->limit;
    ofSecond.limit = limits->limit - ofX->limit;
    ofSecond.least = limits->unit - ofX->unit + ofY->precision - 1;
    if (limits->least)
      ofSecond.least = std::min(ofSecond.least, *limits->least - ofX->least);
  } else { // both in one range
    ofFirst.limit = halfOf(limits->limit);
    ofFirst.least =
        -halfOf(-limits->unit) + std::max(ofX->precision, ofY->precision) - 1;
    if (limits->least)
      ofFirst.least = std::min(ofFirst.least, -halfOf(-*limits->least));
    ofSecond.limit = ofFirst.limit;
    ofSecond.least = ofFirst.least;
  }
  if (hasUnit) {
    ofFirst.least = ofX->least;
    ofSecond.least = ofY->least;
  }
  QuietRanges ranges;
  if (!addTest(ranges, ofFirst, *ofX, limits->keepsNaN) ||
      !addTest(ranges, ofSecond, *ofY, limits->keepsNaN))
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

/// Whether numbers are out of range, an i32 that is 0 for none.
static Value createTest(OpBuilder &builder, Location loc, Value tensor,
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
  return foldAll(
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
      Value found = createTest(builder, loc, tensor, test.least, test.limit);
      Value zero =
          arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
      Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         found, zero);
      test.place->getResult(0).replaceAllUsesWith(isIn);
      test.place->erase();
    }
  tests.clear();
}

} // namespace numera
