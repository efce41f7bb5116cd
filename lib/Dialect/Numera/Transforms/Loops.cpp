// SPDX-License-Identifier: MIT
//
// linalg on memrefs becomes loops whose innermost one is parallel. A result's
// element is then accumulated in memory, in the written order of the reduction,
// while neighbouring elements go through the machine's lanes together.

#include "Loops.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "numera/Dialect/Numera/Transforms/Passes.h"

using namespace mlir;

namespace numera {
#define GEN_PASS_DEF_NUMERALOOPS
#include "numera/Dialect/Numera/Transforms/Passes.h.inc"

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

static void interchange(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0 || generic.getNumDpsInits() != 1)
    return;
  if (auto inner = innerLoop(generic)) {
    rewriter.setInsertionPoint(generic);
    // Cannot fail: a permutation of all loops.
    (void)linalg::interchangeGenericOp(
        rewriter, generic, orderWith(generic.getNumLoops(), *inner));
  }
}

/// Elementwise on buffers without gaps, and no step depends on its place.
static bool isCollapsible(linalg::GenericOp generic) {
  return generic.getNumReductionLoops() == 0 && generic.getNumLoops() > 1 &&
         generic.hasPureBufferSemantics() && !generic.hasIndexSemantics() &&
         llvm::all_of(
             generic.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(generic->getOperandTypes(), [](Type type) {
           auto buffer = dyn_cast<MemRefType>(type);
           return !buffer || buffer.getLayout().isIdentity();
         });
}

/// Loops that every operand goes through as through one become one. An inner
/// loop is then as long as memory is contiguous, and its last, partial vector
/// comes once and not once for every row:
///
///   64x3x7x7, all alike          9408
///   64x3x7x7 and a bias of 3     64 x 3 x 49
void collapse(IRRewriter &rewriter, linalg::GenericOp generic) {
  if (!isCollapsible(generic))
    return;
  rewriter.setInsertionPoint(generic);
  // In the order of the result.
  AffineMap order = generic.getIndexingMapsArray().back();
  if (order.isPermutation() && !order.isIdentity()) {
    SmallVector<unsigned> loops;
    for (AffineExpr loop : order.getResults())
      loops.push_back(cast<AffineDimExpr>(loop).getPosition());
    FailureOr<linalg::GenericOp> ordered =
        linalg::interchangeGenericOp(rewriter, generic, loops);
    if (failed(ordered))
      return;
    generic = *ordered;
  }
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < generic.getNumLoops(); ++loop) {
    if (!groups.empty()) {
      ReassociationIndices longer = groups.back();
      longer.push_back(loop);
      if (linalg::areDimSequencesPreserved(maps, longer)) {
        groups.back() = longer;
        continue;
      }
    }
    groups.push_back({loop});
  }
  if (groups.size() < generic.getNumLoops() &&
      succeeded(linalg::collapseOpIterationDims(generic, groups, rewriter)))
    rewriter.eraseOp(generic);
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

/// A short loop of long steps whose last vector would be almost full is
/// vectorised with masks: as scalar code, the rest would take longer. A scalar
/// step takes about 3.5 times its share of a vector step, masks an eighth of
/// the time (posit16 on AVX-512): so they pay from a rest of a third of a
/// vector and a few lanes more for each vector before it.
static void maskShortLoop(scf::ForOp loop) {
  constexpr int64_t lanes = 16;
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (!trips || !computesOnCodes(loop))
    return;
  int64_t count = trips->getSExtValue(), rest = count % lanes;
  if (rest <= lanes / 3 + (count - rest) / 25)
    return;
  Builder builder(loop.getContext());
  auto vectorize = LLVM::LoopVectorizeAttr::get(
      loop.getContext(), /*disable=*/builder.getBoolAttr(false),
      /*predicateEnable=*/builder.getBoolAttr(true), {}, {}, {}, {}, {});
  // Unrolled in full before it is vectorised, it would stay scalar.
  auto unroll = LLVM::LoopUnrollAttr::get(loop.getContext(),
                                          /*disable=*/builder.getBoolAttr(true),
                                          {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      loop.getContext(), {}, vectorize, {}, unroll, {}, {}, {}, {}, {}, {}, {},
      {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", annotation);
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
static void markParallel(linalg::LinalgOp op,
                         ArrayRef<mlir::Operation *> loops) {
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (!isIndependent(op, unsigned(i)))
      return;
    loop->setAttr(parallelLoopAttr, UnitAttr::get(op->getContext()));
  }
}

namespace {
struct LoopsPass : impl::NumeraLoopsBase<LoopsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    replaceStridedCopies(rewriter, getOperation());
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp generic : generics) {
      interchange(rewriter, generic);
      collapse(rewriter, generic);
    }
    SmallVector<linalg::LinalgOp> work;
    getOperation().walk([&](linalg::LinalgOp op) { work.push_back(op); });
    for (linalg::LinalgOp op : work) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::LinalgLoops> loops =
          linalg::linalgOpToLoops(rewriter, op);
      if (failed(loops)) {
        op.emitError("'") << op->getName() << "' cannot become loops";
        return signalPassFailure();
      }
      markParallel(op, *loops);
      if (!loops->empty())
        maskShortLoop(cast<scf::ForOp>(loops->back()));
      rewriter.eraseOp(op);
    }
  }
};
} // namespace

} // namespace numera
