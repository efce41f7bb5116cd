// SPDX-License-Identifier: MIT
//
// Contractions and sums accumulate in the policy's accumulator: the generic's
// `outs` takes its type, its body becomes one numera.mac (or ends in one mixed
// numera.add), and a cast to the format follows.

#include "Retype.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {
/// The last addition of a reduction's body: acc + term, with the factors where
/// the term is a product of two inputs.
struct Sum {
  Operation *add = nullptr;
  Value term;
  Value lhs, rhs; ///< null unless the term is a product of nothing else's use
};
} // namespace

static std::optional<Sum> matchSum(linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1)
    return std::nullopt;
  Block *body = generic.getBody();
  Value accumulator = body->getArguments().back();
  Value yielded = body->getTerminator()->getOperand(0);
  Operation *last = yielded.getDefiningOp();
  if (!last || !yielded.hasOneUse() || !accumulator.hasOneUse())
    return std::nullopt;
  if (auto fma = dyn_cast<FmaOp>(last); fma && fma.getAddend() == accumulator)
    return Sum{last, {}, fma.getLhs(), fma.getRhs()};
  auto add = dyn_cast<AddOp>(last);
  if (!add || (add.getLhs() != accumulator && add.getRhs() != accumulator))
    return std::nullopt;
  Sum sum{
      last, add.getLhs() == accumulator ? add.getRhs() : add.getLhs(), {}, {}};
  if (auto mul = sum.term.getDefiningOp<MulOp>(); mul && mul->hasOneUse()) {
    sum.lhs = mul.getLhs();
    sum.rhs = mul.getRhs();
  }
  return sum;
}

/// True for a fill with (positive) zero, whose accumulator starts at +0 in any
/// format.
static bool isZeroFill(Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return false;
  Value value = fill.getInputs()[0];
  if (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getOperand();
  Attribute constant = valueOfConstant(value);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(constant))
    return integer.getValue().isZero();
  auto number = dyn_cast_or_null<FloatAttr>(constant);
  return number && number.getValue().isPosZero();
}

static Value createAccumulator(IRRewriter &rewriter, Location loc, Value init,
                               const ResolvedPolicy &policy, Type accumulator) {
  auto type = cast<RankedTensorType>(init.getType());
  if (type.getElementType() == accumulator)
    return init;
  if (policy.isExact) {
    Value zero = QuireZeroOp::create(rewriter, loc, accumulator, FormatAttr());
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, init), accumulator);
    Value sums =
        linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    return isZeroFill(init) ? sums
                            : QuireAddOp::create(rewriter, loc, sums.getType(),
                                                 sums, init, FormatAttr())
                                  .getResult();
  }
  if (!isZeroFill(init))
    return CastOp::create(rewriter, loc, type.clone(accumulator), init);
  Value zero = createConstant(rewriter, loc, policy.accumulator,
                              rewriter.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, init), accumulator);
  return linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
}

/// Rewrites the body of the new generic: the accumulating step in place of
/// `sum.add`.
static void rewriteStep(IRRewriter &rewriter, const Sum &sum,
                        const ResolvedPolicy &policy, Value accumulator) {
  rewriter.setInsertionPoint(sum.add);
  Location loc = sum.add->getLoc();
  Type type = accumulator.getType();
  if (policy.isExact) {
    Value added = sum.lhs
                      ? QuireMacOp::create(rewriter, loc, type, sum.lhs,
                                           sum.rhs, accumulator, FormatAttr())
                            .getResult()
                      : QuireAddOp::create(rewriter, loc, type, accumulator,
                                           sum.term, FormatAttr())
                            .getResult();
    rewriter.replaceAllUsesWith(sum.add->getResult(0), added);
    rewriter.eraseOp(sum.add);
    if (Operation *mul =
            sum.lhs && sum.term ? sum.term.getDefiningOp() : nullptr)
      rewriter.eraseOp(mul);
    return;
  }
  if (sum.lhs) {
    Operation *mul = sum.term ? sum.term.getDefiningOp() : nullptr;
    // A product that draws is an operation of its own.
    if (policy.product && rulesOf(OpKind::Mul, policy.product, {}).rounding ==
                              Rounding::Stochastic) {
      Value product = MulOp::create(
          rewriter, loc,
          TypeRange(typeOfFormat(rewriter.getContext(), policy.product)),
          ValueRange{sum.lhs, sum.rhs});
      rewriter.replaceOpWithNewOp<AddOp>(sum.add, TypeRange(type),
                                         ValueRange{accumulator, product});
    } else {
      auto mac = MacOp::create(rewriter, loc, TypeRange(type),
                               ValueRange{sum.lhs, sum.rhs, accumulator});
      mac.setTensorcore(policy.usesTensorCores);
      if (policy.product)
        mac.setProductAttr(
            FormatAttr::get(rewriter.getContext(), policy.product));
      rewriter.replaceOp(sum.add, mac);
    }
    if (mul)
      rewriter.eraseOp(mul);
    return;
  }
  Value added = AddOp::create(rewriter, loc, TypeRange(type),
                              ValueRange{accumulator, sum.term});
  rewriter.replaceOp(sum.add, added);
}

/// A factor before a cast that changes no value: a step takes any formats, and
/// contractions are faster on the narrower one.
static Value beforeExactCast(Value factor) {
  auto cast = factor.getDefiningOp<CastOp>();
  if (!cast || !cast->hasOneUse() || cast.getRandom())
    return factor;
  Format from = formatOfType(cast.getOperand().getType());
  Format to = formatOfType(cast.getType());
  return from && to && isExactCast(from, to) ? cast.getOperand() : factor;
}

static LogicalResult retypeSum(IRRewriter &rewriter, linalg::GenericOp generic,
                               Sum sum, const ResolvedPolicy &policy,
                               const Policies &policies,
                               ContractionNames &names) {
  Location loc = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  bool isBlocked = !sum.lhs && !policy.product && !policy.isExact &&
                   isZeroFill(generic.getDpsInits()[0]);
  if (Value blocked =
          isBlocked ? createBlockedSum(rewriter, generic, policy) : Value()) {
    rewriter.replaceOp(generic, blocked);
    return success();
  }
  auto resultType = cast<RankedTensorType>(generic.getResult(0).getType());
  Type accumulator =
      policy.isExact
          ? Type(QuireType::get(rewriter.getContext(), policy.format))
          : typeOfFormat(rewriter.getContext(), policy.accumulator);
  Value init = createAccumulator(rewriter, loc, generic.getDpsInits()[0],
                                 policy, accumulator);
  SmallVector<Value> inputs(generic.getInputs());
  // Each counts, so that a name does not hang on what is scaled.
  std::string name = sum.lhs ? names.next(generic) : "";
  if (&policy != &policies.ofModel())
    for (const char *tensor : {".lhs", ".rhs", ".result"})
      names.use(name + tensor);
  bool hasRoles = sum.lhs && policy.hasRoles();
  SmallVector<Operation *> casts;
  if (sum.lhs && !hasRoles && !policy.isExact)
    for (Value *factor : {&sum.lhs, &sum.rhs})
      if (Value source = beforeExactCast(*factor); source != *factor) {
        casts.push_back(factor->getDefiningOp());
        *factor = source;
      }
  int64_t channelAxis = hasRoles ? channelAxisOfResult(generic) : 0;
  if (hasRoles && failed(storeOperands(rewriter, generic, sum.lhs, sum.rhs,
                                       policy, names, name, inputs)))
    return failure();
  auto contraction = linalg::GenericOp::create(
      rewriter, loc, resultType.clone(accumulator), inputs, init,
      generic.getIndexingMapsArray(), generic.getIteratorTypesArray());
  rewriter.inlineRegionBefore(generic.getRegion(), contraction.getRegion(),
                              contraction.getRegion().end());
  for (auto [argument, input] :
       llvm::zip(contraction.getBody()->getArguments(), inputs))
    argument.setType(numera::elementType(input.getType()));
  Value argument = contraction.getBody()->getArguments().back();
  argument.setType(accumulator);
  rewriteStep(rewriter, sum, policy, argument);
  for (Operation *cast : casts)
    rewriter.eraseOp(cast);

  // On f32 and f64 the cast makes NaNs canonical; on other formats a cast to
  // itself is nothing.
  rewriter.setInsertionPointAfter(contraction);
  Value result = contraction.getResult(0);
  if (policy.isExact)
    result = QuireRoundOp::create(rewriter, loc, TypeRange(resultType),
                                  ValueRange(result));
  else if (resultType != result.getType() ||
           (isa<FloatType>(resultType.getElementType()) && !policy.isReference))
    result = CastOp::create(rewriter, loc, TypeRange(resultType),
                            ValueRange(result));
  if (hasRoles) {
    FailureOr<Value> stored =
        storeResult(rewriter, loc, result, policy, names, name, channelAxis);
    if (failed(stored))
      return failure();
    result = *stored;
  }
  rewriter.replaceOp(generic, result);
  return success();
}

/// Scales for tensors that the model does not have are a mistake; for those of
/// contractions under a rule they are what calibration found.
static LogicalResult checkScales(ModuleOp module, const ResolvedPolicy &policy,
                                 const ContractionNames &names) {
  if (!policy.weights.scaled && !policy.activations.scaled &&
      !policy.outputs.scaled)
    return success();
  for (const auto &entry : *policy.scales)
    if (!names.isUsed(entry.getKey()))
      return module.emitError("the policy gives a scale to '")
             << entry.getKey()
             << "', which is no operand of a contraction that the policy "
                "scales; leave it out";
  return success();
}

/// The policy of a generic's sums, in whose format they are; null: these are
/// numbers of a type that no model has.
static const ResolvedPolicy *
policyOfSums(linalg::GenericOp generic, const Policies &policies,
             const SmallPtrSetImpl<Operation *> &onFloats) {
  const ResolvedPolicy &policy = policies.of(generic);
  Format format =
      formatOfType(numera::elementType(generic.getResult(0).getType()));
  if (format == policy.format)
    return &policy;
  return format && onFloats.contains(generic) ? &policies.ofKept(format)
                                              : nullptr;
}

/// Of formats whose changes of `mul` do nothing, since all products are added
/// up as they are.
static void warnOfUnusedProducts(ModuleOp module) {
  SmallVector<Format> rounded, exact;
  auto note = [&](Value factor, bool isRounded) {
    Format format = formatOfType(numera::elementType(factor.getType()));
    auto &known = isRounded ? rounded : exact;
    if (format && format.changeOf(OpKind::Mul) && !is_contained(known, format))
      known.push_back(format);
  };
  module.walk([&](Operation *op) {
    if (isa<MulOp>(op))
      note(op->getOperand(0), true);
    else if (auto mac = dyn_cast<MacOp>(op))
      note(mac.getLhs(), mac.getProduct().has_value());
    else if (auto mac = dyn_cast<QuireMacOp>(op))
      note(mac.getLhs(), false);
  });
  for (const Format &format : exact)
    if (!is_contained(rounded, format))
      emitWarning(module.getLoc())
          << "the changes of 'mul' in format '" << format.spelling()
          << "' do nothing: sums take products as they are; see --accumulate "
             "same";
}

LogicalResult retypeContractions(ModuleOp module, const Policies &policies,
                                 const SmallPtrSetImpl<Operation *> &onFloats,
                                 bool observe) {
  IRRewriter rewriter(module.getContext());
  ContractionNames names;
  SmallVector<Observed> observed;
  SmallVector<linalg::GenericOp> generics;
  module.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp generic : generics) {
    auto sum = matchSum(generic);
    if (!sum || generic->getNumResults() != 1)
      continue;
    const ResolvedPolicy *policy = policyOfSums(generic, policies, onFloats);
    if (!policy)
      continue;
    if (observe && sum->lhs)
      observeOperands(generic, sum->lhs, sum->rhs, names.next(generic),
                      observed);
    if (!observe &&
        failed(retypeSum(rewriter, generic, *sum, *policy, policies, names)))
      return failure();
  }
  if (!observe) {
    warnOfUnusedProducts(module);
    return checkScales(module, policies.ofModel(), names);
  }
  returnObserved(module, observed);
  return success();
}

} // namespace numera
