// SPDX-License-Identifier: MIT

#include "CarriedRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace numera {

bool canCarryRows(Operation *op) {
  return isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op);
}

namespace {

enum class Combination { Sum, Least, Largest };

/// A number of a row, or how often a block is run, on its way out of it.
struct Carried {
  Value term;
  Combination combination = Combination::Sum;

  bool isIn(Region &region) const {
    return Value(term).getParentRegion() == &region;
  }
};

} // namespace

/// Of one of the numbers that FlagCounts::numbers describes.
static Combination combinationOf(const CounterRow &row, size_t place) {
  if (!row.description.isTensor || place < 2)
    return Combination::Sum;
  return place == 2 ? Combination::Least : Combination::Largest;
}

static Value createConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                      value);
}

/// What nothing was counted in has.
static Value createStart(OpBuilder &builder, Location loc,
                         Combination combination) {
  constexpr int64_t infinity = 0x7f800000; // the bits of an f32
  return createConstant(builder, loc,
                        combination == Combination::Least ? infinity : 0);
}

static Value combine(OpBuilder &builder, Location loc, const Carried &carried,
                     Value before) {
  switch (carried.combination) {
  case Combination::Sum:
    return arith::AddIOp::create(builder, loc, before, carried.term);
  case Combination::Least:
    return arith::MinSIOp::create(builder, loc, before, carried.term);
  case Combination::Largest:
    return arith::MaxSIOp::create(builder, loc, before, carried.term);
  }
  llvm_unreachable("unknown combination");
}

static SmallVector<Value> createStarts(OpBuilder &builder, Location loc,
                                       ArrayRef<Carried> carried) {
  return llvm::map_to_vector(carried, [&](const Carried &each) {
    return createStart(builder, loc, each.combination);
  });
}

static SmallVector<Value> carryOut(RewriterBase &rewriter, scf::IfOp op,
                                   ArrayRef<Carried> carried) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types(op.getResultTypes());
  types.append(carried.size(), rewriter.getI64Type());
  auto counting =
      scf::IfOp::create(rewriter, loc, types, op.getCondition(),
                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  counting->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), counting->getRegions())) {
    SmallVector<bool> isOwn;
    for (const Carried &each : carried)
      isOwn.push_back(each.isIn(from));
    rewriter.inlineRegionBefore(from, to, to.begin());
    if (to.empty()) {
      rewriter.createBlock(&to);
      scf::YieldOp::create(rewriter, loc);
    }
    auto exit = cast<scf::YieldOp>(to.front().getTerminator());
    rewriter.setInsertionPoint(exit);
    SmallVector<Value> numbers;
    for (auto [each, own] : llvm::zip_equal(carried, isOwn))
      numbers.push_back(own ? each.term
                            : createStart(rewriter, loc, each.combination));
    rewriter.modifyOpInPlace(exit,
                             [&] { exit.getResultsMutable().append(numbers); });
  }
  rewriter.replaceOp(op, counting.getResults().take_front(op.getNumResults()));
  return llvm::to_vector_of<Value>(
      counting.getResults().take_back(carried.size()));
}

static SmallVector<Value> carryOut(RewriterBase &rewriter, scf::ForOp op,
                                   ArrayRef<Carried> carried) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto yield = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> sums) {
    return llvm::map_to_vector(llvm::zip_equal(carried, sums),
                               [&](const auto &pair) {
                                 auto &[each, before] = pair;
                                 return combine(builder, loc, each, before);
                               });
  };
  auto counting = cast<scf::ForOp>(*op.replaceWithAdditionalYields(
      rewriter, createStarts(rewriter, loc, carried),
      /*replaceInitOperandUsesInLoop=*/false, yield));
  return llvm::to_vector_of<Value>(
      counting.getResults().take_back(carried.size()));
}

static SmallVector<Value> carryOut(RewriterBase &rewriter, scf::WhileOp op,
                                   ArrayRef<Carried> carried) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits(op.getInits());
  llvm::append_range(inits, createStarts(rewriter, loc, carried));
  SmallVector<Type> types(op.getResultTypes());
  types.append(carried.size(), rewriter.getI64Type());
  auto counting = scf::WhileOp::create(rewriter, loc, types, inits);
  counting->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  SmallVector<bool> isOfCondition;
  for (const Carried &each : carried)
    isOfCondition.push_back(each.isIn(op.getBefore()));
  // Each block passes all numbers on, and adds its own.
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), counting->getRegions())) {
    bool isCondition = &from == &op.getBefore();
    rewriter.inlineRegionBefore(from, to, to.begin());
    Block &block = to.front();
    Operation *exit = block.getTerminator();
    rewriter.setInsertionPoint(exit);
    SmallVector<Value> numbers;
    for (auto [each, own] : llvm::zip_equal(carried, isOfCondition)) {
      Value before = block.addArgument(rewriter.getI64Type(), loc);
      numbers.push_back(
          own == isCondition ? combine(rewriter, loc, each, before) : before);
    }
    rewriter.modifyOpInPlace(
        exit, [&] { exit->insertOperands(exit->getNumOperands(), numbers); });
  }
  rewriter.replaceOp(op, counting.getResults().take_front(op.getNumResults()));
  return llvm::to_vector_of<Value>(
      counting.getResults().take_back(carried.size()));
}

/// The loop or the branch around a row.
static Operation *around(const CounterRow &row) {
  return row.numbers.front().getDefiningOp()->getParentOp();
}

/// Out of the operation around them. A number that each iteration has is not
/// carried, but multiplied by how often there were some.
static void carryOut(RewriterBase &rewriter, ArrayRef<CounterRow *> rows) {
  struct Source {
    size_t place; ///< among those that are carried
    int64_t factor = 1;
  };
  Operation *op = around(*rows.front());
  Location loc = op->getLoc();
  SmallVector<Carried> carried;
  llvm::SmallDenseMap<Region *, size_t, 2> runs;
  SmallVector<Source> sources;
  for (CounterRow *row : rows)
    for (auto [place, number] : llvm::enumerate(row->numbers)) {
      Combination combination = combinationOf(*row, place);
      std::optional<int64_t> each = getConstantIntValue(number);
      if (!each || combination != Combination::Sum) {
        sources.push_back({carried.size()});
        carried.push_back({number, combination});
        continue;
      }
      Region *region = number.getParentRegion();
      auto [run, isNew] = runs.try_emplace(region, carried.size());
      if (isNew) {
        rewriter.setInsertionPoint(region->front().getTerminator());
        carried.push_back({createConstant(rewriter, loc, 1)});
      }
      sources.push_back({run->second, *each});
    }
  SmallVector<Value> found =
      llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
          .Case<scf::IfOp, scf::ForOp, scf::WhileOp>(
              [&](auto each) { return carryOut(rewriter, each, carried); });
  rewriter.setInsertionPointAfterValue(found.front());
  const Source *source = sources.begin();
  for (CounterRow *row : rows)
    for (Value &number : row->numbers) {
      auto [place, factor] = *source++;
      number = found[place];
      if (factor != 1)
        number = rewriter.createOrFold<arith::MulIOp>(
            loc, number, createConstant(rewriter, loc, factor));
    }
}

void carryRows(RewriterBase &rewriter, MutableArrayRef<CounterRow> rows) {
  OpBuilder::InsertionGuard guard(rewriter);
  // How many loops and branches are around it.
  auto depthOf = [](const CounterRow &row) {
    unsigned depth = 0;
    for (Operation *op = around(row); !isa<func::FuncOp>(op);
         op = op->getParentOp())
      ++depth;
    return depth;
  };
  while (true) {
    SmallVector<CounterRow *> together;
    unsigned deepest = 1;
    for (CounterRow &row : rows) {
      unsigned depth = depthOf(row);
      if (depth < deepest || (depth == deepest && !together.empty() &&
                              around(row) != around(*together.front())))
        continue;
      if (depth > deepest)
        together.clear();
      deepest = depth;
      together.push_back(&row);
    }
    if (together.empty())
      return;
    carryOut(rewriter, together);
  }
}

} // namespace numera
