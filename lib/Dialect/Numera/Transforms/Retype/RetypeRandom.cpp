// SPDX-License-Identifier: MIT
//
// Random bits for the operations that round stochastically (docs/Semantics/
// Stochastic.md):
//   1. elementwise operations on tensors become linalg, which has loops;
//   2. functions that draw, or call one that does, take seed, step and sample;
//   3. each operation gets a numera.random with its id, beside it; sample and
//      index are computed from linalg.index, and from the loops of scf around.
// From there on the index is an ordinary value, which every loop transformation
// updates.

#include "BatchAnalysis.h"
#include "Retype.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

/// A position in nested loops as one number, the innermost running fastest.
class RowMajor {
public:
  RowMajor(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void append(Value position, function_ref<Value()> size) {
    if (index)
      position = builder.createOrFold<arith::AddIOp>(
          loc, builder.createOrFold<arith::MulIOp>(loc, index, size()),
          position);
    index = position;
  }
  Value get() { return index ? index : number(0); }

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  }
  Value wide(Value value) {
    Type i64 = builder.getI64Type();
    if (value.getType() == i64)
      return value;
    if (isa<IndexType>(value.getType()))
      return builder.createOrFold<arith::IndexCastOp>(loc, i64, value);
    return builder.createOrFold<arith::ExtSIOp>(loc, i64, value);
  }
  Value wide(OpFoldResult value) {
    if (auto constant = getConstantIntValue(value))
      return number(*constant);
    return wide(cast<Value>(value));
  }

private:
  OpBuilder &builder;
  Location loc;
  Value index;
};

/// What the draws of one place in the program have in common.
struct Place {
  Value sample, index;
};

/// A loop that ends by a condition counts for so many turns where loops are
/// around it.
constexpr int64_t mostTurns = int64_t{1} << 24;

/// A loop of scf around an operation, with one induction variable.
struct Loop {
  Value variable;
  OpFoldResult lower, upper, step;
};

class RandomBits {
public:
  explicit RandomBits(ModuleOp module)
      : module(module), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult findDraws();
  void countTurns();
  bool hasOptionalBatch();
  bool isBatchKnown() const;
  void findFunctions();
  LogicalResult extendCalls(func::FuncOp function);
  LogicalResult draw(Operation *op);
  FailureOr<Place> placeOf(Operation *op);
  Value samplesOf(func::FuncOp function);
  FailureOr<Place> placeIn(linalg::GenericOp generic, Operation *op);
  FailureOr<SmallVector<Loop>> loopsAround(Operation *outer, Operation *op);
  void append(RowMajor &index, ArrayRef<Loop> loops);

  ModuleOp module;
  OpBuilder builder;
  std::unique_ptr<BatchAnalysis> batch;
  SmallVector<Operation *> draws;
  llvm::SetVector<func::FuncOp> functions;   ///< those that draw
  llvm::DenseMap<Operation *, Place> places; ///< of generics
  /// The turns of an scf.while, from 0: an argument of each region.
  llvm::DenseMap<Region *, Value> turns;
  uint32_t id = 0;
};

} // namespace

/// True for an operation that draws and has nothing to draw from yet.
static bool waits(Operation *op) {
  if (auto round = dyn_cast<QuireRoundOp>(op))
    return round.drawsRandom() && !round.getRandom();
  auto rounding = dyn_cast<FormatOpInterface>(op);
  return rounding && rounding.drawsRandom() && !rounding.getRandomOperand();
}

LogicalResult RandomBits::run() {
  WalkResult any = module.walk([](Operation *op) {
    return waits(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!any.wasInterrupted())
    return success();
  RewritePatternSet patterns(module.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  // The batch, while functions have no arguments but the model's.
  batch = std::make_unique<BatchAnalysis>(module);
  if (failed(findDraws()))
    return failure();
  if (hasOptionalBatch() && !isBatchKnown())
    batch = std::make_unique<BatchAnalysis>(module, /*hasBatch=*/false);
  countTurns();
  findFunctions();
  for (func::FuncOp function : functions)
    if (failed(extendCalls(function)))
      return failure();
  for (Operation *op : draws)
    if (failed(draw(op)))
      return failure();
  return success();
}

LogicalResult RandomBits::findDraws() {
  WalkResult result = module.walk([&](Operation *op) {
    // Ids that the module has already are not given again.
    if (auto random = dyn_cast<RandomOp>(op))
      id = std::max(id, random.getId());
    if (!waits(op))
      return WalkResult::advance();
    draws.push_back(op);
    if (op->getParentOfType<func::FuncOp>())
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' rounds stochastically outside of a func.func, "
                          "where there is no seed";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// True if the model's functions say so, as those of PyTorch do.
bool RandomBits::hasOptionalBatch() {
  return llvm::all_of(module.getOps<func::FuncOp>(), [](func::FuncOp f) {
    return !f.isPublic() || f->hasAttr("numera.optional_batch");
  });
}

/// True if it is not known which sample an element is of.
static bool isMixed(BatchPlace place) {
  return !place.isNone() && (!place.isKnown() || place.isGuess);
}

/// True if every operation that draws has its sample.
bool RandomBits::isBatchKnown() const {
  return llvm::none_of(draws, [&](Operation *op) {
    auto generic = op->getParentOfType<linalg::GenericOp>();
    auto function = op->getParentOfType<func::FuncOp>();
    if (batch->isAmbiguous(function))
      return true;
    if (!generic || batch->hasOneSample(function))
      return false;
    BatchPlace place = batch->loopsOf(generic);
    return isMixed(place) || (place.outer != 1 && !batch->argumentOf(function));
  });
}

/// Those with draws, and those that call one.
void RandomBits::findFunctions() {
  for (Operation *op : draws)
    functions.insert(op->getParentOfType<func::FuncOp>());
  bool grows = true;
  while (grows) {
    grows = false;
    module.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      auto caller = call->getParentOfType<func::FuncOp>();
      if (callee && caller && functions.contains(callee))
        grows |= functions.insert(caller);
    });
  }
}

LogicalResult RandomBits::extendCalls(func::FuncOp function) {
  if (batch->isAmbiguous(function))
    return function.emitError("function '")
           << function.getName()
           << "' rounds stochastically and is called with the batch in "
              "different places; expected the same in every call";
  if (!function->hasAttr(drawsAttribute)) {
    SmallVector<unsigned> places(3, function.getNumArguments());
    SmallVector<Type> types(3, builder.getI64Type());
    SmallVector<DictionaryAttr> attributes(3, builder.getDictionaryAttr({}));
    SmallVector<Location> locations(3, function.getLoc());
    if (failed(function.insertArguments(places, types, attributes, locations)))
      return function.emitError("function '")
             << function.getName() << "' cannot take a seed";
    function->setAttr(drawsAttribute, builder.getUnitAttr());
  }
  function.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!functions.contains(callee))
      return;
    call.getOperandsMutable().append(function.getArguments().take_back(3));
  });
  return success();
}

/// Loops that end by a condition and have operations that draw in them.
void RandomBits::countTurns() {
  llvm::SetVector<Operation *> loops;
  for (Operation *op : draws)
    for (auto loop = op->getParentOfType<scf::WhileOp>(); loop;
         loop = loop->getParentOfType<scf::WhileOp>())
      loops.insert(loop);
  for (Operation *loop : loops) {
    scf::WhileOp counted = withTurn(cast<scf::WhileOp>(loop));
    for (Region *region : counted.getRegions())
      turns[region] = region->getArguments().back();
  }
}

/// The loops of scf from `outer` in to `op`.
FailureOr<SmallVector<Loop>> RandomBits::loopsAround(Operation *outer,
                                                     Operation *op) {
  SmallVector<Loop> loops;
  Operation *outermost = nullptr;
  for (Operation *parent = op->getParentOp(); parent != outer;
       parent = parent->getParentOp()) {
    if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
      continue;
    if (isa<scf::WhileOp>(parent)) {
      loops.insert(loops.begin(), Loop{turns.at(regionAround(op, parent)),
                                       builder.getI64IntegerAttr(0),
                                       builder.getI64IntegerAttr(mostTurns),
                                       builder.getI64IntegerAttr(1)});
      outermost = parent;
      continue;
    }
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    auto variables = loop ? loop.getLoopInductionVars() : std::nullopt;
    auto lower = loop ? loop.getLoopLowerBounds() : std::nullopt;
    auto upper = loop ? loop.getLoopUpperBounds() : std::nullopt;
    auto step = loop ? loop.getLoopSteps() : std::nullopt;
    if (!variables || !lower || !upper || !step)
      return op->emitError("'")
             << op->getName() << "' rounds stochastically inside of '"
             << parent->getName()
             << "', whose steps have no number; expected scf.for or "
                "scf.while";
    SmallVector<Loop> these;
    for (unsigned i = 0; i < variables->size(); ++i)
      these.push_back({(*variables)[i], (*lower)[i], (*upper)[i], (*step)[i]});
    loops.insert(loops.begin(), these.begin(), these.end());
    outermost = parent;
  }
  for (const Loop &loop : loops)
    for (OpFoldResult bound : {loop.lower, loop.upper, loop.step}) {
      auto value = dyn_cast<Value>(bound);
      if (value && outermost->isAncestor(value.getParentBlock()->getParentOp()))
        return op->emitError("'")
               << op->getName()
               << "' rounds stochastically in a loop whose bounds change; "
                  "expected bounds from outside of all loops";
    }
  return loops;
}

void RandomBits::append(RowMajor &index, ArrayRef<Loop> loops) {
  for (const Loop &loop : loops) {
    Value lower = index.wide(loop.lower), step = index.wide(loop.step);
    auto stepsTo = [&]<typename Divide>(Value end) -> Value {
      Location loc = end.getLoc();
      return builder.createOrFold<Divide>(
          loc, builder.createOrFold<arith::SubIOp>(loc, end, lower), step);
    };
    index.append(
        stepsTo.operator()<arith::DivSIOp>(index.wide(loop.variable)), [&] {
          return stepsTo.operator()<arith::CeilDivSIOp>(index.wide(loop.upper));
        });
  }
}

/// Of an operation outside of linalg.
FailureOr<Place> RandomBits::placeOf(Operation *op) {
  if (isa<ShapedType>(op->getResult(0).getType()))
    return op->emitError("'")
           << op->getName() << "' rounds stochastically on "
           << op->getResult(0).getType()
           << ", whose elements have no place; expected a scalar or a ranked "
              "tensor";
  auto function = op->getParentOfType<func::FuncOp>();
  auto loops = loopsAround(function, op);
  if (failed(loops))
    return failure();
  builder.setInsertionPoint(op);
  RowMajor index(builder, op->getLoc());
  append(index, *loops);
  return Place{index.number(0), index.get()};
}

/// The size of the batch that a function is called with; null if none of its
/// arguments tells.
Value RandomBits::samplesOf(func::FuncOp function) {
  BlockArgument argument = batch->argumentOf(function);
  if (!argument)
    return nullptr;
  Location loc = function.getLoc();
  BatchPlace place = batch->placeOf(argument);
  RowMajor numbers(builder, loc);
  Value size =
      numbers.wide(tensor::getMixedSize(builder, loc, argument, place.dim()));
  return builder.createOrFold<arith::DivUIOp>(
      loc, size, numbers.number(place.outer * place.inner));
}

FailureOr<Place> RandomBits::placeIn(linalg::GenericOp generic, Operation *op) {
  auto function = generic->getParentOfType<func::FuncOp>();
  auto loops = loopsAround(function, generic);
  if (failed(loops))
    return failure();
  BatchPlace place = batch->loopsOf(generic);
  // All of it is one sample's.
  bool isWhole = !place.isNone() && batch->hasOneSample(function);
  if (isWhole)
    place = {};
  builder.setInsertionPoint(generic);
  Value samples;
  if (place.isKnown() && place.outer != 1)
    samples = samplesOf(function);
  if (isMixed(place) || (place.outer != 1 && !samples))
    return op->emitError("'")
           << op->getName()
           << "' rounds stochastically where the batch is mixed with other "
              "dimensions; expected the batch to be a dimension of its own";
  Location loc = generic.getLoc();
  // Sizes that are not known come from the operands, outside.
  SmallVector<int64_t> known = generic.getStaticLoopRanges();
  SmallVector<OpFoldResult> sizes(known.size());
  // The outermost size is needed inside of other loops alone.
  bool isDynamic = llvm::any_of(
      ArrayRef(known).drop_front(loops->empty() && !known.empty() ? 1 : 0),
      ShapedType::isDynamic);
  SmallVector<Range> ranges;
  if (isDynamic)
    ranges = cast<linalg::LinalgOp>(generic.getOperation())
                 .createLoopRanges(builder, loc);
  RowMajor outside(builder, loc);
  for (auto [i, size] : llvm::enumerate(known))
    if (!ShapedType::isDynamic(size))
      sizes[i] = builder.getIndexAttr(size);
    else if (!ranges.empty())
      sizes[i] = outside.wide(ranges[i].size);

  builder.setInsertionPointToStart(generic.getBody());
  RowMajor index(builder, loc);
  append(index, *loops);
  Value sample = isWhole ? function.getArguments().back() : index.number(0);
  for (unsigned i = 0; i < known.size(); ++i) {
    Value position =
        index.wide(linalg::IndexOp::create(builder, loc, i).getResult());
    auto size = [&] { return index.wide(sizes[i]); };
    if (!place.isKnown() || place.dim() != i) {
      index.append(position, size);
      continue;
    }
    Value inner = index.number(place.inner);
    Value row = builder.createOrFold<arith::DivUIOp>(loc, position, inner);
    if (place.outer != 1) {
      index.append(
          builder.createOrFold<arith::DivUIOp>(loc, row, samples), [&] {
            Value all =
                builder.createOrFold<arith::MulIOp>(loc, samples, inner);
            return builder.createOrFold<arith::DivUIOp>(loc, size(), all);
          });
      row = builder.createOrFold<arith::RemUIOp>(loc, row, samples);
    }
    Value base = function.getArguments().back();
    sample = builder.createOrFold<arith::AddIOp>(loc, base, row);
    if (place.inner != 1)
      index.append(builder.createOrFold<arith::RemUIOp>(loc, position, inner),
                   [&] { return inner; });
  }
  return Place{sample, index.get()};
}

LogicalResult RandomBits::draw(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  FailureOr<Place> place;
  if (auto generic = op->getParentOfType<linalg::GenericOp>()) {
    auto found = places.find(generic);
    place = found != places.end() ? FailureOr<Place>(found->second)
                                  : placeIn(generic, op);
    if (succeeded(place))
      places[generic] = *place;
  } else {
    place = placeOf(op);
  }
  if (failed(place))
    return failure();
  builder.setInsertionPoint(op);
  auto key = function.getArguments().take_back(3);
  auto round = dyn_cast<QuireRoundOp>(op);
  RoundingMode mode = round ? round.getRoundingMode()
                            : cast<FormatOpInterface>(op).getRoundingMode();
  Value random = RandomOp::create(builder, op->getLoc(), builder.getI32Type(),
                                  key[0], key[1], place->sample, place->index,
                                  ++id, static_cast<uint32_t>(mode.randomBits));
  if (round)
    round.getRandomMutable().assign(random);
  else
    op->insertOperands(cast<FormatOpInterface>(op).getFormatOperandCount(),
                       random);
  return success();
}

LogicalResult assignRandomBits(ModuleOp module) {
  return RandomBits(module).run();
}

} // namespace numera
