// SPDX-License-Identifier: MIT
//
// Operations of arith and math become those of `numera`. Values have their
// types already.

#include "Retype.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace numera {

/// The operation of `numera` that stands for one of arith or math; empty if
/// there is none.
static std::string counterpart(StringRef name) {
  std::optional<OpKind> operation = operationFromMLIR(name);
  return operation ? ("numera." + nameOf(*operation)).str() : "";
}

static bool isNumber(Type type) {
  return isa<FloatType, NumType>(numera::elementType(type));
}

namespace {

class OperationReplacer {
public:
  OperationReplacer(ModuleOp module, const Policies &policies,
                    const BitcastFormats &bitcasts)
      : policies(policies), bitcasts(bitcasts), rewriter(module.getContext()) {
    module.walk([&](arith::ConstantOp constant) {
      if (SharedElements::find(constant.getValue()))
        ++readers[constant.getValue()];
    });
  }

  LogicalResult replace(Operation *op);

private:
  LogicalResult replaceConstant(arith::ConstantOp constant);
  LogicalResult takeRoundingMode(Operation *op);

  const Policies &policies;
  const BitcastFormats &bitcasts;
  IRRewriter rewriter;
  /// How many constants have these shared elements and are not encoded yet.
  llvm::DenseMap<Attribute, size_t> readers;
};

} // namespace

LogicalResult OperationReplacer::replaceConstant(arith::ConstantOp constant) {
  Type type = constant.getType();
  const ResolvedPolicy &policy = policies.of(constant.getOperation());
  Type inside = policies.floats().inside(type, policy.format);
  Format format = formatOfType(numera::elementType(inside));
  bool isKept = policy.weights && policies.floats().isReplaced(type);
  Attribute elements = constant.getValue();
  bool isShared = SharedElements::find(elements) != nullptr;
  if (isShared && inside == type)
    return success();
  // Nothing reads what has been encoded.
  llvm::scope_exit releaseRead([&] {
    if (isShared && --readers[elements] == 0)
      SharedElements::release(elements);
  });
  if (isShared && (!format || isKept))
    constant.setValueAttr(denseElements(elements));
  if (inside == type || !format)
    return success();
  if (auto sparse = dyn_cast<SparseElementsAttr>(constant.getValue()))
    constant.setValueAttr(DenseElementsAttr::get(
        sparse.getType(), llvm::to_vector(sparse.getValues<Attribute>())));
  if (isa<ShapedType>(type) && !isShared &&
      !isa<DenseElementsAttr>(constant.getValue()))
    return constant.emitError("'arith.constant' of type ")
           << type
           << " has no dense elements, which retyping encodes; expected "
              "dense<...>";
  Value encoded =
      createConstant(rewriter, constant.getLoc(), format, constant.getValue());
  if (isKept)
    keepOrigin(encoded, constant.getValue());
  rewriter.replaceOp(constant, encoded);
  return success();
}

static Rounding roundingOf(arith::RoundingMode mode) {
  switch (mode) {
  case arith::RoundingMode::to_nearest_even:
    return Rounding::NearestEven;
  case arith::RoundingMode::downward:
    return Rounding::Down;
  case arith::RoundingMode::upward:
    return Rounding::Up;
  case arith::RoundingMode::toward_zero:
    return Rounding::TowardZero;
  case arith::RoundingMode::to_nearest_away:
    return Rounding::NearestAway;
  }
  llvm_unreachable("all modes are above");
}

/// A mode that an operation has itself: its result is in the format with that
/// mode, and then, exactly, in the format.
LogicalResult OperationReplacer::takeRoundingMode(Operation *op) {
  auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op);
  if (!rounding || !rounding.getRoundingModeAttr())
    return success();
  arith::RoundingMode mode = rounding.getRoundingModeAttr().getValue();
  Value result = op->getResult(0);
  Type type = result.getType();
  Format format = formatOfType(numera::elementType(type));
  if (!format || !format.getFamily().hasArithmetic())
    return op->emitError("'")
           << op->getName() << "' rounds " << arith::stringifyRoundingMode(mode)
           << ", but only the library of " << numera::elementType(type)
           << " defines how it rounds; leave the mode out";
  Format own = format.withRounding(roundingOf(mode));
  if (own == format)
    return success();
  result.setType(withElement(type, typeOfFormat(op->getContext(), own)));
  rewriter.setInsertionPointAfter(op);
  auto cast = CastOp::create(rewriter, op->getLoc(), type, result);
  result.replaceAllUsesExcept(cast, cast);
  return success();
}

LogicalResult OperationReplacer::replace(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return replaceConstant(constant);
  if (isa<arith::SelectOp>(op))
    return success();
  // Two types that the same format replaces are one.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
      op->getOperand(0).getType() == op->getResult(0).getType()) {
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
  if (failed(takeRoundingMode(op)))
    return failure();
  rewriter.setInsertionPoint(op);
  std::string name = counterpart(op->getName().getStringRef());
  if (name.empty()) {
    bool isOnNumbers = llvm::any_of(op->getOperandTypes(), isNumber) ||
                       llvm::any_of(op->getResultTypes(), isNumber);
    SmallVector<Value> results;
    if (isOnNumbers)
      results = createExpansion(rewriter, op, bitcasts.lookup(op));
    if (!results.empty())
      rewriter.replaceOp(op, results);
    else if (isOnNumbers)
      return op->emitError("'")
             << op->getName() << "' has no counterpart in the numera dialect";
    return success();
  }
  OperationState state(op->getLoc(), name);
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    state.addAttribute("predicate", cmp.getPredicateAttr());
  if (isa<arith::UIToFPOp, arith::FPToUIOp>(op))
    state.addAttribute("is_unsigned", rewriter.getUnitAttr());
  rewriter.replaceOp(op, rewriter.create(state)->getResults());
  return success();
}

LogicalResult checkForms(ModuleOp module, const Policies &policies) {
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa_and_nonnull<NumeraDialect>(op->getDialect()) ||
        !(op->getAttr("format") || op->getAttr("operand_formats")))
      return WalkResult::advance();
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types) {
      Type inside = policies.floats().inside(type, policies.of(op).format);
      if (inside == type)
        continue;
      op->emitError("'") << op->getName() << "' has been lowered, and is on "
                         << type << ", which cannot become " << inside
                         << "; compile it without a format, or the model that "
                            "it was made from";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return checkElements(module, policies);
}

LogicalResult checkParts(ModuleOp module, const Policies &policies) {
  WalkResult result = module.walk([&](Operation *op) {
    auto isReplaced = [&](Type type) {
      return policies.floats().inside(type, policies.of(op).format) != type;
    };
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types) {
      auto number = dyn_cast<ComplexType>(numera::elementType(type));
      if (!number || !isReplaced(number.getElementType()))
        continue;
      op->emitError("'") << op->getName() << "' is on " << number
                         << ", whose parts cannot be retyped there; keep and "
                            "pass real and imaginary parts as two values";
      return WalkResult::interrupt();
    }
    if (!isa<affine::AffineParallelOp>(op) ||
        llvm::none_of(op->getResultTypes(), isReplaced))
      return WalkResult::advance();
    op->emitError("'") << op->getName() << "' reduces numbers, which cannot be "
                       << "retyped; expected scf.parallel, as "
                       << "numera-decompose makes it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult replaceOperations(ModuleOp module, const Policies &policies,
                                const BitcastFormats &bitcasts) {
  SmallVector<Operation *> work;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            op->getDialect()))
      work.push_back(op);
  });
  OperationReplacer replacer(module, policies, bitcasts);
  for (Operation *op : work)
    if (failed(replacer.replace(op)))
      return failure();
  return checkMoves(module);
}

} // namespace numera
