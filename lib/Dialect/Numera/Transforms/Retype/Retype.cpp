// SPDX-License-Identifier: MIT
//
// A model in f32, or other float types, becomes the same model in a format, in
// place:
//   1. every operation gets its policy, the model's or a rule's
//      (RetypeRules.cpp), and named linalg operations become generics, so that
//      there is one way in which a computation is written;
//   2. every value inside a function that is of a type that the format replaces
//      changes its type, with casts where values cross the function's boundary
//      and where formats meet; small floats become the dialect's types
//      everywhere (FloatTypes.h);
//   3. operations of arith and math on floats become those of `numera`, and
//      constants are encoded (RetypeOperations.cpp);
//   4. contractions and sums move to the accumulator (RetypeContractions.cpp);
//   5. sums that are asked for are returned (ReturnQuires.cpp);
//   6. operations that round stochastically get their random bits
//      (RetypeRandom.cpp).

#include "Retype.h"
#include "LayerCopies.h"
#include "RetypeRules.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "numera/Dialect/Numera/Transforms/Retype/OutputAs.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERARETYPE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

namespace {

/// What public functions return in place of types that are replaced: one for
/// all results, or one for each.
using Outputs = SmallVector<OutputAs>;

class Retyper {
public:
  Retyper(ModuleOp module, const ResolvedPolicy &policy, Outputs outputs,
          bool observe, bool showsLayers, ArrayRef<unsigned> quires)
      : module(module), policies(module, policy), floats(policies.floats()),
        observe(observe), showsLayers(showsLayers), quires(quires),
        rewriter(module.getContext()), outputs(std::move(outputs)) {}

  LogicalResult run() {
    policies.match(/*keepsOperators=*/showsLayers);
    auto isNone = [&](Type type) { return !floats.formatOf(type); };
    if (failed(checkFloats(isNone)) || failed(checkForms(module, policies)) ||
        failed(replaceSteps(module)) || failed(checkParts(module, policies)) ||
        failed(generalize()))
      return failure();
    Type notReplaced = otherFloats();
    if (showsLayers || policies.hasGivenScales())
      policies.addReference();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal()) {
        settleBoundary(function);
        continue;
      }
      // A function that others call as well keeps its type.
      bool isCalled = !SymbolTable::symbolKnownUseEmpty(function, module);
      std::optional<LayerCopies> layers;
      if (showsLayers && !isCalled && LayerCopies::canCopy(function))
        layers.emplace(function, policies).copy();
      rememberFloats(function);
      policies.settle(function);
      if (function.isPublic() && !isCalled && failed(changeOutputs(function)))
        return failure();
      if (layers)
        layers->returnRows();
      if (failed(retypeValues(function)))
        return failure();
      settleBoundary(function);
    }
    if (failed(replaceOperations(module, policies, bitcasts)) ||
        failed(checkFloats([](Type) { return true; })) ||
        failed(retypeContractions(module, policies, onFloats, observe)))
      return failure();
    module.walk([](linalg::GenericOp op) {
      op->removeDiscardableAttr(ContractionNames::numberName);
    });
    if (!observe)
      propagateScales(module, policies);
    if (failed(returnQuires(module, quires)))
      return failure();
    policies.finish();
    dropOrigins(module);
    uniteWeights(module);
    if (notReplaced)
      emitWarning(module.getLoc())
          << "format '" << policies.ofModel().format.spelling()
          << "' replaces nothing: the model's floats are " << notReplaced
          << "; see --replace";
    if (failed(assignRandomBits(module)))
      return failure();
    orderByRows(module);
    return success();
  }

private:
  Type convert(Type old, const ResolvedPolicy &policy) const {
    return floats.inside(old, policy.format);
  }
  /// The type of a value inside a function: in the format that it is in, or the
  /// model's for one from outside.
  Type typeInside(Value value) const {
    const ResolvedPolicy *policy = policies.of(value);
    return convert(value.getType(), policy ? *policy : policies.ofModel());
  }

  LogicalResult generalize();
  void rememberFloats(func::FuncOp function);
  LogicalResult retypeValues(func::FuncOp function);
  void castUses(Operation *boundary);
  void castWhereFormatsMeet(Value value);
  LogicalResult changeOutputs(func::FuncOp function);
  void settleBoundary(func::FuncOp function);
  bool computesInMemory(Operation *op) const;
  LogicalResult checkFloats(function_ref<bool(Type)> isWrong);
  Type otherFloats();

  ModuleOp module;
  Policies policies;
  const FloatTypes &floats;
  bool observe, showsLayers;
  ArrayRef<unsigned> quires; ///< results whose sums are returned as well
  IRRewriter rewriter;
  Outputs outputs;
  BitcastFormats bitcasts;
  SmallPtrSet<Operation *, 16> onFloats; ///< generics that give MLIR's floats
};

} // namespace

LogicalResult Retyper::generalize() {
  // Composites (softmax) first become what they stand for.
  SmallVector<linalg::AggregatedOpInterface> composites;
  module.walk(
      [&](linalg::AggregatedOpInterface op) { composites.push_back(op); });
  for (linalg::AggregatedOpInterface op : composites) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op.emitError("'") << op->getName() << "' cannot be decomposed";
    rewriter.replaceOp(op, *parts);
  }
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return op.emitError("'")
             << op->getName()
             << "' cannot be written as a linalg.generic, which retyping needs";
    // What a body consists of has no place in the model.
    made->getBody()->walk([&](Operation *inner) { inner->setLoc(loc); });
  }
  return success();
}

/// What types tell before they are replaced.
void Retyper::rememberFloats(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (isa<arith::BitcastOp>(op))
      for (Type side :
           {op->getOperand(0).getType(), op->getResult(0).getType()})
        if (Format format = floats.formatOf(side))
          bitcasts[op] = format;
    if (isa<linalg::GenericOp>(op) && op->getNumResults() == 1 &&
        isa<FloatType>(numera::elementType(op->getResult(0).getType())))
      onFloats.insert(op);
  });
}

/// What a function returns leaves as its signature says; what reaches another
/// function is what it was.
void Retyper::castUses(Operation *boundary) {
  rewriter.setInsertionPoint(boundary);
  bool isReturn = isa<func::ReturnOp>(boundary);
  auto function = boundary->getParentOfType<func::FuncOp>();
  for (OpOperand &operand : boundary->getOpOperands()) {
    Value value = operand.get();
    Type outside = floats.outside(
        isReturn ? function.getResultTypes()[operand.getOperandNumber()]
                 : value.getType());
    if (!policies.isReadAsGiven(operand) && typeInside(value) != outside)
      operand.set(CastOp::create(rewriter, boundary->getLoc(), outside, value));
  }
}

/// The results of a public function that are replaced inside.
LogicalResult Retyper::changeOutputs(func::FuncOp function) {
  SmallVector<Type> results(function.getResultTypes());
  if (outputs.size() != 1 && outputs.size() != results.size())
    return function.emitError("function '")
           << function.getName() << "' has " << results.size()
           << " results, output-as names " << outputs.size()
           << "; expected one for all or one for each";
  Operation *exit = function.back().getTerminator();
  for (auto [i, value] : llvm::enumerate(exit->getOperands())) {
    OutputAs wanted = outputs[outputs.size() == 1 ? 0 : i];
    if (wanted == OutputAs::Model || !floats.isReplaced(results[i]))
      continue;
    results[i] = wanted == OutputAs::Storage
                     ? typeInside(value)
                     : withElement(results[i], wanted == OutputAs::F32
                                                   ? rewriter.getF32Type()
                                                   : rewriter.getF64Type());
  }
  function.setFunctionType(
      rewriter.getFunctionType(function.getArgumentTypes(), results));
  return success();
}

/// Small floats become types of the dialect in the signature, in the arguments,
/// and where values come back from calls and memory. Public functions note what
/// callers pass.
void Retyper::settleBoundary(func::FuncOp function) {
  auto settle = [&](Type type) { return floats.outside(type); };
  auto noteOf = [&](Type type) -> Attribute {
    return function.isPublic() && FloatTypes::isSmall(type)
               ? TypeAttr::get(numera::elementType(type))
               : Attribute();
  };
  SmallVector<Type> arguments(function.getArgumentTypes());
  SmallVector<Type> results(function.getResultTypes());
  for (auto [i, type] : llvm::enumerate(arguments))
    if (Attribute note = noteOf(type))
      function.setArgAttr(i, dtypeAttribute, note);
  for (auto [i, type] : llvm::enumerate(results))
    if (Attribute note = noteOf(type))
      function.setResultAttr(i, dtypeAttribute, note);
  function.setFunctionType(
      rewriter.getFunctionType(llvm::map_to_vector(arguments, settle),
                               llvm::map_to_vector(results, settle)));
  if (function.isExternal())
    return;
  for (Value argument : function.getArguments())
    argument.setType(settle(argument.getType()));
  function.walk([&](Operation *op) {
    if (isBoundary(op))
      for (Value result : op->getResults())
        result.setType(settle(result.getType()));
  });
}

/// An operation that computes on numbers in memory, which are not retyped: one
/// whose region or other values would see them.
bool Retyper::computesInMemory(Operation *op) const {
  auto inMemory = [&](Type type) {
    Type element = numera::elementType(type);
    return isa<BaseMemRefType>(type) &&
           convert(element, policies.of(op)) != floats.outside(element);
  };
  bool isMemoryOnly = isa_and_nonnull<memref::MemRefDialect, scf::SCFDialect,
                                      cf::ControlFlowDialect>(op->getDialect());
  return !isBoundary(op) && !isMemoryOnly &&
         llvm::any_of(op->getOperandTypes(), inMemory);
}

/// One cast to each format that the value is read in and is not in.
void Retyper::castWhereFormatsMeet(Value value) {
  bool isOutside = !policies.of(value);
  Type type = isOutside ? floats.outside(value.getType()) : typeInside(value);
  llvm::MapVector<Type, SmallVector<OpOperand *>> uses;
  SmallVector<OpOperand *> indifferent;
  for (OpOperand &use : value.getUses())
    if (policies.isReadAsGiven(use))
      continue;
    else if (const ResolvedPolicy *wanted = policies.wantedBy(use))
      uses[convert(value.getType(), *wanted)].push_back(&use);
    else
      indifferent.push_back(&use);
  // Who asks for a size of an argument asks the tensor that is computed with.
  if (isOutside && !indifferent.empty())
    llvm::append_range(
        uses[uses.empty() ? typeInside(value) : uses.front().first],
        indifferent);
  for (auto &[wanted, users] : uses) {
    if (wanted == type)
      continue;
    Value inside = CastOp::create(rewriter, value.getLoc(), wanted, value);
    for (OpOperand *use : users)
      use->set(inside);
  }
}

static Type memoryElement(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (isa<BaseMemRefType>(type))
      return numera::elementType(type);
  return {};
}

LogicalResult Retyper::retypeValues(func::FuncOp function) {
  SmallVector<Value> values;
  SmallVector<Operation *> boundaries;
  Block &entry = function.getBody().front();
  Operation *inMemory = nullptr;
  function.walk([&](Operation *op) {
    if (isBoundary(op)) {
      boundaries.push_back(op);
      return;
    }
    if (computesInMemory(op))
      inMemory = op;
    if (op == function || isa<arith::ConstantOp>(op))
      return; // constants are replaced with their values
    llvm::append_range(values, op->getResults());
  });
  function.walk([&](Block *block) {
    if (block != &entry)
      llvm::append_range(values, block->getArguments());
  });
  if (inMemory)
    return inMemory->emitError("'")
           << inMemory->getName() << "' computes on " << memoryElement(inMemory)
           << " in memory, which cannot be retyped; write it on tensors, or "
              "load and store scalars";
  for (Operation *boundary : boundaries)
    castUses(boundary);
  // What comes in: arguments, and results of calls.
  rewriter.setInsertionPointToStart(&entry);
  for (Value argument : entry.getArguments())
    castWhereFormatsMeet(argument);
  for (Operation *boundary : boundaries) {
    rewriter.setInsertionPointAfter(boundary);
    for (Value result : boundary->getResults())
      castWhereFormatsMeet(result);
  }
  for (Value value : values) {
    rewriter.setInsertionPointAfterValue(value);
    castWhereFormatsMeet(value);
  }
  for (Value value : values)
    value.setType(typeInside(value));
  return success();
}

/// An error at the first operation with a float type that `isWrong`.
LogicalResult Retyper::checkFloats(function_ref<bool(Type)> isWrong) {
  WalkResult result = module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      types.push_back(global.getType());
    for (Type type : types)
      if (FloatTypes::isSmall(type) && isWrong(type)) {
        op->emitError("'") << op->getName() << "' is on "
                           << numera::elementType(type)
                           << ", which cannot be retyped there; expected f32";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A float type of a model that has none which the format replaces; null if it
/// has one, or floats of the format itself.
Type Retyper::otherFloats() {
  const Format &format = policies.ofModel().format;
  if (format ==
      formatOfFloat(registryOf(module), Float32Type::get(module.getContext())))
    return {};
  Type other;
  auto isUsed = [&](Type type) {
    if (!other && floats.formatOf(type))
      other = numera::elementType(type);
    return floats.isReplaced(type) || floats.formatOf(type) == format;
  };
  WalkResult result = module.walk([&](Operation *op) {
    bool found = llvm::any_of(op->getResultTypes(), isUsed);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isUsed);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted() ? Type() : other;
}

namespace {
struct RetypePass : impl::NumeraRetypeBase<RetypePass> {
  using NumeraRetypeBase::NumeraRetypeBase;
  RetypePass(const ResolvedPolicy &policy, const NumeraRetypeOptions &options)
      : NumeraRetypeBase(options), given(policy) {}

  /// What `to`, `accumulate` and `keep-roles` ask for.
  std::optional<ResolvedPolicy> read() {
    const Registry &registry =
        getContext().getLoadedDialect<NumeraDialect>()->getRegistry();
    std::string error;
    std::optional<ResolvedPolicy> policy;
    auto request = readRequest(registry, to, accumulate, error);
    if (request && readReplaced(registry, replace, request->replaced, error)) {
      request->keepsRoles = keepRoles;
      policy = resolvePolicy(registry, *request, error);
    }
    if (!policy)
      getOperation().emitError(error);
    return policy;
  }

  void runOnOperation() override {
    std::optional<ResolvedPolicy> policy = given ? given : read();
    if (!policy)
      return signalPassFailure();
    std::optional<Outputs> outputs =
        readOutputAs(outputAs.empty() ? "model" : StringRef(outputAs));
    if (!outputs) {
      getOperation().emitError("output-as is '")
          << outputAs << "', expected " << outputAsChoices();
      return signalPassFailure();
    }
    if (failed(Retyper(getOperation(), *policy, *outputs, observe, layers,
                       SmallVector<unsigned>(quires.begin(), quires.end()))
                   .run()))
      signalPassFailure();
  }

  std::optional<ResolvedPolicy> given;
};
} // namespace

std::unique_ptr<Pass> createRetypePass(const ResolvedPolicy &policy,
                                       const NumeraRetypeOptions &options) {
  return std::make_unique<RetypePass>(policy, options);
}

} // namespace numera
