// SPDX-License-Identifier: MIT
//
// An exact sum of few products of a small format fits in a float. Every value
// of the format is a multiple of 2^w and at most 2^e in magnitude, so that a
// product is a multiple of 2^2w and at most 2^2e, and a partial sum of n
// products and m values, in whatever order, a multiple of u = 2^min(2w, w) and
// at most n 2^2e + m 2^e. If that is at most 2^24 u (2^53 u), all of these are
// numbers of f32 (f64): nothing is rounded, and the sum is that of a quire. It
// is rounded once, by a cast. Infinities and NaN go through sums in floats as
// through a quire (docs/Semantics/Quire.md); where there is a -0, sums begin at
// +0, which they stay.

#include "ContractionLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERANARROWQUIRES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

/// A sum in a quire, from an empty one to its roundings: to a format, and where
/// flags are counted to f64 as well.
struct ExactSum {
  linalg::FillOp empty;
  SmallVector<QuireAddOp, 1> values; ///< that are added first, such as a bias
  linalg::GenericOp products;
  SmallVector<QuireRoundOp, 2> rounds;
};

} // namespace

/// `sum + lhs · rhs`, of two inputs.
static QuireMacOp stepOf(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1 ||
      body->getOperations().size() != 2 || !generic.hasPureTensorSemantics() ||
      llvm::any_of(generic->getOperandTypes(), scalingOf))
    return {};
  auto mac = dyn_cast<QuireMacOp>(&body->front());
  return mac && isa<BlockArgument>(mac.getLhs()) &&
                 isa<BlockArgument>(mac.getRhs()) &&
                 mac.getQuire() == generic.getRegionOutputArgs().front()
             ? mac
             : QuireMacOp();
}

static std::optional<ExactSum> match(linalg::GenericOp generic) {
  if (!stepOf(generic))
    return std::nullopt;
  ExactSum sum{{}, {}, generic, {}};
  for (Operation *user : generic->getUsers()) {
    auto round = dyn_cast<QuireRoundOp>(user);
    if (!round || round.getRandom() || round.drawsRandom())
      return std::nullopt;
    sum.rounds.push_back(round);
  }
  Value begun = generic.getDpsInits().front();
  while (auto add = begun.getDefiningOp<QuireAddOp>()) {
    sum.values.push_back(add);
    begun = add.getQuire();
  }
  sum.empty = begun.getDefiningOp<linalg::FillOp>();
  bool isEmpty =
      sum.empty && sum.empty.getInputs().front().getDefiningOp<QuireZeroOp>();
  return isEmpty ? std::optional<ExactSum>(std::move(sum)) : std::nullopt;
}

/// How many products a sum has; none if run time tells.
static std::optional<int64_t> termsOf(linalg::GenericOp generic) {
  SmallVector<unsigned> loops;
  generic.getReductionDims(loops);
  return extentOf(generic.getStaticLoopRanges(), loops);
}

/// f32 or f64 if sums of so many products and values are exact in it, by the
/// bound above.
static FloatType exactType(MLIRContext *context, const Format &format,
                           int64_t products, int64_t values) {
  const FormatFamily &family = format.getFamily();
  if (format.isOpaque() || !family.hasArithmetic() || family.isIrrational() ||
      format.changeOf(OpKind::Mac) || format.changeOf(OpKind::Mul))
    return {};
  // Of integers in two's complement, the lowest is a power of two.
  int32_t most = family.range(format).maxExponent + 1,
          unit = family.quire(format).least;
  // No sum is a subnormal number, nor infinite.
  if (unit < -126 || 2 * most > 63 || most < -63 || unit > 0)
    return {};
  double units = std::ldexp(double(products), 2 * most - unit) +
                 std::ldexp(double(values), most - unit);
  if (units <= std::ldexp(1.0, 24) && family.embedsInF32(format))
    return Float32Type::get(context);
  if (units <= std::ldexp(1.0, 53) && family.embedsInF64(format))
    return Float64Type::get(context);
  return {};
}

/// A function of the user's may stand for a step, or for the cast.
static bool hasFunctions(const Registry &registry, const Format &format,
                         FloatType wide) {
  Format sum = formatOfType(wide);
  return llvm::any_of(registry.lowerings(), [&](const Lowering &lowering) {
    return lowering.operation == OpKind::Cast
               ? lowering.result == format || lowering.operands[0] == format
               : lowering.result == sum;
  });
}

static Value exactly(OpBuilder &builder, Location loc, Type element,
                     Value value) {
  return CastOp::create(
      builder, loc,
      TypeRange(cast<RankedTensorType>(value.getType()).clone(element)),
      ValueRange(value));
}

static void narrow(ExactSum sum, FloatType wide, bool hasMinusZero) {
  linalg::GenericOp generic = sum.products;
  Location loc = generic.getLoc();
  OpBuilder builder(generic);
  Value begun;
  for (QuireAddOp add : llvm::reverse(sum.values)) {
    Value value = exactly(builder, loc, wide, add.getOperand());
    begun = begun ? arith::AddFOp::create(builder, loc, begun, value) : value;
  }
  if (!begun || hasMinusZero) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getFloatAttr(wide, 0));
    Value empty = tensor::EmptyOp::create(
        builder, loc,
        tensor::getMixedSizes(builder, loc, sum.empty.getOutputs().front()),
        wide);
    Value zeros =
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
    begun = begun ? arith::AddFOp::create(builder, loc, zeros, begun) : zeros;
  }
  auto made = linalg::GenericOp::create(
      builder, loc, begun.getType(), generic.getDpsInputs(), begun,
      generic.getIndexingMapsArray(), generic.getIteratorTypesArray(),
      [&](OpBuilder &body, Location at, ValueRange arguments) {
        QuireMacOp step = stepOf(generic);
        auto factor = [&](Value value) {
          return arguments[cast<BlockArgument>(value).getArgNumber()];
        };
        Value next =
            MacOp::create(body, step.getLoc(), TypeRange(wide),
                          ValueRange{factor(step.getLhs()),
                                     factor(step.getRhs()), arguments.back()});
        linalg::YieldOp::create(body, at, next);
      });
  made->setDiscardableAttrs(generic->getDiscardableAttrDictionary());
  for (QuireRoundOp round : sum.rounds) {
    builder.setInsertionPoint(round);
    Value result = made.getResult(0);
    if (result.getType() != round.getType()) {
      auto cast =
          CastOp::create(builder, round.getLoc(), TypeRange(round.getType()),
                         ValueRange(result));
      // To f64 nothing is rounded.
      if (!elementType(round.getType()).isF64())
        cast.setRoundingAttr(round.getRoundingAttr());
      result = cast;
    }
    round.replaceAllUsesWith(result);
    round.erase();
  }
  generic.erase();
  // Another sum may begin so as well.
  SmallVector<Operation *> begin;
  llvm::append_range(begin, sum.values);
  begin.append({sum.empty, sum.empty.getInputs().front().getDefiningOp(),
                sum.empty.getOutputs().front().getDefiningOp()});
  for (Operation *op : begin)
    if (op && isOpTriviallyDead(op))
      op->erase();
}

namespace {
struct NarrowQuiresPass : impl::NumeraNarrowQuiresBase<NarrowQuiresPass> {
  using Base::Base;

  void runOnOperation() override {
    const Registry &registry =
        getContext().getLoadedDialect<NumeraDialect>()->getRegistry();
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk(
        [&](linalg::GenericOp generic) { generics.push_back(generic); });
    for (linalg::GenericOp generic : generics) {
      std::optional<ExactSum> sum = match(generic);
      std::optional<int64_t> terms = sum ? termsOf(generic) : std::nullopt;
      if (!terms)
        continue;
      QuireOpInterface step = stepOf(generic);
      Format format = step.getQuireFormat();
      FloatType wide =
          exactType(&getContext(), format, *terms, int64_t(sum->values.size()));
      if (wide && !hasFunctions(registry, format, wide))
        narrow(std::move(*sum), wide,
               format.getFamily().range(format).hasNegativeZero);
    }
  }
};
} // namespace

} // namespace numera
