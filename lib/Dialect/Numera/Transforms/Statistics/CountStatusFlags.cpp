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
// reduction, four more sums. Loops and branches pass on what is counted in them
// (CarriedRows.h). The function returns all counts in one tensor.
//
// Most contractions raise no flags, and to know that of the numbers they read
// takes less than to ask each step (FlagRanges.h). They stay as they are, and
// where they might raise some, they are done again, with counts.

#include "CarriedRows.h"
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
  linalg::GenericOp withCounts(linalg::GenericOp generic,
                               ArrayRef<Operation *> operations);
  std::optional<SmallVector<Value>>
  countByRange(Operation *op, std::optional<QuietRanges> ranges,
               llvm::function_ref<SmallVector<Value>(Operation *)> countAgain);
  std::optional<SmallVector<Value>> countByRange(linalg::GenericOp generic,
                                                 Operation *op);
  LogicalResult refuse(Operation *op, StringRef where);

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
  SmallVector<CounterRow> counted; ///< of the function at hand
  RangeTests tests;                ///< for it
  size_t firstRow = 0;             ///< behind those that it had before
  bool hasLayers = false;          ///< and calls no other one
};

} // namespace

CounterRow &FlagCounter::add(Operation *op, const FlagAnalysis &analysis,
                             Value executed) {
  auto *dialect = module.getContext()->getLoadedDialect<NumeraDialect>();
  FlagCounts description;
  description.name = nodeNameOf(op->getLoc());
  description.operation = op->getName().stripDialect().str();
  description.known = analysis.known;
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
  auto countAll = [&](Operation *op) {
    return sumFlags(rewriter, loc, {createStatusFlags(rewriter, op, analysis)});
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

/// The loops that the result goes along, as maps of linalg have them.
static AffineMap parallelMap(linalg::GenericOp generic) {
  SmallVector<unsigned> loops;
  generic.getParallelDims(loops);
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : loops)
    exprs.push_back(getAffineDimExpr(loop, generic.getContext()));
  return AffineMap::get(generic.getNumLoops(), 0, exprs, generic.getContext());
}

/// The same operation with the status flags of `operations`, of its body, as
/// further results: one each, or, if it reduces, as many as there are kinds.
linalg::GenericOp FlagCounter::withCounts(linalg::GenericOp generic,
                                          ArrayRef<Operation *> operations) {
  Location loc = generic.getLoc();
  rewriter.setInsertionPoint(generic);
  bool reduces = generic.getNumReductionLoops() != 0;
  AffineMap map = parallelMap(generic);
  SmallVector<OpFoldResult> sizes;
  auto ranges = cast<linalg::LinalgOp>(generic.getOperation())
                    .createLoopRanges(rewriter, loc);
  for (AffineExpr loop : map.getResults())
    sizes.push_back(ranges[cast<AffineDimExpr>(loop).getPosition()].size);
  SmallVector<Value> inits(generic.getOutputs());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  for (size_t i = 0; i < operations.size(); ++i)
    for (unsigned kind = 0; kind < (reduces ? FlagCounts::kinds : 1); ++kind) {
      maps.push_back(map);
      inits.push_back(
          reduces ? createZeros(rewriter, loc, sizes, rewriter.getI64Type())
                  : tensor::EmptyOp::create(rewriter, loc, sizes,
                                            rewriter.getI8Type())
                        .getResult());
    }
  auto counting = linalg::GenericOp::create(
      rewriter, loc, ValueRange(inits).getTypes(), generic.getInputs(), inits,
      maps, generic.getIteratorTypesArray());
  rewriter.inlineRegionBefore(generic.getRegion(), counting.getRegion(),
                              counting.getRegion().begin());
  Block &body = counting.getRegion().front();
  auto exit = cast<linalg::YieldOp>(body.getTerminator());
  SmallVector<Value> yields(exit.getOperands());
  for (Operation *op : operations) {
    rewriter.setInsertionPointAfter(op);
    Value flags = createStatusFlags(rewriter, op, *analyzeFlags(op, target));
    rewriter.setInsertionPoint(exit);
    for (unsigned kind = 0; kind < (reduces ? FlagCounts::kinds : 1); ++kind) {
      Type type = reduces ? rewriter.getI64Type() : rewriter.getI8Type();
      Value before = body.addArgument(type, loc);
      yields.push_back(
          reduces ? arith::AddIOp::create(rewriter, loc, before,
                                          hasFlag(rewriter, loc, flags, kind,
                                                  rewriter.getI64Type()))
                        .getResult()
                  : flags);
    }
  }
  rewriter.setInsertionPoint(exit);
  rewriter.replaceOpWithNewOp<linalg::YieldOp>(exit, yields);
  rewriter.replaceOp(generic,
                     counting.getResults().take_front(generic.getNumResults()));
  return counting;
}

/// The counts of the only operation of `op` that may raise flags, where its
/// numbers tell whether it does: `countAgain` counts those of its copy.
std::optional<SmallVector<Value>> FlagCounter::countByRange(
    Operation *op, std::optional<QuietRanges> ranges,
    llvm::function_ref<SmallVector<Value>(Operation *)> countAgain) {
  // A GPU's tensors would come to the host.
  if (!ranges || (target != Target::CPU && !ranges->empty()))
    return std::nullopt;
  Location loc = op->getLoc();
  rewriter.setInsertionPointAfter(op);
  SmallVector<Value> none(FlagCounts::kinds, constant(loc, 0));
  if (ranges->empty())
    return none;
  Value isQuiet = tests.find(rewriter, op, *ranges);
  // A program that is to count only some rows would go through loops again.
  if (postpones && isa<func::FuncOp>(op->getParentOp())) {
    Value later = constant(loc, FlagCounts::postponed);
    none.assign(FlagCounts::kinds,
                arith::SelectOp::create(rewriter, loc, isQuiet, none[0], later)
                    .getResult());
    return none;
  }
  auto branch = scf::IfOp::create(rewriter, loc, ValueRange(none).getTypes(),
                                  isQuiet, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(rewriter, loc, none);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> counts = countAgain(rewriter.clone(*op));
  scf::YieldOp::create(rewriter, loc, counts);
  rewriter.setInsertionPointAfter(branch);
  return SmallVector<Value>(branch.getResults());
}

/// The counts of an operation in a body that has no other with flags.
std::optional<SmallVector<Value>>
FlagCounter::countByRange(linalg::GenericOp generic, Operation *op) {
  auto interface = dyn_cast<FormatOpInterface>(op);
  if (!interface || !(analyzeFlags(op, target)->known & flag::overflow))
    return std::nullopt;
  auto place = std::distance(generic.getBody()->begin(), op->getIterator());
  bool reduces = generic.getNumReductionLoops() != 0;
  return countByRange(
      generic, findQuietRanges(generic, interface), [&](Operation *copy) {
        auto again = cast<linalg::GenericOp>(copy);
        Operation *same = &*std::next(again.getBody()->begin(), place);
        linalg::GenericOp counting = withCounts(again, same);
        rewriter.setInsertionPointAfter(counting);
        return sumFlags(rewriter, counting.getLoc(),
                        SmallVector<Value>(counting.getResults().take_back(
                            reduces ? FlagCounts::kinds : 1)));
      });
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
    generic = withCounts(generic, told);
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
  hasLayers = countLayerRows(function) != 0;
  llvm::DenseSet<Operation *> own;
  if (hasLayers)
    own = computedForOwnResults(function);
  for (Operation *op : operationsOf(function.getBody()))
    if ((!hasLayers || own.contains(op)) && failed(count(op)))
      return failure();
  tests.create(rewriter);
  carryRows(rewriter, counted);
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
