// SPDX-License-Identifier: MIT

#include "RetypeRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/Operator.h"
#include "numera/Dialect/Numera/Transforms/Retype/RuleUses.h"

using namespace mlir;

namespace numera {

/// True for what reads or writes numbers in memory, or makes it a tensor.
static bool touchesMemory(Operation *op) {
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return true;
  auto isMemory = llvm::IsaPred<BaseMemRefType>;
  return isa_and_nonnull<affine::AffineDialect, vector::VectorDialect,
                         bufferization::BufferizationDialect>(
             op->getDialect()) &&
         op->getNumRegions() == 0 &&
         !op->hasTrait<mlir::OpTrait::IsTerminator>() &&
         (llvm::any_of(op->getOperandTypes(), isMemory) ||
          llvm::any_of(op->getResultTypes(), isMemory));
}

bool isBoundary(Operation *op) {
  return touchesMemory(op) ||
         isa<func::CallOp, func::ReturnOp, QuantizeOp, DequantizeOp,
             WastedBitsOp, ScaledFromPartsOp, ScaledPartsOp>(op);
}

/// True for scales and zero points that are given to what makes a scaled
/// tensor.
static bool isGivenScale(OpOperand &use) {
  auto quantize = dyn_cast<QuantizeOp>(use.getOwner());
  return isa<ScaledFromPartsOp>(use.getOwner()) ||
         (quantize && &use != &quantize.getInputMutable());
}

//===----------------------------------------------------------------------===//
// Locations that say a rule
//===----------------------------------------------------------------------===//

/// `{numera.rule = 2}`: the second rule.
static constexpr llvm::StringLiteral ruleKey = "numera.rule";

static IntegerAttr ruleIn(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto kept = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                    : DictionaryAttr();
  return kept ? kept.getAs<IntegerAttr>(ruleKey) : IntegerAttr();
}

/// 0 for the model's own policy, else the place of the rule, from 1 on.
static unsigned ruleOf(Location loc) {
  unsigned rule = 0;
  loc->walk([&](Location inner) {
    IntegerAttr kept = ruleIn(inner);
    if (!kept)
      return WalkResult::advance();
    rule = unsigned(kept.getInt());
    return WalkResult::interrupt();
  });
  return rule;
}

/// What metadata were put around.
static Location within(FusedLoc loc) {
  return FusedLoc::get(loc.getContext(), loc.getLocations());
}

static void setRule(Operation *op, unsigned rule) {
  Location loc = op->getLoc();
  if (ruleOf(loc) == rule)
    return;
  if (ruleIn(loc))
    loc = within(cast<FusedLoc>(loc));
  Builder builder(op->getContext());
  auto kept = builder.getNamedAttr(ruleKey, builder.getI64IntegerAttr(rule));
  op->setLoc(
      FusedLoc::get(op->getContext(), loc, builder.getDictionaryAttr(kept)));
}

//===----------------------------------------------------------------------===//
// What operations do with values
//===----------------------------------------------------------------------===//

/// The operation whose rule holds for `op`: for what stands in the body of one
/// on tensors that one, for the end of a region what the region belongs to.
static Operation *unitOf(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>() && op->getParentOp())
    op = op->getParentOp();
  Operation *unit = op;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<linalg::LinalgOp>(parent) ||
        isa_and_nonnull<tensor::TensorDialect>(parent->getDialect()))
      unit = parent;
  return unit;
}

static unsigned ruleOfUnit(Operation *op) {
  return ruleOf(unitOf(op)->getLoc());
}

/// True where a value leaves as what it is, or is cast from it.
static bool takesAnyFormat(Operation *user) {
  return isBoundary(user) || isa<CastOp>(user);
}

/// What the results of an operation that computes nothing are made of, that
/// which says their format first; nothing for one that computes.
static std::optional<SmallVector<Value>> movedBy(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return SmallVector<Value>{fill.getInputs()[0]};
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getBody()->getOperations().size() != 1)
      return std::nullopt;
    SmallVector<Value> moved;
    for (Value value : generic.getBody()->getTerminator()->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(value);
      moved.push_back(argument && argument.getOwner() == generic.getBody()
                          ? op->getOperand(argument.getArgNumber())
                          : value);
    }
    return moved;
  }
  if (!isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) ||
      isa<tensor::GenerateOp>(op))
    return std::nullopt;
  SmallVector<Value> moved(op->getOperands());
  // Into what is put: a concatenation has the format of its first part.
  if (isa<tensor::InsertOp, tensor::InsertSliceOp,
          tensor::ParallelInsertSliceOp>(op))
    std::swap(moved[0], moved[1]);
  return moved;
}

bool isNumberSource(Operation *op) {
  return op->hasTrait<mlir::OpTrait::ConstantLike>() ||
         isa<tensor::EmptyOp>(op);
}

bool onlyMoves(Operation *op) { return movedBy(op).has_value(); }

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

Policies::Policies(ModuleOp module, const ResolvedPolicy &model)
    : module(module), model(model), types(registryOf(module), model.replaced),
      matches(model.rules.size()) {}

/// True for what takes the format of a policy.
bool Policies::isNumber(Value value) const {
  return types.isReplaced(value.getType());
}

/// True for an operation that a rule may be for, or that has a format to take.
bool Policies::isOnNumbers(Operation *op) const {
  auto isNumber = [&](Value value) { return this->isNumber(value); };
  return !isa<ModuleOp, func::FuncOp, tensor::DimOp>(op) && !isBoundary(op) &&
         !op->hasTrait<mlir::OpTrait::IsTerminator>() && unitOf(op) == op &&
         (llvm::any_of(op->getOperands(), isNumber) ||
          llvm::any_of(op->getResults(), isNumber));
}

const ResolvedPolicy &Policies::ofKept(const Format &format) const {
  for (const auto &policy : kept)
    if (policy->format == format)
      return *policy;
  return *kept.emplace_back(std::make_unique<ResolvedPolicy>(
      usualPolicy(registryOf(module), format)));
}

const ResolvedPolicy &Policies::policyOf(unsigned rule) const {
  if (rule == 0)
    return model;
  return rule == referenceRule() ? *reference : model.rules[rule - 1].policy;
}

const ResolvedPolicy &Policies::of(Operation *op) const {
  return policyOf(ruleOfUnit(op));
}

void Policies::addReference() {
  auto isWide = [](const ResolvedPolicy &policy) {
    return !policy.format.isOpaque() && !embeds(policy.format, formatF32());
  };
  bool anyIsWide =
      isWide(model) || llvm::any_of(model.rules, [&](const ResolvedRule &rule) {
        return isWide(rule.policy);
      });
  PolicyRequest request;
  request.format = anyIsWide ? formatF64() : formatF32();
  request.accumulate = Policy::Accumulate::Named;
  request.accumulator = request.format;
  std::string error;
  reference = resolvePolicy(
      module.getContext()->getLoadedDialect<NumeraDialect>()->getRegistry(),
      request, error);
  assert(reference && "f32 accumulates in itself");
  reference->isReference = true;
}

bool Policies::hasGivenScales() {
  return module
      .walk([](Operation *op) {
        return llvm::any_of(op->getOpOperands(), isGivenScale)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void Policies::putIntoReference(Operation *op) {
  op->walk([&](Operation *inner) { setRule(inner, referenceRule()); });
}

/// Nothing for a value from outside.
std::optional<unsigned> Policies::ruleBehind(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Block *block = argument.getOwner();
    Operation *parent = block->getParentOp();
    if (isa<func::FuncOp>(parent) && block->isEntryBlock())
      return std::nullopt;
    return ruleOfUnit(parent);
  }
  Operation *op = value.getDefiningOp();
  return isBoundary(op) ? std::nullopt : std::optional(ruleOfUnit(op));
}

const ResolvedPolicy *Policies::of(Value value) const {
  std::optional<unsigned> rule = ruleBehind(value);
  return rule ? &policyOf(*rule) : nullptr;
}

const ResolvedPolicy *Policies::wantedBy(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp>(user))
    return nullptr;
  bool isDecided = takesAnyFormat(user) && !isFree(use.get());
  return isDecided ? nullptr : &policyOf(ruleOfReader(use));
}

bool Policies::isReadAsGiven(OpOperand &use) const {
  return isGivenScale(use) && !of(use.get());
}

void Policies::match(bool keepsOperators) {
  if (model.rules.empty() && !keepsOperators)
    return;
  module.walk([&](Operation *op) {
    if (!isOnNumbers(op))
      return;
    if (operatorOf(op->getLoc()).empty())
      op->setLoc(withOperator(op->getLoc(), op->getName().getStringRef()));
    std::string name = nodeNameOf(op->getLoc());
    StringRef operation = operatorOf(op->getLoc());
    unsigned first = 0;
    for (auto [i, rule] : llvm::enumerate(model.rules)) {
      if (!rule.rule->matches(name, operation))
        continue;
      matches[i].isAny = true;
      matches[i].isFirst |= first == 0;
      first = first == 0 ? unsigned(i) + 1 : first;
    }
    setRule(op, first);
  });
}

/// True for a value that is in no format yet.
bool Policies::isFree(Value value) const {
  Operation *op = value.getDefiningOp();
  return (op && free.contains(op)) || !ruleBehind(value);
}

/// An operation in the order of the program: those that make its operands have
/// been decided.
void Policies::decide(Operation *op) {
  auto moved = movedBy(op);
  if (!moved && !isNumberSource(op)) {
    Builder builder(op->getContext());
    std::string name = nodeNameOf(op->getLoc());
    StringAttr operation = builder.getStringAttr(operatorOf(op->getLoc()));
    if (!name.empty())
      names.insert(builder.getStringAttr(name));
    operators.insert(operation);
    unsigned rule = ruleOf(op->getLoc());
    if (rule != 0 && rule != referenceRule())
      matches[rule - 1].operations.insert(
          name.empty() ? operation : builder.getStringAttr(name));
    return;
  }
  for (Value value : moved.value_or(SmallVector<Value>()))
    if (isNumber(value) && !isFree(value))
      return setRule(op, *ruleBehind(value));
  free.insert(op);
}

/// Of a value that is in no format yet.
unsigned Policies::ruleOfReader(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (!takesAnyFormat(user))
    return ruleOfUnit(user);
  return isGivenScale(use) ? referenceRule() : 0;
}

/// All that read it have been decided.
void Policies::followReaders(Operation *op) {
  llvm::MapVector<Type, SmallVector<OpOperand *>> readers;
  for (OpOperand &use : op->getUses())
    if (const ResolvedPolicy *policy = wantedBy(use))
      readers[typeOfFormat(op->getContext(), policy->format)].push_back(&use);
  free.remove(op);
  OpBuilder builder(op);
  Operation *copy = op;
  for (auto &[format, uses] : readers) {
    if (!copy)
      copy = builder.clone(*op);
    setRule(copy, ruleOfReader(*uses.front()));
    for (OpOperand *use : uses)
      use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
    copy = nullptr;
  }
  if (readers.empty())
    setRule(op, 0);
}

void Policies::settle(func::FuncOp function) {
  if (model.rules.empty() && !reference)
    return;
  SmallVector<Operation *> work;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isOnNumbers(op))
      work.push_back(op);
  });
  for (Operation *op : work)
    decide(op);
  SmallVector<Operation *> sources(free.begin(), free.end());
  for (Operation *op : llvm::reverse(sources))
    followReaders(op);
}

//===----------------------------------------------------------------------===//
// What rules were for
//===----------------------------------------------------------------------===//

/// `file:line:column`.
static Location placeOf(MLIRContext *context, StringRef text) {
  auto [rest, column] = text.rsplit(':');
  auto [file, line] = rest.rsplit(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (line.getAsInteger(10, lineNumber) ||
      column.getAsInteger(10, columnNumber))
    return UnknownLoc::get(context);
  return FileLineColLoc::get(context, file, lineNumber, columnNumber);
}

static std::string listed(const llvm::SetVector<StringAttr> &words) {
  constexpr size_t most = 6;
  std::string text;
  for (StringAttr word : ArrayRef(words.getArrayRef()).take_front(most))
    text += (text.empty() ? "" : ", ") + word.str();
  return text + (words.size() > most ? ", ..." : "");
}

void Policies::warn(const Policy::Rule &rule, const Match &match) {
  InFlightDiagnostic warning =
      emitWarning(placeOf(module.getContext(), rule.location))
      << "rule '" << rule.pattern() << "' ";
  if (match.isFirst)
    warning << "matches only constants and data movement, which "
               "take the formats of the operations that use them";
  else if (match.isAny)
    warning << "is for nothing: rules before it match all that it matches";
  else if (!rule.operation.empty() && operators.empty())
    warning << "matches no operation; the model has none that rules are for";
  else if (!rule.operation.empty())
    warning << "matches no operation; the model has operators "
            << listed(operators);
  else if (names.empty())
    warning << "matches no operation; those of the model have no names, match "
               "them as {op: ...}";
  else
    warning << "matches no operation; those of the model are called "
            << listed(names);
}

/// A location without what was put around it.
static Location asItWas(Location loc) {
  while (auto fused = dyn_cast<FusedLoc>(loc)) {
    auto kept = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
    if (!kept || !(kept.contains(ruleKey) || kept.contains(operatorKey)))
      break;
    loc = within(fused);
  }
  return loc;
}

void Policies::finish() {
  SmallVector<std::vector<std::string>> uses;
  for (auto [match, rule] : llvm::zip_equal(matches, model.rules)) {
    if (match.operations.empty())
      warn(*rule.rule, match);
    std::vector<std::string> &operations = uses.emplace_back();
    for (StringAttr name : match.operations)
      operations.push_back(name.str());
  }
  setRuleUses(module, model, uses);
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](FusedLoc loc) -> std::optional<Attribute> { return asItWas(loc); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/true);
}

} // namespace numera
