// SPDX-License-Identifier: MIT

#include "LayerCopies.h"
#include "Retype.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/IR/Operator.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace numera {

/// What an operation reads, in its regions as well.
static llvm::SetVector<Value> readBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// True for a tensor of numbers that take the format of a policy.
static bool isNumberTensor(Value value, const Policies &policies) {
  return isa<RankedTensorType>(value.getType()) &&
         policies.floats().isReplaced(value.getType());
}

static bool touchesNumbers(Operation *op, const Policies &policies) {
  auto isNumber = [&](Value value) {
    return policies.floats().isReplaced(value.getType());
  };
  WalkResult found = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(), isNumber) ||
                   llvm::any_of(inner->getResults(), isNumber)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool LayerCopies::canCopy(func::FuncOp function) {
  if (function.isExternal() || !function.isPublic() ||
      !function.getBody().hasOneBlock())
    return false;
  WalkResult other = function.walk([&](Operation *op) {
    bool hasMemory = llvm::any_of(op->getOperandTypes(), [](Type type) {
      return isa<BaseMemRefType>(type);
    });
    bool isOther = hasMemory || isa<func::CallOp>(op);
    return isOther ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !other.wasInterrupted();
}

/// What the function's results and effects need. The rest goes before random
/// bits are numbered, and is to do so where layers are shown.
void LayerCopies::findLive() {
  llvm::SetVector<Operation *> found;
  for (Operation &op : function.front())
    if (!isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>())
      found.insert(&op);
  for (unsigned i = 0; i < found.size(); ++i)
    for (Value value : readBy(found[i]))
      if (Operation *op = value.getDefiningOp();
          op && op->getBlock() == &function.front())
        found.insert(op);
  live.insert(found.begin(), found.end());
}

void LayerCopies::findLayers() {
  llvm::StringMap<unsigned> named, used;
  for (Operation &op : function.front().without_terminator()) {
    std::string name = nodeNameOf(op.getLoc());
    StringRef full = operatorOf(op.getLoc());
    if (full.empty())
      full = op.getName().getStringRef();
    std::string operation = full.substr(full.find('.') + 1).str();
    auto add = [&] {
      layers.push_back({name, operation, {}});
      return unsigned(layers.size()) - 1;
    };
    unsigned layer;
    if (name.empty()) {
      layer = add();
    } else {
      auto [found, isNew] = named.try_emplace(name, 0);
      if (isNew)
        found->second = add();
      layer = found->second;
    }
    layerOf[&op] = layer;
    layers[layer].operations.push_back(&op);
    if (!touchesNumbers(&op, policies) || isNumberSource(&op) || onlyMoves(&op))
      continue;
    layers[layer].computes = true;
    layers[layer].operation = operation;
  }
  for (Layer &layer : layers)
    if (layer.name.empty() && layer.computes) {
      unsigned count = ++used[layer.operation];
      layer.name = layer.operation;
      if (count > 1)
        layer.name += "_" + std::to_string(count);
    }
}

/// True for what computes with numbers, or reads what was computed from them.
/// Constants and arguments are there once for each of their formats, also where
/// they are moved.
bool LayerCopies::isCopied(Operation *op) const {
  bool readsCopied = llvm::any_of(
      readBy(op), [&](Value value) { return reference.contains(value); });
  return readsCopied || (touchesNumbers(op, policies) && !isNumberSource(op) &&
                         !onlyMoves(op));
}

void LayerCopies::copyReference() {
  for (Layer &layer : layers)
    layer.operations.clear();
  SmallVector<Operation *> operations;
  for (Operation &op : function.front().without_terminator())
    operations.push_back(&op);
  for (Operation *op : operations) {
    if (!isCopied(op))
      continue;
    layers[layerOf[op]].operations.push_back(op);
    policies.putIntoReference(builder.clone(*op, reference));
  }
}

/// The layer on the reference's numbers; empty where it has no others anyway.
IRMapping LayerCopies::copyLayer(unsigned layer) {
  IRMapping own;
  auto isInside = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && layerOf.lookup(op) == layer;
  };
  for (Operation *op : layers[layer].operations)
    for (Value value : readBy(op))
      if (!isInside(value) && reference.contains(value))
        own.map(value, reference.lookup(value));
  if (own.getValueMap().empty())
    return own;
  for (Operation *op : layers[layer].operations)
    builder.clone(*op, own);
  return own;
}

/// The rows behind what a layer reads, through what only moves numbers.
SmallVector<int> LayerCopies::inputsOf(const Layer &layer) {
  llvm::SetVector<int> inputs;
  llvm::SetVector<Operation *> work(layer.operations.begin(),
                                    layer.operations.end());
  unsigned own = layerOf[layer.operations.front()];
  for (unsigned i = 0; i < work.size(); ++i)
    for (Value value : readBy(work[i])) {
      Operation *op = value.getDefiningOp();
      if (!op || !layerOf.contains(op) || layerOf[op] == own)
        continue;
      auto row = llvm::find_if(
          rows, [&](const Row &row) { return row.value == value; });
      if (row != rows.end())
        inputs.insert(int(row - rows.begin()));
      else
        work.insert(op);
    }
  return SmallVector<int>(inputs.begin(), inputs.end());
}

void LayerCopies::copy() {
  findLive();
  findLayers();
  // What calibration found for a contraction is for its copies, too.
  int64_t number = 0;
  function.walk([&](linalg::GenericOp op) {
    op->setDiscardableAttr(ContractionNames::numberName,
                           builder.getI64IntegerAttr(number++));
  });
  builder.setInsertionPoint(function.front().getTerminator());
  copyReference();
  for (auto [i, layer] : llvm::enumerate(layers)) {
    if (!layer.computes)
      continue;
    IRMapping own = copyLayer(unsigned(i));
    SmallVector<int> inputs = inputsOf(layer);
    for (Operation *op : layer.operations)
      for (Value value : op->getResults()) {
        if (!live.contains(op))
          continue;
        bool leaves = llvm::any_of(value.getUsers(), [&](Operation *user) {
          while (user->getBlock() != &function.front())
            user = user->getParentOp();
          // Copies are in no layer.
          auto found = layerOf.find(user);
          return found == layerOf.end() ? isBoundary(user) : found->second != i;
        });
        if (isNumberTensor(value, policies) && leaves)
          rows.push_back({unsigned(i), value, own.lookupOrDefault(value),
                          reference.lookup(value), inputs});
      }
  }
}

void LayerCopies::returnRows() {
  const Registry &registry =
      function.getContext()->getLoadedDialect<NumeraDialect>()->getRegistry();
  Operation *exit = function.front().getTerminator();
  unsigned own = function.getNumResults();
  SmallVector<Type> results;
  std::vector<LayerRow> described;
  // What comes from a scaled tensor is f32.
  auto formatOf = [&](Value value) -> const Format & {
    const ResolvedPolicy *policy = policies.of(value);
    return policy ? policy->format : formatF32();
  };
  for (const Row &row : rows) {
    const Format &format = formatOf(row.value);
    const Layer &layer = layers[row.layer];
    described.push_back({layer.name,
                         layer.operation,
                         registry.nameOrSpelling(format),
                         {row.inputs.begin(), row.inputs.end()}});
    // Where their numbers are all held.
    bool isNarrow = format.isOpaque() || embeds(format, formatF32());
    Type number =
        isNarrow ? Type(builder.getF32Type()) : Type(builder.getF64Type());
    for (Value value : {row.value, row.own, row.reference}) {
      Type element = value == row.reference
                         ? typeOfFormat(function.getContext(), formatOf(value))
                         : number;
      results.push_back(withElement(value.getType(), element));
      exit->insertOperands(exit->getNumOperands(), value);
    }
  }
  SmallVector<unsigned> places(results.size(), own);
  // Its elements are summed, in whatever order they lie.
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < results.size(); ++i)
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        anyOrderAttribute, builder.getI64IntegerAttr(i / LayerRow::results))));
  (void)function.insertResults(places, results, attributes);
  setLayerRows(function, described);
}

/// Moves `op` to the end of what is in order, behind what it reads.
static void putInOrder(Operation *op, llvm::DenseSet<Operation *> &isInOrder) {
  // Depth first, without recursion: models have long chains.
  SmallVector<Operation *> path = {op};
  while (!path.empty()) {
    Operation *next = path.back();
    size_t known = path.size();
    if (!isInOrder.contains(next)) {
      llvm::SetVector<Value> read = readBy(next);
      for (Value value : llvm::reverse(read)) {
        Operation *before = value.getDefiningOp();
        if (before && before->getBlock() == op->getBlock() &&
            !isInOrder.contains(before))
          path.push_back(before);
      }
    }
    if (path.size() > known)
      continue;
    path.pop_back();
    if (isInOrder.insert(next).second)
      next->moveBefore(op->getBlock()->getTerminator());
  }
}

static void orderByRows(func::FuncOp function) {
  size_t rows = countLayerRows(function);
  if (rows == 0)
    return;
  // Checks first, then rows, then what the function returned before.
  SmallVector<Operation *> last;
  for (Operation &op : function.front().without_terminator())
    if (!isMemoryEffectFree(&op))
      last.push_back(&op);
  OperandRange results = function.front().getTerminator()->getOperands();
  size_t own = results.size() - rows * LayerRow::results;
  for (OperandRange part : {results.drop_front(own), results.take_front(own)})
    for (Value value : part)
      if (Operation *op = value.getDefiningOp())
        last.push_back(op);
  // What no result needs reads others, too.
  for (Operation &op : function.front().without_terminator())
    last.push_back(&op);
  llvm::DenseSet<Operation *> isInOrder;
  for (Operation *op : last)
    putInOrder(op, isInOrder);
}

void orderByRows(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    orderByRows(function);
}

} // namespace numera
