// SPDX-License-Identifier: MIT
//
// linalg on memrefs becomes loops, the innermost of which is parallel. An
// element of the result is accumulated in memory, in the written order of the
// reduction, while neighbouring elements are computed in the lanes of a vector.

#include "Buffers/BufferUses.h"
#include "ElementLanes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOOPS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

bool isElementwise(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1 || !generic.hasPureBufferSemantics() ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return false;
  OpOperand *result = generic.getDpsInitOperand(0);
  return generic.getMatchingIndexingMap(result).isIdentity() &&
         !generic.payloadUsesValueFromOperand(result) &&
         llvm::all_of(
             generic.getBody()->without_terminator(), [](Operation &op) {
               return isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
                      !isa<linalg::IndexOp>(op);
             });
}

SmallVector<Value> indicesAt(OpBuilder &builder, Location loc, AffineMap map,
                             ArrayRef<Value> loops) {
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    OpFoldResult index = affine::makeComposedFoldedAffineApply(
        builder, loc, map.getSubMap({i}), getAsOpFoldResult(loops));
    indices.push_back(getValueOrCreateConstantIndexOp(builder, loc, index));
  }
  return indices;
}

Value readAt(OpBuilder &builder, linalg::GenericOp generic, OpOperand &input,
             ArrayRef<Value> loops) {
  if (!isa<MemRefType>(input.get().getType()))
    return input.get();
  Location loc = generic.getLoc();
  AffineMap map = generic.getMatchingIndexingMap(&input);
  return memref::LoadOp::create(builder, loc, input.get(),
                                indicesAt(builder, loc, map, loops));
}

Value cloneBody(OpBuilder &builder, linalg::GenericOp generic, IRMapping &map) {
  Block *body = generic.getBody();
  for (Operation &op : body->without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(body->getTerminator()->getOperand(0));
}

/// The parallel loop along which the result is contiguous, if it is long
/// enough to be worth the inner place.
static std::optional<unsigned> innerLoop(linalg::GenericOp generic) {
  AffineMap result =
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (result.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(result.getResults().back());
  if (!last)
    return std::nullopt;
  return last.getPosition();
}

/// The loops in their order, with `inner` moved to the end.
static SmallVector<unsigned> orderWith(unsigned loops, unsigned inner) {
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < loops; ++loop)
    if (loop != inner)
      order.push_back(loop);
  order.push_back(inner);
  return order;
}

bool reducesInLanes(linalg::GenericOp generic) {
  if (generic.getNumLoops() == 0 || generic.getNumDpsInits() != 1)
    return false;
  unsigned last = generic.getNumLoops() - 1;
  AffineExpr loop = getAffineDimExpr(last, generic.getContext());
  if (generic.getIteratorTypesArray()[last] != utils::IteratorType::reduction)
    return false;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (map.getNumResults() == 0 || map.getResults().back() != loop)
      return false;
  }
  auto yield = cast<linalg::YieldOp>(generic.getBody()->getTerminator());
  Operation *step = yield.getOperand(0).getDefiningOp();
  Value sum = generic.getBody()->getArguments().back();
  return isa_and_nonnull<arith::AddIOp, arith::AndIOp, arith::OrIOp,
                         arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
                         arith::MinUIOp>(step) &&
         llvm::is_contained(step->getOperands(), sum) && sum.hasOneUse();
}

static linalg::GenericOp interchange(IRRewriter &rewriter,
                                     linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1 ||
      reducesInLanes(generic))
    return generic;
  if (auto inner = innerLoop(generic)) {
    rewriter.setInsertionPoint(generic);
    // Cannot fail: a permutation of all loops.
    return *linalg::interchangeGenericOp(
        rewriter, generic, orderWith(generic.getNumLoops(), *inner));
  }
  return generic;
}

/// A copy of or into a part of a buffer: upstream calls a library for it. One
/// between whole buffers stays: it becomes a memcpy.
void replaceStridedCopies(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp copy) {
    auto strided = [](Value buffer) {
      return !cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
    };
    if (strided(copy.getSource()) || strided(copy.getTarget()))
      copies.push_back(copy);
  });
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    rewriter.eraseOp(copy);
  }
}

/// Named operations that move elements can have fewer loops, too.
static void generalize(IRRewriter &rewriter, func::FuncOp function) {
  SmallVector<linalg::LinalgOp> work;
  function.walk([&](linalg::LinalgOp op) {
    if (isa<linalg::FillOp, linalg::MapOp, linalg::CopyOp, linalg::BroadcastOp,
            linalg::TransposeOp>(op))
      work.push_back(op);
  });
  for (linalg::LinalgOp op : work) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// True if a step of the loop is many instructions: an operation on codes. One
/// on f32 or f64 is one instruction.
static bool computesOnCodes(scf::ForOp loop) {
  return loop
      .walk([](FormatOpInterface op) {
        bool isMachine = isa<FloatType>(op->getResult(0).getType());
        return isMachine ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

static void annotate(scf::ForOp loop, LLVM::LoopVectorizeAttr vectorize,
                     LLVM::LoopUnrollAttr unroll) {
  auto annotation = LLVM::LoopAnnotationAttr::get(
      loop.getContext(), {}, vectorize, {}, unroll, {}, {}, {}, {}, {}, {}, {},
      {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
}

/// Has a short loop vectorised, with masks or without: unrolled in full before
/// the vectoriser sees it, it would stay scalar.
static void keepForVectors(scf::ForOp loop, bool isMasked) {
  Builder builder(loop.getContext());
  annotate(loop,
           LLVM::LoopVectorizeAttr::get(
               loop.getContext(), /*disable=*/builder.getBoolAttr(false),
               /*predicateEnable=*/builder.getBoolAttr(isMasked), {}, {}, {},
               {}, {}),
           LLVM::LoopUnrollAttr::get(loop.getContext(),
                                     /*disable=*/builder.getBoolAttr(true), {},
                                     {}, {}, {}, {}, {}));
}

/// Unrolls an inner loop that is too short for vectors, and short loops right
/// around it, which go over a window. No other loops over tensors are unrolled:
/// that would be much code for little.
static void unrollShortLoops(ArrayRef<Operation *> loops) {
  constexpr int64_t tooShort = 8, mostOfWindow = 4, mostSteps = 256;
  constexpr int64_t stepsOnCodes = 8;
  int64_t steps = 0;
  cast<scf::ForOp>(loops.back()).getBody()->walk([&](Operation *op) {
    steps += isa<FormatOpInterface>(op) ? stepsOnCodes : 1;
  });
  for (Operation *op : llvm::reverse(loops)) {
    auto loop = cast<scf::ForOp>(op);
    if (loop->hasAttr("llvm.loop_annotation"))
      continue; // a vector or two
    std::optional<APInt> trips = loop.getStaticTripCount();
    int64_t most = op == loops.back() ? tooShort - 1 : mostOfWindow;
    if (!trips || trips->sgt(most) ||
        (steps *= trips->getSExtValue()) > mostSteps)
      return;
    annotate(loop, {},
             LLVM::LoopUnrollAttr::get(
                 loop.getContext(), {}, {}, {},
                 /*full=*/BoolAttr::get(loop.getContext(), true), {}, {}, {}));
  }
}

/// A short loop of long steps whose last vector would be almost full is
/// vectorised with masks: as scalar code, the rest would take longer. A scalar
/// step takes about 3.5 times its share of a vector step, masks an eighth of
/// the time (posit16 on AVX-512): so they pay from a rest of a third of a
/// vector and a few lanes more for each vector before it.
void maskShortLoop(scf::ForOp loop) {
  constexpr int64_t lanes = 16;
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || !computesOnCodes(loop))
    return;
  int64_t count = trips->getSExtValue(), rest = count % lanes;
  if (rest > lanes / 3 + (count - rest) / 25)
    keepForVectors(loop, /*isMasked=*/true);
}

/// An inner loop that reads and writes one element keeps it in a register.
static void accumulateInRegister(IRRewriter &rewriter, scf::ForOp loop) {
  for (auto apply : llvm::make_early_inc_range(
           loop.getBody()->getOps<affine::AffineApplyOp>()))
    if (apply.getAffineMap().isIdentity())
      rewriter.replaceOp(apply, apply.getOperand(0));
  auto stores = llvm::to_vector(loop.getBody()->getOps<memref::StoreOp>());
  if (stores.size() != 1 || !loop.getInitArgs().empty())
    return;
  memref::StoreOp store = stores.front();
  if (!loop.isDefinedOutsideOfLoop(store.getMemref()) ||
      !llvm::all_of(store.getIndices(), [&](Value index) {
        return loop.isDefinedOutsideOfLoop(index);
      }))
    return;
  memref::LoadOp load;
  for (auto candidate : loop.getBody()->getOps<memref::LoadOp>())
    if (candidate.getMemref() == store.getMemref()) {
      if (load || !llvm::equal(candidate.getIndices(), store.getIndices()))
        return;
      load = candidate;
    }
  if (!load)
    return;
  rewriter.moveOpBefore(load, loop);
  rewriter.moveOpAfter(store, loop);
  Value sum = store.getValue();
  auto replaced = loop.replaceWithAdditionalYields(
      rewriter, load.getResult(), /*replaceInitOperandUsesInLoop=*/true,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>{sum};
      });
  store.getValueMutable().assign((*replaced)->getResult(0));
}

/// Moves what is the same in all iterations in front of a loop, loads too: what
/// an elementwise operation writes, it reads at no other place.
static void moveInvariantsOut(IRRewriter &rewriter, scf::ForOp loop) {
  moveLoopInvariantCode(loop);
  for (auto load :
       llvm::make_early_inc_range(loop.getBody()->getOps<memref::LoadOp>()))
    if (llvm::all_of(load->getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand);
        }))
      rewriter.moveOpBefore(load, loop);
  moveLoopInvariantCode(loop);
}

/// Puts the operations of the branch that is taken in the place of a choice.
static void take(IRRewriter &rewriter, scf::IfOp choice, bool isTrue) {
  Block *branch = isTrue ? choice.thenBlock() : choice.elseBlock();
  SmallVector<Value> results(branch->getTerminator()->getOperands());
  rewriter.eraseOp(branch->getTerminator());
  rewriter.inlineBlockBefore(branch, choice);
  rewriter.replaceOp(choice, results);
}

/// A choice in the innermost loop of an elementwise operation that is the same
/// for all its iterations is made before it, of two loops.
static void chooseBefore(IRRewriter &rewriter, scf::ForOp loop) {
  auto choices = llvm::to_vector(loop.getBody()->getOps<scf::IfOp>());
  if (choices.size() != 1 || !choices[0].elseBlock() ||
      !loop.getInitArgs().empty())
    return;
  moveInvariantsOut(rewriter, loop);
  Value condition = choices[0].getCondition();
  if (!loop.isDefinedOutsideOfLoop(condition))
    return;
  rewriter.setInsertionPoint(loop);
  auto either = scf::IfOp::create(rewriter, loop.getLoc(), condition,
                                  /*withElseRegion=*/true);
  for (bool isTrue : {true, false}) {
    Block *branch = isTrue ? either.thenBlock() : either.elseBlock();
    rewriter.setInsertionPointToStart(branch);
    auto copy = cast<scf::ForOp>(rewriter.clone(*loop));
    take(rewriter, *copy.getBody()->getOps<scf::IfOp>().begin(), isTrue);
    moveLoopInvariantCode(copy);
  }
  rewriter.eraseOp(loop);
}

/// True if iterations of a loop write to different elements, whatever the rest
/// of them does.
static bool isIndependent(linalg::LinalgOp op, unsigned loop) {
  if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::is_contained(op.getMatchingIndexingMap(&init).getResults(),
                              getAffineDimExpr(loop, op->getContext()));
  });
}

/// Marks the outer loops that numera-parallelize may share among threads.
static void markParallel(linalg::LinalgOp op, ArrayRef<Operation *> loops) {
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (!isIndependent(op, unsigned(i)))
      return;
    loop->setAttr(parallelLoopAttr, UnitAttr::get(op->getContext()));
  }
}

/// The number that all elements of a reduction's result have before it, by a
/// fill right in front of it, which goes; null if there is none.
static Value takeStart(IRRewriter &rewriter, linalg::GenericOp reduction) {
  Operation *before = reduction->getPrevNode();
  while (before && isMemoryEffectFree(before))
    before = before->getPrevNode();
  auto fill = dyn_cast_or_null<linalg::GenericOp>(before);
  if (!fill || fill.getNumDpsInputs() != 1 ||
      isa<ShapedType>(fill.getDpsInputs()[0].getType()) ||
      wholeBuffer(fill.getDpsInits()[0]) !=
          wholeBuffer(reduction.getDpsInits()[0]) ||
      !llvm::hasSingleElement(*fill.getBody()) ||
      fill.getBody()->getTerminator()->getOperand(0) !=
          fill.getBody()->getArgument(0))
    return {};
  Value start = fill.getDpsInputs()[0];
  rewriter.eraseOp(fill);
  return start;
}

namespace {
/// What goes with a reduction of windows; each may be null.
struct Window {
  Value start;
  linalg::GenericOp overwriter;
};

struct LoopsPass : impl::NumeraLoopsBase<LoopsPass> {
  void runOnOperation() override {
    if (failed(checkIsInMemory(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    padRows(rewriter, getOperation());
    replaceStridedCopies(rewriter, getOperation());
    generalize(rewriter, getOperation());
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp generic : generics) {
      generic = dropUnitLoops(rewriter, generic);
      sliceAtConstants(rewriter, generic);
      collapse(rewriter, interchange(rewriter, generic));
    }
    // Reductions of windows, with what they begin with and what comes after.
    llvm::MapVector<Operation *, Window> windows;
    llvm::SmallPtrSet<Operation *, 8> overwriters;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isWindowReduction(op))
        windows.insert({op, Window()});
    });
    for (auto &[op, window] : windows) {
      auto reduction = cast<linalg::GenericOp>(op);
      window = {takeStart(rewriter, reduction), overwriterOf(reduction)};
      overwriters.insert(window.overwriter);
    }
    SmallVector<linalg::LinalgOp> work;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!overwriters.contains(op))
        work.push_back(op);
    });
    for (linalg::LinalgOp op : work) {
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      std::optional<SmallVector<Operation *>> loops;
      if (generic)
        loops = reduceInBlocks(rewriter, generic);
      if (auto found = windows.find(op); found != windows.end()) {
        Window window = found->second;
        loops =
            reduceInWindows(rewriter, generic, window.start, window.overwriter);
        if (window.overwriter)
          rewriter.eraseOp(window.overwriter);
      }
      if (loops) {
        markParallel(op, *loops);
        rewriter.eraseOp(op);
        continue;
      }
      bool inLanes = generic && reducesInLanes(generic);
      FailureOr<linalg::LinalgLoops> nest =
          linalg::linalgOpToLoops(rewriter, op);
      if (failed(nest)) {
        op.emitError("'") << op->getName() << "' cannot become loops";
        return signalPassFailure();
      }
      markParallel(op, *nest);
      if (!nest->empty()) {
        auto inner = cast<scf::ForOp>(nest->back());
        if (inLanes)
          keepForVectors(inner, /*isMasked=*/false);
        else
          maskShortLoop(inner);
        unrollShortLoops(*nest);
        accumulateInRegister(rewriter, inner);
        if (op.getNumReductionLoops() == 0)
          chooseBefore(rewriter, inner);
      }
      rewriter.eraseOp(op);
    }
  }
};
} // namespace

} // namespace numera
