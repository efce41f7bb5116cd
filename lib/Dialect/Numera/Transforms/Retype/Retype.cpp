// SPDX-License-Identifier: MIT
//
// An f32 model becomes the same model in a format, in place:
//   1. every operation gets its policy, the model's or a rule's
//      (RetypeRules.cpp), and named linalg operations become generics, so that
//      there is one way in which a computation is written;
//   2. every f32 value inside a function changes its type, with casts where
//      values cross the function's boundary and where formats meet;
//   3. operations of arith and math on floats become those of `numera`, and
//      constants are encoded;
//   4. contractions and sums move to the accumulator (RetypeContractions.cpp);
//   5. operations that round stochastically get their random bits
//      (RetypeRandom.cpp).

#include "Retype.h"
#include "LayerCopies.h"
#include "RetypeRules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERARETYPE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The operation of `numera` that stands for one of arith or math; empty if
/// there is none.
static std::string counterpart(StringRef name) {
  std::optional<OpKind> operation = operationFromMLIR(name);
  return operation ? ("numera." + nameOf(*operation)).str() : "";
}

static bool isFloatLike(Type type) {
  return isa<FloatType>(numera::elementType(type));
}

Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

namespace {

class Retyper {
public:
  Retyper(ModuleOp module, const ResolvedPolicy &policy, Type output,
          bool observe, bool showsLayers)
      : module(module), policies(module, policy), observe(observe),
        showsLayers(showsLayers), rewriter(module.getContext()),
        output(output) {}

  LogicalResult run() {
    policies.match(/*keepsOperators=*/showsLayers);
    if (failed(generalize()))
      return failure();
    if (showsLayers)
      policies.addReference();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      std::optional<LayerCopies> layers;
      if (showsLayers && LayerCopies::canCopy(function))
        layers.emplace(function, policies).copy();
      policies.settle(function);
      // A function that others call as well keeps its type.
      if (function.isPublic() && !(output && output.isF32()) &&
          SymbolTable::symbolKnownUseEmpty(function, module))
        changeOutputs(function);
      if (layers)
        layers->returnRows();
      if (failed(retypeValues(function)))
        return failure();
    }
    if (failed(replaceOperations()) ||
        failed(retypeContractions(module, policies, observe)))
      return failure();
    if (!observe)
      propagateScales(module, policies);
    policies.finish();
    dropOrigins(module);
    return assignRandomBits(module);
  }

private:
  static Type convert(Type old, const ResolvedPolicy &policy) {
    bool isMemory = isa<BaseMemRefType>(old); // memory stays as it is
    return numera::elementType(old).isF32() && !isMemory
               ? withElement(old, typeOfFormat(old.getContext(), policy.format))
               : old;
  }
  /// The type of a value inside a function: in the format that it is in, or the
  /// model's for one from outside.
  Type typeInside(Value value) const {
    const ResolvedPolicy *policy = policies.of(value);
    return convert(value.getType(), policy ? *policy : policies.ofModel());
  }

  LogicalResult generalize();
  LogicalResult retypeValues(func::FuncOp function);
  void castUses(Operation *boundary);
  void castWhereFormatsMeet(Value value);
  void changeOutputs(func::FuncOp function);
  LogicalResult replaceOperations();
  LogicalResult replace(Operation *op);

  ModuleOp module;
  Policies policies;
  bool observe, showsLayers;
  IRRewriter rewriter;
  /// Element of what public functions return in place of f32; null: that of the
  /// format in which they have it.
  Type output;
};

} // namespace

static Value createCast(OpBuilder &builder, Location loc, Type type,
                        Value value) {
  return CastOp::create(builder, loc, type, value);
}

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
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitError("'")
             << op->getName()
             << "' cannot be written as a linalg.generic, which retyping needs";
  }
  return success();
}

/// What a function returns leaves as its signature says; what reaches another
/// function stays f32.
void Retyper::castUses(Operation *boundary) {
  rewriter.setInsertionPoint(boundary);
  bool isReturn = isa<func::ReturnOp>(boundary);
  auto function = boundary->getParentOfType<func::FuncOp>();
  for (OpOperand &operand : boundary->getOpOperands()) {
    Value value = operand.get();
    Type outside = isReturn
                       ? function.getResultTypes()[operand.getOperandNumber()]
                       : value.getType();
    if (typeInside(value) != outside)
      operand.set(createCast(rewriter, boundary->getLoc(), outside, value));
  }
}

/// The results of a public function that are f32 become `output`.
void Retyper::changeOutputs(func::FuncOp function) {
  SmallVector<Type> results(function.getResultTypes());
  Operation *exit = function.back().getTerminator();
  for (auto [result, value] : llvm::zip_equal(results, exit->getOperands()))
    if (numera::elementType(result).isF32())
      result = output ? withElement(result, output) : typeInside(value);
  function.setFunctionType(
      rewriter.getFunctionType(function.getArgumentTypes(), results));
}

/// An operation that computes on f32 in memory, which is not retyped: one whose
/// region or other values would see it.
static bool computesInMemory(Operation *op) {
  auto inMemory = [](Type type) {
    return isa<BaseMemRefType>(type) && numera::elementType(type).isF32();
  };
  bool isMemoryOnly = isa_and_nonnull<memref::MemRefDialect>(op->getDialect());
  return !isBoundary(op) && !isMemoryOnly &&
         llvm::any_of(op->getOperandTypes(), inMemory);
}

/// One cast to each format that the value is read in and is not in.
void Retyper::castWhereFormatsMeet(Value value) {
  bool isOutside = !policies.of(value);
  Type type = isOutside ? value.getType() : typeInside(value);
  llvm::MapVector<Type, SmallVector<OpOperand *>> uses;
  SmallVector<OpOperand *> indifferent;
  for (OpOperand &use : value.getUses())
    if (const ResolvedPolicy *wanted = policies.wantedBy(use))
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
    Value inside = createCast(rewriter, value.getLoc(), wanted, value);
    for (OpOperand *use : users)
      use->set(inside);
  }
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
    if (computesInMemory(op) && policies.of(op).format != formatF32())
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
           << inMemory->getName()
           << "' computes on f32 in memory, which cannot be retyped; write it "
              "on tensors, or load and store scalars";
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

LogicalResult Retyper::replaceOperations() {
  SmallVector<Operation *> work;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            op->getDialect()))
      work.push_back(op);
  });
  for (Operation *op : work)
    if (failed(replace(op)))
      return failure();
  return success();
}

LogicalResult Retyper::replace(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    const Format &format = policies.of(op).format;
    if (!numera::elementType(constant.getType()).isF32() ||
        format == formatF32())
      return success();
    if (isa<ShapedType>(constant.getType()) &&
        !isa<DenseElementsAttr>(constant.getValue()))
      return op->emitError("'arith.constant' of type ")
             << constant.getType()
             << " has no dense elements, which retyping encodes; expected "
                "dense<...>";
    Value encoded =
        createConstant(rewriter, op->getLoc(), format, constant.getValue());
    if (policies.of(op).weights)
      keepOrigin(encoded, constant.getValue());
    rewriter.replaceOp(op, encoded);
    return success();
  }
  auto isOther = [](Type t) {
    auto number = dyn_cast<FloatType>(numera::elementType(t));
    return number && !number.isF32() && !number.isF64();
  };
  for (Type t : llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                   SmallVector<Type>(op->getResultTypes())))
    if (isOther(t))
      return op->emitError("'")
             << op->getName() << "' works on " << numera::elementType(t)
             << "; expected f32 or f64, other floats of a model are not "
                "retyped yet";
  if (isa<arith::SelectOp>(op))
    return success();
  std::string name = counterpart(op->getName().getStringRef());
  if (name.empty()) {
    auto onNumbers = [&](Type t) {
      return isFloatLike(t) || isa<NumType>(numera::elementType(t));
    };
    if (llvm::any_of(op->getOperandTypes(), onNumbers) ||
        llvm::any_of(op->getResultTypes(), onNumbers))
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
    if (auto request = readRequest(registry, to, accumulate, error)) {
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
    Type output = StringSwitch<Type>(outputAs)
                      .Cases({"", "f32"}, Float32Type::get(&getContext()))
                      .Case("f64", Float64Type::get(&getContext()))
                      .Default({});
    if (!output && outputAs != "storage") {
      getOperation().emitError("unknown output-as '")
          << outputAs << "'; expected f32, f64 or storage";
      return signalPassFailure();
    }
    if (failed(Retyper(getOperation(), *policy, output, observe, layers).run()))
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
