// SPDX-License-Identifier: MIT
//
// Outlines a parallel loop from its function:
//
//   scf.for %i = 0 to %n { … %x … }
//     becomes
//   llvm.store {%x}, %context
//   numera_host_parallel(@f.chunk, %context, %n, grain)
//
//   llvm.func @f.chunk(%context, %begin, %end)   unpacks the context, calls
//   func.func @f.loop(%begin, %end, %x)          the loop, as it was
//
// The loop becomes a separate function because its arguments can be noalias,
// which loads from the struct cannot be.

#include "Captures.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERAPARALLELIZE
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

namespace {

// ---- what a loop costs

/// The work of a chunk, in units of about a tenth of a nanosecond: several
/// times what handing it to a thread takes. How far the weights are off matters
/// little.
constexpr int64_t workOfChunk = 1 << 19;

/// Chunks of a loop over elements begin at cache lines.
constexpr int64_t elementsOfChunk = 64;

int64_t weightOf(FormatOpInterface op) {
  OpKind operation = op.getFormatOperation();
  bool isMachine = isa<FloatType>(op->getResult(0).getType()) &&
                   isMachineOperation(operation);
  return costOf(operation) * (isMachine ? 1 : 5);
}

int64_t weightOf(Operation &op) {
  if (auto formatOp = dyn_cast<FormatOpInterface>(op))
    return weightOf(formatOp);
  return isa<QuireOpInterface, CallOpInterface>(op) ? 50 : 1;
}

/// Computes in front of a loop what one iteration of it takes.
class Cost {
public:
  Cost(OpBuilder &builder, scf::ForOp outer)
      : builder(builder), outer(outer), loc(outer.getLoc()) {}

  Value of(Region &region) {
    int64_t known = 0; // the terminator is what the loop itself takes
    SmallVector<Value> loops;
    for (Operation &op : region.getOps()) {
      known += weightOf(op);
      for (Region &inner : op.getRegions())
        loops.push_back(multiply(tripsOf(op), of(inner)));
    }
    Value sum = constant(known);
    for (Value loop : loops)
      sum = builder.createOrFold<arith::AddIOp>(loc, sum, loop);
    return sum;
  }

  Value multiply(Value x, Value y) {
    return builder.createOrFold<arith::MulIOp>(loc, x, y);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

private:
  /// How often the regions of an operation run. What cannot be known in front
  /// of the outer loop is not known to be more than once.
  Value tripsOf(Operation &op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return constant(1);
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      return constant(trips->getSExtValue());
    bool isCounted = isConstantIntValue(loop.getLowerBound(), 0) &&
                     isConstantIntValue(loop.getStep(), 1) &&
                     outer.isDefinedOutsideOfLoop(loop.getUpperBound());
    return isCounted ? loop.getUpperBound() : constant(1);
  }

  OpBuilder &builder;
  scf::ForOp outer;
  Location loc;
};

// ---- the transformation

bool isMarked(scf::ForOp loop) {
  return loop->hasAttr(parallelLoopAttr) &&
         isConstantIntValue(loop.getLowerBound(), 0) &&
         isConstantIntValue(loop.getStep(), 1) && loop.getInitArgs().empty();
}

/// The loop, and those right inside it that join in. The innermost one stays:
/// it is the one that becomes vectors.
SmallVector<scf::ForOp> nestOf(scf::ForOp outer) {
  constexpr int64_t enough = 64;
  SmallVector<scf::ForOp> nest;
  int64_t iterations = 1;
  for (scf::ForOp loop = outer; loop && isMarked(loop);) {
    if (!nest.empty() &&
        (iterations >= enough || loop.getBody()->getOps<scf::ForOp>().empty() ||
         !outer.isDefinedOutsideOfLoop(loop.getUpperBound())))
      break;
    nest.push_back(loop);
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      iterations *= trips->getSExtValue();
    // Nothing else may stand beside the next one.
    Block &body = *loop.getBody();
    loop = llvm::hasNItems(body, 2) ? dyn_cast<scf::ForOp>(body.front())
                                    : scf::ForOp();
  }
  return nest;
}

class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : symbols(module), builder(module.getContext()), loc(module.getLoc()),
        types(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        index(types.getIndexType()) {}

  void outline(scf::ForOp outer) {
    loc = outer.getLoc();
    nest = nestOf(outer);
    builder.setInsertionPoint(outer);
    Value count, grain;
    if (!findGrain(count, grain) || !capture())
      return;
    auto caller = outer->getParentOfType<func::FuncOp>();
    func::FuncOp loop = makeLoop(caller.getName());
    LLVM::LLVMFuncOp chunk = makeChunk(loop, caller.getName());
    builder.setInsertionPoint(outer);
    makeCall(caller, chunk, count, grain);
    outer.erase();
  }

private:
  /// In front of the loop. False if it is known to be not worth it.
  bool findGrain(Value &count, Value &grain) {
    scf::ForOp inner = nest.back();
    Cost cost(builder, nest.front());
    Value work = cost.of(inner.getRegion());
    count = nest.front().getUpperBound();
    for (scf::ForOp loop : ArrayRef(nest).drop_front())
      count = cost.multiply(count, loop.getUpperBound());
    if (auto total = getConstantIntValue(cost.multiply(work, count));
        total && *total < 2 * workOfChunk)
      return false;
    grain = builder.createOrFold<arith::CeilDivUIOp>(
        loc, cost.constant(workOfChunk), work);
    if (inner.getBody()->getOps<scf::ForOp>().empty())
      grain = cost.multiply(builder.createOrFold<arith::CeilDivUIOp>(
                                loc, grain, cost.constant(elementsOfChunk)),
                            cost.constant(elementsOfChunk));
    return true;
  }

  /// Finds what the loop uses of its function. False if that cannot be stored.
  bool capture() {
    SmallVector<Value> bounds;
    for (scf::ForOp loop : ArrayRef(nest).drop_front())
      bounds.push_back(loop.getUpperBound());
    captures = Captures(nest.front(), bounds);
    SmallVector<Type> fields;
    for (Value value : captures.getPassed())
      fields.push_back(types.convertType(value.getType()));
    if (llvm::is_contained(fields, Type()))
      return false;
    contextType =
        LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
    return true;
  }

  func::FuncOp makeLoop(StringRef caller) {
    SmallVector<Type> inputs = {builder.getIndexType(), builder.getIndexType()};
    llvm::append_range(inputs, ValueRange(captures.getPassed()).getTypes());
    auto function = func::FuncOp::create(loc, (caller + ".loop").str(),
                                         builder.getFunctionType(inputs, {}));
    function.setPrivate();
    symbols.insert(function);
    captures.noteApart(function);

    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    IRMapping map;
    captures.define(builder, function, map);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto loop = scf::ForOp::create(builder, loc, entry->getArgument(0),
                                   entry->getArgument(1), one);
    func::ReturnOp::create(builder, loc);
    moveBody(loop, map);
    return function;
  }

  /// Gives `loop` the body of the nest's innermost loop. An iteration of the
  /// nest is its indices in one number, the last one fastest.
  void moveBody(scf::ForOp loop, IRMapping &map) {
    builder.setInsertionPointToStart(loop.getBody());
    Value rest = loop.getInductionVar();
    for (scf::ForOp level : llvm::reverse(ArrayRef(nest).drop_front())) {
      Value bound = map.lookupOrDefault(level.getUpperBound());
      map.map(level.getInductionVar(),
              arith::RemUIOp::create(builder, loc, rest, bound).getResult());
      rest = arith::DivUIOp::create(builder, loc, rest, bound);
    }
    map.map(nest.front().getInductionVar(), rest);
    for (Operation &op : nest.back().getBody()->without_terminator())
      builder.clone(op, map);
    // What was known of the loop still holds: that it becomes vectors, say.
    loop->setDiscardableAttrs(nest.back()->getDiscardableAttrDictionary());
    loop->walk([](Operation *op) { op->removeAttr(parallelLoopAttr); });
  }

  LLVM::LLVMFuncOp makeChunk(func::FuncOp loop, StringRef caller) {
    OpBuilder::InsertionGuard guard(builder);
    builder.clearInsertionPoint();
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(loop.getContext()), {pointer, index, index});
    auto function = LLVM::LLVMFuncOp::create(
        builder, loc, (caller + ".chunk").str(), type, LLVM::Linkage::Internal);
    // Not into the code that shares it out, which is made for size.
    function.setNoInline(true);
    symbols.insert(function);
    Block *entry = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    Value context =
        LLVM::LoadOp::create(builder, loc, contextType, entry->getArgument(0));
    SmallVector<Value> arguments;
    for (unsigned i : {1, 2})
      arguments.push_back(cast(entry->getArgument(i), builder.getIndexType()));
    for (auto [i, value] : llvm::enumerate(captures.getPassed()))
      arguments.push_back(
          cast(LLVM::ExtractValueOp::create(builder, loc, context, int64_t(i)),
               value.getType()));
    func::CallOp::create(builder, loc, loop, arguments);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    return function;
  }

  void makeCall(func::FuncOp caller, LLVM::LLVMFuncOp chunk, Value count,
                Value grain) {
    Value room;
    {
      // Once a call: a loop around this one would take the stack.
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&caller.getBody().front());
      Value one = LLVM::ConstantOp::create(builder, loc, index, 1);
      room = LLVM::AllocaOp::create(builder, loc, pointer, contextType, one);
    }
    Value context = LLVM::PoisonOp::create(builder, loc, contextType);
    for (auto [i, value] : llvm::enumerate(captures.getPassed()))
      context = LLVM::InsertValueOp::create(
          builder, loc, context, cast(value, contextType.getBody()[i]),
          int64_t(i));
    LLVM::StoreOp::create(builder, loc, context, room);
    Value body = LLVM::AddressOfOp::create(builder, loc, chunk);
    LLVM::CallOp::create(
        builder, loc, host(),
        ValueRange{body, room, cast(count, index), cast(grain, index)});
  }

  /// Between a type and what it is in the LLVM dialect.
  Value cast(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return UnrealizedConversionCastOp::create(builder, loc, type, value)
        .getResult(0);
  }

  LLVM::LLVMFuncOp host() {
    constexpr StringLiteral name = "numera_host_parallel";
    if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.clearInsertionPoint();
    auto function = LLVM::LLVMFuncOp::create(
        builder, loc, name,
        LLVM::LLVMFunctionType::get(
            LLVM::LLVMVoidType::get(builder.getContext()),
            {pointer, pointer, index, index}));
    symbols.insert(function);
    return function;
  }

  SymbolTable symbols;
  OpBuilder builder;
  Location loc;
  LLVMTypeConverter types;
  Type pointer, index;

  SmallVector<scf::ForOp> nest; ///< of the loop at hand
  Captures captures;
  LLVM::LLVMStructType contextType;
};

/// Memory on the stack is had once a call, not once an iteration.
void moveToEntry(func::FuncOp function) {
  auto isConstant = [](memref::AllocaOp op) { return !op->getNumOperands(); };
  SmallVector<memref::AllocaOp> work;
  function.walk([&](memref::AllocaOp op) {
    if (isConstant(op))
      work.push_back(op);
  });
  for (memref::AllocaOp op : work)
    op->moveBefore(&function.getBody().front(),
                   function.getBody().front().begin());
}

struct ParallelizePass : impl::NumeraParallelizeBase<ParallelizePass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!isMarked(loop))
        return WalkResult::advance();
      loops.push_back(loop);
      return WalkResult::skip();
    });
    Outliner outliner(getOperation());
    for (scf::ForOp loop : loops)
      outliner.outline(loop);
    getOperation().walk(
        [](scf::ForOp loop) { loop->removeAttr(parallelLoopAttr); });
    getOperation().walk(moveToEntry);
    // What costs were computed with.
    getOperation().walk([](arith::ConstantOp constant) {
      if (constant->use_empty())
        constant->erase();
    });
  }
};

} // namespace

} // namespace numera
