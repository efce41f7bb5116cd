// SPDX-License-Identifier: MIT
//
// Counts events while a program runs, in the program's own terms, so that every
// target can:
//
//   %z = numera.add %x, %y : tensor<64x10x!posit8>
//   %e = numera.events "add"(%x, %y) gives %z …  -> tensor<64x10xi8>
//   four sums over %e, one for each event, an axis at a time
//
// In the body of a linalg operation the events are one more result, or, where
// that reduces, four more sums. The function returns all counts in one tensor.

#include "Counted.h"
#include "Judgement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "numera/Dialect/Numera/Transforms/Statistics/EventCounts.h"
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERACOUNTEVENTS
#include "numera/Dialect/Numera/Transforms/StatisticsPasses.h.inc"

namespace {

class EventCounter {
public:
  EventCounter(ModuleOp module, Target target)
      : module(module), target(target), rewriter(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult countFunction(func::FuncOp function);
  LogicalResult count(mlir::Operation *op);
  LogicalResult countBody(linalg::LinalgOp op);
  void countWhole(mlir::Operation *op, const Judgement &judgement);
  void countCall(func::CallOp call);
  linalg::GenericOp withCounts(linalg::GenericOp generic,
                               ArrayRef<mlir::Operation *> operations);
  LogicalResult refuse(mlir::Operation *op, StringRef where);

  Counted &add(mlir::Operation *op, const Judgement &judgement, Value executed);
  SmallVector<Value> sum(Location loc, SmallVector<Value> parts);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                        value);
  }
  Value product(Location loc, ArrayRef<OpFoldResult> sizes);
  Value zeros(Location loc, ArrayRef<OpFoldResult> sizes);

  ModuleOp module;
  Target target;
  IRRewriter rewriter;
  SmallVector<Counted> counted; ///< of the function at hand
};

} // namespace

/// Whether an event of the set occurred: 0 or 1, i64.
static Value hasEvent(OpBuilder &builder, Location loc, Value events,
                      unsigned kind) {
  Value place =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), kind);
  Value one =
      arith::ConstantIntOp::create(builder, loc, builder.getI8Type(), 1);
  Value bit = arith::AndIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, events, place), one);
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), bit);
}

Value EventCounter::product(Location loc, ArrayRef<OpFoldResult> sizes) {
  Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (OpFoldResult size : sizes)
    count = rewriter.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(rewriter, loc, size));
  return arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                    count);
}

Value EventCounter::zeros(Location loc, ArrayRef<OpFoldResult> sizes) {
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, rewriter.getI64Type());
  return linalg::FillOp::create(rewriter, loc, constant(loc, 0), empty)
      .getResult(0);
}

Counted &EventCounter::add(mlir::Operation *op, const Judgement &judgement,
                           Value executed) {
  auto *dialect = module.getContext()->getLoadedDialect<NumeraDialect>();
  EventCounts description;
  description.name = nodeNameOf(op->getLoc());
  description.operation = op->getName().stripDialect().str();
  description.known = judgement.known;
  if (judgement.format) {
    description.format = dialect->getRegistry().nameOf(judgement.format);
    if (description.format.empty())
      description.format = judgement.format.spelling();
  }
  if (description.format.empty()) {
    llvm::raw_string_ostream text(description.format);
    text << elementType(op->getResult(0).getType());
  }
  return counted.emplace_back(Counted{description, {executed}});
}

/// The sums of tensors of one shape, an axis at a time, the last first: of one
/// with events, those of each; of others, which are counts, theirs.
SmallVector<Value> EventCounter::sum(Location loc, SmallVector<Value> parts) {
  auto rank = cast<RankedTensorType>(parts.front().getType()).getRank();
  bool isEvents = parts.size() == 1;
  for (bool isFirst = true; rank > 0 || (isFirst && isEvents);
       isFirst = false) {
    auto sizes = tensor::getMixedSizes(rewriter, loc, parts.front());
    auto outer = ArrayRef(sizes).take_front(rank > 0 ? rank - 1 : 0);
    SmallVector<Value> inits;
    for (unsigned kind = 0; kind < EventCounts::kinds; ++kind)
      inits.push_back(zeros(loc, outer));
    AffineMap all = rewriter.getMultiDimIdentityMap(rank);
    AffineMap kept = rank > 0 ? all.getMajorSubMap(rank - 1) : all;
    if (rank == 1)
      kept = AffineMap::get(1, 0, rewriter.getContext());
    SmallVector<AffineMap> maps(parts.size(), all);
    maps.append(inits.size(), kept);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    if (rank > 0)
      iterators.back() = utils::IteratorType::reduction;
    bool takesEvents = isFirst && isEvents;
    auto generic = linalg::GenericOp::create(
        rewriter, loc, ValueRange(inits).getTypes(), parts, inits, maps,
        iterators, [&](OpBuilder &builder, Location loc, ValueRange values) {
          SmallVector<Value> sums;
          for (unsigned kind = 0; kind < EventCounts::kinds; ++kind) {
            Value term = takesEvents ? hasEvent(builder, loc, values[0], kind)
                                     : values[kind];
            sums.push_back(arith::AddIOp::create(builder, loc, term,
                                                 values[parts.size() + kind]));
          }
          linalg::YieldOp::create(builder, loc, sums);
        });
    parts = SmallVector<Value>(generic.getResults());
    rank = rank > 0 ? rank - 1 : 0;
  }
  SmallVector<Value> sums;
  for (Value part : parts)
    sums.push_back(
        tensor::ExtractOp::create(rewriter, loc, part, ValueRange()));
  return sums;
}

/// An operation on a tensor or on scalars.
void EventCounter::countWhole(mlir::Operation *op, const Judgement &judgement) {
  Location loc = op->getLoc();
  rewriter.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  bool isTensor = isa<RankedTensorType>(result.getType());
  Value executed =
      isTensor ? product(loc, tensor::getMixedSizes(rewriter, loc, result))
               : constant(loc, 1);
  Value events = createEvents(rewriter, op, judgement);
  SmallVector<Value> sums;
  if (events && isTensor)
    sums = sum(loc, {events});
  for (unsigned kind = 0; !isTensor && events && kind < EventCounts::kinds;
       ++kind)
    sums.push_back(hasEvent(rewriter, loc, events, kind));
  sums.resize(EventCounts::kinds);
  for (Value &each : sums)
    if (!each)
      each = constant(loc, 0);
  llvm::append_range(add(op, judgement, executed).numbers, sums);
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

/// The same operation with the events of `operations`, of its body, as further
/// results: one each, or, if it reduces, as many as there are kinds.
linalg::GenericOp
EventCounter::withCounts(linalg::GenericOp generic,
                         ArrayRef<mlir::Operation *> operations) {
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
    for (unsigned kind = 0; kind < (reduces ? EventCounts::kinds : 1); ++kind) {
      maps.push_back(map);
      inits.push_back(reduces ? zeros(loc, sizes)
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
  for (mlir::Operation *op : operations) {
    rewriter.setInsertionPointAfter(op);
    Value events = createEvents(rewriter, op, *judge(op, target));
    rewriter.setInsertionPoint(exit);
    for (unsigned kind = 0; kind < (reduces ? EventCounts::kinds : 1); ++kind) {
      Type type = reduces ? rewriter.getI64Type() : rewriter.getI8Type();
      Value before = body.addArgument(type, loc);
      yields.push_back(
          reduces ? arith::AddIOp::create(rewriter, loc, before,
                                          hasEvent(rewriter, loc, events, kind))
                        .getResult()
                  : events);
    }
  }
  rewriter.setInsertionPoint(exit);
  rewriter.replaceOpWithNewOp<linalg::YieldOp>(exit, yields);
  rewriter.replaceOp(generic,
                     counting.getResults().take_front(generic.getNumResults()));
  return counting;
}

LogicalResult EventCounter::refuse(mlir::Operation *op, StringRef where) {
  return op->emitError("events of '")
         << op->getName() << "' cannot be counted " << where
         << "; expected operations on tensors, and in bodies of linalg";
}

LogicalResult EventCounter::countBody(linalg::LinalgOp op) {
  SmallVector<mlir::Operation *> operations;
  mlir::Operation *inside = nullptr;
  for (mlir::Operation &each : *op.getBlock()) {
    if (judge(&each, target))
      operations.push_back(&each);
    for (Region &region : each.getRegions())
      region.walk([&](mlir::Operation *nested) {
        if (judge(nested, target))
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
    for (mlir::Operation &each : *generic.getBody())
      if (judge(&each, target))
        operations.push_back(&each);
  }
  SmallVector<mlir::Operation *> told;
  for (mlir::Operation *each : operations)
    if (judge(each, target)->known != 0)
      told.push_back(each);
  unsigned own = generic.getNumResults();
  bool reduces = generic.getNumReductionLoops() != 0;
  generic = withCounts(generic, told);
  Location loc = generic.getLoc();
  rewriter.setInsertionPointAfter(generic);
  SmallVector<OpFoldResult> extents;
  for (Range range : cast<linalg::LinalgOp>(generic.getOperation())
                         .createLoopRanges(rewriter, loc))
    extents.push_back(range.size);
  Value executed = product(loc, extents);
  ResultRange results = generic.getResults().drop_front(own);
  for (mlir::Operation *each : operations) {
    Judgement judgement = *judge(each, target);
    SmallVector<Value> sums;
    if (judgement.known != 0) {
      size_t count = reduces ? EventCounts::kinds : 1;
      sums = sum(loc, SmallVector<Value>(results.take_front(count)));
      results = results.drop_front(count);
    } else {
      sums.assign(EventCounts::kinds, constant(loc, 0));
    }
    Counted &row = add(each, judgement, executed);
    if (row.description.name.empty())
      row.description.name = nodeNameOf(loc);
    llvm::append_range(row.numbers, sums);
  }
  return success();
}

/// A call has the counts of the function that it calls.
void EventCounter::countCall(func::CallOp call) {
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
  for (EventCounts &description : eventCountsOf(callee)) {
    Counted &row = counted.emplace_back(Counted{description, {}});
    for (unsigned i = 0; i < EventCounts::numbers; ++i) {
      Value index = arith::ConstantIndexOp::create(rewriter, loc, place++);
      row.numbers.push_back(tensor::ExtractOp::create(
          rewriter, loc, counting.getResults().back(), index));
    }
  }
}

LogicalResult EventCounter::count(mlir::Operation *op) {
  if (auto judgement = judge(op, target)) {
    Type type = op->getResult(0).getType();
    if (isa<VectorType>(type))
      return refuse(op, "on vectors");
    countWhole(op, *judgement);
    return success();
  }
  if (auto body = dyn_cast<linalg::LinalgOp>(op))
    return countBody(body);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    countCall(call);
    return success();
  }
  mlir::Operation *inside = nullptr;
  op->walk([&](mlir::Operation *nested) {
    auto call = dyn_cast<func::CallOp>(nested);
    auto callee =
        call ? module.lookupSymbol<func::FuncOp>(call.getCallee()) : nullptr;
    if (judge(nested, target) || (callee && !eventCountsOf(callee).empty()))
      inside = nested;
  });
  return inside ? refuse(inside, "in a loop or a branch") : success();
}

LogicalResult EventCounter::countFunction(func::FuncOp function) {
  counted.clear();
  if (!function.getBody().hasOneBlock()) {
    mlir::Operation *first = nullptr;
    function.walk([&](mlir::Operation *op) {
      if (!first && judge(op, target))
        first = op;
    });
    return first ? refuse(first, "between branches") : success();
  }
  SmallVector<mlir::Operation *> work;
  for (mlir::Operation &op : function.front().without_terminator())
    work.push_back(&op);
  for (mlir::Operation *op : work)
    if (failed(count(op)))
      return failure();
  returnCounted(function, counted);
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

LogicalResult EventCounter::run() {
  SmallVector<func::FuncOp> ordered;
  for (auto function : module.getOps<func::FuncOp>())
    order(function, ordered);
  for (func::FuncOp function : ordered)
    if (failed(countFunction(function)))
      return failure();
  return success();
}

namespace {
struct CountEventsPass : impl::NumeraCountEventsBase<CountEventsPass> {
  using NumeraCountEventsBase::NumeraCountEventsBase;
  void runOnOperation() override {
    FailureOr<Target> parsed = parseTarget(getOperation(), target);
    if (failed(parsed) || failed(EventCounter(getOperation(), *parsed).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace numera
