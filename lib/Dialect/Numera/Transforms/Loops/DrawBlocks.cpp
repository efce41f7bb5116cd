// SPDX-License-Identifier: MIT
//
// A block of the generator serves many neighbouring indices, and a draw for a
// single element would waste most of it. So an inner loop whose iterations draw
// for neighbouring indices is split into strips, and all draws of a strip are
// computed before it:
//
//   scf.for %i = %a to %b { %r = numera.random … %base + %i … }
//     becomes
//   scf.for %s = %a to %b step strip {
//     numera.random_fill %draws, … %base + %s …
//     scf.for %i = %s to min(%s + strip, %b) { %r = load %draws[%i - %s] … }
//   }

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERADRAWBLOCKS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

/// The draws of a strip are 8 KB: they stay in the first cache.
static constexpr int64_t strip = 2048;

/// By how much `value` grows with an iteration, if that is known.
static std::optional<int64_t> growthOf(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return 1;
  if (loop.isDefinedOutsideOfLoop(value))
    return 0;
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_if_present<arith::IndexCastOp>(op))
    return growthOf(cast.getIn(), loop);
  if (auto cast = dyn_cast_if_present<arith::IndexCastUIOp>(op))
    return growthOf(cast.getIn(), loop);
  if (!isa_and_present<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto x = growthOf(op->getOperand(0), loop);
  auto y = growthOf(op->getOperand(1), loop);
  if (!x || !y)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  if (*x == 0 && *y == 0)
    return 0;
  for (auto [growth, other] :
       {std::pair(*x, op->getOperand(1)), std::pair(*y, op->getOperand(0))})
    if (auto factor = getConstantIntValue(other))
      return growth * *factor;
  return std::nullopt;
}

static bool drawsForNeighbours(RandomOp random, scf::ForOp loop) {
  auto stays = [&](Value value) { return growthOf(value, loop) == 0; };
  return stays(random.getSeed()) && stays(random.getStep()) &&
         stays(random.getSample()) && growthOf(random.getIndex(), loop) == 1;
}

/// The draws that a loop makes in every iteration, or under a condition.
static SmallVector<RandomOp> drawsOf(scf::ForOp loop) {
  SmallVector<RandomOp> draws;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<LoopLikeOpInterface>(op))
      return WalkResult::skip();
    if (auto random = dyn_cast<RandomOp>(op);
        random && drawsForNeighbours(random, loop))
      draws.push_back(random);
    return WalkResult::advance();
  });
  return draws;
}

/// True if a group of the generator is worth its while.
static bool isLongEnough(scf::ForOp loop) {
  constexpr int64_t least = 16;
  std::optional<APInt> trips = loop.getStaticTripCount();
  return getConstantIntValue(loop.getStep()) == 1 &&
         (!trips || trips->sge(least));
}

namespace {

/// A loop in strips.
class Strips {
public:
  Strips(scf::ForOp loop)
      : builder(loop), loc(loop.getLoc()), inner(loop),
        function(loop->getParentOfType<FunctionOpInterface>()) {}

  /// Puts a loop over strips around the loop.
  void create() {
    outer = scf::ForOp::create(builder, loc, inner.getLowerBound(),
                               inner.getUpperBound(), index(strip),
                               inner.getInitArgs());
    inner.replaceAllUsesWith(outer.getResults());
    // Without values to carry, it has its terminator already.
    if (outer.getBody()->mightHaveTerminator() && outer.getNumResults() == 0)
      outer.getBody()->getTerminator()->erase();
    inner->moveBefore(outer.getBody(), outer.getBody()->end());
    builder.setInsertionPoint(inner);
    Value begin = outer.getInductionVar();
    Value rest =
        arith::SubIOp::create(builder, loc, outer.getUpperBound(), begin);
    count = arith::MinUIOp::create(builder, loc, rest, index(strip));
    Value end = arith::AddIOp::create(builder, loc, begin, count);
    inner.setLowerBound(begin);
    inner.setUpperBound(end);
    inner.getInitArgsMutable().assign(outer.getRegionIterArgs());
    builder.setInsertionPointToEnd(outer.getBody());
    scf::YieldOp::create(builder, loc, inner.getResults());
  }

  /// Reads what `random` drew from a buffer that is filled before a strip.
  void drawBefore(RandomOp random) {
    Value buffer = createBuffer();
    builder.setInsertionPoint(inner);
    Value draws =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
    RandomFillOp::create(builder, random.getLoc(), buffer,
                         atStrip(random.getSeed()), atStrip(random.getStep()),
                         atStrip(random.getSample()),
                         atStrip(random.getIndex()), draws, random.getIdAttr(),
                         random.getBitsAttr());
    builder.setInsertionPoint(random);
    Value place = arith::SubIOp::create(builder, loc, inner.getInductionVar(),
                                        outer.getInductionVar());
    random.replaceAllUsesWith(
        memref::LoadOp::create(builder, loc, buffer, place).getResult());
    random.erase();
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Value createBuffer() {
    builder.setInsertionPointToStart(&function.getFunctionBody().front());
    auto type = MemRefType::get(strip, builder.getI32Type());
    return memref::AllocaOp::create(builder, loc, type,
                                    builder.getI64IntegerAttr(64));
  }

  /// `value` in the first iteration of a strip.
  Value atStrip(Value value) {
    if (value == inner.getInductionVar())
      return outer.getInductionVar();
    Operation *op = value.getDefiningOp();
    if (!op || !inner->isProperAncestor(op))
      return value;
    IRMapping map;
    for (Value operand : op->getOperands())
      map.map(operand, atStrip(operand));
    return builder.clone(*op, map)->getResult(0);
  }

  OpBuilder builder;
  Location loc;
  scf::ForOp inner, outer;
  FunctionOpInterface function;
  Value count;
};

struct DrawBlocksPass : impl::NumeraDrawBlocksBase<DrawBlocksPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SmallVector<RandomOp> draws = drawsOf(loop);
      if (draws.empty() || !isLongEnough(loop))
        continue;
      Strips strips(loop);
      strips.create();
      for (RandomOp random : draws)
        strips.drawBefore(random);
    }
  }
};

} // namespace

} // namespace numera
