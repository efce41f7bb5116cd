// SPDX-License-Identifier: MIT

#include "ReduceFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace {

/// Memory that something else is to write, or has to be.
bool isMemory(Value value) {
  Operation *op = value.getDefiningOp();
  return isa<BaseMemRefType>(value.getType()) ||
         isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(op);
}

/// An operand of that type, or else an argument of the operation's block or
/// function.
Value findOther(Operation &op, Type type) {
  auto isOther = [&](Value value) {
    return value.getType() == type && !isMemory(value);
  };
  auto function = op.getParentOfType<func::FuncOp>();
  for (ValueRange values :
       {ValueRange(op.getOperands()), ValueRange(op.getBlock()->getArguments()),
        ValueRange(function.getArguments())})
    if (auto found = llvm::find_if(values, isOther); found != values.end())
      return *found;
  return nullptr;
}

Value createZero(OpBuilder &builder, Location loc, Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  bool isKnown =
      getElementTypeOrSelf(type).isIntOrIndexOrFloat() &&
      (shaped ? shaped.hasStaticShape() : type.isIntOrIndexOrFloat());
  TypedAttr zero = isKnown ? builder.getZeroAttr(type) : TypedAttr();
  return zero ? arith::ConstantOp::create(builder, loc, zero) : Value();
}

/// Puts others in place of all results; false if there are none for one.
bool replaceResults(Operation &op) {
  OpBuilder builder(&op);
  SmallVector<Value> others;
  for (Value result : op.getResults()) {
    Value other = findOther(op, result.getType());
    if (!other)
      other = createZero(builder, op.getLoc(), result.getType());
    if (!other)
      return false;
    others.push_back(other);
  }
  op.replaceAllUsesWith(others);
  return true;
}

/// Puts a region's operations in place of the one that has it, such as a
/// branch; false if it gives other values, or takes some.
bool unwrap(Operation &op, Region &region) {
  if (!region.hasOneBlock() || region.getNumArguments() != 0 ||
      !region.front().mightHaveTerminator())
    return false;
  Operation *last = region.front().getTerminator();
  if (last->getOperandTypes() != op.getResultTypes())
    return false;
  op.replaceAllUsesWith(last->getOperands());
  last->erase();
  op.getBlock()->getOperations().splice(op.getIterator(),
                                        region.front().getOperations());
  op.erase();
  return true;
}

/// What `simplify` may change: operations inside of functions.
SmallVector<Operation *> operationsOf(ModuleOp module) {
  SmallVector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool stays = op->hasTrait<OpTrait::IsTerminator>() ||
                 op->hasTrait<OpTrait::ConstantLike>() ||
                 isa<SymbolOpInterface, tensor::EmptyOp>(op) ||
                 !op->getParentOfType<func::FuncOp>();
    if (!stays)
      operations.push_back(op);
  });
  return operations;
}

class ReduceFunctionsPass
    : public PassWrapper<ReduceFunctionsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceFunctionsPass)

  ReduceFunctionsPass() = default;
  ReduceFunctionsPass(const ReduceFunctionsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "reduce-functions"; }
  StringRef getDescription() const override {
    return "Make functions smaller as long as a script exits with 1";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }
  void runOnOperation() override {
    tester.setTestScript(script);
    if (!isInteresting(getOperation()))
      return signalPassFailure();
    bool isChanged = true;
    while (isChanged) {
      isChanged = shrinkBodies();
      isChanged |= dropFunctions();
      isChanged |= shrinkSignatures();
    }
  }

private:
  bool isInteresting(ModuleOp module) const {
    return tester.isInteresting(module).first == Tester::Interestingness::True;
  }

  /// Changes a copy of the module, and keeps it if it is valid and interesting.
  bool attempt(llvm::function_ref<bool(ModuleOp, IRMapping &)> change) {
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(getOperation()->clone(mapping)));
    if (!change(*copy, mapping))
      return false;
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, copy->getBodyRegion());
    if (failed(verify(*copy)) || !isInteresting(*copy))
      return false;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }

  bool simplify(ArrayRef<Operation *> chosen) {
    return attempt([&](ModuleOp, IRMapping &mapping) {
      bool isChanged = false;
      SmallVector<Operation *> dropped; // outer ones come before inner ones
      for (Operation *op : chosen) {
        Operation *same = mapping.lookup(op);
        if (!op->use_empty())
          isChanged |= replaceResults(*same);
        else if (llvm::none_of(dropped, [&](Operation *outer) {
                   return outer->isProperAncestor(same);
                 }))
          dropped.push_back(same);
      }
      for (Operation *op : dropped)
        op->erase();
      return isChanged || !dropped.empty();
    });
  }

  /// One of its regions in place of the operation.
  bool unwrapOne(Operation *op) {
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      if (attempt([&](ModuleOp, IRMapping &mapping) {
            Operation *same = mapping.lookup(op);
            return unwrap(*same, same->getRegion(i));
          }))
        return true;
    return false;
  }

  bool shrinkBodies() {
    bool isChanged = false;
    SmallVector<Operation *> operations = operationsOf(getOperation());
    for (size_t size = operations.size(); size > 0; size /= 2)
      for (size_t end = operations.size(); end > 0;) {
        size_t start = end - std::min(size, end);
        if (simplify(ArrayRef(operations).slice(start, end - start)) ||
            (size == 1 && unwrapOne(operations[start]))) {
          isChanged = true;
          operations = operationsOf(getOperation());
          end = std::min(start, operations.size());
        } else {
          end = start;
        }
      }
    return isChanged;
  }

  /// The names of the functions that nothing calls.
  SmallVector<std::string> uncalled() {
    SmallVector<std::string> names;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        names.push_back(function.getSymName().str());
    return names;
  }

  bool dropFunctions() {
    bool isChanged = false;
    for (StringRef name : uncalled())
      isChanged |= attempt([name](ModuleOp module, IRMapping &) {
        module.lookupSymbol(name)->erase();
        return true;
      });
    return isChanged;
  }

  bool shrinkSignatures() {
    bool isChanged = false;
    for (StringRef name : uncalled()) {
      auto lookup = [name](ModuleOp module) {
        return module.lookupSymbol<func::FuncOp>(name);
      };
      if (lookup(getOperation()).isExternal())
        continue;
      for (unsigned i = lookup(getOperation()).getNumResults(); i-- > 0;)
        if (lookup(getOperation()).getNumResults() > 1)
          isChanged |= attempt([&](ModuleOp module, IRMapping &) {
            auto function = lookup(module);
            function.walk([i](func::ReturnOp op) { op->eraseOperand(i); });
            return succeeded(function.eraseResult(i));
          });
      for (unsigned i = lookup(getOperation()).getNumArguments(); i-- > 0;)
        if (lookup(getOperation()).getArgument(i).use_empty())
          isChanged |= attempt([&](ModuleOp module, IRMapping &) {
            return succeeded(lookup(module).eraseArgument(i));
          });
    }
    return isChanged;
  }

  Tester tester;
  Option<std::string> script{*this, "test",
                             llvm::cl::desc("the script, as reduction-tree's")};
};

} // namespace

void numera::registerReduceFunctions() {
  PassRegistration<ReduceFunctionsPass>();
}
