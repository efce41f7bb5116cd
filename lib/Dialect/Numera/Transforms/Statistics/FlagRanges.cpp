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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;

namespace numera {

namespace {
/// Of all numbers of a value: multiples of 2^unit, with so many significant
/// bits, of magnitudes up to 2^limit.
struct Bounds {
  static constexpr int none = 1 << 20; ///< of zeros alone
  int unit = none, limit = -none, precision = 1;
  bool hasInfinity = false, hasNaN = false;

  bool isZero() const { return limit == -none; }
};
} // namespace

static Bounds boundsOf(const Format &format) {
  const FormatFamily &family = format.getFamily();
  FormatFamily::Range range = family.range(format);
  Bounds bounds;
  bounds.limit = range.maxExponent + 1;
  bounds.hasInfinity = range.hasInfinity;
  bounds.hasNaN = range.hasNaN;
  bounds.precision = range.precision;
  bounds.unit = range.leastExponent;
  for (int e = range.leastExponent; e <= range.maxExponent; ++e)
    bounds.unit = std::min(bounds.unit,
                           e + 1 - std::max(family.precisionAt(format, e), 1));
  return bounds;
}

/// Null for what has no numbers whose bounds are known.
static Format knownFormat(Type type) {
  Format format = formatOfType(elementType(type));
  return format && format.getFamily().hasArithmetic() &&
                 !format.getFamily().isIrrational()
             ? format
             : Format();
}

static bool isZero(Value value) {
  Attribute constant = valueOfConstant(value);
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(constant))
    constant = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast_or_null<FloatAttr>(constant))
    return number.getValue().isZero();
  auto code = dyn_cast_or_null<IntegerAttr>(constant);
  Format format = knownFormat(value.getType());
  return code && format &&
         format.getFamily()
             .decode(format, code.getValue().getZExtValue())
             .isZero();
}

/// True for a cast that changes no number.
static bool keepsNumbers(CastOp op) {
  auto interface = cast<FormatOpInterface>(op.getOperation());
  ElementKind from = interface.getOperandElement(0);
  return from.isFormat() && isExactCast(from.format, interface.getRules());
}

/// Through what changes no number.
static std::optional<Bounds> boundsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op)) {
    if (keepsNumbers(cast))
      return boundsOf(op->getOperand(0));
  } else if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    if (padding && isZero(padding))
      return boundsOf(pad.getSource());
  } else if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    return boundsOf(fill.value());
  } else if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                             tensor::ExtractSliceOp, tensor::CastOp>(op)) {
    return boundsOf(op->getOperand(0));
  }
  if (isZero(value))
    return Bounds();
  Format format = knownFormat(value.getType());
  return format ? std::optional(boundsOf(format)) : std::nullopt;
}

/// True for a float whose tiny multiples of its unit are numbers.
static bool isGradual(const Format &format, const Bounds &bounds) {
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
  Bounds bounds = boundsOf(sum);
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

/// Adds `tensor` if it has other numbers than those in range, NaN or not; false
/// if it cannot be tested for them.
static bool addTest(QuietRange &range, Value tensor, const Bounds &bounds,
                    bool keepsNaN) {
  if (bounds.limit <= range.limit && bounds.unit >= range.least &&
      !bounds.hasInfinity && (!bounds.hasNaN || keepsNaN))
    return true;
  Format format = formatOfType(elementType(tensor.getType()));
  if (!format || !isa<RankedTensorType>(tensor.getType()) ||
      !(embeds(format, formatF32()) || embeds(format, formatF64())))
    return false;
  range.tensors.push_back(withoutPadding(tensor));
  return true;
}

/// Of the only step of a contraction from zeros.
static std::optional<QuietRange> findQuietRange(linalg::GenericOp generic,
                                                MacOp step) {
  Block &body = *generic.getBody();
  auto exit = cast<linalg::YieldOp>(body.getTerminator());
  if (generic.getNumResults() != 1 || exit.getOperand(0) != step.getResult() ||
      step.getAddend() != body.getArguments().back())
    return std::nullopt;
  std::optional<Bounds> start = boundsOf(generic.getDpsInits()[0]);
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
  std::optional<Bounds> ofX = boundsOf(x), ofY = boundsOf(y);
  if (!ofX || !ofY)
    return std::nullopt;
  auto mayBeOther = [&](const Bounds &bounds) {
    return bounds.hasInfinity || (bounds.hasNaN && !limits->keepsNaN);
  };
  bool hasUnit = ofX->unit + ofY->unit >= limits->unit;
  QuietRange range;
  if (hasUnit && ofX->limit + ofY->limit <= limits->limit &&
      !mayBeOther(*ofX) && !mayBeOther(*ofY))
    return range;

  // Both in one range.
  range.limit = halfOf(limits->limit);
  range.least = std::min(ofX->unit, ofY->unit);
  if (!hasUnit) {
    range.least =
        -halfOf(-limits->unit) + std::max(ofX->precision, ofY->precision) - 1;
    if (limits->least)
      range.least = std::min(range.least, -halfOf(-*limits->least));
  }
  constexpr int narrow = 24;
  if (range.limit - range.least < narrow ||
      !addTest(range, x, *ofX, limits->keepsNaN) ||
      !addTest(range, y, *ofY, limits->keepsNaN))
    return std::nullopt;
  return range;
}

/// Of an elementwise operation; `tensorOf` has null for an operand that is of
/// no tensor.
static std::optional<QuietRange>
findQuietRange(FormatOpInterface op,
               llvm::function_ref<Value(Value)> tensorOf) {
  OperationRules rules = op.getRules();
  if (!op.getResultElement().isFormat() || !rules.truncation.empty())
    return std::nullopt;
  const Format &result = rules.encoding;
  if (!knownFormat(typeOfFormat(op->getContext(), result)) ||
      !isSymmetric(result))
    return std::nullopt;
  FormatFamily::Range numbers = result.getFamily().range(result);
  Bounds known = boundsOf(result);
  // In any format whose least number is its unit, tiny multiples of that are
  // numbers: in others than floats, zero alone.
  bool isGradual = numbers.leastExponent == known.unit;
  QuietRange range;
  bool isCast = op.getFormatOperation() == OpKind::Cast;
  if (isCast) {
    range.limit = numbers.maxExponent;
    // The least number of a takum is above the power of two.
    range.least = numbers.normalExponent.value_or(numbers.leastExponent + 1);
  } else if (isa<AddOp, SubOp>(op.getOperation())) {
    range.limit = numbers.maxExponent - 1;
    range.least = -Bounds::none;
  } else {
    return std::nullopt;
  }
  for (unsigned i = 0; i < op.getFormatOperandCount(); ++i) {
    Value tensor = tensorOf(op->getOperand(i));
    std::optional<Bounds> bounds = tensor ? boundsOf(tensor) : std::nullopt;
    bool hasUnit = isGradual && bounds && bounds->unit >= known.unit;
    if (!bounds || (!isCast && !hasUnit))
      return std::nullopt;
    if (hasUnit)
      range.least = -Bounds::none;
    if (!addTest(range, tensor, *bounds, numbers.hasNaN))
      return std::nullopt;
  }
  return range;
}

std::optional<QuietRange> findQuietRange(FormatOpInterface op) {
  return findQuietRange(op, [](Value operand) { return operand; });
}

std::optional<QuietRange> findQuietRange(linalg::GenericOp generic,
                                         FormatOpInterface op) {
  if (auto step = dyn_cast<MacOp>(op.getOperation()))
    return findQuietRange(generic, step);
  return findQuietRange(
      op, [&](Value operand) { return tensorOf(generic, operand); });
}

/// How many numbers are out of range, an i32 that is 0 for none.
static Value createTest(OpBuilder &builder, Location loc, Value tensor,
                        const QuietRange &range) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Format format = formatOfType(type.getElementType());
  bool isShort = embeds(format, formatF32());
  Type number = isShort ? Type(builder.getF32Type()) : builder.getF64Type();
  IntegerType bits = isShort ? builder.getI32Type() : builder.getI64Type();
  auto constant = [&](Type type, int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, type, value);
  };
  // The bits of 2^e, or of the least or the greatest normal one.
  auto powerOfTwo = [&](int e) {
    int bias = isShort ? 127 : 1023;
    return int64_t(std::clamp(e + bias, 1, 2 * bias + 1))
           << (isShort ? 23 : 52);
  };
  int64_t least = powerOfTwo(range.least), limit = powerOfTwo(range.limit);
  Type i32 = builder.getI32Type();
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), i32);
  Value none = linalg::FillOp::create(builder, loc, constant(i32, 0), empty)
                   .getResult(0);
  int64_t rank = type.getRank();
  AffineMap maps[] = {builder.getMultiDimIdentityMap(unsigned(rank)),
                      AffineMap::get(unsigned(rank), 0, builder.getContext())};
  SmallVector<utils::IteratorType> loops(size_t(rank),
                                         utils::IteratorType::reduction);
  auto test = linalg::GenericOp::create(
      builder, loc, none.getType(), tensor, none, maps, loops,
      [&](OpBuilder &, Location, ValueRange values) {
        Value value = values[0];
        if (value.getType() != number)
          value = CastOp::create(builder, loc, TypeRange(number), value);
        Value code = arith::BitcastOp::create(builder, loc, bits, value);
        Value magnitude = arith::AndIOp::create(
            builder, loc, code,
            constant(bits, isShort ? INT32_MAX : INT64_MAX));
        Value offset = arith::SubIOp::create(builder, loc, magnitude,
                                             constant(bits, least));
        Value isOut =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                  offset, constant(bits, limit - least));
        Value isNumber =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                  magnitude, constant(bits, 0));
        Value found = arith::ExtUIOp::create(
            builder, loc, i32,
            arith::AndIOp::create(builder, loc, isOut, isNumber));
        linalg::YieldOp::create(
            builder, loc,
            arith::OrIOp::create(builder, loc, found, values[1]).getResult());
      });
  return tensor::ExtractOp::create(builder, loc, test.getResult(0),
                                   ValueRange());
}

Value createRangeTest(OpBuilder &builder, Location loc,
                      const QuietRange &range) {
  Value found;
  for (Value tensor : range.tensors) {
    Value other = createTest(builder, loc, tensor, range);
    found =
        found ? Value(arith::OrIOp::create(builder, loc, found, other)) : other;
  }
  Value zero =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, found,
                               zero);
}

} // namespace numera
