// SPDX-License-Identifier: MIT
//
// What is proven of a library: an operation on codes of an opaque format, of
// which every result is known to be the one of another format, becomes the
// operation in that format, with all that is known of how to compute it. The
// codes are the same, so operations are replaced one by one, and what is not
// proven stays as it is beside them.

#include "CallProducts.h"
#include "LowerTypes.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAUSEPROOFS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

class ProofUser {
public:
  ProofUser(const Registry &registry, Target target)
      : registry(registry), target(target) {}

  void visit(FormatOpInterface op) const {
    if (isReplaceable(op))
      replace(op);
  }

private:
  static bool isOpaque(const ElementKind &kind) {
    return kind.isFormat() && kind.format.isOpaque();
  }

  /// The format that a kind is proven to be.
  ElementKind meaningOf(const ElementKind &kind) const {
    return isOpaque(kind) ? ElementKind{registry.equivalentOf(kind.format), {}}
                          : kind;
  }

  static SmallVector<ElementKind, 3> operandsOf(FormatOpInterface op) {
    SmallVector<ElementKind, 3> kinds;
    for (unsigned i = 0; i < op.getFormatOperandCount(); ++i)
      kinds.push_back(op.getOperandElement(i));
    return kinds;
  }

  Lowering key(Operation operation, ArrayRef<ElementKind> operands,
               const ElementKind &result) const {
    Lowering key{};
    key.operation = operation;
    key.target = target;
    key.result = result.format;
    if (!result.isFormat())
      key.toInteger = result.integer.getWidth();
    for (const ElementKind &operand : operands) {
      key.operands.push_back(operand.format);
      if (!operand.isFormat())
        key.fromInteger = operand.integer.getWidth();
    }
    return key;
  }

  bool isReplaceable(FormatOpInterface op) const {
    SmallVector<ElementKind, 3> operands = operandsOf(op);
    ElementKind result = op.getResultElement();
    if (!isOpaque(result) && llvm::none_of(operands, isOpaque))
      return false;
    // Proofs are about the rounding that the format has by itself.
    if (op->hasAttr("rounding") || op->hasAttr("random_bits") ||
        op->hasAttr("overflow") || op.drawsRandom())
      return false;
    if (auto step = dyn_cast<MacOp>(op.getOperation()))
      return isOpaque(result) ? isOwnStep(step, operands, result)
                              : isWideStep(step, operands, result);
    Lowering wanted = key(op.getFormatOperation(), operands, result);
    if (auto cmp = dyn_cast<CmpOp>(op.getOperation()))
      wanted.predicate =
          arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
    if (auto cast = dyn_cast<CastOp>(op.getOperation()))
      wanted.integerIsSigned = !cast.getIsUnsigned();
    return registry.isProven(wanted);
  }

  /// `accumulate: same`: the product and the sum, each with its rounding; or
  /// both with one.
  bool isOwnStep(MacOp step, ArrayRef<ElementKind> operands,
                 const ElementKind &result) const {
    StepRules rules = stepRulesOf(step);
    ElementKind meaning = meaningOf(result);
    bool isUniform = llvm::all_equal(operands) && operands.front() == result;
    if (!isUniform || !meaning.format || registeredProduct(step) ||
        meaning.format.changeOf(Operation::Mac))
      return false;
    // A function for the step knows no rounding of its product.
    if (!step.getProduct() &&
        registry.findLowering(key(Operation::Mac, operands, result)))
      return false;
    if (!rules.product)
      return registry.isProven(key(Operation::Fma, operands, result));
    ArrayRef<ElementKind> pair = operands.take_front(2);
    return rules.product->result == result.format &&
           registry.isProven(key(Operation::Mul, pair, result)) &&
           registry.isProven(key(Operation::Add, pair, result));
  }

  /// A sum in f32 or f64: its factors are cast to it, both exactly.
  bool isWideStep(MacOp step, ArrayRef<ElementKind> operands,
                  const ElementKind &result) const {
    StepRules rules = stepRulesOf(step);
    if (!result.isFormat() ||
        !result.format.getFamily().machineWidth(result.format) ||
        isOpaque(operands[2]) || registeredProduct(step) ||
        (rules.product && rules.product->result != result.format))
      return false;
    for (Operation operation :
         {Operation::Mac, Operation::Fma, Operation::Mul}) {
      bool isPair = operation == Operation::Mul;
      if (registry.findLowering(
              key(operation, operands.take_front(isPair ? 2 : 3), result)))
        return false;
    }
    return llvm::all_of(operands.take_front(2), [&](const ElementKind &factor) {
      ElementKind meaning = meaningOf(factor);
      return !isOpaque(factor) ||
             (meaning.format && isExactCast(meaning.format, result.format) &&
              !meaning.format.changeOf(Operation::Mac) &&
              registry.isProven(key(Operation::Cast, factor, result)));
    });
  }

  void replace(FormatOpInterface op) const {
    MLIRContext *context = op->getContext();
    SmallVector<Attribute> operands;
    bool isMixed = false;
    ElementKind result = meaningOf(op.getResultElement());
    for (const ElementKind &operand : operandsOf(op)) {
      ElementKind meaning = meaningOf(operand);
      isMixed |= meaning != result;
      operands.push_back(attributeOf(context, meaning));
    }
    op->setAttr("format", attributeOf(context, result));
    if (isMixed)
      op->setAttr("operand_formats", ArrayAttr::get(context, operands));
    else
      op->removeAttr("operand_formats");
    if (auto step = dyn_cast<MacOp>(op.getOperation());
        step && step.getProduct()) {
      ElementKind product{step.getProduct()->getFormat(), {}};
      step->setAttr("product", attributeOf(context, meaningOf(product)));
    }
  }

  const Registry &registry;
  Target target;
};

struct UseProofsPass : impl::NumeraUseProofsBase<UseProofsPass> {
  using NumeraUseProofsBase::NumeraUseProofsBase;

  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed))
      return signalPassFailure();
    auto *dialect = getContext().getLoadedDialect<NumeraDialect>();
    ProofUser user(dialect->getRegistry(), *parsed);
    getOperation().walk([&](FormatOpInterface op) { user.visit(op); });
  }
};

} // namespace

} // namespace numera
