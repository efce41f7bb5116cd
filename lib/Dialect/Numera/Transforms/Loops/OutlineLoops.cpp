// SPDX-License-Identifier: MIT
//
// Outlines the loops of a function that has many of them, and keeps one of
// functions that are alike:
//
//   scf.for %i … { … %x … }          call @f.loop(%x)
//   scf.for %i … { … %y … }    ->    call @f.loop(%y)
//
// LLVM takes more than twice as long for a function of twice the size, and the
// layers of a model repeat.

#include "Captures.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAOUTLINELOOPS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

// ---- outlining

static bool isNumber(Type type) {
  return type.isIntOrIndexOrFloat() || isa<VectorType>(type);
}

/// A loop, or a choice that holds one, that can be a function.
static bool isLoop(Operation &op) {
  if (!llvm::all_of(op.getResultTypes(), isNumber))
    return false;
  if (isa<scf::ForOp, scf::ParallelOp, scf::WhileOp>(op))
    return true;
  return isa<scf::IfOp>(op) && op.walk([](scf::ForOp) {
                                   return WalkResult::interrupt();
                                 }).wasInterrupted();
}

static SmallVector<Operation *> loopsOf(func::FuncOp function) {
  SmallVector<Operation *> loops;
  for (Operation &op : function.getOps())
    if (isLoop(op))
      loops.push_back(&op);
  return loops;
}

static void outline(Operation *loop, SymbolTable &symbols) {
  Captures captures(loop, loop->getOperands());
  ValueRange passed = captures.getPassed();
  if (!llvm::all_of(passed.getTypes(), [](Type type) {
        return isNumber(type) || isa<MemRefType, LLVM::LLVMPointerType>(type);
      }))
    return;
  OpBuilder builder(loop);
  Location loc = loop->getLoc();
  auto caller = loop->getParentOfType<func::FuncOp>();
  auto function = func::FuncOp::create(
      loc, (caller.getName() + ".loop").str(),
      builder.getFunctionType(passed.getTypes(), loop->getResultTypes()));
  function.setPrivate();
  // Upstream's lowering knows no other way to say this.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  captures.noteApart(function);
  symbols.insert(function);

  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  captures.define(builder, function, map);
  Operation *copy = builder.clone(*loop, map);
  func::ReturnOp::create(builder, loc, copy->getResults());
  builder.setInsertionPoint(loop);
  auto call = func::CallOp::create(builder, loc, function, passed);
  loop->replaceAllUsesWith(call);
  loop->erase();
}

// ---- functions that are alike

namespace {

/// A function that only the module calls, but for its name.
struct Content {
  Operation *function;
  SmallVector<NamedAttribute> attributes;
  llvm::hash_code hash;

  explicit Content(Operation *function) : function(function), hash(0) {
    for (NamedAttribute attribute : function->getAttrs())
      if (attribute.getName() != SymbolTable::getSymbolAttrName()) {
        attributes.push_back(attribute);
        hash =
            llvm::hash_combine(hash, attribute.getName(), attribute.getValue());
      }
    function->getRegion(0).walk([this](Operation *op) {
      hash = llvm::hash_combine(hash, op->getName(), op->hashProperties(),
                                op->getDiscardableAttrDictionary(),
                                llvm::hash_combine_range(op->getResultTypes()));
    });
  }

  bool isLike(const Content &other) const {
    return attributes == other.attributes &&
           OperationEquivalence::isRegionEquivalentTo(
               &function->getRegion(0), &other.function->getRegion(0),
               OperationEquivalence::IgnoreLocations);
  }
};

/// Replaces functions by the first one that is like them.
class Merger {
public:
  void add(Operation *function) {
    Content content(function);
    auto &candidates = known[size_t(content.hash)];
    for (const Content &candidate : candidates)
      if (content.isLike(candidate)) {
        names[nameOf(function)] = FlatSymbolRefAttr::get(
            SymbolTable::getSymbolName(candidate.function));
        superfluous.push_back(function);
        return;
      }
    candidates.push_back(std::move(content));
  }

  /// In the whole module.
  void finish(ModuleOp module) {
    for (Operation *function : superfluous)
      function->erase();
    module.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto name = names.lookup(call.getCalleeAttr().getAttr()))
          call.setCalleeAttr(name);
      } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
        if (auto name = names.lookup(address.getGlobalNameAttr().getAttr()))
          address.setGlobalNameAttr(name);
      }
    });
  }

private:
  static StringAttr nameOf(Operation *function) {
    return SymbolTable::getSymbolName(function);
  }

  llvm::DenseMap<size_t, std::vector<Content>> known;
  SmallVector<Operation *> superfluous;
  llvm::DenseMap<StringAttr, FlatSymbolRefAttr> names;
};

struct OutlineLoopsPass : impl::NumeraOutlineLoopsBase<OutlineLoopsPass> {
  using NumeraOutlineLoopsBase::NumeraOutlineLoopsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (SmallVector<Operation *> loops = loopsOf(function);
          loops.size() > mostLoops)
        for (Operation *loop : loops)
          outline(loop, symbols);

    Merger loops;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPrivate() && !function.isDeclaration())
        loops.add(function);
    loops.finish(module);
    // Whose bodies call them.
    Merger chunks;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function.getLinkage() == LLVM::Linkage::Internal &&
          !function.isDeclaration())
        chunks.add(function);
    chunks.finish(module);
  }
};

} // namespace

} // namespace numera
