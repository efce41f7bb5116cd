// SPDX-License-Identifier: MIT
//
// What a chain of operations makes of one code is a function of that code. The
// chain may branch, as x · sigmoid(x) does: the value that all operands of an
// operation are functions of is the nearest common ancestor in the tree of such
// values. The table holds what the operations give one after another, each of
// them folded, so it cannot differ from them.

#include "Folding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "numera/Dialect/Numera/IR/StatusFlags.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACOMPOSETABLES
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

using Effort = FormatFamily::Effort;

/// Tables of 16 bits that a module may have: each is 128 KiB of its program,
/// and folding takes tens of milliseconds.
constexpr unsigned mostLargeTables = 16;

/// Of a scalar code of at most 16 bits.
bool isCode(Value value) {
  return value.getType().isInteger(8) || value.getType().isInteger(16);
}
bool isCodeOrBit(Value value) {
  return isCode(value) || value.getType().isInteger(1);
}

/// Hundredths of a nanosecond an element: of tables, as numera-tabulate's
/// description has them.
unsigned costOfTable(unsigned placeBits, unsigned elementBits) {
  if (placeBits > 8)
    return 60;
  return elementBits == 8 ? 15 : 30;
}

/// In a chain, where operands and results stay in registers: a third of what
/// numera-tabulate's description says of an operation by itself.
unsigned costOf(Operation *op) {
  // Where a result is at an end of the range, they compute exactly.
  if (isa<StatusFlagsOp>(op))
    return 500;
  auto interface = dyn_cast<FormatOpInterface>(op);
  if (!interface)
    return 5;
  switch (effortOf(interface)) {
  case Effort::Codes:
    return 5;
  case Effort::Short:
    return 12;
  case Effort::Long:
    return 32;
  case Effort::Slow: // a table itself
    return costOfTable(op->getOperand(0).getType().getIntOrFloatBitWidth(),
                       op->getResult(0).getType().getIntOrFloatBitWidth());
  }
  return 0;
}

/// True if the operation may be part of what a table holds.
bool isPart(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isCodeOrBit(op->getResult(0)) ||
      !llvm::all_of(op->getOperands(), isCodeOrBit))
    return false;
  if (auto interface = dyn_cast<FormatOpInterface>(op))
    return !interface.drawsRandom() && !isOverridden(interface);
  if (auto flags = dyn_cast<StatusFlagsOp>(op))
    return !flags.getRandom();
  return isa<arith::SelectOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

/// The tree of values that others of a block are functions of.
class Ancestors {
public:
  explicit Ancestors(Block &block) {
    for (Operation &op : block)
      if (isPart(&op))
        if (Value parent = nearestCommon(op.getOperands()))
          nodes[op.getResult(0)] = {parent, depthOf(parent) + 1};
  }

  /// The value which this one is a function of and no nearer one; else null.
  Value parentOf(Value value) const { return nodes.lookup(value).parent; }

private:
  struct Node {
    Value parent;
    unsigned depth = 0;
  };

  unsigned depthOf(Value value) const { return nodes.lookup(value).depth; }

  Value nearestCommon(ValueRange values) const {
    Value common;
    for (Value value : values) {
      if (splatOf(value))
        continue;
      if (!common)
        common = value;
      while (common && common != value) {
        Value &deeper = depthOf(common) > depthOf(value) ? common : value;
        deeper = parentOf(deeper);
        if (!value)
          return {};
      }
      if (!common)
        return {};
    }
    return common;
  }

  llvm::DenseMap<Value, Node> nodes;
};

/// The operations that make the result of `root` of the code `place`.
class Chain {
public:
  Chain(Operation *root, Value place) : root(root), place(place) {
    collect(root);
  }

  /// What the chain costs less the table's cost, without what others need of
  /// it.
  int gain() const {
    llvm::SmallPtrSet<Operation *, 8> vanishing = {root};
    int cost = static_cast<int>(costOf(root));
    for (Operation *op : llvm::drop_begin(llvm::reverse(ops)))
      if (llvm::all_of(op->getUsers(), [&](Operation *user) {
            return vanishing.contains(user);
          })) {
        vanishing.insert(op);
        cost += static_cast<int>(costOf(op));
      }
    return cost - static_cast<int>(costOfTable(placeBits(), elementBits()));
  }

  /// The bits of the place that tell codes apart.
  unsigned placeBits() const {
    for (Operation *op : ops)
      if (auto interface = dyn_cast<FormatOpInterface>(op))
        for (unsigned i = 0; i < interface.getFormatOperandCount(); ++i)
          if (ElementKind kind = interface.getOperandElement(i);
              op->getOperand(i) == place && kind.isFormat())
            return kind.format.width();
    return place.getType().getIntOrFloatBitWidth();
  }

  /// What tells two tables apart: the operations, and which operand is the
  /// result of which, or a constant.
  Attribute key() const {
    Builder builder(root->getContext());
    SmallVector<Attribute> parts = {TypeAttr::get(place.getType()),
                                    builder.getI32IntegerAttr(placeBits())};
    llvm::DenseMap<Value, int32_t> numbers = {{place, 0}};
    for (Operation *op : ops) {
      parts.push_back(builder.getStringAttr(op->getName().getStringRef()));
      parts.push_back(op->getAttrDictionary());
      parts.push_back(TypeAttr::get(op->getResult(0).getType()));
      for (Value operand : op->getOperands()) {
        Attribute constant = splatOf(operand);
        parts.push_back(
            constant ? constant
                     : builder.getI32IntegerAttr(numbers.lookup(operand)));
      }
      numbers[op->getResult(0)] = static_cast<int32_t>(numbers.size());
    }
    return builder.getArrayAttr(parts);
  }

  /// Null where an operation does not fold.
  DenseElementsAttr compute() const {
    int64_t size = int64_t{1} << placeBits();
    std::vector<char> bytes;
    for (int64_t begin = 0; begin < size; begin += foldedCodes) {
      auto results = evaluate(begin, std::min(foldedCodes, size - begin));
      if (!results)
        return {};
      appendTo(bytes, results);
    }
    auto type = typeOfCodes(root->getResult(0), size);
    size_t one = bytes.size() / size_t(size);
    if (std::equal(bytes.begin() + ptrdiff_t(one), bytes.end(), bytes.begin()))
      bytes.resize(one);
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }

private:
  unsigned elementBits() const {
    return root->getResult(0).getType().getIntOrFloatBitWidth();
  }

  /// Operands before what uses them.
  void collect(Operation *op) {
    if (ops.contains(op))
      return;
    for (Value operand : op->getOperands())
      if (operand != place && !splatOf(operand))
        collect(operand.getDefiningOp());
    ops.insert(op);
  }

  DenseElementsAttr evaluate(int64_t begin, int64_t count) const {
    llvm::DenseMap<Value, DenseElementsAttr> results;
    auto type = typeOfCodes(place, count);
    SmallVector<APInt> codes;
    for (int64_t code = begin; code < begin + count; ++code)
      codes.emplace_back(type.getElementTypeBitWidth(),
                         static_cast<uint64_t>(code));
    results[place] = DenseElementsAttr::get(type, codes);
    for (Operation *op : ops) {
      SmallVector<Attribute> operands;
      for (Value operand : op->getOperands())
        if (Attribute constant = splatOf(operand))
          operands.push_back(
              DenseElementsAttr::get(typeOfCodes(operand, count), constant));
        else
          operands.push_back(results.lookup(operand));
      DenseElementsAttr result = foldOn(op, operands, count);
      if (!result)
        return {};
      results[op->getResult(0)] = result;
    }
    return results.lookup(root->getResult(0));
  }

  Operation *root;
  Value place;
  llvm::SetVector<Operation *> ops;
};

struct ComposeTablesPass : impl::NumeraComposeTablesBase<ComposeTablesPass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](FormatOpInterface op) {
      if (blocks.empty() || blocks.back() != op->getBlock())
        blocks.push_back(op->getBlock());
    });
    for (Block *block : llvm::SetVector<Block *>(blocks.begin(), blocks.end()))
      run(*block);
  }

private:
  void run(Block &block) {
    Ancestors ancestors(block);
    // The last first: a chain is as long as it can be.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isPart(&op)) {
        if (op.use_empty())
          op.erase();
        else if (isCode(op.getResult(0)))
          compose(op, ancestors);
      }
  }

  /// Replaces the operation by a look-up of the code that gains most.
  void compose(Operation &op, const Ancestors &ancestors) {
    std::optional<Chain> best;
    Value place;
    for (Value each = ancestors.parentOf(op.getResult(0)); each;
         each = ancestors.parentOf(each)) {
      Chain chain(&op, each);
      if (isCode(each) && chain.gain() > (best ? best->gain() : 0)) {
        best = chain;
        place = each;
      }
    }
    if (!best)
      return;
    DenseElementsAttr table = tableOf(*best);
    if (!table)
      return;
    OpBuilder builder(&op);
    Type type = op.getResult(0).getType();
    Value found;
    if (table.isSplat()) // flags that no code raises
      found = arith::ConstantOp::create(
          builder, op.getLoc(),
          cast<TypedAttr>(table.getSplatValue<Attribute>()));
    else
      found = LookupOp::create(builder, op.getLoc(), type, place, table);
    op.getResult(0).replaceAllUsesWith(found);
    op.erase();
  }

  DenseElementsAttr tableOf(const Chain &chain) {
    bool isLarge = chain.placeBits() > 8;
    Attribute key = chain.key();
    if (auto known = tables.find(key); known != tables.end())
      return known->second;
    if (isLarge && largeTables == mostLargeTables)
      return {};
    DenseElementsAttr table = chain.compute();
    largeTables += isLarge && table && !table.isSplat();
    return tables[key] = table;
  }

  llvm::DenseMap<Attribute, DenseElementsAttr> tables;
  unsigned largeTables = 0;
};

} // namespace
} // namespace numera
