// SPDX-License-Identifier: MIT
//
// Counts flags while a program runs, by operations of the program, so that
// every target supports it:
//
//   %z = numera.add %x, %y : tensor<64x10x!posit8>
//   %e = numera.status_flags "add"(%x, %y) gives %z …  -> tensor<64x10xi8>
//   four sums over %e, one for each flag, an axis at a time
//
// In the body of a linalg operation the flags are one more result, or, in a
// reduction, four more sums. What is counted in loops and branches is added up
// in memory (CarriedRows.h). The function returns all counts in one tensor.
//
// Most contractions raise no flags, and to know that of the numbers they read
// takes less than to ask each step (FlagRanges.h). They stay as they are, and
// where they might raise some, they are done again, with counts.

#include "CarriedRows.h"
#include "ConstantWork.h"
#include "CountedBodies.h"
#include "FlagAnalysis.h"
#include "FlagRanges.h"
#include "FlagSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "numera/Dialect/Numera/Transforms/Statistics/FlagCounts.h"
#include "numera/Dialect/Numera/Transforms/Statistics/LayerRows.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"
#include "numera/Numerics/Flags/StatusFlag.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACOUNTSTATUSFLAGS
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"

namespace {

class FlagCounter {
public:
  FlagCounter(ModuleOp module, Target target, bool postpones,
              ArrayRef<int64_t> rows)
      : module(module), target(target), postpones(postpones),
        chosen(rows.begin(), rows.end()), rewriter(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult countFunction(func::FuncOp function);
  LogicalResult count(Operation *op);
  LogicalResult countBody(linalg::LinalgOp op);
  void countWhole(Operation *op, const FlagAnalysis &analysis);
  void countCall(func::CallOp call);
  std::optional<SmallVector<Value>>
  countByRange(Operation *op, std::optional<QuietRanges> ranges,
               llvm::function_ref<SmallVector<Value>()> countAgain);
  std::optional<SmallVector<Value>> countByRange(linalg::GenericOp generic,
                                                 Operation *op);
  SmallVector<Value> branch(Location loc, Value condition,
                            llvm::function_ref<SmallVector<Value>()> countIf,
                            llvm::function_ref<SmallVector<Value>()> countElse);
  LogicalResult refuse(Operation *op, StringRef where);

  /// Whether another program may count it. In a loop, the counts of iterations
  /// are added up, and so may be those of a function that is called.
  bool mayPostpone(Operation *op) const {
    auto function = dyn_cast<func::FuncOp>(op->getParentOp());
    return postpones && function &&
           SymbolTable::symbolKnownUseEmpty(function, module);
  }

  /// Whether the row that is added behind `others` ones from here on counts.
  bool isChosen(size_t others = 0) const {
    return chosen.empty() || !hasLayers ||
           chosen.contains(int64_t(firstRow + counted.size() + others));
  }

  CounterRow &add(Operation *op, const FlagAnalysis &analysis, Value executed);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                        value);
  }

  ModuleOp module;
  Target target;
  bool postpones;                 ///< see the pass's options
  llvm::DenseSet<int64_t> chosen; ///< rows that are counted; empty: all
  IRRewriter rewriter;
  SmallVector<CounterRow> counted;         ///< of the function at hand
  RangeTests tests;                        ///< for it
  size_t firstRow = 0;                     ///< behind those that it had before
  bool hasLayers = false;                  ///< and calls no other one
  llvm::DenseSet<Operation *> onConstants; ///< computedFromConstants of it
  bool isConstant = false; ///< what is being counted is one of these
};

} // namespace

CounterRow &FlagCounter::add(Operation *op, const FlagAnalysis &analysis,
                             Value executed) {
  auto *dialect = module.getContext()->getLoadedDialect<NumeraDialect>();
  FlagCounts description;
  description.name = nodeNameOf(op->getLoc());
  description.operation = op->getName().stripDialect().str();
  description.known = analysis.known;
  description.isConstant = isConstant;
  if (analysis.format)
    description.format = dialect->getRegistry().nameOrSpelling(analysis.format);
  if (description.format.empty()) {
    llvm::raw_string_ostream text(description.format);
    text << elementType(op->getResult(0).getType());
  }
  return counted.emplace_back(CounterRow{description, {executed}});
}

/// An operation on a tensor or on scalars.
void FlagCounter::countWhole(Operation *op, const FlagAnalysis &analysis) {
  Location loc = op->getLoc();
  rewriter.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  bool isTensor = isa<RankedTensorType>(result.getType());
  Value executed =
      isTensor ? createCount(rewriter, loc,
                             tensor::getMixedSizes(rewriter, loc, result))
               : constant(loc, 1);
  auto countAll = [&] {
    Operation *again = rewriter.clone(*op);
    return sumFlags(rewriter, loc,
                    {createStatusFlags(rewriter, again, analysis)});
  };
  bool counts = isChosen();
  if (auto interface = dyn_cast<FormatOpInterface>(op);
      counts && interface && isTensor && (analysis.known & flag::overflow))
    if (auto known = countByRange(op, findQuietRanges(interface), countAll)) {
      llvm::append_range(add(op, analysis, executed).numbers, *known);
      return;
    }
  Value flags = counts ? createStatusFlags(rewriter, op, analysis) : Value();
  SmallVector<Value> sums;
  if (flags && isTensor)
    sums = sumFlags(rewriter, loc, {flags});
  for (auto kind = unsigned(sums.size()); kind < FlagCounts::kinds; ++kind)
    sums.push_back(
        flags ? hasFlag(rewriter, loc, flags, kind, rewriter.getI64Type())
              : constant(loc, 0));
  llvm::append_range(add(op, analysis, executed).numbers, sums);
}

/// The counts of kinds, from one of two blocks.
SmallVector<Value>
FlagCounter::branch(Location loc, Value condition,
                    llvm::function_ref<SmallVector<Value>()> countIf,
                    llvm::function_ref<SmallVector<Value>()> countElse) {
  SmallVector<Type> types(FlagCounts::kinds, rewriter.getI64Type());
  auto branch = scf::IfOp::create(rewriter, loc, types, condition,
                                  /*withElseRegion=*/true);
  for (auto [block, count] : {std::pair(branch.thenBlock(), countIf),
                              {branch.elseBlock(), countElse}}) {
    rewriter.setInsertionPointToStart(block);
    SmallVector<Value> counts = count();
    rewriter.setInsertionPointToEnd(block);
    scf::YieldOp::create(rewriter, loc, counts);
  }
  rewriter.setInsertionPointAfter(branch);
  return SmallVector<Value>(branch.getResults());
}

/// The counts of the only operation of `op` that may raise flags, where its
/// numbers tell whether it does: `countAgain` counts those of a copy.
std::optional<SmallVector<Value>>
FlagCounter::countByRange(Operation *op, std::optional<QuietRanges> ranges,
                          llvm::function_ref<SmallVector<Value>()> countAgain) {
  // A GPU's tensors would come to the host.
  if (!ranges || (target != Target::CPU && !ranges->empty()))
    return std::nullopt;
  Location loc = op->getLoc();
  rewriter.setInsertionPointAfter(op);
  SmallVector<Value> none(FlagCounts::kinds, constant(loc, 0));
  if (ranges->empty())
    return none;
  Value isQuiet = tests.find(rewriter, op, *ranges);
  if (mayPostpone(op)) {
    Value later = constant(loc, FlagCounts::postponed);
    none.assign(FlagCounts::kinds,
                arith::SelectOp::create(rewriter, loc, isQuiet, none[0], later)
                    .getResult());
    return none;
  }
  return branch(loc, isQuiet, [&] { return none; }, countAgain);
}

/// The counts of an operation in a body that has no other with flags.
std::optional<SmallVector<Value>>
FlagCounter::countByRange(linalg::GenericOp generic, Operation *op) {
  auto interface = dyn_cast<FormatOpInterface>(op);
  if (!interface || !(analyzeFlags(op, target)->known & flag::overflow))
    return std::nullopt;
  auto place = std::distance(generic.getBody()->begin(), op->getIterator());
  auto countEach = [&] {
    auto again = cast<linalg::GenericOp>(rewriter.clone(*generic));
    bool reduces = again.getNumReductionLoops() != 0;
    Operation *same = &*std::next(again.getBody()->begin(), place);
    linalg::GenericOp counting = withCounts(rewriter, again, same, target);
    rewriter.setInsertionPointAfter(counting);
    return sumFlags(rewriter, counting.getLoc(),
                    SmallVector<Value>(counting.getResults().take_back(
                        reduces ? FlagCounts::kinds : 1)));
  };
  auto quiet = findQuietRanges(generic, interface);
  auto underflow = target == Target::CPU
                       ? findUnderflowRanges(generic, interface)
                       : std::nullopt;
  if (!underflow)
    return countByRange(generic, quiet, countEach);
  auto countUnderflow = [&] {
    Location loc = generic.getLoc();
    Value isAll = createTests(rewriter, loc, *underflow);
    return branch(
        loc, isAll,
        [&] {
          static_assert(flag::underflow == 1 << 1);
          SmallVector<Value> counts(FlagCounts::kinds, constant(loc, 0));
          counts[1] = countUnderflows(rewriter, generic, interface);
          return counts;
        },
        [&] {
          return mayPostpone(generic)
                     ? SmallVector<Value>(FlagCounts::kinds,
                                          constant(loc, FlagCounts::postponed))
                     : countEach();
        });
  };
  if (quiet)
    return countByRange(generic, quiet, countUnderflow);
  rewriter.setInsertionPointAfter(generic);
  return countUnderflow();
}

LogicalResult FlagCounter::refuse(Operation *op, StringRef where) {
  return op->emitError("status flags of '")
         << op->getName() << "' cannot be counted " << where
         << "; expected operations on tensors, in bodies of linalg, and in "
            "scf.if, scf.for and scf.while";
}

LogicalResult FlagCounter::countBody(linalg::LinalgOp op) {
  SmallVector<Operation *> operations;
  Operation *inside = nullptr;
  for (Operation &each : *op.getBlock()) {
    if (analyzeFlags(&each, target))
      operations.push_back(&each);
    for (Region &region : each.getRegions())
      region.walk([&](Operation *nested) {
        if (mayRaiseFlags(nested, target))
          inside = nested;
      });
  }
  if (inside)
    return refuse(inside, "inside of another operation");
  if (operations.empty())
    return success();
  if (!op.hasPureTensorSemantics())
    return refuse(operations.front(), "on memrefs");
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return refuse(operations.front(), "in this operation");
    generic = *made;
    operations.clear();
    for (Operation &each : *generic.getBody())
      if (analyzeFlags(&each, target))
        operations.push_back(&each);
  }
  auto raises = [&](Operation *op) { return mayRaiseFlags(op, target); };
  SmallVector<Operation *> told;
  for (auto [i, each] : llvm::enumerate(operations))
    if (isChosen(i) && raises(each) && analyzeFlags(each, target)->known)
      told.push_back(each);
  unsigned own = generic.getNumResults();
  bool reduces = generic.getNumReductionLoops() != 0;
  std::optional<SmallVector<Value>> known;
  if (told.size() == 1 && llvm::count_if(operations, raises) == 1)
    known = countByRange(generic, told.front());
  if (!known && !told.empty())
    generic = withCounts(rewriter, generic, told, target);
  rewriter.setInsertionPointAfter(generic);
  Location loc = generic.getLoc();
  SmallVector<OpFoldResult> extents;
  for (Range range : cast<linalg::LinalgOp>(generic.getOperation())
                         .createLoopRanges(rewriter, loc))
    extents.push_back(range.size);
  Value executed = createCount(rewriter, loc, extents);
  ResultRange results = generic.getResults().drop_front(own);
  for (Operation *each : operations) {
    SmallVector<Value> sums;
    if (known && raises(each)) {
      sums = *known;
    } else if (!known && llvm::is_contained(told, each)) {
      size_t count = reduces ? FlagCounts::kinds : 1;
      sums = sumFlags(rewriter, loc,
                      SmallVector<Value>(results.take_front(count)));
      results = results.drop_front(count);
    } else {
      sums.assign(FlagCounts::kinds, constant(loc, 0));
    }
    CounterRow &row = add(each, *analyzeFlags(each, target), executed);
    if (row.description.name.empty())
      row.description.name = nodeNameOf(loc);
    llvm::append_range(row.numbers, sums);
  }
  return success();
}

/// A call has the counts of the function that it calls.
void FlagCounter::countCall(func::CallOp call) {
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!callee || callee.getNumResults() == call.getNumResults())
    return;
  Location loc = call.getLoc();
  rewriter.setInsertionPoint(call);
  auto counting =
      func::CallOp::create(rewriter, loc, callee, call.getOperands());
  rewriter.replaceOp(call, counting.getResults().drop_back());
  rewriter.setInsertionPointAfter(counting);
  int64_t place = 0;
  for (FlagCounts &description : flagCountsOf(callee)) {
    CounterRow &row = counted.emplace_back(CounterRow{description, {}});
    for (unsigned i = 0; i < FlagCounts::numbers; ++i) {
      Value index = arith::ConstantIndexOp::create(rewriter, loc, place++);
      row.numbers.push_back(tensor::ExtractOp::create(
          rewriter, loc, counting.getResults().back(), index));
    }
  }
}

/// Those of its only block, if any, before there are more.
static SmallVector<Operation *> operationsOf(Region &region) {
  SmallVector<Operation *> operations;
  if (!region.empty())
    for (Operation &op : region.front().without_terminator())
      operations.push_back(&op);
  return operations;
}

LogicalResult FlagCounter::count(Operation *op) {
  isConstant = onConstants.contains(op);
  if (auto analysis = analyzeFlags(op, target)) {
    Type type = op->getResult(0).getType();
    if (isa<VectorType>(type))
      return refuse(op, "on vectors");
    countWhole(op, *analysis);
    return success();
  }
  if (auto body = dyn_cast<linalg::LinalgOp>(op))
    return countBody(body);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    countCall(call);
    return success();
  }
  if (canCarryRows(op)) {
    for (Region &region : op->getRegions())
      for (Operation *each : operationsOf(region))
        if (failed(count(each)))
          return failure();
    return success();
  }
  Operation *inside = nullptr;
  op->walk([&](Operation *nested) {
    auto call = dyn_cast<func::CallOp>(nested);
    auto callee =
        call ? module.lookupSymbol<func::FuncOp>(call.getCallee()) : nullptr;
    if (mayRaiseFlags(nested, target) ||
        (callee && !flagCountsOf(callee).empty()))
      inside = nested;
  });
  return inside ? refuse(inside, "inside of another operation") : success();
}

LogicalResult FlagCounter::countFunction(func::FuncOp function) {
  counted.clear();
  firstRow = flagCountsOf(function).size();
  if (!function.getBody().hasOneBlock()) {
    Operation *first = nullptr;
    function.walk([&](Operation *op) {
      first = !first && mayRaiseFlags(op, target) ? op : first;
    });
    return first ? refuse(first, "between branches") : success();
  }
  onConstants = computedFromConstants(function);
  hasLayers = countLayerRows(function) != 0;
  llvm::DenseSet<Operation *> own;
  if (hasLayers)
    own = computedForOwnResults(function);
  for (Operation *op : operationsOf(function.getBody()))
    if ((!hasLayers || own.contains(op)) && failed(count(op)))
      return failure();
  tests.create(rewriter);
  carryRows(function, counted);
  returnCounterRows(function, counted);
  return success();
}

/// Functions before those that call them.
static void order(func::FuncOp function,
                  SmallVectorImpl<func::FuncOp> &ordered) {
  if (function.isExternal() || llvm::is_contained(ordered, function))
    return;
  function.walk([&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (callee && callee != function)
      order(callee, ordered);
  });
  if (!llvm::is_contained(ordered, function))
    ordered.push_back(function);
}

LogicalResult FlagCounter::run() {
  SmallVector<func::FuncOp> ordered;
  for (auto function : module.getOps<func::FuncOp>())
    order(function, ordered);
  for (func::FuncOp function : ordered)
    if (failed(countFunction(function)))
      return failure();
  return success();
}

namespace {
struct CountStatusFlagsPass
    : impl::NumeraCountStatusFlagsBase<CountStatusFlagsPass> {
  using NumeraCountStatusFlagsBase::NumeraCountStatusFlagsBase;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed) ||
        failed(FlagCounter(getOperation(), *parsed, postpone, rows).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
