// SPDX-License-Identifier: MIT
//
// An operation of an opaque format that is proven equal to a built-in format's
// is replaced by it, and then gains all optimisations of that format. Both
// formats have the same codes, so operations are replaced one by one, and
// operations without a proof stay. For the few codes that a proof excepts, the
// library's result is selected.

#include "ExceptionalCodes.h"
#include "Lowering/Lowerings.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/Transforms/Lowering/RegisteredProducts.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Dialect/Numera/Transforms/Proofs/LibraryUses.h"
#include <set>

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAUSEPROOFS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

class ProofUser {
public:
  ProofUser(const Registry &registry, Target target)
      : registry(registry), target(target) {}

  void visit(FormatOpInterface op) {
    if (!mentionsOpaque(op))
      return;
    LibraryUse use = describe(op);
    if (auto step = dyn_cast<MacOp>(op.getOperation()))
      widenFactors(step);
    std::optional<Exceptions> exceptions = Exceptions();
    if (mentionsOpaque(op))
      exceptions = proofOf(op);
    use.isProven = exceptions.has_value();
    use.exceptions = exceptions ? unsigned(exceptions->size()) : 0;
    uses.insert(std::move(use));
    if (!exceptions || !mentionsOpaque(op))
      return;
    Format operand = meaningOf(op.getOperandElement(0)).format;
    replace(op);
    if (!exceptions->empty())
      tellApart(op, operand, *exceptions);
  }

  /// What was seen, in the order of names.
  std::vector<LibraryUse> takeUses() { return {uses.begin(), uses.end()}; }

private:
  using Exceptions = ArrayRef<Proof::Exception>;

  static bool isOpaque(const ElementKind &kind) {
    return kind.isFormat() && kind.format.isOpaque();
  }

  static bool mentionsOpaque(FormatOpInterface op) {
    return isOpaque(op.getResultElement()) ||
           llvm::any_of(operandsOf(op), isOpaque);
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

  Lowering key(OpKind operation, ArrayRef<ElementKind> operands,
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

  /// The opaque format that an operation is of: its result, else an operand.
  static ElementKind opaqueOf(FormatOpInterface op) {
    ElementKind result = op.getResultElement();
    if (isOpaque(result))
      return result;
    return *llvm::find_if(operandsOf(op), isOpaque);
  }

  LibraryUse describe(FormatOpInterface op) const {
    LibraryUse use;
    ElementKind own = opaqueOf(op), result = op.getResultElement();
    use.format = own.format.getOpaqueName().str();
    if (const auto *entry = registry.entryOf(own.format);
        entry && entry->equivalent && own.format.width() <= 16 &&
        entry->proofs != Registry::NamedFormat::Proofs::Off)
      use.equivalent = nameOf(registry, {entry->equivalent, {}});
    use.operation = numera::nameOf(op.getFormatOperation()).str();
    if (auto cmp = dyn_cast<CmpOp>(op.getOperation()))
      use.operation +=
          " " + arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
    else if (isa<CastOp>(op.getOperation()))
      use.operation += own == result
                           ? " of " + nameOf(registry, op.getOperandElement(0))
                           : " to " + nameOf(registry, result);
    else if (isa<MacOp>(op.getOperation()) && own != result)
      use.operation += " in " + nameOf(registry, result);
    return use;
  }

  /// Nothing where it must be computed as it stands.
  std::optional<Exceptions> proofOf(FormatOpInterface op) const {
    SmallVector<ElementKind, 3> operands = operandsOf(op);
    ElementKind result = op.getResultElement();
    // Proofs are about the rounding that the format has by itself.
    if (op->hasAttr("rounding") || op->hasAttr("random_bits") ||
        op->hasAttr("overflow") || op.drawsRandom())
      return std::nullopt;
    if (auto step = dyn_cast<MacOp>(op.getOperation())) {
      bool isProven = isOpaque(result) ? isOwnStep(step, operands, result)
                                       : isWideStep(step, operands, result);
      return isProven ? std::optional(Exceptions()) : std::nullopt;
    }
    Lowering wanted = key(op.getFormatOperation(), operands, result);
    if (auto cmp = dyn_cast<CmpOp>(op.getOperation()))
      wanted.predicate =
          arith::stringifyCmpFPredicate(cmp.getPredicate()).str();
    if (auto cast = dyn_cast<CastOp>(op.getOperation()))
      wanted.integerIsSigned = !cast.getIsUnsigned();
    const Proof *proof = registry.findProof(wanted);
    if (!proof || (!proof->exceptions.empty() && !canTellApart(op)))
      return std::nullopt;
    return Exceptions(proof->exceptions);
  }

  /// `accumulate: same`: the product and the sum, each with its rounding; or
  /// both with one.
  bool isOwnStep(MacOp step, ArrayRef<ElementKind> operands,
                 const ElementKind &result) const {
    StepRules rules = stepRulesOf(step);
    ElementKind meaning = meaningOf(result);
    bool isUniform = llvm::all_equal(operands) && operands.front() == result;
    if (!isUniform || !meaning.format || registeredProduct(step) ||
        meaning.format.changeOf(OpKind::Mac))
      return false;
    // A function for the step knows no rounding of its product.
    if (!step.getProduct() &&
        registry.findLowering(key(OpKind::Mac, operands, result)))
      return false;
    if (!rules.product)
      return registry.isProven(key(OpKind::Fma, operands, result));
    ArrayRef<ElementKind> pair = operands.take_front(2);
    return rules.product->result == result.format &&
           registry.isProven(key(OpKind::Mul, pair, result)) &&
           registry.isProven(key(OpKind::Add, pair, result));
  }

  /// A sum in f32 or f64: its factors are cast to it, both exactly.
  bool isWideStep(MacOp step, ArrayRef<ElementKind> operands,
                  const ElementKind &result) const {
    return isWide(step, operands, result) &&
           llvm::all_of(operands.take_front(2), [&](const ElementKind &factor) {
             return !isOpaque(factor) ||
                    (exactCast(factor, result) &&
                     exactCast(factor, result)->exceptions.empty());
           });
  }

  bool isWide(MacOp step, ArrayRef<ElementKind> operands,
              const ElementKind &result) const {
    StepRules rules = stepRulesOf(step);
    if (!result.isFormat() ||
        !result.format.getFamily().machineWidth(result.format) ||
        isOpaque(operands[2]) || registeredProduct(step) ||
        (rules.product && rules.product->result != result.format))
      return false;
    for (OpKind operation : {OpKind::Mac, OpKind::Fma, OpKind::Mul}) {
      bool isPair = operation == OpKind::Mul;
      if (registry.findLowering(
              key(operation, operands.take_front(isPair ? 2 : 3), result)))
        return false;
    }
    return true;
  }

  /// The proof of the cast of a factor that each of its numbers survives.
  const Proof *exactCast(const ElementKind &factor,
                         const ElementKind &result) const {
    ElementKind meaning = meaningOf(factor);
    if (!meaning.format || !isExactCast(meaning.format, result.format) ||
        meaning.format.changeOf(OpKind::Mac))
      return nullptr;
    return registry.findProof(key(OpKind::Cast, factor, result));
  }

  /// Casts a whole factor where its cast has exceptions, which no step tells
  /// apart; the cast is visited then.
  void widenFactors(MacOp step) {
    auto generic = dyn_cast<linalg::GenericOp>(step->getParentOp());
    SmallVector<ElementKind, 3> operands = operandsOf(step);
    ElementKind result = FormatOpInterface(step).getResultElement();
    bool takesInputs =
        isa<BlockArgument>(step.getLhs()) && isa<BlockArgument>(step.getRhs());
    if (!generic || !takesInputs || !generic.hasPureTensorSemantics() ||
        isOpaque(result) || !isWide(step, operands, result))
      return;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      BlockArgument argument = generic.getMatchingBlockArgument(operand);
      unsigned place = argument == step.getLhs() ? 0 : 1;
      if (!argument.hasOneUse() || *argument.user_begin() != step ||
          !isOpaque(operands[place]))
        continue;
      const Proof *proof = exactCast(operands[place], result);
      if (!proof || proof->exceptions.empty())
        continue;
      operand->set(castWhole(step, operand->get(), operands[place], result));
      argument.setType(step.getType());
      operands[place] = result;
    }
    setFormats(step, operands, result);
  }

  /// `numera.cast` of a tensor of codes, which has been visited.
  Value castWhole(MacOp step, Value codes, const ElementKind &from,
                  const ElementKind &to) {
    OpBuilder builder(step->getParentOp());
    auto type = cast<RankedTensorType>(codes.getType());
    OperationState state(step->getLoc(), CastOp::getOperationName(), codes,
                         {type.clone(step.getType())}, {});
    auto made = cast<FormatOpInterface>(builder.create(state));
    setFormats(made, from, to);
    // What reads it will read what the visit makes of it.
    Value result = made->getResult(0);
    auto reader = tensor::CastOp::create(builder, step->getLoc(),
                                         result.getType(), result);
    visit(made);
    Value value = reader.getSource();
    reader.erase();
    return value;
  }

  static void setFormats(FormatOpInterface op, ArrayRef<ElementKind> operands,
                         const ElementKind &result) {
    MLIRContext *context = op->getContext();
    SmallVector<Attribute> attributes;
    for (const ElementKind &operand : operands)
      attributes.push_back(attributeOf(context, operand));
    op->setAttr("format", attributeOf(context, result));
    if (llvm::all_of(operands, [&](const ElementKind &operand) {
          return operand == result;
        }))
      op->removeAttr("operand_formats");
    else
      op->setAttr("operand_formats", ArrayAttr::get(context, attributes));
  }

  void replace(FormatOpInterface op) const {
    MLIRContext *context = op->getContext();
    SmallVector<ElementKind, 3> operands = operandsOf(op);
    for (ElementKind &operand : operands)
      operand = meaningOf(operand);
    setFormats(op, operands, meaningOf(op.getResultElement()));
    if (auto step = dyn_cast<MacOp>(op.getOperation());
        step && step.getProduct()) {
      ElementKind product{step.getProduct()->getFormat(), {}};
      step->setAttr("product", attributeOf(context, meaningOf(product)));
    }
  }

  const Registry &registry;
  Target target;
  std::set<LibraryUse> uses;
};

struct UseProofsPass : impl::NumeraUseProofsBase<UseProofsPass> {
  using NumeraUseProofsBase::NumeraUseProofsBase;

  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed))
      return signalPassFailure();
    auto *dialect = getContext().getLoadedDialect<NumeraDialect>();
    ProofUser user(dialect->getRegistry(), *parsed);
    SmallVector<FormatOpInterface> operations;
    getOperation().walk(
        [&](FormatOpInterface op) { operations.push_back(op); });
    for (FormatOpInterface op : operations)
      user.visit(op);
    setLibraryUses(getOperation(), user.takeUses());
  }
};

} // namespace

} // namespace numera
